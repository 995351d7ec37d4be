"""What `mpmd-opt` says about itself: help, the list of passes, the pipeline it would run."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir, passmanager
from mpmd.passes import registry
from mpmd.passes.base import Pass, Pipeline
from mpmd.tools.opt.command_line import FLAGS, Settings, UsageError

_USAGE = """\
usage: mpmd-opt [FILE] [-PASS[='OPTION=VALUE ...'] ...] [options]

Reads an MLIR module from FILE (default: standard input), runs the passes in the order of their
flags, and prints the result. -x and --x are the same; -- ends the options.

example: mpmd-opt step.mlir -mpmd-import-pipeline='name-to-mesh-assignment=s0@m0,s1@m1'
"""

_CPP_PASSES = (
    "canonicalize",
    "chlo-legalize-to-stablehlo",
    "cse",
    "inline",
    "sccp",
    "sdy-close-shardings",
    "sdy-import-pipeline",
    "sdy-propagation-pipeline",
    "sdy-user-priority-propagate",
    "stablehlo-refine-shapes",
    "strip-debuginfo",
    "symbol-dce",
)


def answer(settings: Settings) -> str | None:
    """Returns what to print instead of running passes, or None."""
    if settings.help:
        return _pass_help(settings.help_for) if settings.help_for else _help()
    if settings.version:
        from importlib.metadata import version  # on use: it costs 45 ms, a tenth of a run

        versions = [f"{name} {version(name)}" for name in ("jax-mpmd", "jaxlib")]
        return ", ".join(versions) + "\n"
    if settings.list_passes:
        return _list()
    if settings.show_pipeline:
        flat = [str(each) for pass_ in settings.passes for each in _flatten(pass_)]
        return f"builtin.module({','.join(flat)})\n"
    return None


def _flatten(pass_: Pass) -> list[Pass]:
    if not isinstance(pass_, Pipeline):
        return [pass_]
    return [inner for each in pass_.passes() for inner in _flatten(each)]


def _find(name: str) -> type[Pass]:
    found = registry.find(name)
    assert found is not None, name
    return found


def _list() -> str:
    lines = []
    for group in registry.GROUPS:
        lines.append(f"{group.rstrip('_')}:")
        lines += [f"  {name}\n      {_find(name).summary()}" for name in registry.names(group)]
    lines.append("from jaxlib (any other pass that it registers works too):")
    lines += [f"  {name}" for name in _CPP_PASSES if _registered(name)]
    return "\n".join(lines) + "\n"


def _registered(name: str) -> bool:
    for text in (name, f"func.func({name})"):
        try:
            passmanager.PassManager.parse(f"builtin.module({text})", ir.Context.current)
        except ValueError:
            continue
        return True
    return False


def _options(cls: type[Pass], indent: str) -> list[str]:
    return [
        f"{indent}{each.name}=<{each.kind}>  {each.help}"
        f" (default: {each.format(each.default) or 'none'})"
        for each in cls.options()
    ]


def _help() -> str:
    lines = [_USAGE, "options:"]
    for flag in FLAGS.values():
        value = f"={flag.value}" if flag.value else ""
        spelled = f"-{flag.name}[{value}]" if flag.optional else f"-{flag.name}{value}"
        lines.append(f"  {spelled}\n      {flag.help}")
    for group in registry.GROUPS:
        lines.append(f"\n{group.rstrip('_')} passes:")
        for name in registry.names(group):
            lines.append(f"  -{name}\n      {_find(name).summary()}")
            lines += _options(_find(name), "        ")
    lines.append(
        "\nPasses that jaxlib registers work too, e.g. " + ", ".join(_CPP_PASSES[:5]) + "."
    )
    return "\n".join(lines) + "\n"


def _pass_help(name: str) -> str:
    found = registry.find(name.lstrip("-"))
    if found is None:
        raise UsageError(f"no pass '{name}' to show help for; see --list-passes")
    return (
        "\n".join([f"-{found.name}", "", found.documentation(), "", *_options(found, "  ")]) + "\n"
    )
