"""Prompts: which rows of a thread the model reads, and that every call has its result."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Memory, tool
from core.memory.prompt import HOUSE_RULES, compose_history, system_messages
from core.messages import Message, TextPart, ToolCallPart, ToolResultPart
from core.signals.signal import create_signal
from core.signals.storage import to_row
from core.testing import NOON
from core.tools.toolset import Toolset


@tool
async def look() -> None:
    """Look."""


def said(text, turn=0, run="r"):
    signal = create_signal({"type": "user", "contents": text}, now=NOON, new_id=lambda: f"s{text}")
    return to_row(signal, run_id=run, turn=turn)


def answered(text="", *calls, turn=0, run="r"):
    parts = [TextPart(text=text)] if text else []
    parts += [ToolCallPart(tool_call_id=call, tool_name="look") for call in calls]
    return _row("assistant", parts, run, turn)


def result(call, value="seen", turn=0, run="r", **fields):
    part = ToolResultPart(tool_call_id=call, tool_name="look", result=value, **fields)
    return _row("tool", [part], run, turn)


def _row(role, parts, run, turn):
    return Message(id="m", role=role, content=tuple(parts), created_at=NOON, run_id=run, turn=turn)


def prompt(rows, turns=40, made=look):
    history = compose_history(rows, Toolset({made.id: made}), Memory(last_turns=turns))
    return [message.content or _brief(message) for message in history]


def _brief(message):
    if message.tool_result is not None:
        return f"={message.tool_result.result}"
    return f"?{' '.join(call.tool_call_id for call in message.tool_calls)}"


def test_rows_become_messages_in_order():
    rows = [said("hi"), answered("", "c1"), result("c1"), answered("done")]
    assert prompt(rows) == ["hi", "?c1", "=seen", "done"]


def test_results_follow_their_calls_wherever_their_rows_stand():
    rows = [said("hi"), answered("", "c1", "c2"), said("wait"), result("c2", 2), result("c1", 1)]
    assert prompt(rows) == ["hi", "?c1 c2", "=1", "=2", "wait"]


def test_a_call_without_a_result_is_given_one():
    history = compose_history([said("hi"), answered("", "c1")], Toolset({}), Memory())
    assert history[-1].tool_result.is_error
    assert "cancelled" in history[-1].tool_result.result["message"]


@pytest.mark.parametrize(("turns", "first"), [(1, "three"), (2, "two"), (3, "one"), (9, "one")])
def test_only_the_newest_turns_are_shown(turns, first):
    rows = [
        row
        for turn, text in enumerate(["one", "two", "three"])
        for row in (said(text, turn), answered("", f"c{turn}", turn=turn), result(f"c{turn}", turn))
    ]
    assert prompt(rows, turns)[0] == first


def test_a_steering_message_does_not_open_a_turn():
    rows = [said("old", 0), answered("ok"), said("new", 1), answered("a", turn=1), said("no!", 1)]
    assert prompt(rows, 1) == ["new", "a", "no!"]


def test_turns_that_ended_at_their_step_limit_count_as_turns():
    rows = [
        row
        for number in range(5)
        for row in (
            said(str(number), run=f"r{number}"),
            answered("", f"c{number}", run=f"r{number}"),
            result(f"c{number}", run=f"r{number}"),
        )
    ]
    assert prompt([*rows[1:], said("now", run="r9")], 2) == ["4", "?c4", "=seen", "now"]


def test_a_turn_longer_than_the_window_is_shown_from_its_newest_part():
    rows = [result("c0"), answered("", "c1"), result("c1")]
    assert prompt(rows) == ["?c1", "=seen"]
    assert prompt([result("c0")]) == []
    assert prompt([]) == []


def test_no_turns_still_show_the_newest():
    assert prompt([said("a", 0), answered("ok"), said("b", 1)], 0) == ["b"]


def test_a_tool_says_what_of_its_result_the_model_reads():
    short = replace(look, to_model=lambda value: value["text"])
    rows = [said("hi"), answered("", "c1"), result("c1", {"text": "short", "rest": "long"})]
    assert prompt(rows, made=short)[-1] == "=short"
    failed = [*rows[:2], result("c1", {"error": True}, is_error=True)]
    assert prompt(failed, made=short)[-1] == "={'error': True}"


def test_a_result_that_cannot_be_shown_hides_itself_and_not_the_thread():
    broken = replace(look, to_model=lambda value: value["text"])
    rows = [said("hi"), answered("", "c1"), result("c1", {"secret": "x"})]
    shown = prompt(rows, made=broken)[-1]
    assert "could not be shown" in shown
    assert "secret" not in shown


@pytest.mark.parametrize(
    ("instructions", "texts"),
    [("Be brief.", ["Be brief."]), (["a", "", "b"], ["a", "b"]), ("", []), ([], [])],
)
def test_each_instruction_is_a_system_message_and_the_house_rules_are_last(instructions, texts):
    messages = system_messages(instructions)
    assert [message.content for message in messages] == [*texts, HOUSE_RULES]


MOVES = st.lists(st.sampled_from(["say", "call", "answer", "next"]), max_size=40)


@given(MOVES, st.integers(1, 5), st.integers(0, 30))
def test_whatever_is_cut_off_every_call_has_exactly_one_result(moves, turns, cut):
    rows, turn, calls = [], 0, 0
    for move in moves:
        turn += move == "next"
        calls += move == "call"
        rows += {
            "say": [said("x", turn)],
            "next": [said("y", turn)],
            "answer": [answered("z", turn=turn)],
            "call": [answered("", f"c{calls}", turn=turn), result(f"c{calls}", turn=turn)],
        }[move]
    history = compose_history(rows[cut:], Toolset({}), Memory(last_turns=turns))
    asked = [call.tool_call_id for message in history for call in message.tool_calls]
    given_back = [m.tool_result.tool_call_id for m in history if m.tool_result is not None]
    assert asked == given_back
