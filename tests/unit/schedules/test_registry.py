"""What the registry says of a family agrees with what the family makes."""

import pytest

from mpmd.schedules import build
from mpmd.schedules.registry import FAMILIES, splits_backward


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_splits_backward(name):
    stages = FAMILIES[name].stages_per_mesh or 2
    assert build(name, 2, 8, stages).splits_backward == splits_backward(name)


def test_no_schedule_splits_nothing_and_a_search_may():
    assert not splits_backward("None")
    assert splits_backward("Auto")


def test_unknown_name():
    with pytest.raises(ValueError, match="there is no schedule 'GPipes'"):
        splits_backward("GPipes")
