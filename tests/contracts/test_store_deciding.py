"""What every store promises about decisions: made once, by one person, whatever happens beside."""

import asyncio
import itertools
from datetime import timedelta

import pytest

from core.approvals.store import SuspensionFilter
from core.approvals.suspension import PlanText, SuspensionState
from core.errors import AlreadyDecided, Unknown
from core.runs.run import CallState, RunStatus
from core.threads.thread import ThreadState
from tests.contracts.store_world import KEY, World

DAY = timedelta(days=1)


def plan(path: str = "plans/a.md") -> PlanText:
    return PlanText(path=path, title="A", body="do it", content="# A\ndo it", content_hash="abc")


async def test_a_decision_is_kept_with_who_and_when(world: World):
    await world.pause()
    decided = await world.decide("tok_c1", "Grace", feedback="go")
    assert (decided.state, decided.decision.actor_name) == (SuspensionState.APPROVED, "Grace")
    assert decided.decision.decided_at == world.clock.now()
    assert await world.store.suspension("tok_c1") == decided


@pytest.mark.parametrize(
    ("action", "state"),
    [("approved", "approved"), ("rejected", "rejected"), ("answered", "answered")],
)
async def test_the_call_gets_the_answer_whatever_it_was(world: World, action, state):
    run = await world.pause()
    await world.decide("tok_c1", action=action, data=0, ends_run=action == "rejected")
    (call,) = await world.store.calls(run.run_id)
    assert (call.state, call.resume_data, call.resumed) == (CallState.RESUMED, 0, True)
    assert call.ends_run is (action == "rejected")
    assert (await world.store.suspension("tok_c1")).state == state


async def test_a_decision_makes_the_thread_runnable_and_edits_the_card(world: World):
    await world.pause()
    await world.decide("tok_c1")
    assert await world.store.runnable() == [KEY]
    assert await world.waiting() == [("resume", "tok_c1")]
    card, edit = await world.posts()
    assert (edit.edits, edit.payload.note) == (card.entry_id, "Approved by Grace.")
    assert edit.payload.buttons == ()


async def test_the_second_click_is_told_who_decided_and_when(world: World):
    await world.pause()
    first = await world.decide("tok_c1", "Grace", action="rejected", feedback="not today")
    await world.clock.advance(timedelta(minutes=1))
    with pytest.raises(AlreadyDecided, match="Rejected by Grace: not today") as told:
        await world.decide("tok_c1", "Ada")
    late = told.value
    assert (late.by, late.at, late.outcome) == ("Grace", first.decision.decided_at, "rejected")
    assert await world.store.suspension("tok_c1") == first
    assert (await world.head()).resumes == 1


async def test_of_many_who_click_at_once_one_decides(world: World):
    await world.pause()
    people = [f"person{number}" for number in range(8)]
    clicks = [
        world.store.resolve("tok_c1", world.decision(one, action))
        for one, action in zip(people, itertools.cycle(("approved", "rejected")))
    ]
    results = await asyncio.gather(*clicks, return_exceptions=True)
    losers = [one for one in results if isinstance(one, AlreadyDecided)]
    winner = (await world.store.suspension("tok_c1")).decision.actor_name
    assert len(losers) == 7
    assert {loser.by for loser in losers} == {winner}
    assert len(await world.posts()) == 2


@pytest.mark.parametrize("order", list(itertools.permutations(["click", "expiry", "abort"])))
async def test_whatever_comes_first_decides_and_the_rest_changes_nothing(world: World, order):
    await world.pause()
    await world.clock.advance(DAY - timedelta(seconds=1))
    outcomes = {"click": "approved", "expiry": "expired", "abort": "cancelled"}
    for number, event in enumerate(order):
        if event == "expiry" or number == 0:
            await world.clock.advance(timedelta(0) if event != "expiry" else DAY)
        await happens(world, event)
        if number == 0:
            first = (await world.store.suspension("tok_c1")).state
    assert first == outcomes[order[0]]
    assert (await world.store.suspension("tok_c1")).state == first


async def happens(world: World, event: str) -> None:
    if event == "click":
        try:
            await world.decide("tok_c1")
        except AlreadyDecided:
            return
    elif event == "expiry":
        await world.store.expire()
    else:
        await world.store.request_abort(KEY)


