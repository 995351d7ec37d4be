"""Reading IFRT programs: both spellings, generic form without the dialect, types, fragments."""

import io
import itertools

import jax  # noqa: F401  (before the dialect is loaded, as programs do)
import pytest

from mpmd.dialect import ifrt
from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.ifrt import ArrayType, IfrtError, ShardingParam, program
from mpmd.dialect.ifrt.spelling import respell
from tests.unit.runtime.programs import ProgramText, affine, array, on_first

TEMPLATE = """
#sp = #ifrt.sharding_param<2 to [0] on 2>
!a = !ifrt.array<tensor<8xf32>, #sp, [0, 1]>
!b = !ifrt.array<tensor<8xf32>, #sp, [2, 3]>
module {
  func.func public @main(%arg0: !a {ifrt.donated}) -> !b attributes {ifrt.function} {
    %0, %c0 = ifrt.Call @f::@main(%arg0) on devices [0, 1]FIRST : (!a) -> !a
    %1, %c1 = ifrt.CopyArrays(%0) : (!a) -> !b
    %2, %c2 = ifrt.Call @f::@main(%1) after %c1 on devices [2, 3]SECOND : (!b) -> !b
    %3, %c3 = ifrt.Call @f::@main(%2) on devices [2, 3] : (!b) -> !b
    return %3 : !b
  }
  module @f attributes {sym_visibility = "private"} {
    func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
      return %arg0 : tensor<8xf32>
    }
  }
}
"""
OLD = TEMPLATE.replace(
    "FIRST", ' {ifrt.mesh_name = "m0", io_aliases = [array<i32: 0, 0>]}'
).replace("SECOND", ' {donated_input_indices = array<i32: 0>, ifrt.mesh_name = "m1"}')
NEW = TEMPLATE.replace(
    "FIRST", ' <io_aliases = [array<i32: 0, 0>]> {ifrt.mesh_name = "m0"}'
).replace("SECOND", ' <donated_input_indices = [0]> {ifrt.mesh_name = "m1"}')
NEW = NEW.replace('attributes {sym_visibility = "private"}', '<sym_visibility = "private">')


@pytest.mark.parametrize("text", [OLD, NEW], ids=["old", "new"])
def test_both_spellings_give_the_same_program(text):
    read = ifrt.read_program(text)
    here = ShardingParam((2,), (0,), (2,))
    first, second = (ArrayType((8,), "f32", here, devices) for devices in ((0, 1), (2, 3)))
    assert read.name == "main"
    assert read.types == (first, first, second, second, second)
    assert read.donated == (True,)
    assert read.results == (4,)
    assert read.num_devices == 4
    assert read.steps == (
        ifrt.Call("@f::@main", (0, 1), (0,), (1,), (), ((0, 0),), "m0"),
        ifrt.Transfer((1,), (2,), reshard=False),
        ifrt.Call("@f::@main", (2, 3), (2,), (3,), (0,), (), "m1"),
        ifrt.Call("@f::@main", (2, 3), (3,), (4,), (), (), "devices [2, 3]"),
    )
    assert {name: f.entry for name, f in read.fragments.items()} == {"@f::@main": "main"}


def test_respelling_is_exact():
    assert respell(OLD, strict=True) == NEW
    assert respell(NEW, strict=True) == NEW
    assert respell(OLD, strict=False).count("io_aliases") == 1
    assert respell(respell(NEW, strict=False), strict=True) == NEW
    empty = OLD.replace("array<i32: 0>", "array<i32>")
    assert "<donated_input_indices = []> {ifrt" in respell(empty, strict=True)
    assert "{donated_input_indices = array<i32>," in respell(
        respell(empty, strict=True), strict=False
    )


def test_text_bytecode_and_modules():
    text = ProgramText()
    value = text.argument(on_first("8xf32", [0, 1]))
    callee = text.module("f", affine("8xf32", 2.0))
    source = text.text(*text.call(callee, [value], [value.type], [0, 1], mesh="m"))
    context = ifrt.make_ifrt_context()
    module = ir.Module.parse(source, context)
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    reads = [ifrt.read_program(s) for s in (source, module, bytecode.getvalue(), str(module))]
    for one, other in itertools.pairwise(reads):
        assert one == other


def test_generic_form_is_read_without_the_dialect(monkeypatch):
    def without():
        context = make_context()
        context.allow_unregistered_dialects = True
        return context

    text = ProgramText()
    value = text.argument(on_first("8xf32", [0, 1]), donated=True)
    scalar = text.argument(array("f32", [0]))
    callee = text.module("f", affine("8xf32", 2.0))
    (value,) = text.call(callee, [value], [value.type], [0, 1], aliases=[(0, 0)], mesh="m")
    (value,) = text.reshard([value], [array("8xf32", [2])])
    source = text.text(value, scalar)
    expected = ifrt.read_program(source)
    monkeypatch.setattr(program, "make_ifrt_context", without)
    assert ifrt.read_program(source) == expected
    with pytest.raises(IfrtError, match="has no ifrt dialect"):
        ifrt.read_program(OLD)


