"""What every store promises to the owner of a thread: what it is to do next."""

from core.runs.run import CallState, Phase, RunStatus
from core.threads.thread import ThreadState
from tests.contracts.store_world import KEY, PLACE, TTL, World


async def test_a_run_starts_under_the_id_that_was_promised(world: World):
    accepted = await world.say("hi", options={"maxSteps": 2})
    lease = await world.take()
    work = await world.work(lease)
    assert (work.run.run_id, work.run.options, work.calls) == (
        accepted.run_id,
        {"maxSteps": 2},
        (),
    )
    assert (work.run.phase, work.run.reply_to) == (Phase.INPUT, PLACE)
    assert (await world.head()).state is ThreadState.RUNNING


async def test_a_run_that_a_crash_left_is_next_before_any_mail(world: World):
    _, run = await world.tools("c1", "c2")
    await world.say("meanwhile")
    await world.clock.advance(TTL)
    work = await world.work(await world.take("p2"))
    assert work.run == run
    assert [call.tool_call_id for call in work.calls] == ["c1", "c2"]


async def test_a_decision_is_next_before_any_mail(world: World):
    run = await world.pause()
    await world.say("meanwhile")
    await world.decide("tok_c1")
    work = await world.work(await world.take())
    assert (work.run.run_id, work.run.status) == (run.run_id, RunStatus.RUNNING)
    assert [call.state for call in work.calls] == [CallState.RESUMED]
    assert [lane for lane, _ in await world.waiting()] == ["pending"]


async def test_a_paused_run_leaves_its_owner_nothing_to_do(world: World):
    await world.pause("c1")
    await world.mend(resumes=1)
    lease = await world.take()
    assert await world.work(lease) is None
    assert await world.store.release_if_drained(lease)
    assert (await world.head()).state is ThreadState.SUSPENDED


async def test_what_is_pending_goes_before_what_is_queued(world: World):
    lease, run = await world.begin_answered()
    queued = await world.say("queued", own_turn=True)
    await world.say("pending")
    await world.end(lease, run)
    second = (await world.work(lease)).run
    assert second.run_id not in (run.run_id, queued.run_id)
    await world.end(lease, await world.drain(lease, second))
    third = (await world.work(lease)).run
    assert third.run_id == queued.run_id
    await world.drain(lease, third)
    assert (await world.told())[-2:] == ["signal:pending", "signal:queued"]


async def test_each_queued_message_gets_a_run_of_its_own(world: World):
    lease, run = await world.begin_answered()
    promised = [(await world.say(text, own_turn=True)).run_id for text in ("b", "c")]
    started = []
    for _ in promised:
        await world.end(lease, run)
        run = (await world.work(lease)).run
        started.append(run.run_id)
        run = await world.drain(lease, run)
    assert started == promised


async def test_leftover_mail_runs_under_a_new_id_when_its_own_has_ended(world: World):
    lease, run = await world.begin_answered()
    assert (await world.say("late")).run_id == run.run_id
    await world.end(lease, run)
    next_run = (await world.work(lease)).run
    assert next_run.run_id.startswith("fresh")
    assert (await world.store.run(run.run_id)).status is RunStatus.DONE


async def test_leftover_mail_keeps_the_options_of_the_run_it_was_meant_for(world: World):
    """R6."""
    await world.say("start", options={"maxSteps": 3})
    lease, run = await world.begin()
    run = await world.answer(lease, await world.drain(lease, run), "Done.")
    await world.say("late")
    await world.end(lease, run)
    assert (await world.work(lease)).run.options == {"maxSteps": 3}


async def test_a_message_after_a_run_is_answered_by_the_run_it_was_promised(world: World):
    lease, run = await world.begin_answered()
    await world.say("left over")
    await world.end(lease, run)
    accepted = await world.say("and this")
    assert accepted.action == "wake"
    next_run = (await world.work(lease)).run
    assert next_run.run_id == accepted.run_id
    await world.drain(lease, next_run)
    assert (await world.told())[-2:] == ["signal:left over", "signal:and this"]


async def test_another_agents_leftover_does_not_take_a_promised_id(world: World):
    lease, run = await world.begin_answered()
    await world.say("for ada")
    await world.end(lease, run)
    promised = (await world.say("for bob", agent_id="bob")).run_id
    first = (await world.work(lease)).run
    assert (first.agent_id, first.run_id != promised) == ("ada", True)
    await world.end(lease, await world.drain(lease, first))
    second = (await world.work(lease)).run
    assert (second.agent_id, second.run_id) == ("bob", promised)


async def test_a_run_hears_only_what_is_for_its_agent(world: World):
    lease, run = await world.begin_answered()
    await world.say("for bob", agent_id="bob")
    await world.say("for ada")
    await world.say("ada's own turn", own_turn=True)
    heard = await world.store.mail(lease, run.run_id)
    assert [entry.signal.contents for entry in heard] == ["for ada"]


async def test_an_abort_asked_before_the_start_meets_the_run_that_starts(world: World):
    await world.say()
    stopped = await world.store.request_abort(KEY)
    lease, run = await world.begin()
    assert (stopped.run_id, stopped.ended) == (run.run_id, False)
    assert await world.store.abort_requested(lease, run.run_id)


async def test_an_abort_meets_the_run_that_takes_the_promised_ones_place(world: World):
    lease, run = await world.begin_answered()
    await world.say("for ada")
    await world.end(lease, run)
    await world.say("for bob", agent_id="bob")
    await world.store.request_abort(KEY)
    started = (await world.work(lease)).run
    assert await world.store.abort_requested(lease, started.run_id)


async def test_an_abort_is_used_up_by_the_run_it_ended(world: World):
    lease, run = await world.begin_answered()
    await world.store.request_abort(KEY)
    await world.say("again", own_turn=True)
    await world.end(lease, run, status=RunStatus.ABORTED, finish_reason="aborted")
    following = (await world.work(lease)).run
    assert not await world.store.abort_requested(lease, following.run_id)


async def test_a_wrong_count_of_mail_wakes_nobody_for_ever(world: World):
    await world.bring("idle")
    await world.store.save_thread(KEY, {}, "ada")
    await world.mend(mail=3)
    lease = await world.take()
    assert await world.work(lease) is None
    assert await world.store.release_if_drained(lease)
