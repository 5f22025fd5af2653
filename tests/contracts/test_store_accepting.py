"""What every store promises to whoever puts a signal into a thread (signals.md 2.4 and 2.5)."""

import asyncio
from datetime import timedelta

import pytest

from core.errors import ThreadBlocked, Unknown
from core.ids import thread_key
from core.signals.routing import IfActive, IfIdle
from core.stores.steps.accepting import MAILBOX_LIMIT
from core.testing import NOON
from core.threads.thread import Ingress
from tests.contracts.store_world import KEY, World

OURS, OTHERS = "ada", "bob"
STEER = IfActive()
WAKE = IfIdle()
KEEP, DROP = IfActive(behavior="persist"), IfActive(behavior="discard")
KEEP_IDLE, DROP_IDLE = IfIdle(behavior="persist"), IfIdle(behavior="discard")
BUSY = ("reserved", "running", "suspended")

# What the thread is doing, who sends, own turn, the two branches -> the action, and the lane if any
TABLE = [
    ("idle", OURS, False, DROP, WAKE, "wake", "pending"),
    ("idle", OURS, False, STEER, KEEP_IDLE, "persist", None),
    ("idle", OURS, False, STEER, DROP_IDLE, "discard", None),
    ("idle", OURS, True, DROP, KEEP_IDLE, "wake", "pending"),
    ("idle", OURS, True, KEEP, DROP_IDLE, "wake", "pending"),
    *((doing, OURS, False, STEER, DROP_IDLE, "deliver", "pending") for doing in BUSY),
    *((doing, OURS, False, KEEP, WAKE, "persist", None) for doing in BUSY),
    *((doing, OURS, False, DROP, WAKE, "discard", None) for doing in BUSY),
    *((doing, OTHERS, False, DROP, WAKE, "deliver", "queued") for doing in BUSY),
    *((doing, OTHERS, False, STEER, KEEP_IDLE, "persist", None) for doing in BUSY),
    *((doing, OTHERS, False, STEER, DROP_IDLE, "discard", None) for doing in BUSY),
    *((doing, OURS, True, STEER, DROP_IDLE, "deliver", "queued") for doing in BUSY),
    *((doing, OURS, True, KEEP, WAKE, "persist", None) for doing in BUSY),
    *((doing, OURS, True, DROP, WAKE, "discard", None) for doing in BUSY),
    *((doing, OTHERS, True, STEER, KEEP_IDLE, "deliver", "queued") for doing in BUSY),
]
IDS = [
    f"{doing}-{agent}-{'own' if own else 'send'}-{active.behavior}-{idle.behavior}"
    for doing, agent, own, active, idle, _, _ in TABLE
]
ROWS = pytest.mark.parametrize(
    ("doing", "agent", "own", "active", "idle", "action", "lane"), TABLE, ids=IDS
)


@ROWS
async def test_a_signal_goes_where_the_table_says(
    world: World, doing, agent, own, active, idle, action, lane
):
    await world.bring(doing)
    before = len(await world.rows()) if doing != "idle" else 0
    wishes = {"agent_id": agent, "own_turn": own, "if_active": active, "if_idle": idle}
    accepted = await world.say("the one", **wishes)
    assert accepted.action == action
    assert ((lane, "the one") in await world.waiting()) is (lane is not None)
    assert (accepted.run_id is not None) is (lane is not None)
    kept = len(await world.rows()) - before if action != "discard" or doing != "idle" else 0
    assert kept == (1 if action == "persist" else 0)


@ROWS
async def test_a_transient_signal_is_never_kept_for_later(
    world: World, doing, agent, own, active, idle, action, lane
):
    await world.bring(doing)
    wishes = {"agent_id": agent, "own_turn": own, "if_active": active, "if_idle": idle}
    accepted = await world.say("the one", transient=True, **wishes)
    assert accepted.action == ("discard" if action == "persist" else action)
    assert ((lane, "the one") in await world.waiting()) is (lane is not None)


@pytest.mark.parametrize("doing", BUSY)
async def test_what_steers_a_run_is_told_that_runs_id(world: World, doing):
    run_id = await world.bring(doing)
    assert (await world.say("turn left")).run_id == run_id


@pytest.mark.parametrize("doing", BUSY)
async def test_an_own_turn_is_promised_a_run_of_its_own(world: World, doing):
    run_id = await world.bring(doing)
    accepted = await world.say("next", own_turn=True)
    assert accepted.run_id not in (None, run_id)


async def test_a_discarded_signal_leaves_no_thread_behind(world: World):
    await world.say(if_idle=DROP_IDLE)
    with pytest.raises(Unknown):
        await world.head()


async def test_the_first_signal_makes_the_thread_and_reserves_its_run(world: World):
    accepted = await world.say()
    head = await world.head()
    assert (head.state, head.run_id, head.run_agent_id) == ("reserved", accepted.run_id, "ada")
    assert (head.agent_id, head.mail, head.ready) == ("ada", 1, True)


async def test_a_signal_carries_the_time_at_which_it_was_taken(world: World):
    await world.clock.advance(timedelta(seconds=5))
    accepted = await world.say()
    assert accepted.signal.accepted_at == world.clock.now()


async def test_the_mail_keeps_options_and_where_the_answer_goes(world: World):
    await world.say(options={"maxSteps": 3})
    (entry,) = await world.mailbox()
    assert (entry.options, entry.reply_to.root) == ({"maxSteps": 3}, "1")