async def test_an_unknown_token_decides_nothing(world: World):
    await world.pause()
    with pytest.raises(Unknown, match="nothing waits under tok_x"):
        await world.decide("tok_x")
    with pytest.raises(Unknown):
        await world.store.suspension("tok_x")


async def test_each_decision_reaches_its_own_call(world: World):
    run = await world.pause("c1", "c2")
    await world.decide("tok_c2", data="second")
    first, second = await world.store.calls(run.run_id)
    assert (first.state, second.state) == (CallState.SUSPENDED, CallState.RESUMED)
    assert second.resume_data == "second"


async def test_calls_that_wait_together_are_answered_in_any_order(world: World):
    run = await world.pause("c1", "c2")
    for token in ("tok_c2", "tok_c1"):
        await world.decide(token)
        lease, again = await world.begin()
        for call in await world.store.calls(run.run_id):
            if call.state is CallState.RESUMED:
                await world.settle(lease, again, call.tool_call_id)
        closed = await world.close(lease, again)
    assert (closed.status, closed.step) == (RunStatus.RUNNING, 2)
    assert (await world.told())[-2:] == ["tool:result c1", "tool:result c2"]


async def test_a_decision_of_an_earlier_pause_is_not_taken_for_a_later_one(world: World):
    await world.pause("c1")
    await world.decide("tok_c1")
    lease, run = await world.begin()
    await world.settle(lease, run, "c1")
    run = await world.answer(lease, await world.close(lease, run), "", ["c2"])
    await world.suspend(lease, run, "c2")
    await world.close(lease, run)
    with pytest.raises(AlreadyDecided):
        await world.decide("tok_c1")
    assert (await world.store.suspension("tok_c2")).state == "waiting"


async def test_what_was_written_meanwhile_is_heard_after_the_decision(world: World):
    await world.pause()
    await world.say("use staging first")
    await world.decide("tok_c1")
    lease, run = await world.begin()
    await world.settle(lease, run, "c1")
    await world.drain(lease, run)
    assert (await world.told())[-2:] == ["tool:result c1", "signal:use staging first"]


async def test_a_call_decided_for_a_tool_that_asks_again_waits_again(world: World):
    await world.pause("c1")
    await world.decide("tok_c1")
    lease, run = await world.begin()
    await world.suspend(lease, run, "c1", token="tok_again")
    assert (await world.close(lease, run)).status is RunStatus.SUSPENDED
    assert (await world.decide("tok_again")).state == "approved"


# Versions


async def test_a_plan_submitted_again_is_the_next_version(world: World):
    lease, run = await world.tools("c1", "c2", "c3")
    asked = {"c1": plan(), "c2": plan("plans/b.md"), "c3": plan()}
    for call, text in asked.items():
        await world.suspend(lease, run, call, kind="plan", plan=text)
    await world.close(lease, run)
    assert [post.payload.version for post in await world.posts()] == [1, 1, 2]


# Time


async def test_an_answer_after_its_time_is_refused(world: World):
    await world.pause()
    await world.clock.advance(DAY)
    with pytest.raises(AlreadyDecided, match="expired") as told:
        await world.decide("tok_c1")
    late = told.value
    assert (late.by, late.at, late.outcome) == ("nobody", world.clock.now(), "expired")
    assert (await world.store.suspension("tok_c1")).state == "waiting"


async def test_what_nobody_decided_in_time_resumes_as_rejected(world: World):
    run = await world.pause()
    assert await world.store.expire() == []
    await world.clock.advance(DAY)
    (expired,) = await world.store.expire()
    assert (expired.state, expired.decision.feedback) == ("expired", "Nobody decided in time.")
    (call,) = await world.store.calls(run.run_id)
    assert call.resume_data == {"approved": False}
    assert (call.state, call.ends_run) == (CallState.RESUMED, False)
    assert await world.lines() == ["card waiting", "card expired"]
    assert await world.store.expire() == []


async def test_a_plan_that_expires_ends_its_run(world: World):
    lease, run = await world.tools("c1")
    await world.suspend(lease, run, "c1", kind="plan", plan=plan())
    await world.close(lease, run)
    await world.clock.advance(DAY)
    (expired,) = await world.store.expire()
    assert (expired.decision.ends_run, expired.decision.content_hash) == (True, "abc")
    assert (await world.store.calls(run.run_id))[0].ends_run


