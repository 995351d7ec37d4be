"""What `mpmd-opt` checks before passes of ours run."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.passes import wellformed
from mpmd.passes.base import PassFailure

TOPOLOGY = 'topology = #mpmd.topology<<"m": <["x"=2]>>>'
FRAGMENT = """
func.func @main(%a: !mpmd.mesh_tensor<"m", tensor<4xf32>>)
    -> !mpmd.mesh_tensor<"m", tensor<4xf32>> attributes {{{0}}} {{
  %0 = mpmd.fragment<mesh="m", origin=["f"]> (%a) {{{1}}} (%x: tensor<4xf32>) {{
    mpmd.return %x : tensor<4xf32>
  }} : (!mpmd.mesh_tensor<"m", tensor<4xf32>>) -> !mpmd.mesh_tensor<"m", tensor<4xf32>>
  return %0 : !mpmd.mesh_tensor<"m", tensor<4xf32>>
}}
"""


def check(text):
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        wellformed.check_signatures(module.operation)
        wellformed.check(module.operation)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ('call_counter = "x"', "'call_counter' must be an unsigned 32-bit integer, got \"x\""),
        ("call_counter = -1 : i32", "unsigned 32-bit integer"),
        ("call_counter = 4294967296 : i64", "unsigned 32-bit integer"),
        ("mpmd.use_set = 1 : i32", "a #mpmd.meshes_with_origins attribute"),
        ('mpmd.inferred_by = ["a", 1]', "an array of strings"),
        ("arg_attrs = []", "'arg_attrs' must be an array of 1 dictionaries, got []"),
        ("res_attrs = [1]", "'res_attrs' must be an array of 1 dictionaries, got [1"),
        ("arg_attrs = [{mhlo.memory_kind = 1}]", "'mhlo.memory_kind' of arg_attrs[0] must be"),
        ("reserved_hbm_bytes = -1", "a number of bytes"),
    ],
)
def test_attributes_of_another_kind_are_refused(attribute, message):
    with pytest.raises(PassFailure) as failure:
        check(FRAGMENT.format(TOPOLOGY, attribute))
    assert message in str(failure.value)


def test_what_passes_write_is_accepted():
    written = (
        'call_counter = 4294967295 : ui32, mpmd.inferred_by = ["a"], reserved_hbm_bytes = 0 : i64,'
        ' arg_attrs = [{tf.aliasing_output = 0 : i32}], res_attrs = [{mhlo.layout_mode = "auto"}]'
    )
    check(FRAGMENT.format(TOPOLOGY, written))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'func.func @f() attributes {topology = #mpmd.topology<<"m": <["x"=2]>>,'
            ' <"m": <["x"=2]>>>} { return }',
            "two meshes with one name",
        ),
        (
            f"func.func @f() attributes {{{TOPOLOGY}}} {{ cf.br ^end\n^end: return }}",
            "@f has 2 blocks; MPMD functions have no branches",
        ),
        (
            "func.func private @g()\nfunc.func @f() { mpmd.call @g() : () -> ()\n return }",
            "calls @g, which has no body",
        ),
        (
            "func.func private @g() { mpmd.call @h() : () -> ()\n return }\n"
            "func.func private @h() { mpmd.call @g() : () -> ()\n return }",
            "mpmd.call is recursive: @g -> @h -> @g",
        ),
        (
            "func.func @f(%a: i32) -> i32 attributes {res_attrs = []} { return %a : i32 }",
            "'res_attrs' must be an array of 1 dictionaries",
        ),
    ],
)
def test_functions(text, message):
    with pytest.raises(PassFailure) as failure:
        check(text)
    assert message in str(failure.value)
