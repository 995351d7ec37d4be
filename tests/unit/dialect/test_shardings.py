"""Reading shardings, and writing them on fragments."""

import pytest

from mpmd.dialect import shardings
from mpmd.dialect._jaxlib import ir, make_context


@pytest.fixture(autouse=True)
def context():
    with make_context() as context, ir.Location.unknown():
        yield context


def sharding(text):
    return ir.Attribute.parse(f"#sdy.sharding<@mesh, {text}>")


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("[{}, {}]", 6 * 8),
        ('[{"x"}, {}]', 3 * 8),
        ('[{}, {"x", "y"}]', 6),
        ('[{"y"}, {"x"}]', 2 * 4),  # 6 rows over 4 devices: 2 on the fullest
        ('[{}, {"y":(1)2}]', 6 * 4),
    ],
)
def test_local_elements(text, elements):
    assert shardings.local_elements(sharding(text), (6, 8), {"x": 2, "y": 4}) == elements


def test_an_unknown_sharding_splits_nothing():
    assert shardings.local_elements(None, (6, 8), {"x": 2}) == 48
    assert shardings.split_axes(None) is None is shardings.split_axes(sharding("[{}, {}]"))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ('[{"x"}, {}]', '[{"x", ?}, {?}]', True),
        ('[{"x"}, {}]', '[{}, {"x"}]', False),
        ('[{"x"}, {}]', '[{"x"}, {}], replicated={"y"}', True),
        ("[{}, {}]", '[{}, {}], unreduced={"y"}', False),
        ('[{"y":(1)2}, {}]', '[{"y":(2)2}, {}]', False),
        ('[{"y":(1)2}, {}]', '[{"y"}, {}]', False),
    ],
)
def test_equivalent(left, right, same):
    assert shardings.equivalent(sharding(left), sharding(right)) == same


def test_unknown_and_unsplit_are_equivalent():
    assert shardings.equivalent(None, sharding("[{}, {}]"))
    assert not shardings.equivalent(None, sharding('[{"x"}, {}]'))


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("[{?}, {}]", "[{}, {}]"),
        ('[{"x", ?}p1, {"y", ?}]', '[{"x"}, {"y"}]'),
        ('[{"x"}p0, {"y":(1)2, ?}], replicated={"z"}', '[{"x"}, {"y":(1)2}], replicated={"z"}'),
    ],
)
def test_close_sharding(text, closed):
    assert shardings.close_sharding(sharding(text)) == sharding(closed)


def test_types_carry_shardings():
    type_ = ir.Type.parse(
        '!mpmd.mesh_tensor<"m", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="a">'
    )
    found = shardings.sharding_of_type(type_)
    assert found == sharding('[{"x"}, {}]')
    assert shardings.sharding_text(found) == '@mesh, [{"x"}, {}]'
    assert shardings.mesh_symbol(found) == "mesh"
    assert shardings.sharding_of_type(ir.F32Type.get()) is None


def test_a_missing_list_is_filled_up_open():
    type_ = '!mpmd.mesh_tensor<"m", tensor<4x8xf32>>'
    module = ir.Module.parse(
        f"func.func @main(%a: {type_}, %b: {type_}) -> {type_}"
        ' attributes {topology = #mpmd.topology<<"m": <["x"=2]>>>} {'
        '\n%0 = mpmd.fragment<mesh="m", origin=[]> (%a, %b)'
        " (%c: tensor<4x8xf32>, %d: tensor<4x8xf32>) { mpmd.return %c : tensor<4x8xf32> }"
        f" : ({type_}, {type_}) -> {type_}\nreturn %0 : {type_}\n}}"
    )
    fragment = module.body.operations[0].regions[0].blocks[0].operations[0].operation
    assert shardings.read_shardings(fragment, shardings.IN) is None
    shardings.set_sharding(fragment, shardings.IN, 1, sharding('[{"x"}, {}]'))
    assert shardings.read_shardings(fragment, shardings.IN) == [
        sharding("[{?}, {?}]"),
        sharding('[{"x"}, {}]'),
    ]
