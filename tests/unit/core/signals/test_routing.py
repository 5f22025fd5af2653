"""Routing: the table of signals.md 2.5, row by row, and what holds for every cell of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.signals.routing import IfActive, IfIdle, Request, Route, Situation, route

IDLE = Situation()
LEFT = Situation(waiting=True)
OURS = Situation(run_id="run1", run_agent_id="ada")
OTHERS = Situation(run_id="run1", run_agent_id="bob")
ACTIVE_MARK, IDLE_MARK = {"when": "active"}, {"when": "idle"}


def ask(active="deliver", idle="wake", **wishes) -> Request:
    return Request(
        agent_id="ada",
        if_active=IfActive(behavior=active, attributes=ACTIVE_MARK),
        if_idle=IfIdle(behavior=idle, attributes=IDLE_MARK),
        **wishes,
    )


def went(action, lane=None, run_id=None, marks=None) -> Route:
    return Route(action=action, lane=lane, run_id=run_id, attributes=marks or {})


ROWS = {
    "idle wakes": (IDLE, ask(), went("wake", "pending", None, IDLE_MARK)),
    "idle keeps": (IDLE, ask(idle="persist"), went("persist", marks=IDLE_MARK)),
    "idle drops": (IDLE, ask(idle="discard"), went("discard", marks=IDLE_MARK)),
    "idle wakes for an own turn": (
        IDLE,
        ask(idle="discard", own_turn=True),
        went("wake", "pending", None, IDLE_MARK),
    ),
    "an own turn stays behind waiting mail": (
        LEFT,
        ask(idle="discard", own_turn=True),
        went("deliver", "queued", None, IDLE_MARK),
    ),
    "a message joins waiting mail": (LEFT, ask(), went("wake", "pending", None, IDLE_MARK)),
    "steers": (OURS, ask(idle="discard"), went("deliver", "pending", "run1", ACTIVE_MARK)),
    "keeps beside": (OURS, ask("persist"), went("persist", marks=ACTIVE_MARK)),
    "drops while active": (OURS, ask("discard"), went("discard", marks=ACTIVE_MARK)),
    "queues an own turn": (
        OURS,
        ask(idle="discard", own_turn=True),
        went("deliver", "queued", None, IDLE_MARK),
    ),
    "keeps an own turn": (OURS, ask("persist", own_turn=True), went("persist", marks=ACTIVE_MARK)),
    "drops an own turn": (OURS, ask("discard", own_turn=True), went("discard", marks=ACTIVE_MARK)),
    "queues for another agent": (
        OTHERS,
        ask("discard"),
        went("deliver", "queued", None, ACTIVE_MARK),
    ),
    "keeps for another agent": (OTHERS, ask(idle="persist"), went("persist", marks=ACTIVE_MARK)),
    "drops for another agent": (OTHERS, ask(idle="discard"), went("discard", marks=ACTIVE_MARK)),
    "queues another agent's own turn": (
        OTHERS,
        ask(idle="persist", own_turn=True),
        went("deliver", "queued", None, IDLE_MARK),
    ),
}
REQUESTS = st.builds(
    ask,
    st.sampled_from(["deliver", "persist", "discard"]),
    st.sampled_from(["wake", "persist", "discard"]),
    own_turn=st.booleans(),
    transient=st.booleans(),
)
SITUATIONS = st.sampled_from([IDLE, LEFT, OURS, OTHERS])


@pytest.mark.parametrize(("situation", "request_", "expected"), ROWS.values(), ids=ROWS)
def test_a_signal_takes_the_way_of_its_row(situation, request_, expected):
    assert route(situation, request_) == expected


@pytest.mark.parametrize(
    ("situation", "asked"),
    [
        (IDLE, {"idle": "persist"}),
        (OURS, {"active": "persist"}),
        (OURS, {"active": "persist", "own_turn": True}),
        (OTHERS, {"idle": "persist"}),
    ],
)
def test_what_is_transient_is_dropped_rather_than_kept(situation, asked):
    assert route(situation, ask(transient=True, **asked)) == went("discard")


@given(situation=SITUATIONS, request_=REQUESTS)
def test_a_lane_is_given_exactly_to_what_a_run_will_hear(situation, request_):
    chosen = route(situation, request_)
    assert (chosen.lane is not None) is (chosen.action in ("wake", "deliver"))
    assert chosen.run_id is None or chosen.lane == "pending"


@given(situation=SITUATIONS, request_=REQUESTS)
def test_only_an_idle_thread_is_woken(situation, request_):
    if route(situation, request_).action == "wake":
        assert situation.run_id is None


@given(situation=SITUATIONS, request_=REQUESTS)
def test_nobody_steers_a_run_of_another_agent_or_with_an_own_turn(situation, request_):
    if situation is OTHERS or (request_.own_turn and situation.run_id is not None):
        assert route(situation, request_).lane != "pending"
