"""Arithmetic on constants all of whose elements are equal."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from mpmd.dialect._jaxlib import ir

Number = int | float

_ARITHMETIC: dict[str, Callable[[Number, Number], Number]] = {
    "stablehlo.add": operator.add,
    "stablehlo.subtract": operator.sub,
    "stablehlo.multiply": operator.mul,
    "stablehlo.divide": operator.truediv,
}

_READABLE = (ir.IntegerType, ir.F64Type, ir.F32Type, ir.F16Type, ir.BF16Type)


def splat_of(op: ir.Operation) -> ir.Attribute | None:
    """Returns the element that all elements of a `stablehlo.constant` equal, if they do."""
    type_ = op.results[0].type
    # The bindings cannot even read the value of a constant of any other type, such as complex.
    if not isinstance(ir.ShapedType(type_).element_type, _READABLE):
        return None
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseIntElementsAttr | ir.DenseFPElementsAttr):
        return None
    return value.get_splat_value() if value.is_splat else None


def number_of(element: ir.Attribute) -> Number | None:
    """Returns the value of an integer or floating point element; None for a truth value."""
    if isinstance(element, ir.BoolAttr):
        return None
    return element.value if isinstance(element, ir.IntegerAttr | ir.FloatAttr) else None


def is_true(element: ir.Attribute) -> bool | None:
    """Returns a truth value, or None for an element of another type."""
    return element.value if isinstance(element, ir.BoolAttr) else None


def compute(name: str, left: ir.Attribute, right: ir.Attribute) -> ir.Attribute | None:
    """Returns the element that operation `name` makes of two elements, where that is exact.

    Python computes in double precision, which rounds to the result of the narrower types. Integers
    that overflow and what is not finite are left to the device.
    """
    function, x, y = _ARITHMETIC.get(name), number_of(left), number_of(right)
    if function is None or x is None or y is None:
        return None
    if isinstance(left, ir.IntegerAttr):
        return None if name == "stablehlo.divide" else _integer(left.type, int(function(x, y)))
    if isinstance(left.type, ir.F64Type) or (name == "stablehlo.divide" and y == 0):
        return None
    result = function(x, y)
    return ir.FloatAttr.get(left.type, result) if math.isfinite(result) else None


def _integer(type_: ir.Type, value: int) -> ir.Attribute | None:
    integer = ir.IntegerType(type_)
    bits = integer.width if integer.is_unsigned else integer.width - 1
    low = 0 if integer.is_unsigned else -(1 << bits)
    return ir.IntegerAttr.get(type_, value) if low <= value < (1 << bits) else None


def constant(element: ir.Attribute, like: ir.Operation) -> ir.Value:
    """Creates the constant of `element` that has the type of the result of `like`, before it."""
    type_ = like.results[0].type
    return ir.Operation.create(
        "stablehlo.constant",
        results=[type_],
        attributes={"value": ir.DenseElementsAttr.get_splat(type_, element)},
        ip=ir.InsertionPoint(like),
        loc=like.location,
    ).result
