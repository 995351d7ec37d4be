"""Programs are shared: a microbatch more costs calls, and no function."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.passes.export.lower_to_fragment_calls import LowerToFragmentCalls
from mpmd.passes.runner import run_passes

TENSOR = '!mpmd.mesh_tensor<"m0", tensor<4xf32>>'
CALL = (
    '%{0} = mpmd.fragment_call<mesh="m0", origin=["f"]> @body(%{1})'
    " {{call_counter = {0} : ui32}} : ({2}) -> {2}"
)
REGION = (
    '%{0} = mpmd.fragment<mesh="m0", origin=["f"]> (%{1}) {{call_counter = {0} : ui32}}'
    " (%x: tensor<4xf32>) {{\n%y = stablehlo.negate %x : tensor<4xf32>\n"
    "mpmd.return %y : tensor<4xf32>\n}} : ({2}) -> {2}"
)
BODY = (
    "func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> attributes"
    ' {mesh_shape = #sdy.mesh<["x"=2]>} {\n%y = stablehlo.negate %x : tensor<4xf32>\n'
    "return %y : tensor<4xf32>\n}"
)


@pytest.mark.parametrize("form", [CALL, REGION], ids=["calls", "regions"])
@pytest.mark.parametrize("microbatches", [2, 16])
def test_one_function_for_all_microbatches(form, microbatches):
    lines = [
        form.format(number, number - 1 if number else "a", TENSOR) for number in range(microbatches)
    ]
    text = (
        f"func.func @main(%a: {TENSOR}) -> {TENSOR} attributes"
        ' {topology = #mpmd.topology<<"m0": <["x"=2]>>>} {\n'
        + "\n".join(lines)
        + f"\nreturn %{microbatches - 1} : {TENSOR}\n}}\n"
        + (BODY if form is CALL else "")
    )
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        run_passes(module.operation, [LowerToFragmentCalls()])
        assert module.operation.verify()
        names = [ir.StringAttr(op.operation.attributes["sym_name"]).value for op in module.body]
    assert names == ["main", f"p0_f_calls0to{microbatches - 1}.main"]
