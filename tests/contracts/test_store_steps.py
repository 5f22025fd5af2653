"""What every store promises about the committed steps of a run: answers, calls, pauses, ends."""

from datetime import timedelta

import pytest

from core.errors import Unknown
from core.outbox.entry import reply_id
from core.runs.run import CallState, Phase, RunStatus
from core.runs.store import Drained, RunFilter
from tests.contracts.store_world import ELSEWHERE, KEY, PLACE, World


async def test_an_answer_without_calls_ends_the_turn_and_posts_one_reply(world: World):
    _, run = await world.begin_answered("Good morning.")
    assert (run.phase, run.turn, run.texts) == (Phase.INPUT, 1, ())
    (post,) = await world.posts()
    assert (post.entry_id, post.payload.text) == (reply_id(run.run_id, 0), "Good morning.")
    assert (post.conversation, post.expires_at - post.created_at) == (PLACE, timedelta(hours=1))


async def test_an_answer_with_calls_posts_nothing_yet(world: World):
    _, run = await world.tools("c1", text="Let me look.")
    assert (run.phase, run.texts) == (Phase.TOOLS, ("Let me look.",))
    assert await world.posts() == []
    assert [call.state for call in await world.store.calls(run.run_id)] == [CallState.INTENT]


async def test_the_texts_of_a_turns_steps_are_one_reply_in_order(world: World):
    lease, run = await world.tools("c1", text="First I look.")
    await world.settle(lease, run, "c1")
    run = await world.answer(lease, await world.close(lease, run), "Then I think.", ["c2"])
    await world.settle(lease, run, "c2")
    await world.answer(lease, await world.close(lease, run), "Done.")
    assert await world.lines() == ["First I look.\n\nThen I think.\n\nDone."]


async def test_each_turn_of_a_run_has_its_own_reply(world: World):
    lease, run = await world.begin_answered("One.")
    await world.say("and?")
    run = await world.answer(lease, await world.drain(lease, run), "Two.")
    assert await world.lines() == ["One.", "Two."]
    assert [post.entry_id for post in await world.posts()] == [
        reply_id(run.run_id, 0),
        reply_id(run.run_id, 1),
    ]


async def test_a_blank_answer_posts_nothing(world: World):
    await world.begin_answered(" \n")
    assert await world.posts() == []


async def test_a_thread_that_is_nowhere_posts_nothing(world: World):
    await world.say(conversation=None)
    lease, run = await world.begin()
    await world.answer(lease, await world.drain(lease, run), "To whom?")
    assert await world.posts() == []


async def test_an_answer_to_a_program_goes_to_the_threads_first_conversation(world: World):
    await world.store.bind(ELSEWHERE, KEY, "ada")
    await world.clock.advance(timedelta(seconds=1))
    await world.store.bind(PLACE, KEY, "ada")
    await world.say(conversation=None)
    lease, run = await world.begin()
    await world.answer(lease, await world.drain(lease, run), "Here.")
    assert (await world.posts())[0].conversation == ELSEWHERE


async def test_the_reply_goes_where_the_newest_person_asked(world: World):
    lease, run = await world.begin_answered("One.")
    await world.say("over here", conversation=ELSEWHERE)
    await world.say("an event", kind="notification", conversation=PLACE)
    await world.say("a program", conversation=None)
    run = await world.drain(lease, run)
    await world.answer(lease, run, "Two.")
    assert [post.conversation for post in await world.posts()] == [PLACE, ELSEWHERE]


async def test_tokens_and_steps_are_counted(world: World):
    lease, run = await world.begin_answered()
    run = await world.drain(lease, run, fresh_allowance=5)
    run = await world.answer(lease, run, "again")
    assert (run.input_tokens, run.output_tokens, run.steps_left) == (6, 4, 4)


async def test_an_allowance_stays_where_nobody_gave_a_new_one(world: World):
    lease, run = await world.tools("c1")
    left = run.steps_left
    await world.settle(lease, run, "c1")
    assert (await world.close(lease, run)).steps_left == left


async def test_an_answer_for_no_run_is_refused_whole(world: World):
    lease, run = await world.begin_answered()
    gone = run.model_copy(update={"run_id": "nobody"})
    with pytest.raises(Unknown, match="run nobody is not in the store"):
        await world.answer(lease, gone, "lost", ["c1"])
    assert await world.store.calls("nobody") == []


