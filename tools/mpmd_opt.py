"""`mpmd-opt`: runs passes over MLIR modules."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the driver on the process's arguments and returns the exit code."""
    from mpmd.dialect._jaxlib import ir, make_context
    from mpmd.passes.registry import find
    from mpmd.passes.runner import run_passes

    args = [a for a in sys.argv[1:] if a.startswith("-") and a != "-"]
    paths = [a for a in sys.argv[1:] if not a.startswith("-") or a == "-"]
    text = sys.stdin.read() if not paths or paths[0] == "-" else open(paths[0]).read()
    passes = []
    for a in args:
        name, _, opts = a.lstrip("-").partition("=")
        cls = find(name)
        if cls is not None:
            passes.append(cls.parse(dict(o.partition("=")[::2] for o in opts.split())))
    with make_context(), ir.Location.unknown():
        for part in text.split("// -----"):
            module = ir.Module.parse(part)
            run_passes(module.operation, passes)
            module.operation.verify()
            print(module)
    return 0


if __name__ == "__main__":
    sys.exit(main())
