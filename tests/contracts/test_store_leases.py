"""What every store promises about leases, fences and attempts (signals.md 2.14)."""

import asyncio
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import LeaseLost, Unknown
from core.ids import thread_key
from core.runs.run import RunStatus
from core.testing import NOON
from core.threads.thread import EPOCH, Thread, ThreadState
from tests.contracts.store_world import ELSEWHERE, KEY, KINDS, PLACE, TTL, World, opened

SECOND = timedelta(seconds=1)


async def test_nobody_gets_a_lease_where_there_is_nothing_to_do(world: World):
    assert await world.store.acquire(KEY, "p1", TTL) is None
    await world.store.save_thread(KEY, {}, "ada")
    assert await world.store.acquire(KEY, "p1", TTL) is None


async def test_one_owner_alone_gets_the_lease(world: World):
    await world.say()
    owners = [f"p{number}" for number in range(8)]
    leases = await asyncio.gather(*(world.store.acquire(KEY, one, TTL) for one in owners))
    assert sum(lease is not None for lease in leases) == 1


async def test_a_lease_ends_by_itself_and_the_next_has_a_higher_epoch(world: World):
    await world.say()
    first = await world.take("p1")
    await world.clock.advance(TTL - SECOND)
    assert await world.store.acquire(KEY, "p2", TTL) is None
    await world.clock.advance(SECOND)
    second = await world.take("p2")
    assert second.epoch == first.epoch + 1
    assert second.until == world.clock.now() + TTL


async def test_a_strangers_key_gets_no_lease(world: World):
    await world.say()
    with pytest.raises(Unknown):
        await world.store.acquire(thread_key("thief", "thr"), "p1", TTL)


async def test_a_renewed_lease_keeps_others_off(world: World):
    await world.say()
    lease = await world.take()
    await world.clock.advance(TTL - SECOND)
    assert (await world.store.renew(lease, TTL)).until == world.clock.now() + TTL
    await world.clock.advance(TTL - SECOND)
    assert await world.store.acquire(KEY, "p2", TTL) is None


async def test_an_owner_that_was_late_goes_on_where_nobody_took_over(world: World):
    await world.say()
    lease = await world.take()
    await world.clock.advance(TTL * 3)
    await world.store.renew(lease, TTL)
    assert (await world.work(lease)).run.agent_id == "ada"


WRITES = {
    "renew": lambda w, lease, run: w.store.renew(lease, TTL),
    "release": lambda w, lease, run: w.store.release_if_drained(lease),
    "postpone": lambda w, lease, run: w.store.postpone(lease, 1),
    "next_run": lambda w, lease, run: w.work(lease),
    "mail": lambda w, lease, run: w.store.mail(lease, run.run_id),
    "answer": lambda w, lease, run: w.answer(lease, run, "late"),
    "settle": lambda w, lease, run: w.settle(lease, run, "c1"),
    "suspend": lambda w, lease, run: w.suspend(lease, run, "c1"),
    "close": lambda w, lease, run: w.close(lease, run),
    "end": lambda w, lease, run: w.end(lease, run),
    "abort": lambda w, lease, run: w.store.abort_requested(lease, run.run_id),
}


@pytest.mark.parametrize("name", WRITES)
async def test_an_owner_that_was_overtaken_changes_nothing(world: World, name):
    lease, run = await world.tools("c1")
    await world.clock.advance(TTL)
    await world.take("p2")
    before = (await world.head(), await world.rows(), await world.store.calls(run.run_id))
    with pytest.raises(LeaseLost, match="epoch 2"):
        await WRITES[name](world, lease, run)
    assert before == (await world.head(), await world.rows(), await world.store.calls(run.run_id))


@pytest.mark.parametrize("name", WRITES)
async def test_the_same_process_is_refused_under_its_older_lease(world: World, name):
    lease, run = await world.tools("c1")
    await world.clock.advance(TTL)
    await world.take(lease.owner)
    with pytest.raises(LeaseLost):
        await WRITES[name](world, lease, run)


async def test_a_lease_is_kept_while_there_is_work(world: World):
    lease, run = await world.begin_answered()
    await world.say("one more")
    await world.end(lease, run)
    assert not await world.store.release_if_drained(lease)
    assert await world.store.acquire(KEY, "p2", TTL) is None


async def test_a_drained_thread_gives_its_lease_back(world: World):
    lease, run = await world.begin_answered()
    await world.end(lease, run)
    assert await world.store.release_if_drained(lease)
    head = await world.head()
    assert (head.owner, head.lease_until, head.attempts) == (None, EPOCH, 0)
    with pytest.raises(LeaseLost):
        await world.store.renew(lease, TTL)


async def test_a_postponed_thread_rests_until_its_time(world: World):
    await world.say()
    lease = await world.take()
    await world.store.postpone(lease, 30)
    assert await world.store.runnable() == []
    assert await world.store.acquire(KEY, "p2", TTL) is None
    await world.clock.advance(timedelta(seconds=30))
    assert await world.store.runnable() == [KEY]
    assert (await world.take("p2")).epoch == 2


async def test_an_owner_may_let_go_of_a_thread_that_rests(world: World):
    await world.say()
    lease = await world.take()
    await world.mend(not_before=world.clock.now() + SECOND)
    assert await world.store.release_if_drained(lease)