@pytest.mark.parametrize(
    "text",
    [
        "!ifrt.array<tensor<4x8xf32>, #ifrt.sharding_param<2x1 to [0] on 2>, [0, 1]>",
        "!ifrt.array<tensor<complex<f32>>, #ifrt.sharding_param< to [0] on 1>, [3]>",
        "!ifrt.array<tensor<2x3xcomplex<f64>>, #ifrt.sharding_param<2x1 to [0] on 2>, [0, 1]>",
        "!ifrt.array<tensor<8xbf16>, #ifrt.sharding_param<2 to [1, 0] on 3x2>, [5, 4, 3, 2, 1, 0], "
        'memory_kind = "pinned_host">',
    ],
)
def test_types_round_trip(text):
    parsed = ArrayType.parse(text)
    assert ArrayType.parse(str(parsed)) == parsed
    with ifrt.make_ifrt_context() as context:
        assert str(ir.Type.parse(text, context)) == str(ir.Type.parse(str(parsed), context)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("!ifrt.array<tensor<8xf32>, #ifrt.sharding_unspecified, [0]>", "needs a sharding"),
        ("!ifrt.array<tensor<?xf32>, #ifrt.sharding_param<1 to [0] on 1>, [0]>", "dynamic shapes"),
        ("!ifrt.array<tensor<8xf32>, #ifrt.sharding_param<1x1 to [0] on 1>, [0]>", "another rank"),
        ("!ifrt.array<tensor<8xf32>, #ifrt.sharding_param<1 to [0] on 2>, [0]>", "another number"),
        ("!ifrt.array<tensor<8xf32>, #ifrt.sharding_param<1 to [0] on 2>, [0, 0]>", "listed twice"),
        ("!ifrt.array<tensor<9xf32>, #ifrt.sharding_param<2 to [0] on 2>, [0, 1]>", "9 cannot be"),
        ("!ifrt.array<tensor<8xf32>, #ifrt.sharding_param<3 to [0] on 2>, [0, 1]>", "3 shards"),
        ("!ifrt.array<tensor<8xf32>, #ifrt.sharding_param<2 to [1] on 2>, [0, 1]>", "permutation"),
        ("tensor<8xf32>", "not an array type"),
        (
            '!ifrt.array<tensor<8xf32>, #ifrt.sharding_param<1 to [0] on 1>, [0], layout = "x">',
            "custom layouts",
        ),
    ],
)
def test_types_that_cannot_run(text, message):
    with pytest.raises(IfrtError, match=message):
        ArrayType.parse(text)


def test_operations_that_cannot_run():
    text = ProgramText()
    value = text.argument(on_first("8xf32", [0, 1]))
    (value,) = text._operation("ifrt.Frobnicate", "", "", [value], [value.type])
    with pytest.raises(IfrtError):
        ifrt.read_program(text.text(value))


def fragment(text: str, call: int = 0):
    read = ifrt.read_program(text)
    step = [step for step in read.steps if isinstance(step, ifrt.Call)][call]
    types = [[read.types[value] for value in values] for values in (step.inputs, step.outputs)]
    return ifrt.fragment_module(read.fragments[step.fragment], step, *types)


def test_donation_follows_the_call():
    first, second, third = (fragment(OLD, call).text for call in range(3))
    assert "tf.aliasing_output = 0 : i32" in first
    assert "jax.buffer_donor = true" in second
    assert "tf.aliasing_output" not in second + third
    assert "jax.buffer_donor" not in first + third
    marked = OLD.replace("%arg0: tensor<8xf32>)", "%arg0: tensor<8xf32> {jax.buffer_donor = true})")
    assert fragment(marked, 2).text == third


def test_equal_fragments_have_equal_text_whatever_their_names():
    renamed = OLD.replace("@f", "@another").replace(
        "tensor<8xf32> {", "tensor<8xf32> attributes {reserved_hbm_bytes = 5 : i64} {"
    )
    assert renamed.count("reserved") == 1
    assert fragment(renamed).text == fragment(OLD).text
    assert fragment(renamed).name == "another"


def test_shardings_of_a_fragment():
    assert 'sdy.mesh @devices = <["devices"=2]>' in fragment(OLD).text
    assert '#sdy.sharding<@devices, [{"devices"}]>' in fragment(OLD).text
    own = OLD.replace(
        'module @f attributes {sym_visibility = "private"} {',
        'module @f { sdy.mesh @mesh = <["x"=2]>',
    ).replace(
        "%arg0: tensor<8xf32>)",
        '%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})',
    )
    assert "@devices" not in fragment(own).text
    older = OLD.replace(
        "%arg0: tensor<8xf32>)", '%arg0: tensor<8xf32> {mhlo.sharding = "{replicated}"})'
    )
    assert fragment(older).text.count('mhlo.sharding = "{devices=[2]0,1}"') == 2


def test_sub_axes_are_merged():
    texts = {
        "2x4 to [0, 1] on 4x2": '[{"devices":(1)2}, {"devices":(2)4}]',
        "4x2 to [1, 0] on 4x2": '[{"devices":(2)4}, {"devices":(1)2}]',
        "8x1 to [0, 1] on 4x2": '[{"devices"}, {}]',
        "8x1 to [1, 0] on 4x2": '[{"devices":(2)4, "devices":(1)2}, {}]',
        "2x2 to [0, 2, 1] on 2x2x2": '[{"devices":(2)2}, {"devices":(1)2}]',
        "1x1 to [0] on 8": "[{}, {}]",
    }
    for text, expected in texts.items():
        sharding = ShardingParam.parse(f"#ifrt.sharding_param<{text}>")
        assert sharding.sdy_text("m") == f"#sdy.sharding<@m, {expected}>"


def test_a_function_beside_main_as_callee():
    text = OLD.replace("@f::@main", "@f").replace(
        'module @f attributes {sym_visibility = "private"} {\n    func.func @main',
        "func.func private @g(%x: tensor<8xf32>) -> tensor<8xf32> { return %x : tensor<8xf32> }\n"
        "    func.func private @f",
    )
    text = text.removesuffix("}\n}\n") + "}\n"
    made = fragment(text)
    assert made.name == "f"
    assert "func.func public @main(%arg0: tensor<8xf32>" in made.text
    assert "@f" not in made.text
