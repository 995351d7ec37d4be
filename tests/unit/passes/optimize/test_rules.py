import pytest

from mpmd.dialect.attributes import Origin
from mpmd.passes.optimize._fragment_info import FragmentInfo
from mpmd.passes.optimize._rules import (
    FragmentMergeRule,
    FragmentScheduleRule,
    format_rules,
    parse_merge_rules,
    parse_schedule_rules,
)

F = FragmentInfo((Origin("f"),), 3, 0, "kKeepTransferred", "m0")
G = FragmentInfo((Origin("g", 1), Origin("h")), mesh_name="m0")


def test_schedule_rule():
    text = (
        'FragmentScheduleRule(ordered_fragments=[FragmentInfo(origins=["f"],stage=3,call_counter=0,'
        'split_type=kKeepTransferred,mesh_name="m0")->'
        'FragmentInfo(origins=["g"(1),"h"],mesh_name="m0")])'
    )
    assert parse_schedule_rules(text) == (FragmentScheduleRule((F, G)),)
    assert format_rules(parse_schedule_rules(text)) == text


def test_merge_rules_separated_by_commas_and_spaces():
    rule = FragmentMergeRule((F, G), FragmentInfo((Origin("all"),), mesh_name="m0"))
    assert parse_merge_rules(f" {rule} , {rule}") == (rule, rule)
    assert parse_merge_rules(format_rules((rule, rule))) == (rule, rule)


def test_no_rules():
    assert parse_merge_rules("") == ()


def test_fields_in_any_order_and_stage_id():
    text = (
        'FragmentInfo(origins=["f"],mesh_name="m0",split_type=kKeepTransferred,stage_id=3,'
        "call_counter=0)"
    )
    (rule,) = parse_schedule_rules(f"FragmentScheduleRule(ordered_fragments=[{text}->{text}])")
    assert rule.ordered_fragments == (F, F)


ONE = 'FragmentInfo(origins=["f"])'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("junk", r"expected 'FragmentMergeRule\(' at 'junk' \(character 1\)"),
        (f"FragmentMergeRule(sources=[{ONE}],target={ONE})", "at least two source fragments"),
        (f"FragmentMergeRule(sources=[{ONE},{ONE}])", r"expected ',' at '\)'"),
        (f"FragmentMergeRule(sources=[{ONE},{ONE}],target={ONE}", r"expected '\)' at the end"),
        ("FragmentMergeRule(sources=[FragmentInfo(origins=[f])", "a name in double quotes at 'f"),
        ("FragmentMergeRule(sources=[FragmentInfo(origins=[],x=1)", "has no field 'x'"),
        ('FragmentMergeRule(sources=[FragmentInfo(origins=["f"(x)])', "for 'transpose count'"),
        (
            "FragmentMergeRule(sources=[FragmentInfo(origins=[],stage=1,stage=2)",
            "'stage' specified more than once",
        ),
        (
            "FragmentMergeRule(sources=[FragmentInfo(origins=[],split_type=half)",
            "kKeepTransferred, kDropTransferred, not 'half'",
        ),
    ],
)
def test_what_is_wrong_and_where(text, message):
    with pytest.raises(ValueError, match=message):
        parse_merge_rules(text)