# Calls and the end of a step


async def test_results_stand_in_call_order_whatever_ended_first(world: World):
    lease, run = await world.tools("c1", "c2", "c3")
    for call in ("c3", "c1", "c2"):
        await world.settle(lease, run, call, f"result of {call}")
    run = await world.close(lease, run)
    assert (await world.told())[-3:] == ["tool:result c1", "tool:result c2", "tool:result c3"]
    assert (run.phase, run.step) == (Phase.MODEL, 2)


async def test_a_result_is_kept_as_it_was_given(world: World):
    lease, run = await world.tools("c1")
    wrong = {"state": CallState.FAILED, "is_error": True}
    settled = await world.settle(lease, run, "c1", {"error": ["ü", None]}, **wrong)
    await world.close(lease, run)
    row = (await world.rows())[-1].message
    assert row.content[0].result == settled.result == {"error": ["ü", None]}
    assert row.content[0].is_error
    assert (row.run_id, row.step, row.turn) == (run.run_id, 1, 0)


async def test_a_step_does_not_close_over_a_call_without_an_outcome(world: World):
    lease, run = await world.tools("c1", "c2")
    await world.settle(lease, run, "c1")
    assert await world.close(lease, run) == run
    assert (await world.told())[-1] == "assistant:call c1 call c2"


async def test_a_call_without_an_intent_is_refused(world: World):
    lease, run = await world.tools("c1")
    with pytest.raises(ValueError, match="call c9 of run run1 has no intent"):
        await world.settle(lease, run, "c9")


async def test_the_drain_follows_the_results_into_the_history(world: World):
    lease, run = await world.tools("c1")
    await world.say("faster")
    await world.settle(lease, run, "c1")
    run = await world.drain(lease, run)
    assert (await world.told())[-2:] == ["tool:result c1", "signal:faster"]
    assert (await world.head()).mail == 0
    assert (await world.rows())[-1].message.step == run.step == 2


async def test_a_name_that_was_looked_up_is_stored_with_the_signal(world: World):
    await world.say("hi")
    lease, run = await world.begin()
    (entry,) = await world.store.mail(lease, run.run_id)
    named = entry.signal.model_copy(update={"attributes": {"name": "Ada"}})
    await world.close(lease, run, drained=(Drained(sequence=entry.sequence, signal=named),))
    envelope = (await world.rows())[0].message.metadata["signal"]
    assert envelope["attributes"] == {"name": "Ada"}


async def test_a_signal_drained_twice_is_told_once(world: World):
    await world.say("hi")
    lease, run = await world.begin()
    (entry,) = await world.store.mail(lease, run.run_id)
    drained = (Drained(sequence=entry.sequence, signal=entry.signal),) * 2
    await world.close(lease, run, drained=drained)
    assert await world.told() == ["signal:hi"]
    assert (await world.head()).mail == 0


async def test_a_pause_drops_the_lease_and_posts_the_card_whatever_waits(world: World):
    lease, run = await world.tools("c1")
    await world.say("and this")
    await world.suspend(lease, run, "c1")
    paused = await world.close(lease, run)
    head = await world.head()
    assert (paused.status, head.state, head.owner) == ("suspended", "suspended", None)
    assert await world.lines() == ["card waiting"]
    assert await world.store.runnable() == []
    assert await world.waiting() == [("pending", "and this")]


async def test_a_card_is_worth_sending_until_its_question_expires(world: World):
    await world.pause()
    (card,) = await world.posts()
    assert card.expires_at == (await world.store.suspension("tok_c1")).expires_at


async def test_each_waiting_call_gets_a_card_in_order(world: World):
    await world.pause("c1", "c2")
    assert [post.payload.token for post in await world.posts()] == ["tok_c1", "tok_c2"]


async def test_a_second_pause_of_a_step_posts_no_card_again(world: World):
    await world.pause("c1", "c2")
    await world.decide("tok_c1")
    lease = await world.take()
    run = (await world.work(lease)).run
    await world.settle(lease, run, "c1")
    assert (await world.close(lease, run)).status is RunStatus.SUSPENDED
    assert await world.lines() == ["card waiting", "card waiting", "card approved"]


