"""The algebra of mesh sets, and the options that the passes of inference share."""

import pytest

from mpmd.dialect._jaxlib import ir, make_context
from mpmd.passes.base import OptionError
from mpmd.passes.import_._mesh_sets import (
    NOWHERE,
    attribute,
    intersection,
    read,
    union,
    with_origin,
)
from mpmd.passes.import_.infer_mesh_pipeline import InferMeshPipeline

A = (("m1", ("f",)), ("m2", ()))
B = (("m2", ("g",)), ("m1", ("f", "h")), ("m3", ()))


def test_union_keeps_the_order_of_the_first_and_joins_origins() -> None:
    assert union(A, B) == (("m1", ("f", "h")), ("m2", ("g",)), ("m3", ()))
    assert union(NOWHERE, B) == B
    assert union(A, NOWHERE) == A


def test_intersection_has_the_origins_of_both() -> None:
    assert intersection(A, B) == (("m1", ("f", "h")), ("m2", ("g",)))
    assert intersection(A, (("m3", ()),)) == NOWHERE


def test_with_origin_replaces_the_origins() -> None:
    assert with_origin(B, "in") == (("m2", ("in",)), ("m1", ("in",)), ("m3", ("in",)))


@pytest.mark.parametrize("meshes", [NOWHERE, A, B])
def test_attributes_read_back(meshes: tuple) -> None:
    with make_context(), ir.Location.unknown():
        assert read(attribute(meshes)) == meshes


def test_pipeline_reads_its_options_back() -> None:
    pipeline = InferMeshPipeline.parse(
        {"infer-transfers": "true", "constraints": "0:1, 2:3", "error-limit": "-1"}
    )
    assert pipeline.constraints == ((0, 1), (2, 3))
    assert "constraints=0:1,2:3" in str(pipeline)
    names = [each.name for each in pipeline.passes()]
    assert names.count("mpmd-infer-mesh-populate-use-set") == 3
    assert "mpmd-infer-mesh-validate-src-set-not-empty" not in names


@pytest.mark.parametrize(
    ("option", "text"), [("constraints", "0"), ("constraints", "0:a"), ("error-limit", "0")]
)
def test_pipeline_refuses_wrong_options(option: str, text: str) -> None:
    with pytest.raises(OptionError, match=option):
        InferMeshPipeline.parse({option: text})
