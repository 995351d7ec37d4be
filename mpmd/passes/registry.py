"""Finds passes by name.

A pass `mpmd-foo-bar` is the class with that name in module `foo_bar` of one of the group packages,
so a name leads to its file without a table, and only the passes in use are imported. Modules that
serve several passes start with an underscore.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache

from mpmd.passes.base import Pass

GROUPS = ("import_", "common", "optimize", "partition", "export")


@cache
def find(name: str) -> type[Pass] | None:
    """Returns the class of pass `name`, or None where there is no such pass of ours."""
    if not name.startswith("mpmd-") or not name.isascii():
        return None
    stem = name.removeprefix("mpmd-").replace("-", "_")
    if not stem.isidentifier() or stem.startswith("_"):
        return None
    for group in GROUPS:
        module_name = f"mpmd.passes.{group}.{stem}"
        if importlib.util.find_spec(module_name) is not None:
            return _class_in(module_name, name)
    return None


def names(group: str | None = None) -> list[str]:
    """Returns the names of all passes, or of one group, sorted."""
    found = []
    for each in (group,) if group else GROUPS:
        package = importlib.import_module(f"mpmd.passes.{each}")
        for info in pkgutil.iter_modules(package.__path__):
            if not info.name.startswith("_"):
                found.append("mpmd-" + info.name.replace("_", "-"))
    return sorted(found)


def _class_in(module_name: str, name: str) -> type[Pass]:
    module = importlib.import_module(module_name)
    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, Pass)
            and getattr(value, "name", "") == name
        ):
            return value
    raise AssertionError(f"{module_name} defines no pass named {name}")
