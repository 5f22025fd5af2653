"""Cards: what people see of a pause, and which buttons they are given."""

from datetime import timedelta

import pytest

from core.approvals.card import compose_card, compose_note
from core.approvals.plan import parse_plan
from core.approvals.suspension import Decision, Suspension, SuspensionState
from core.ids import thread_key
from core.testing import NOON


def suspended(**fields):
    base = {
        "token": "s_1",
        "kind": "plan",
        "run_id": "run_1",
        "tool_call_id": "call_1",
        "tool_name": "submit_plan",
        "thread_id": "thr",
        "resource_id": "team",
        "agent_id": "helper",
        "payload": {"path": "a.md"},
        "created_at": NOON,
        "expires_at": NOON + timedelta(days=7),
    }
    return Suspension(**(base | fields))


PLAN = parse_plan("a.md", "# Dark mode\n\nAdd a switch.", version=2)


def decided(action, **fields):
    return Decision(actor_id="test:u1", action=action, decided_at=NOON, **fields)


def test_a_waiting_plan_shows_its_text_and_two_buttons():
    card = compose_card(suspended(plan=PLAN))
    assert (card.title, card.body, card.version) == ("Dark mode", "Add a switch.", 2)
    assert [button.action for button in card.buttons] == ["approve", "reject"]
    assert (card.state, card.note) == ("waiting", None)


def test_a_plan_without_a_title_goes_by_its_path():
    assert compose_card(suspended(plan=parse_plan("a.md", "Text"))).title == "a.md"


def test_a_plan_nobody_could_read_can_only_be_rejected():
    card = compose_card(suspended())
    assert "`a.md` could not be read" in card.body
    assert [button.action for button in card.buttons] == ["reject"]


def test_a_tool_that_waits_shows_what_it_was_given_and_has_no_buttons():
    card = compose_card(suspended(kind="tool", tool_name="pay", payload={"sum": 5}))
    assert (card.title, card.body, card.buttons) == ("pay waits for an answer", "`{'sum': 5}`", ())


def test_an_approval_has_buttons():
    assert len(compose_card(suspended(kind="approval", payload={})).buttons) == 2


@pytest.mark.parametrize(
    ("state", "decision", "note"),
    [
        ("approved", decided("approved", actor_name="Ada"), "Approved by Ada."),
        ("rejected", decided("rejected", feedback="too big"), "Rejected by test:u1: too big"),
        ("answered", decided("answered", actor_name="Ada"), "Answered by Ada."),
        ("expired", decided("expired", actor_name="the clock"), "Expired by the clock."),
        ("cancelled", None, "Stopped."),
    ],
)
def test_a_decided_card_says_who_decided_what_and_has_no_buttons(state, decision, note):
    suspension = suspended(plan=PLAN, state=SuspensionState(state), decision=decision)
    card = compose_card(suspension)
    assert (card.state, card.note, card.buttons) == (state, note, ())
    assert compose_note(suspension) == note


def test_a_suspension_belongs_to_its_thread():
    assert suspended().key == thread_key("team", "thr")
