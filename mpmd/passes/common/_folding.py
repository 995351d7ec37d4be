"""Rules that replace a StableHLO operation by a value that is there already, or by a simpler one.

Each rule looks at one operation and returns the value to use instead, or None. They do what
unrolling and inlining leave to do, no more: what stays is for XLA.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from mpmd.dialect._jaxlib import ir

Rule = Callable[[ir.Operation], "ir.Value | None"]
Number = int | float

CONSTANT = "stablehlo.constant"
_COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}
_ARITHMETIC: dict[str, Callable[[Number, Number], Number]] = {
    "stablehlo.add": lambda a, b: a + b,
    "stablehlo.subtract": lambda a, b: a - b,
    "stablehlo.multiply": lambda a, b: a * b,
    "stablehlo.divide": lambda a, b: a / b,
}


def _maker(value: ir.Value, name: str) -> ir.Operation | None:
    """Returns the operation called `name` that makes `value`, if that is so."""
    owner = value.owner
    return owner if not isinstance(owner, ir.Block) and owner.name == name else None


_READABLE = (ir.IntegerType, ir.F64Type, ir.F32Type, ir.F16Type, ir.BF16Type)


def _splat(value: ir.Value) -> ir.Attribute | None:
    """Returns the element that all elements of a constant are."""
    op = _maker(value, CONSTANT)
    # The bindings cannot even read the elements of a constant of another type, such as complex.
    if op is None or not isinstance(ir.ShapedType(value.type).element_type, _READABLE):
        return None
    elements = op.attributes["value"]
    if not isinstance(elements, ir.DenseIntElementsAttr | ir.DenseFPElementsAttr):
        return None
    return elements.get_splat_value() if elements.is_splat else None


def _number(value: ir.Value) -> Number | None:
    """Returns the number that all elements of a constant are."""
    splat = _splat(value)
    if isinstance(splat, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr):
        return splat.value
    return None


def _constant(like: ir.Value, number: int, at: ir.Operation) -> ir.Value:
    """Creates, before `at`, an integer or boolean constant of the type of `like`."""
    type_ = ir.RankedTensorType(like.type)
    element = type_.element_type
    scalar = (
        ir.BoolAttr.get(bool(number)) if element.width == 1 else ir.IntegerAttr.get(element, number)
    )
    return _constant_of(scalar, type_, at)


def _constant_of(scalar: ir.Attribute, type_: ir.Type, at: ir.Operation) -> ir.Value:
    return ir.Operation.create(
        CONSTANT,
        results=[type_],
        attributes={"value": ir.DenseElementsAttr.get_splat(type_, scalar)},
        ip=ir.InsertionPoint(at),
        loc=at.location,
    ).results[0]


def _moved_splat(op: ir.Operation) -> ir.Value | None:
    """Moving equal elements around is a constant, which is made wherever it is used."""
    scalar = _splat(op.operands[0])
    return None if scalar is None else _constant_of(scalar, op.results[0].type, op)


def _select(op: ir.Operation) -> ir.Value | None:
    """`select(true, x, y)` is x, and `select(p, x, x)` is x."""
    predicate, yes, no = op.operands
    if yes == no:
        return yes
    number = _number(predicate)
    if number is None:
        return None
    return yes if number else no


def _add(op: ir.Operation) -> ir.Value | None:
    """`x + 0` is x. XLA holds that for floats too: only the sign of a zero can differ."""
    left, right = op.operands
    numbers = _number(left), _number(right)
    if numbers[1] == 0:
        return left
    if numbers[0] == 0:
        return right
    return _computed(op, *numbers)


def _subtract(op: ir.Operation) -> ir.Value | None:
    """`x - 0` is x."""
    left, right = op.operands
    number = _number(right)
    if number == 0 and math.copysign(1, number) == 1:
        return left
    return _computed(op, _number(left), number)


def _multiply(op: ir.Operation) -> ir.Value | None:
    """`x * 1` is x."""
    left, right = op.operands
    numbers = _number(left), _number(right)
    if numbers[1] == 1:
        return left
    if numbers[0] == 1:
        return right
    return _computed(op, *numbers)


def _divide(op: ir.Operation) -> ir.Value | None:
    """`x / 1` is x."""
    left, right = op.operands
    number = _number(right)
    return left if number == 1 else _computed(op, _number(left), number)


def _computed(op: ir.Operation, left: Number | None, right: Number | None) -> ir.Value | None:
    """Computes with two constants, as for the index of an unrolled loop or the scale of a mean.

    Python computes in double precision, which rounds to what the narrower types would give.
    Integers that overflow and floats that are not finite are left to the device.
    """
    if left is None or right is None or isinstance(left, bool):
        return None
    element = ir.ShapedType(op.results[0].type).element_type
    if isinstance(element, ir.IntegerType):
        return _integer(op, element, left, right)
    if op.name == "stablehlo.divide" and right == 0:
        return None
    number = _ARITHMETIC[op.name](left, right)
    if not math.isfinite(number):
        return None
    return _constant_of(ir.FloatAttr.get(element, number), op.results[0].type, op)


def _integer(
    op: ir.Operation, element: ir.IntegerType, left: Number, right: Number
) -> ir.Value | None:
    if element.width == 1 or op.name == "stablehlo.divide":
        return None
    number = int(_ARITHMETIC[op.name](left, right))
    low, high = (0, 2**element.width) if element.is_unsigned else _signed_range(element.width)
    return _constant(op.results[0], number, op) if low <= number < high else None


def _signed_range(width: int) -> tuple[int, int]:
    return -(2 ** (width - 1)), 2 ** (width - 1)


def _compare(op: ir.Operation) -> ir.Value | None:
    """Compares integers."""
    left, right = (_number(operand) for operand in op.operands)
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    direction = str(op.attributes["comparison_direction"]).split()[-1].rstrip(">")
    return _constant(op.results[0], _COMPARISONS[direction](left, right), op)


def _same_type(op: ir.Operation) -> ir.Value | None:
    """A change of type or shape that changes nothing."""
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


def _reshape(op: ir.Operation) -> ir.Value | None:
    """A reshape of a reshape is one reshape."""
    splat = _moved_splat(op)
    if splat is not None:
        return splat
    inner = _maker(op.operands[0], "stablehlo.reshape")
    if inner is not None:
        op.operands[0] = inner.operands[0]
    return _same_type(op)


def _transpose(op: ir.Operation) -> ir.Value | None:
    """A transpose of a transpose is one transpose, or none."""
    splat = _moved_splat(op)
    if splat is not None:
        return splat
    order = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
    inner = _maker(op.operands[0], "stablehlo.transpose")
    if inner is not None:
        first = list(ir.DenseI64ArrayAttr(inner.attributes["permutation"]))
        order = [first[dimension] for dimension in order]
        op.operands[0] = inner.operands[0]
        op.attributes["permutation"] = ir.DenseI64ArrayAttr.get(order)
    return op.operands[0] if order == sorted(order) else None


def _dynamic_slice(op: ir.Operation) -> ir.Value | None:
    """A slice at constant indices, which are clamped to where the slice fits."""
    source, *indices = op.operands
    starts = [_number(index) for index in indices]
    sizes = list(ir.DenseI64ArrayAttr(op.attributes["slice_sizes"]))
    shape = ir.RankedTensorType(source.type).shape
    clamped = [
        min(max(start, 0), extent - size)
        for start, extent, size in zip(starts, shape, sizes, strict=True)
        if isinstance(start, int)
    ]
    return _sliced(op, clamped, sizes) if len(clamped) == len(sizes) else None


def _sliced(op: ir.Operation, starts: Sequence[int], sizes: Sequence[int]) -> ir.Value:
    attributes = {
        "start_indices": starts,
        "limit_indices": [start + size for start, size in zip(starts, sizes, strict=True)],
        "strides": [1] * len(sizes),
    }
    made = ir.Operation.create(
        "stablehlo.slice",
        results=[op.results[0].type],
        operands=[op.operands[0]],
        attributes={key: ir.DenseI64ArrayAttr.get(value) for key, value in attributes.items()},
        ip=ir.InsertionPoint(op),
    )
    return _slice(made) or made.results[0]


def _slice(op: ir.Operation) -> ir.Value | None:
    """A slice of all is the whole, and one of a concatenation can be one of its pieces."""
    splat = _moved_splat(op)
    if splat is not None:
        return splat
    starts, limits, strides = (
        list(ir.DenseI64ArrayAttr(op.attributes[name]))
        for name in ("start_indices", "limit_indices", "strides")
    )
    joined = _maker(op.operands[0], "stablehlo.concatenate")
    if joined is None or any(stride != 1 for stride in strides):
        return _same_type(op) if all(stride == 1 for stride in strides) else None
    along = ir.IntegerAttr(joined.attributes["dimension"]).value
    begin = 0
    for piece in joined.operands:
        end = begin + ir.RankedTensorType(piece.type).shape[along]
        if (begin, end) == (starts[along], limits[along]) and piece.type == op.results[0].type:
            return piece
        begin = end
    return _same_type(op)


RULES: dict[str, Rule] = {
    "stablehlo.add": _add,
    "stablehlo.broadcast_in_dim": _moved_splat,
    "stablehlo.compare": _compare,
    "stablehlo.convert": _same_type,
    "stablehlo.divide": _divide,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.multiply": _multiply,
    "stablehlo.reshape": _reshape,
    "stablehlo.select": _select,
    "stablehlo.slice": _slice,
    "stablehlo.subtract": _subtract,
    "stablehlo.transpose": _transpose,
}