async def test_a_step_waits_for_a_decision_that_came_before_its_pause(world: World):
    lease, run = await world.tools("c1", "c2")
    await world.settle(lease, run, "c2")
    await world.suspend(lease, run, "c1")
    await world.decide("tok_c1")
    assert (await world.close(lease, run)).status is RunStatus.RUNNING
    assert await world.posts() == []


# Ends


async def test_every_open_call_of_an_ended_run_has_a_result(world: World):
    lease, run = await world.tools("c1", "c2", "c3")
    await world.settle(lease, run, "c2", "done")
    await world.suspend(lease, run, "c3")
    await world.end(lease, run, status=RunStatus.ABORTED, finish_reason="aborted")
    states = [call.state for call in await world.store.calls(run.run_id)]
    assert states == [CallState.INTERRUPTED, CallState.DONE, CallState.INTERRUPTED]
    assert (await world.told())[-3:] == ["tool:result c1", "tool:result c2", "tool:result c3"]
    assert (await world.rows())[-3].message.content[0].is_error


async def test_the_end_of_a_run_cancels_what_waits_in_it(world: World):
    lease, run = await world.tools("c1")
    await world.suspend(lease, run, "c1")
    await world.end(lease, run)
    assert (await world.store.suspension("tok_c1")).state == "cancelled"


async def test_an_ended_run_says_what_it_had_and_then_why(world: World):
    lease, run = await world.tools("c1", text="I have begun.")
    ended = await world.fail(lease, run, "The model failed.")
    assert await world.lines() == ["I have begun.", "The model failed."]
    assert (ended.status, ended.finish_reason, ended.texts) == ("failed", "error", ())


async def test_an_ended_run_frees_its_thread_and_keeps_the_lease(world: World):
    lease, run = await world.begin_answered()
    await world.end(lease, run)
    head = await world.head()
    assert (head.state, head.run_id, head.run_agent_id) == ("idle", None, None)
    assert head.owner == lease.owner


async def test_a_run_ends_once(world: World):
    lease, run = await world.begin_answered()
    await world.end(lease, run)
    with pytest.raises(ValueError, match="cannot move from done to failed"):
        await world.fail(lease, run)
    assert len(await world.lines()) == 1


async def test_a_message_stopped_before_its_run_began_is_not_done_after_all(world: World):
    await world.say("delete everything")
    await world.say("and then some")
    lease, run = await world.begin()
    await world.end(lease, run, status=RunStatus.ABORTED, finish_reason="aborted")
    assert await world.told() == ["signal:delete everything"]
    assert await world.waiting() == [("pending", "and then some")]
    assert (await world.head()).mail == 1


async def test_a_run_that_cannot_start_fails_once_and_not_for_ever(world: World):
    await world.say("hello?")
    lease, run = await world.begin()
    await world.fail(lease, run, "There is no such agent.")
    assert await world.work(lease) is None
    assert await world.store.release_if_drained(lease)
    assert await world.lines() == ["There is no such agent."]


async def test_a_run_that_fails_later_leaves_new_mail_for_the_next(world: World):
    lease, run = await world.begin_answered()
    await world.say("are you there?")
    await world.fail(lease, run)
    assert await world.waiting() == [("pending", "are you there?")]


# Lists


async def test_runs_are_listed_from_the_newest(world: World):
    lease, first = await world.begin_answered()
    await world.end(lease, first)
    await world.clock.advance(timedelta(seconds=1))
    await world.say(agent_id="bob")
    second = (await world.work(lease)).run

    async def listed(**wanted):
        return [run.run_id for run in await world.store.runs(RunFilter(**wanted))]

    assert await listed() == await listed(thread_id="thr") == [second.run_id, first.run_id]
    assert await listed(status=RunStatus.DONE) == [first.run_id]
    assert await listed(agent_id="bob", limit=1) == [second.run_id]
    assert await listed(thread_id="none") == []


async def test_calls_are_listed_by_run_or_step(world: World):
    lease, run = await world.tools("c2", "c1")
    for call in ("c1", "c2"):
        await world.settle(lease, run, call)
    await world.answer(lease, await world.close(lease, run), "", ["c3"])
    calls = await world.store.calls(run.run_id)
    assert [call.tool_call_id for call in calls] == ["c2", "c1", "c3"]
    assert await world.store.calls(run.run_id, step=2) == calls[2:]


async def test_a_run_nobody_started_is_unknown(world: World):
    with pytest.raises(Unknown, match="nobody"):
        await world.store.run("nobody")
