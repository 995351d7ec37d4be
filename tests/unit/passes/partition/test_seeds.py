"""Programs in which nothing says how to split a value are left alone."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.fragment import Bodies
from mpmd.dialect.functions import functions
from mpmd.passes.partition._flow import read_flow
from mpmd.passes.partition._seeds import has_seeds

TYPE = '!mpmd.mesh_tensor<"m", tensor<4xf32>>'
WHILE = """
  %0 = stablehlo.while(%arg1 = %arg0) : tensor<4xf32> cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    LINE
    stablehlo.return %2 : tensor<4xf32>
  }"""
PLAIN = "stablehlo.tanh OPERAND : tensor<4xf32>"
CONSTRAINT = 'sdy.sharding_constraint OPERAND <@mesh, [{"x"}]> : tensor<4xf32>'
ANNOTATED = (
    "stablehlo.tanh OPERAND {sdy.sharding = "
    '#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>'
)
CALL = "func.call @helper(OPERAND) : (tensor<4xf32>) -> tensor<4xf32>"


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize(
    ("line", "found"), [(PLAIN, False), (CONSTRAINT, True), (ANNOTATED, True), (CALL, True)]
)
def test_has_seeds(line, found, nested, called):
    if nested:
        body = WHILE.replace("LINE", "%2 = " + line.replace("OPERAND", "%arg1"))
    else:
        body = "%0 = " + line.replace("OPERAND", "%arg0")
    use = (
        f'mpmd.fragment_call<mesh="m", origin=[]> @f(%a) : ({TYPE}) -> {TYPE}'
        if called
        else f'mpmd.fragment<mesh="m", origin=[]> (%a) (%arg0: tensor<4xf32>) {{\n{body}\n'
        f"mpmd.return %0 : tensor<4xf32>\n}} : ({TYPE}) -> {TYPE}"
    )
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: {TYPE}) -> {TYPE}
        attributes {{topology = #mpmd.topology<<"m": <["x"=2]>>>}} {{
      %r = {use}
      return %r : {TYPE}
    }}
    func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32>
        attributes {{mesh_shape = #sdy.mesh<["x"=2]>}} {{
      {body}
      return %0 : tensor<4xf32>
    }}
    func.func private @helper(%arg0: tensor<4xf32>) -> tensor<4xf32> {{
      return %arg0 : tensor<4xf32>
    }}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        flow = read_flow(next(functions(module.operation)))
        assert has_seeds(flow, Bodies(module.operation)) == found
