"""The packages import each other in one direction only, and private JAX in one file each."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = {"mpmd": ROOT / "mpmd", "mpmd.runtime": ROOT / "runtime", "mpmd.tools": ROOT / "tools"}

# What the modules below each prefix may import of the project; the longest prefix counts.
ALLOWED = {
    "mpmd.dialect": ("mpmd.dialect",),
    "mpmd.schedules": ("mpmd.schedules",),
    "mpmd.passes": ("mpmd.passes", "mpmd.dialect", "mpmd.schedules", "mpmd.lowering"),
    "mpmd.lowering": ("mpmd.lowering", "mpmd.dialect"),
    "mpmd.runtime": ("mpmd.runtime", "mpmd.dialect", "mpmd.schedules", "mpmd.errors"),
    "mpmd.frontend": ("mpmd",),
    "mpmd.tools": ("mpmd",),
    "mpmd": ("mpmd",),
}
WITHOUT_JAX = ("mpmd.dialect", "mpmd.passes", "mpmd.schedules", "mpmd.lowering")
PRIVATE = {
    "mpmd.frontend._jax",
    "mpmd.dialect._jaxlib",
    "mpmd.runtime._jax",
}


def modules():
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            yield name, path


def imports(path, name):
    tree = ast.parse(path.read_text())
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base]).rstrip(".")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


MODULES = list(modules())


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_directions(name, path):
    prefix = max((p for p in ALLOWED if name == p or name.startswith(p + ".")), key=len)
    for imported in imports(path, name):
        if imported == "mpmd" or imported.startswith("mpmd."):
            allowed = any(
                imported == p or imported.startswith(p + ".") or p.startswith(imported + ".")
                for p in ALLOWED[prefix]
            )
            assert allowed, f"{name} imports {imported}"


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_jax_stays_where_it_may_be(name, path):
    for imported in imports(path, name):
        root = imported.split(".")[0]
        if name.startswith(WITHOUT_JAX):
            assert root != "jax", f"{name} imports {imported}, which costs a second at start-up"
        private = (
            imported.startswith(("jax._src", "jax.interpreters", "jaxlib."))
            and imported not in ("jaxlib.version",)
        ) or imported.startswith("jax.jaxlib")
        if private and not imported.startswith("jax.interpreters"):
            assert name in PRIVATE, f"{name} imports {imported}: put it into the package's one file"


def test_the_tree_was_found():
    assert len(MODULES) > 30
