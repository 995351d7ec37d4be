"""The view over both forms of fragments, and what rewrites them."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.attributes import Origin
from mpmd.dialect.fragment import ARGUMENT, Bodies, Fragment, compose, edit, fragments, prune
from mpmd.dialect.functions import callee_name, entry_block, functions
from mpmd.passes.common.outline_fragments import OutlineFragments

TEXT = """
!t = tensor<f64>
!m = !mpmd.mesh_tensor<"m0", tensor<f64>>
func.func @main(%a: !m, %b: !m) -> (!m, !m)
    attributes {topology = #mpmd.topology<<"m0": <["x"=1]>>>} {
  %0:2 = mpmd.fragment<mesh="m0", origin=["f"], stage=2> (%a, %b)
      {call_counter = 1 : ui32, note} (%p: !t, %q: !t) {
    %1 = stablehlo.add %p, %p : !t
    %2 = stablehlo.multiply %q, %q : !t
    mpmd.return %1, %2 : !t, !t
  } : (!m, !m) -> (!m, !m)
  %3 = mpmd.fragment<mesh="m0", origin=["g"(1), "h"]> (%0#0) (%p: !t) {
    %1 = stablehlo.subtract %p, %p : !t
    mpmd.return %1 : !t
  } : (!m) -> !m
  %4 = mpmd.fragment<mesh="m0", origin=["g"(1), "h"]> (%0#1) (%p: !t) {
    %1 = stablehlo.subtract %p, %p : !t
    mpmd.return %1 : !t
  } : (!m) -> !m
  return %3, %4 : !m, !m
}
"""


@pytest.fixture(autouse=True)
def context():
    with make_context(), ir.Location.unknown():
        yield


@pytest.fixture(params=["regions", "calls"])
def module(request, context):
    parsed = ir.Module.parse(TEXT)
    if request.param == "calls":
        OutlineFragments().run(parsed.operation)
    return parsed


def main_block(module):
    return entry_block(next(functions(module.operation)))


def test_a_fragment_tells_the_same_in_both_forms(module):
    first, second, _ = fragments(main_block(module))
    assert (first.mesh, first.stage, first.call_counter) == ("m0", 2, 1)
    assert first.origins == (Origin("f"),)
    assert first.transpose_count == 0
    assert first.is_user
    assert set(first.discardable) == {"call_counter", "note"}
    assert second.origins == (Origin("g", 1), Origin("h"))
    assert second.transpose_count is None
    assert second.stage is None
    assert [len(f.operands) for f in (first, second)] == [2, 1]
    body = second.body(Bodies(module.operation))
    assert body.operations[0].operation.name == "stablehlo.subtract"
    assert repr(first) == "<Fragment f on m0>"


def test_only_fragments_have_a_view(module):
    *_, last = main_block(module).operations
    assert Fragment.of(last) is None


def merged(module, first, second, result):
    """Returns `first` and `second` as one fragment, with what the second one returns."""
    return compose(
        Bodies(module.operation),
        [first, second],
        first.operands,
        [[(ARGUMENT, 0), (ARGUMENT, 1)], [(0, result)]],
        [(1, 0)],
        mesh="m0",
        origins=[*first.origins, *second.origins],
        ip=ir.InsertionPoint(second.op),
    )


def test_composing_leaves_out_what_the_outputs_do_not_need(module):
    first, second, third = fragments(main_block(module))
    is_call = first.is_call
    new = merged(module, first, second, 0)
    second.results[0].replace_all_uses_with(new.results[0])
    second.op.erase()
    third.results[0].replace_all_uses_with(new.results[0])
    third.op.erase()
    first.op.erase()
    module.operation.verify()
    assert new.is_call is is_call
    names = [op.operation.name for op in new.body(Bodies(module.operation)).operations]
    assert names[:2] == ["stablehlo.add", "stablehlo.subtract"]
    assert len(names) == 3
    assert new.origins == (Origin("f"), Origin("g", 1), Origin("h"))


def outlined():
    module = ir.Module.parse(TEXT)
    OutlineFragments().run(module.operation)
    return module


def test_equal_compositions_share_a_function():
    module = outlined()
    bodies = Bodies(module.operation)
    first, second, third = fragments(main_block(module))

    def composed(part, result):
        return compose(
            bodies,
            [first, part],
            first.operands,
            [[(ARGUMENT, 0), (ARGUMENT, 1)], [(0, result)]],
            [(1, 0)],
            mesh="m0",
            origins=(),
            ip=ir.InsertionPoint(third.op),
        )

    names = [
        callee_name(composed(part, result).op)
        for part, result in ((second, 0), (third, 0), (second, 1))
    ]
    assert names[0] == names[1]
    assert names[0] != names[2]


def test_pruning_drops_results_and_the_operands_that_only_they_need(module):
    first, *_ = fragments(main_block(module))
    bodies = Bodies(module.operation)
    assert prune(bodies, first, [True, True], ir.InsertionPoint(first.op)) is None
    pruned = prune(bodies, first, [False, True], ir.InsertionPoint(first.op))
    assert pruned is not None
    new, taken = pruned
    assert taken == [1]
    assert (new.stage, new.call_counter) == (2, 1)
    assert set(new.discardable) == {"call_counter", "note"}
    names = [op.operation.name for op in new.body(bodies).operations]
    assert names[0] == "stablehlo.multiply"
    assert len(names) == 2


def test_pruning_alike_shares_a_function():
    module = outlined()
    bodies = Bodies(module.operation)
    first, *_ = fragments(main_block(module))
    ip = ir.InsertionPoint(first.op)
    names = {callee_name(prune(bodies, first, [True, False], ip)[0].op) for _ in range(3)}
    assert len(names) == 1


def test_editing_a_call_changes_no_other_call():
    module = outlined()
    bodies = Bodies(module.operation)
    _, second, third = fragments(main_block(module))
    edits = []

    def change(block):
        edits.append(block)
        block.operations[0].operation.attributes["edited"] = ir.UnitAttr.get()

    new = edit(bodies, second, change, "edit")
    assert callee_name(new.op) != callee_name(third.op)
    assert "edited" not in third.body(bodies).operations[0].operation.attributes
    again = edit(bodies, third, change, "edit")
    assert callee_name(again.op) == callee_name(new.op)
    assert len(edits) == 1
    module.operation.verify()


def test_names_count_up_from_the_label():
    bodies = Bodies(outlined().operation)
    assert bodies.unique_name("new") == "new"
    assert bodies.unique_name("f_fwd") == "f_fwd_0"
    bodies.add_function("f_fwd", [], {})
    bodies.add_function("f_fwd_0", [], {})
    assert bodies.unique_name("f_fwd_0") == "f_fwd_2"


def test_unused_functions_go_only_when_something_was_made():
    module = ir.Module.parse("func.func private @unused() { return }")
    Bodies(module.operation).erase_unused()
    assert len(list(functions(module.operation))) == 1
    bodies = Bodies(module.operation)
    bodies.remember("key", "unused")
    bodies.erase_unused()
    assert not list(functions(module.operation))


def test_purity_of_a_function_is_known():
    module = ir.Module.parse(
        """
func.func private @pure(%a: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.add %a, %a : tensor<f64>
  return %0 : tensor<f64>
}
func.func private @log(%a: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.custom_call @log(%a) {has_side_effect = true} : (tensor<f64>) -> tensor<f64>
  return %0 : tensor<f64>
}"""
    )
    bodies = Bodies(module.operation)
    assert bodies.is_pure_function("pure")
    assert not bodies.is_pure_function("log")
