"""The text of assignments reads back, and what is wrong with it is said."""

import pytest

from mpmd.passes.import_._assignment import (
    Place,
    format_assignment,
    parse_indices,
    parse_names,
)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("m1", Place("m1")),
        ("m1#pinned_host", Place("m1", "pinned_host")),
        ("m1/0", Place("m1", None, 0)),
        ("m1#pinned_host/12", Place("m1", "pinned_host", 12)),
    ],
)
def test_places_round_trip(text, place):
    assert Place.parse(text) == place
    assert str(place) == text


@pytest.mark.parametrize("text", ["", "f@m1", "f@m1,g@m2/3", "layer(0)@m1#pinned_host,g@m1"])
def test_names_round_trip(text):
    assert format_assignment(parse_names(text)) == text


@pytest.mark.parametrize("text", ["", "0@m1", "0@m1,12@m2#device"])
def test_indices_round_trip(text):
    assert format_assignment(parse_indices(text)) == text


def test_spaces_and_a_last_comma_are_allowed():
    assert parse_names("f@m1, g@m2,") == (("f", Place("m1")), ("g", Place("m2")))


def test_the_last_place_counts():
    assert parse_names("f@m1,f@m2/1") == (("f", Place("m2", None, 1)),)
    assert parse_indices("0@m1,0@m2") == ((0, Place("m2")),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f", "must contain '@' denoting a name assigned to a mesh .and stage., got: f"),
        ("f@", "the mesh is missing in ''"),
        ("f@/1", "the mesh is missing in '/1'"),
        ("f@m1/", "Failed to parse stage number: $"),
        ("f@m1/x", "Failed to parse stage number: x"),
        ("f@m1/-1", "Failed to parse stage number: -1"),
    ],
)
def test_wrong_names(text, message):
    with pytest.raises(ValueError, match=message):
        parse_names(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0", "must contain '@' denoting a name assigned to a mesh, got: 0"),
        ("-1@m1", "Failed to parse index: -1"),
        ("x@m1", "Failed to parse index: x"),
        ("0@m1/1", "'m1/1' has a stage, which only labels have"),
    ],
)
def test_wrong_indices(text, message):
    with pytest.raises(ValueError, match=message):
        parse_indices(text)
