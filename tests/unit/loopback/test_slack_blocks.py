"""What Slack refuses in the blocks of a message or a view."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loopback.slack.blocks import (
    check_message_blocks,
    check_view_blocks,
    interactive_elements,
    markdown_characters,
    with_block_ids,
)


def button(**fields):
    text = {"type": "plain_text", "text": "Approve"}
    return {"type": "button", "text": text, "action_id": "approve", **fields}


def labelled(length):
    return button(text={"type": "plain_text", "text": "x" * length})


def actions(*elements):
    return {"type": "actions", "elements": list(elements)}


def section(length=5, **fields):
    return {"type": "section", "text": {"type": "mrkdwn", "text": "x" * length}, **fields}


def header(length):
    return {"type": "header", "text": {"type": "plain_text", "text": "x" * length}}


def buttons(count):
    return actions(*(button(action_id=f"a{number}") for number in range(count)))


def select(count):
    options = [{"text": {"type": "plain_text", "text": "o"}, "value": f"{n}"} for n in range(count)]
    return {"type": "static_select", "action_id": "pick", "options": options}


AT_THE_LIMIT = {
    "fifty blocks": [{"type": "divider"}] * 50,
    "section of 3000": [section(3000)],
    "header of 150": [header(150)],
    "button text of 75": [actions(labelled(75))],
    "button value of 2000": [actions(button(value="x" * 2000))],
    "action id of 255": [actions(button(action_id="x" * 255))],
    "twenty-five buttons": [buttons(25)],
    "markdown of 12000": [{"type": "markdown", "text": "x" * 12_000}],
    "a hundred options": [actions(select(100))],
    "button beside text": [section(accessory=button())],
    "context": [{"type": "context", "elements": [{"type": "mrkdwn", "text": "by Ada"}]}],
    "table": [{"type": "table", "rows": [[{"type": "raw_text", "text": "a"}]]}],
}

REFUSED = {
    "no list": ({"type": "divider"}, "must be an array"),
    "fifty-one blocks": ([{"type": "divider"}] * 51, "no more than 50 items"),
    "no object": (["divider"], "must be an object"),
    "unknown type": ([{"type": "card_of_plan"}], "unsupported type: card_of_plan"),
    "no type": ([{"text": "hi"}], "unsupported type"),
    "long section": ([section(3001)], "less than 3001"),
    "empty section text": ([section(0)], "more than 0"),
    "section without text": ([{"type": "section"}], "missing required field"),
    "text that is a string": ([{"type": "section", "text": "hi"}], "text object"),
    "eleven fields": ([section(fields=[section()["text"]] * 11)], "no more than 10"),
    "long header": ([header(151)], "less than 151"),
    "markdown header": ([{"type": "header", "text": section()["text"]}], "plain_text"),
    "long button": ([actions(labelled(76))], "less than 76"),
    "long value": ([actions(button(value="x" * 2001))], "less than 2001"),
    "long action id": ([actions(button(action_id="x" * 256))], "less than 256"),
    "empty action id": ([actions(button(action_id=""))], "more than 0"),
    "odd style": ([actions(button(style="green"))], "enum"),
    "twenty-six buttons": ([buttons(26)], "no more than 25"),
    "no buttons": ([actions()], "at least one"),
    "same action id twice": ([actions(button(), button())], "already exists"),
    "same action id in two blocks": ([actions(button()), actions(button())], "already exists"),
    "same block id": ([section(block_id="b"), section(block_id="b")], "already exists"),
    "unknown element": ([actions({"type": "lever", "action_id": "a"})], "unsupported type: lever"),
    "button without text": ([actions({"type": "button", "action_id": "a"})], "missing"),
    "long markdown": ([{"type": "markdown", "text": "x" * 12_001}], "less than 12001"),
    "101 options": ([actions(select(101))], "between 1 and 100"),
    "empty table cell": ([{"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]}], "0"),
    "101 rows": ([{"type": "table", "rows": [[]] * 101}], "between 1 and 100"),
    "image without alt": ([{"type": "image", "image_url": "https://e.org/i.png"}], "alt_text"),
}


@pytest.mark.parametrize("blocks", AT_THE_LIMIT.values(), ids=AT_THE_LIMIT)
def test_what_is_just_within_the_limits_is_taken(blocks):
    assert check_message_blocks(blocks) == []


@pytest.mark.parametrize(("blocks", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_beyond_a_limit_is_refused_with_its_reason(blocks, reason):
    assert reason in " ".join(check_message_blocks(blocks))


def test_an_error_points_at_the_place():
    (error,) = check_message_blocks([section(), actions(labelled(76))])
    assert error.endswith("[json-pointer:/blocks/1/elements/0/text/text]")


def test_a_view_takes_inputs_and_a_hundred_blocks_but_no_markdown():
    assert check_view_blocks([section()] * 100) == []
    assert "no more than 100" in check_view_blocks([section()] * 101)[0]
    assert "unsupported" in check_view_blocks([{"type": "markdown", "text": "x"}])[0]


def test_every_stored_block_has_an_id_and_keeps_its_own():
    ids = [
        block["block_id"]
        for block in with_block_ids([section(), section(block_id="mine")], prefix="b")
    ]
    assert ids == ["b0", "mine"]


def test_buttons_are_found_in_rows_and_beside_texts():
    found = interactive_elements([section(accessory=button(action_id="one")), buttons(2)])
    assert [element["action_id"] for _, element in found] == ["one", "a0", "a1"]


@given(st.lists(st.integers(min_value=1, max_value=50)))
def test_markdown_of_all_blocks_counts_together(lengths):
    blocks = [{"type": "markdown", "text": "x" * length} for length in lengths]
    assert markdown_characters([*blocks, section()]) == sum(lengths)


NAMES = ["action_id", "element", "elements", "fields", "options", "rows", "text", "value"]
TYPES = ["actions", "button", "context", "header", "image", "input", "section", "table"]


def owners(inner):
    named = st.dictionaries(st.sampled_from(NAMES), inner)
    return st.tuples(st.sampled_from(TYPES), named).map(lambda pair: {"type": pair[0], **pair[1]})


RUBBISH = st.recursive(
    st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | owners(inner)
)


@given(owners(RUBBISH))
def test_rubbish_is_judged_and_never_crashes_the_platform(rubbish):
    assert isinstance(check_message_blocks([rubbish]), list)
