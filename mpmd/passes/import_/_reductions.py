"""Operations that can become an `mpmd.reduce` when their operands are on different meshes."""

from __future__ import annotations

from mpmd.dialect._jaxlib import ir
from mpmd.dialect.attributes import parse_attribute
from mpmd.passes.import_._mesh_sets import REDUCE

_KINDS = {
    "stablehlo.add": "add",
    "stablehlo.maximum": "max",
    "stablehlo.minimum": "min",
    "stablehlo.multiply": "mul",
    "stablehlo.or": "or",
    "stablehlo.and": "and",
}


def reduction_attribute(kind: str) -> ir.Attribute:
    """Returns `#mpmd.reduction` of a kind."""
    return parse_attribute(f"#mpmd.reduction<{kind}>")


def operation_of(reduce: ir.Operation) -> str:
    """Returns the name of the elementwise operation of an `mpmd.reduce`."""
    kind = str(reduce.attributes["reduction"]).partition("<")[2].rstrip(">")
    return next(name for name, each in _KINDS.items() if each == kind)


def annotated_kind(op: ir.Operation) -> str | None:
    """Returns the kind of reduction that `op` is marked as, or None."""
    if REDUCE not in op.attributes:
        return None
    return str(op.attributes[REDUCE]).partition("<")[2].rstrip(">")


def reduction_kind(op: ir.Operation) -> str | None:
    """Returns what `op` does to its operands as a reduction, or None where it is none.

    Besides elementwise operations these are the two halves of a reduction over a stack of values:
    a concatenation of slices of size one, and the `stablehlo.reduce` over just that dimension.
    """
    if op.name == "stablehlo.concatenate":
        uses = list(op.results[0].uses)
        return stack_reduction_kind(uses[0].owner.operation) if len(uses) == 1 else None
    if op.name == "stablehlo.reduce":
        return stack_reduction_kind(op)
    return _KINDS.get(op.name) if len(op.operands) > 1 else None


def stack_reduction_kind(op: ir.Operation) -> str | None:
    """Returns the kind of a `stablehlo.reduce` of a stack of values over their number."""
    if op.name != "stablehlo.reduce" or len(op.operands) != 2:
        return None
    stack = op.operands[0].owner
    if not isinstance(stack, ir.Operation | ir.OpView) or stack.name != "stablehlo.concatenate":
        return None
    stack = stack.operation
    dimension = ir.IntegerAttr(stack.attributes["dimension"]).value
    if list(ir.DenseI64ArrayAttr(op.attributes["dimensions"])) != [dimension]:
        return None
    sizes = {ir.RankedTensorType(value.type).shape[dimension] for value in stack.operands}
    if sizes != {1} or len(list(stack.results[0].uses)) != 1:
        return None
    block = op.regions[0].blocks[0]
    nested = [view.operation for view in block.operations]
    if len(nested) != 2 or set(nested[0].operands) != set(block.arguments):
        return None
    return _KINDS.get(nested[0].name)


def is_identity(value: ir.Value, kind: str) -> bool:
    """Tells whether `value` is known to be a constant that a reduction of this kind ignores."""
    op = value.owner
    if not isinstance(op, ir.Operation | ir.OpView) or op.name != "stablehlo.constant":
        return False
    attribute = ir.DenseElementsAttr(op.operation.attributes["value"])
    if not attribute.is_splat:
        return False
    element = attribute.get_splat_value()
    if isinstance(element, ir.FloatAttr):
        wanted = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}
        return element.value == wanted.get(kind)
    type_ = ir.IntegerType(ir.RankedTensorType(value.type).element_type)
    return ir.IntegerAttr(element).value == _integer_identity(kind, type_)


def _integer_identity(kind: str, type_: ir.IntegerType) -> int:
    width = type_.width
    if width == 1:
        return {"or": 0, "max": 0, "add": 0}.get(kind, 1)
    ones = (1 << width) - 1
    low = 0 if type_.is_unsigned else -(1 << (width - 1))
    high = ones if type_.is_unsigned else (1 << (width - 1)) - 1
    everything = ones if type_.is_unsigned else -1
    return {"add": 0, "mul": 1, "max": low, "min": high, "or": 0, "and": everything}[kind]