async def test_what_waited_longest_expires_first(world: World):
    lease, run = await world.tools("c1", "c2", "c3")
    for call, hours in (("c1", 3), ("c2", 1), ("c3", 2)):
        ends = world.clock.now() + timedelta(hours=hours)
        await world.suspend(lease, run, call, expires_at=ends)
    await world.close(lease, run)
    await world.clock.advance(DAY)
    assert [one.token for one in await world.store.expire(limit=2)] == ["tok_c2", "tok_c3"]
    assert [one.token for one in await world.store.expire(limit=2)] == ["tok_c1"]


async def test_a_late_click_learns_that_the_time_was_over(world: World):
    await world.pause()
    await world.clock.advance(DAY)
    await world.store.expire()
    with pytest.raises(AlreadyDecided, match="Expired by the clock") as told:
        await world.decide("tok_c1")
    assert told.value.outcome == "expired"


# Stops


async def test_stopping_a_thread_nobody_knows_is_an_error(world: World):
    with pytest.raises(Unknown, match="thread thr of resource res is not in the store"):
        await world.store.request_abort(KEY)


async def test_there_is_nothing_to_stop_on_an_idle_thread(world: World):
    await world.store.save_thread(KEY, {}, "ada")
    assert await world.store.request_abort(KEY) is None


@pytest.mark.parametrize("doing", ["reserved", "running"])
async def test_a_run_that_goes_on_is_asked_to_stop(world: World, doing):
    run_id = await world.bring(doing)
    stopped = await world.store.request_abort(KEY)
    assert (stopped.run_id, stopped.ended) == (run_id, False)
    assert (await world.head()).abort_run_id == run_id
    assert await world.store.request_abort(KEY) == stopped


async def test_a_paused_run_ends_in_the_very_step_that_stops_it(world: World):
    run = await world.pause(text="My plan:")
    await world.say("meanwhile")
    stopped = await world.store.request_abort(KEY)
    assert (stopped.run_id, stopped.ended) == (run.run_id, True)
    assert (await world.store.run(run.run_id)).status is RunStatus.ABORTED
    assert await world.lines() == ["card waiting", "card cancelled", "My plan:"]
    assert await world.store.runnable() == [KEY]
    assert await world.store.request_abort(KEY) is None


async def test_a_click_after_the_stop_learns_that_it_was_stopped(world: World):
    await world.pause()
    await world.store.request_abort(KEY)
    with pytest.raises(AlreadyDecided, match="stopped before anybody decided") as told:
        await world.decide("tok_c1")
    assert (told.value.at, told.value.outcome) == (None, "cancelled")


async def test_a_run_stopped_between_click_and_resume_does_not_go_on(world: World):
    run = await world.pause()
    await world.decide("tok_c1")
    lease = await world.take()
    assert (await world.store.request_abort(KEY)).ended
    assert await world.work(lease) is None
    assert await world.store.release_if_drained(lease)
    assert (await world.head()).state is ThreadState.IDLE
    assert await world.mailbox() == []
    assert (await world.told())[-1] == "tool:result c1"
    assert (await world.store.run(run.run_id)).status is RunStatus.ABORTED


# Lists


async def test_what_waits_can_be_listed_by_any_of_its_marks(world: World):
    run = await world.pause("c1")
    await world.clock.advance(timedelta(seconds=1))
    await world.decide("tok_c1")
    lease, again = await world.begin()
    await world.suspend(lease, again, "c1", token="tok_2", kind="question")

    async def listed(**wanted):
        return [one.token for one in await world.store.suspensions(SuspensionFilter(**wanted))]

    assert await listed() == await listed(run_id=run.run_id) == ["tok_2", "tok_c1"]
    assert await listed(thread_id="thr", agent_id="ada", limit=1) == ["tok_2"]
    assert await listed(kind="approval") == await listed(state=SuspensionState.APPROVED)
    assert await listed(state=SuspensionState.WAITING) == ["tok_2"]
    assert await listed(agent_id="bob") == await listed(thread_id="none") == []
