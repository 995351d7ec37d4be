"""The mesh that propagation runs in, and the way back to the meshes of the topology."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.dialect.attributes import MeshShape
from mpmd.passes.partition._meshes import shared_mesh


@pytest.fixture(autouse=True)
def context():
    with make_context() as context, ir.Location.unknown():
        yield context


def mesh_for(text, **shapes):
    module = ir.Module.parse(text)
    return shared_mesh(module.operation, {name: MeshShape(axes) for name, axes in shapes.items()})


def sharding(text):
    return ir.Attribute.parse(f"#sdy.sharding<{text}>")


def test_no_mesh_no_propagation():
    assert mesh_for("", m1=(("x", 2),)) is None


def test_one_mesh_for_all_is_used_as_it_is():
    mesh = mesh_for('sdy.mesh @mesh = <["x"=2]>', m1=(("x", 2),), m2=(("x", 2),))
    given = sharding('@mesh, [{"x"}]')
    assert mesh.is_uniform
    assert mesh.shared(given) == given == mesh.fitted(given, "m2", (4,))


@pytest.fixture
def different():
    return mesh_for(
        'sdy.mesh @m1 = <["x"=4, "y"=2]>\nsdy.mesh @m2 = <["x"=2, "z"=2]>',
        m1=(("x", 4), ("y", 2)),
        m2=(("x", 2), ("z", 2)),
    )


def test_different_meshes_share_axes_by_name_with_the_smallest_size(different):
    assert not different.is_uniform
    assert dict(different.axes) == {"x": 2, "y": 2, "z": 2}
    assert different.symbol not in ("m1", "m2")


def test_to_the_shared_mesh_and_back(different):
    given = sharding('@m2, [{"x"}, {"z"}]')
    shared = different.shared(given)
    assert str(shared) == f'#sdy.sharding<@{different.symbol}, [{{"x"}}, {{"z"}}]>'
    assert different.fitted(shared, "m2", (4, 4)) == given


@pytest.mark.parametrize(
    ("text", "mesh", "shape", "fitted"),
    [
        ('[{"x"}, {"y"}]', "m2", (4, 4), '@m2, [{"x"}, {}]'),  # m2 has no y
        ('[{"x"}, {}]', "m1", (2, 4), "@m1, [{}, {}]"),  # 2 rows on 4 devices
        ('[{"x"}, {}]', "m1", (8, 4), '@m1, [{"x"}, {}]'),
        ('[{"y", "x"}, {}]', "m1", (4, 4), '@m1, [{"y"}, {}]'),  # 2 x 4 devices are too many
        ('[{"x", "y"}, {}]', "m2", (4, 4), '@m2, [{"x"}, {}]'),
        ('[{}, {"y"}]', "m1", (4, 4), '@m1, [{}, {"y"}]'),
    ],
)
def test_what_does_not_fit_a_mesh_is_dropped(different, text, mesh, shape, fitted):
    shared = sharding(f"@{different.symbol}, {text}")
    assert different.fitted(shared, mesh, shape) == sharding(fitted)
