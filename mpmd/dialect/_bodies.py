"""`Bodies`: the functions that fragment calls share, and what was made of them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpmd.dialect._jaxlib import ir, passmanager
from mpmd.dialect.functions import entry_block, symbol_name
from mpmd.dialect.purity import is_pure


@dataclass
class Bodies:
    """The body functions of a module, and a memory of what was derived from them.

    Make one per pass run. The 64th identical rewrite is a dictionary hit: that is why a microbatch
    costs a few operations and no body.
    """

    module: ir.Operation
    _functions: dict[str, ir.Operation] = field(default_factory=dict)
    _memory: dict[Hashable, Any] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for op in self.module.regions[0].blocks[0].operations:
            if "sym_name" in op.operation.attributes:
                self._functions[symbol_name(op.operation)] = op.operation

    def function(self, name: str) -> ir.Operation:
        """Returns the function named `name`."""
        return self._functions[name]

    def unique_name(self, hint: str) -> str:
        """Returns `hint`, or else it with a free number in place of the one that it may end in."""
        if hint not in self._functions:
            return hint
        base = re.sub(r"_\d+$", "", hint)
        while True:
            count = self._counts[base] = self._counts.get(base, -1) + 1
            if f"{base}_{count}" not in self._functions:
                return f"{base}_{count}"

    def add_function(
        self, hint: str, inputs: Sequence[ir.Type], attributes: Mapping[str, ir.Attribute]
    ) -> tuple[str, ir.Block]:
        """Appends a private function without operations; returns its name and its block.

        The caller fills the block, terminates it with `func.return` and calls
        `update_function_type`.
        """
        name = self.unique_name(hint)
        func = ir.Operation.create(
            "func.func",
            attributes={
                **attributes,
                "sym_name": ir.StringAttr.get(name),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(list(inputs), [])),
            },
            regions=1,
            ip=ir.InsertionPoint(self.module.regions[0].blocks[0]),
        )
        unknown = ir.Location.unknown()
        block = func.regions[0].blocks.append(*inputs, arg_locs=[unknown] * len(inputs))
        self._functions[name] = func
        return name, block

    def copy_function(self, name: str) -> str:
        """Appends a copy of function `name` under a name of its own, which is returned."""
        copy = self.function(name).clone(ir.InsertionPoint(self.module.regions[0].blocks[0]))
        new = self.unique_name(name)
        copy.attributes["sym_name"] = ir.StringAttr.get(new)
        self._functions[new] = copy.operation
        return new

    def adopt(self, hint: str, func: ir.Operation) -> str:
        """Appends a function that stands nowhere yet, under a name like `hint`; returns it."""
        name = self.unique_name(hint)
        func.attributes["sym_name"] = ir.StringAttr.get(name)
        self.module.regions[0].blocks[0].append(func)
        self._functions[name] = func
        return name

    def erase(self, name: str) -> None:
        """Erases a function that nothing refers to."""
        self._functions.pop(name).erase()

    def recall(self, key: Hashable) -> Any:
        """Returns what was remembered under `key`, or None."""
        return self._memory.get(key)

    def remember(self, key: Hashable, made: Any) -> None:
        """Records what was made for `key`: a hashable that names the functions it was made of."""
        self._memory[key] = made

    def is_pure_function(self, name: str) -> bool:
        """Tells whether function `name` does nothing but compute its results."""
        key = ("pure", name)
        found = self._memory.get(key)
        if found is None:
            operations = list(entry_block(self.function(name)).operations)[:-1]
            found = self._memory[key] = all(is_pure(op.operation) for op in operations)
        return bool(found)

    def erase_unused(self) -> None:
        """Erases the private functions that nothing refers to any more.

        Does nothing unless functions were added, so a module whose fragments are regions keeps
        every function it came with. The object is spent afterwards: make a new one.
        """
        if not self._memory:
            return
        pipeline = passmanager.PassManager.parse("builtin.module(symbol-dce)", self.module.context)
        pipeline.enable_verifier(False)
        pipeline.run(self.module)
        self._functions.clear()
        self._memory.clear()