async def test_a_restart_takes_all_leases_back_at_once(world: World):
    lease, run = await world.tools("c1")
    await world.store.void_leases()
    assert await world.store.runnable() == [KEY]
    with pytest.raises(LeaseLost):
        await world.settle(lease, run, "c1")
    assert (await world.take("p2")).epoch == lease.epoch + 1


async def test_only_so_many_threads_are_named_at_once(world: World):
    for number in range(5):
        await world.say(key=thread_key("res", f"t{number}"))
    assert len(await world.store.runnable(limit=3)) == 3


# Attempts


async def interrupted(world: World, times: int) -> None:
    for _ in range(times):
        await world.take()
        await world.clock.advance(TTL)


async def test_three_attempts_are_made_before_a_thread_is_set_aside(world: World):
    await world.say()
    await interrupted(world, 3)
    assert await world.store.acquire(KEY, "p1", TTL) is None
    head = await world.head()
    assert (head.quarantined, head.state, head.owner) == (True, "idle", None)
    assert await world.store.runnable() == []


async def test_people_are_told_where_they_asked_that_it_was_set_aside(world: World):
    await world.store.bind(PLACE, KEY, "ada")
    await world.say(conversation=ELSEWHERE)
    await interrupted(world, 3)
    await world.store.acquire(KEY, "p1", TTL)
    (post,) = await world.posts()
    assert (post.payload.kind, post.conversation) == ("notice", ELSEWHERE)
    assert "Write again" in post.payload.text


async def test_a_run_that_is_interrupted_three_times_ends_as_failed(world: World):
    await world.store.bind(PLACE, KEY, "ada")
    _, run = await world.tools("c1", text="half an answer")
    await world.clock.advance(TTL)
    await interrupted(world, 3)
    assert await world.store.acquire(KEY, "p1", TTL) is None
    ended = await world.store.run(run.run_id)
    assert (ended.status, ended.finish_reason) == (RunStatus.FAILED, "quarantined")
    assert "result c1" in (await world.told())[-1]
    assert [line[:12] for line in await world.lines()] == ["half an answ", "I tried this"]


async def test_the_slow_owner_of_a_thread_set_aside_is_refused(world: World):
    lease, run = await world.tools("c1")
    await world.mend(attempts=3)
    await world.clock.advance(TTL)
    assert await world.store.acquire(KEY, "p2", TTL) is None
    with pytest.raises(LeaseLost):
        await world.settle(lease, run, "c1")


async def test_each_commit_starts_the_count_again(world: World):
    await world.say()
    await interrupted(world, 2)
    lease, run = await world.begin()
    await world.drain(lease, run)
    await world.clock.advance(TTL)
    await interrupted(world, 3)
    assert not (await world.head()).quarantined


async def test_an_owner_that_found_nothing_and_left_was_not_interrupted(world: World):
    for _ in range(5):
        await world.say()
        lease = await world.take()
        await world.mend(mail=0)
        assert await world.store.release_if_drained(lease)
    assert (await world.head()).attempts == 0


async def test_a_thread_set_aside_keeps_its_mail_for_the_next_chance(world: World):
    await world.say("poison")
    await interrupted(world, 3)
    await world.store.acquire(KEY, "p1", TTL)
    await world.say("try again")
    lease, run = await world.begin()
    await world.drain(lease, run)
    assert await world.told() == ["signal:poison", "signal:try again"]


# What is runnable: a property


def runnable_by_definition(head: Thread) -> bool:
    """The definition of architecture.md 5, written once more."""
    if head.quarantined or head.lease_until > NOON or head.not_before > NOON:
        return False
    suspended = head.state is ThreadState.SUSPENDED
    running = head.state is ThreadState.RUNNING
    return head.resumes > 0 or running or (head.mail > 0 and not suspended)


MOMENTS = st.sampled_from([EPOCH, NOON - SECOND, NOON, NOON + SECOND])
HEADS = st.lists(
    st.builds(
        dict,
        state=st.sampled_from(ThreadState),
        mail=st.integers(0, 2),
        resumes=st.integers(0, 1),
        quarantined=st.booleans(),
        lease_until=MOMENTS,
        not_before=MOMENTS,
    ),
    max_size=8,
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(drawn=HEADS)
def test_exactly_the_threads_with_work_and_no_owner_are_runnable(kind: str, drawn):
    asyncio.run(compare(kind, drawn))


async def compare(kind: str, drawn: list[dict]) -> None:
    heads = [
        Thread(
            resource_id="res",
            thread_id=f"t{number}",
            agent_id="ada",
            created_at=NOON,
            updated_at=NOON,
            **fields,
        )
        for number, fields in enumerate(drawn)
    ]
    with tempfile.TemporaryDirectory() as folder:
        world = await opened(kind, Path(folder))
        await world.transactor.write(lambda tables: [tables.threads.put(head) for head in heads])
        named = await world.store.runnable()
        takers = [await world.store.acquire(head.key, "p1", TTL) for head in heads]
        await world.store.aclose()
    wanted = {head.key for head in heads if runnable_by_definition(head)}
    assert set(named) == wanted
    assert {lease.key for lease in takers if lease is not None} == wanted