@pytest.mark.parametrize(
    ("doing", "agent", "own", "branch"),
    [
        ("idle", OURS, False, "idle"),
        ("idle", OURS, True, "idle"),
        ("running", OURS, False, "active"),
        ("suspended", OURS, False, "active"),
        ("running", OTHERS, False, "active"),
        ("running", OURS, True, "idle"),
    ],
)
async def test_one_branch_alone_adds_its_attributes(world: World, doing, agent, own, branch):
    await world.bring(doing)
    wishes = {"agent_id": agent, "own_turn": own}
    accepted = await world.say(
        if_active=IfActive(attributes={"while": "active"}),
        if_idle=IfIdle(attributes={"while": "idle"}),
        **wishes,
    )
    assert accepted.signal.attributes == {"while": branch}


async def test_the_same_event_twice_gets_its_first_outcome(world: World):
    first = await world.say("once", event_key="e1")
    again = await world.say("twice", event_key="e1")
    assert again == first.model_copy(update={"duplicate": True})
    assert await world.waiting() == [("pending", "once")]


async def test_a_repeated_event_is_known_after_its_run_has_ended(world: World):
    first = await world.say("once", event_key="e1")
    lease, run = await world.begin()
    await world.end(lease, await world.drain(lease, run))
    assert (await world.say("once", event_key="e1")).run_id == first.run_id
    assert (await world.head()).state == "idle"


async def test_an_event_that_arrives_ten_times_at_once_counts_once(world: World):
    requests = [world.request(event_key="e1") for _ in range(10)]
    outcomes = await asyncio.gather(*map(world.store.accept, requests))
    assert sorted(one.duplicate for one in outcomes) == [False] + [True] * 9
    assert (await world.head()).mail == 1


async def test_twelve_hundred_newer_events_push_none_out(world: World):
    first = await world.say(event_key="first")
    later = Ingress(
        event_key="", outcome=first.model_dump(mode="json"), expires_at=NOON + timedelta(days=7)
    )
    newer = [later.model_copy(update={"event_key": f"e{number}"}) for number in range(1200)]
    await world.transactor.write(lambda tables: [tables.ingress.put(row) for row in newer])
    await world.store.purge()
    assert (await world.say(event_key="first")).duplicate


async def test_signals_without_a_key_are_each_their_own_event(world: World):
    assert not (await world.say()).duplicate
    assert not (await world.say()).duplicate
    assert (await world.head()).mail == 2


async def test_an_event_is_remembered_for_seven_days(world: World):
    await world.say(event_key="e1")
    await world.clock.advance(timedelta(days=7) - timedelta(seconds=1))
    assert await world.store.purge() == 0
    assert (await world.say(event_key="e1")).duplicate
    await world.clock.advance(timedelta(seconds=1))
    assert await world.store.purge() == 1
    assert not (await world.say(event_key="e1")).duplicate


async def test_forgetting_old_events_is_done_in_portions(world: World):
    for number in range(5):
        await world.say(event_key=f"e{number}")
    await world.clock.advance(timedelta(days=8))
    assert [await world.store.purge(limit=3) for _ in range(3)] == [3, 2, 0]


async def test_a_thread_of_another_owner_takes_nothing_from_a_stranger(world: World):
    await world.say("mine")
    with pytest.raises(Unknown, match="thr is not one of resource thief"):
        await world.say("theirs", key=thread_key("thief", "thr"), event_key="e1")
    assert await world.waiting() == [("pending", "mine")]
    assert not (await world.say("mine too", event_key="e1")).duplicate


async def test_a_stranger_does_not_learn_an_outcome_by_its_key(world: World):
    await world.say("secret", event_key="e1")
    with pytest.raises(Unknown):
        await world.say(key=thread_key("thief", "thr"), event_key="e1")


async def test_a_full_mailbox_refuses_and_forgets_the_event(world: World):
    await world.say()
    await world.mend(mail=MAILBOX_LIMIT)
    with pytest.raises(ThreadBlocked, match="1000 messages waiting"):
        await world.say("one more", event_key="e1")
    await world.mend(mail=1)
    assert not (await world.say("one more", event_key="e1")).duplicate


async def test_a_full_mailbox_still_keeps_what_only_goes_to_the_history(world: World):
    await world.say()
    await world.mend(mail=MAILBOX_LIMIT)
    assert (await world.say(if_active=KEEP)).action == "persist"


async def test_the_sender_is_told_which_plan_still_waits(world: World):
    await world.pause("c1", "c2")
    assert (await world.say("use staging")).waiting == "tok_c1"
    await world.decide("tok_c1")
    assert (await world.say("and hurry")).waiting == "tok_c2"


async def test_nothing_waits_for_people_while_a_run_goes_on(world: World):
    await world.bring("running")
    assert (await world.say()).waiting is None


async def test_a_persons_message_gives_a_thread_set_aside_another_chance(world: World):
    await world.say()
    await world.mend(quarantined=True, attempts=3)
    await world.say("please try again")
    assert (await world.head()).attempts == 0
    assert await world.store.runnable() == [KEY]


@pytest.mark.parametrize("kind", ["notification", "reactive"])
async def test_events_do_not_revive_a_thread_that_was_set_aside(world: World, kind):
    await world.say()
    await world.mend(quarantined=True, attempts=3)
    assert (await world.say("build failed", kind=kind)).action == "deliver"
    assert await world.store.runnable() == []


async def test_an_own_turn_stays_behind_what_an_ended_run_left(world: World):
    await world.bring("running")
    await world.say("left over")
    await world.clock.advance(timedelta(seconds=7))
    lease, run = await world.begin("p2")
    await world.end(lease, run)
    accepted = await world.say("my own turn", own_turn=True)
    assert accepted.action == "deliver"
    assert await world.waiting() == [("pending", "left over"), ("queued", "my own turn")]
