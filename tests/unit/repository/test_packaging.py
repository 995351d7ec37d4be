"""Every package of the checkout is in the wheel."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_every_package_is_listed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    found = set()
    for package, folder in settings["package-dir"].items():
        for path in (ROOT / folder).rglob("__init__.py"):
            inner = path.parent.relative_to(ROOT / folder).parts
            found.add(".".join((package, *inner)))
    assert sorted(settings["packages"]) == sorted(found)
