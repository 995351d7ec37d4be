"""The flow of a program: what is taken as one, what is tied."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.functions import functions
from mpmd.passes.partition._flow import TRANSFER, read_flow

M1 = '!mpmd.mesh_tensor<"m1", tensor<4xf32>>'
M2 = '!mpmd.mesh_tensor<"m2", tensor<4xf32>>'
TOPOLOGY = 'topology = #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>'
FUNCTION = """
func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32>
    attributes {mesh_shape = #sdy.mesh<["x"=2]>} {
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def call(operand, counter=None, mesh="m1", stage=None):
    type_ = M1 if mesh == "m1" else M2
    attributes = [] if counter is None else [f"call_counter = {counter} : ui32"]
    attributes += [] if stage is None else [f"stage_id = {stage} : i64"]
    return (
        f'mpmd.fragment_call<mesh="{mesh}", origin=["f"]> @f({operand}) {{{", ".join(attributes)}}}'
        f" : ({type_}) -> {type_}"
    )


def transfer(operand):
    return f"mpmd.transfer {operand} : ({M1}) -> {M2}"


@pytest.fixture
def flow_of():
    with make_context(), ir.Location.unknown():
        kept = []

        def read(*lines):
            body = "\n".join(f"%v{number} = {line}" for number, line in enumerate(lines))
            module = ir.Module.parse(
                f"func.func @main(%a: {M1}, %b: {M1}, %c: {M2}) -> {M1}"
                f" attributes {{{TOPOLOGY}}} {{\n{body}\nreturn %a : {M1}\n}}\n{FUNCTION}"
            )
            kept.append(module)
            return read_flow(next(functions(module.operation)))

        yield read


def test_microbatches_are_one_variant_and_their_inputs_are_tied(flow_of):
    flow = flow_of(call("%a", 0), call("%b", 1))
    assert len(flow.variants) == 1
    a, b, c = flow.arguments
    assert flow.find(a) == flow.find(b) == flow.find(flow.variants[0].inputs[0])
    assert flow.find(c) != flow.find(a)


def test_more_microbatches_add_no_slots(flow_of):
    few = flow_of(*[call("%a", n) for n in range(2)], *[transfer(f"%v{n}") for n in range(2)])
    many = flow_of(*[call("%a", n) for n in range(20)], *[transfer(f"%v{n}") for n in range(20)])
    assert len(many.values) == len(few.values)
    assert len(many.calls) == 40


@pytest.mark.parametrize("other", [{"mesh": "m2", "operand": "%c"}, {"stage": 1, "operand": "%b"}])
def test_meshes_and_stages_are_told_apart(flow_of, other):
    flow = flow_of(call("%a", 0), call(counter=0, **other))
    assert len(flow.variants) == 2


def test_calls_within_a_microbatch_are_told_apart(flow_of):
    flow = flow_of(call("%a"), call("%v0"))
    assert len(flow.variants) == 2
    first, second = flow.variants
    assert flow.find(first.outputs[0]) == flow.find(second.inputs[0])
    assert flow.find(first.inputs[0]) != flow.find(first.outputs[0])


def test_ever_longer_chains_stop_adding_variants(flow_of):
    lengths = []
    for count in (20, 40):
        chain = [call("%a" if not n else f"%v{n - 1}") for n in range(count)]
        lengths.append(len(flow_of(*chain).variants))
    assert lengths[0] == lengths[1] < 20


def test_what_a_call_returns_and_the_next_microbatch_takes_is_tied(flow_of):
    flow = flow_of(call("%a", 0), call("%v0", 1))
    (variant,) = flow.variants
    assert flow.find(variant.inputs[0]) == flow.find(variant.outputs[0])


def test_a_transfer_ties_nothing_across_meshes(flow_of):
    flow = flow_of(transfer("%a"), transfer("%a"), transfer("%b"))
    assert [variant.first.name for variant in flow.variants] == [TRANSFER, TRANSFER]
    first, second = flow.variants
    a, b, _ = flow.arguments
    assert flow.find(first.inputs[0]) == flow.find(a) != flow.find(first.outputs[0])
    assert flow.find(second.inputs[0]) == flow.find(b)
