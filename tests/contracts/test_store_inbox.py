"""What every store promises about outside events: kept once, told once, found again."""

from datetime import timedelta

from core.notifications.notification import Notification, NotificationStatus, Priority, Window
from core.notifications.store import InboxFilter, Telling, Verdict
from tests.contracts.store_world import KEY, World

MINUTE = timedelta(minutes=1)


def event(world: World, name: str = "n1", **changes) -> Notification:
    told = {
        "id": name,
        "thread_id": KEY.thread_id,
        "resource_id": KEY.resource_id,
        "agent_id": "ada",
        "source": "github",
        "kind": "push",
        "summary": "someone pushed",
        "created_at": world.clock.now(),
        "updated_at": world.clock.now(),
        "deliver_at": world.clock.now(),
    }
    return Notification(**{**told, **changes})


def telling(world: World, name: str = "n1", **changes) -> Telling:
    key = f"notification:{name}:1:full"
    request = world.request("someone pushed", kind="notification", event_key=key)
    return Telling(request=request, notification_ids=(name,), **changes)


async def test_a_delivery_is_recorded_once(world: World):
    first = await world.store.record("github:d1", (event(world), event(world, "n2")))
    again = await world.store.record("github:d1", (event(world, "n3"),))
    assert [row.id for row in first.rows] == ["n1", "n2"]
    assert (again.duplicate, again.rows) == (True, first.rows)
    assert await world.store.notification(KEY, "n1") == first.rows[0]


async def test_what_nobody_decided_is_due_at_once(world: World):
    await world.store.record(None, (event(world), event(world, "n2", deliver_at=None)))
    assert [row.id for row in await world.store.due()] == ["n1", "n2"]


async def test_a_verdict_moves_the_time(world: World):
    await world.store.record(None, (event(world),))
    later = world.clock.now() + MINUTE
    judged = await world.store.judge(KEY, "n1", Verdict(deliver_at=later, reason="quiet hours"))
    assert (judged.deliver_at, judged.delivery_reason) == (later, "quiet hours")
    assert await world.store.due() == []
    await world.clock.advance(MINUTE)
    assert [row.id for row in await world.store.due(limit=1)] == ["n1"]


async def test_an_event_is_told_once_by_whoever_comes_first(world: World):
    await world.store.record(None, (event(world),))
    accepted = await world.store.tell(telling(world))
    assert accepted.action == "wake"
    assert await world.store.tell(telling(world)) is None
    row = await world.store.notification(KEY, "n1")
    assert (row.status, row.delivered_signal_id) == ("delivered", accepted.signal.id)
    assert [entry.signal.id for entry in await world.mailbox()] == [accepted.signal.id]


async def test_a_telling_that_failed_is_tried_later(world: World):
    await world.store.record(None, (event(world),))
    due_at = world.clock.now() + MINUTE
    row = await world.store.undelivered(KEY, "n1", "the model is away", due_at)
    assert (row.delivery_attempts, row.last_delivery_error) == (1, "the model is away")
    assert row.deliver_at == due_at


async def test_an_inbox_shows_what_was_asked_for(world: World):
    urgent = event(world, "n2", priority=Priority.URGENT, source="sentry")
    await world.store.record(None, (event(world), urgent))
    wanted = InboxFilter(priorities=(Priority.URGENT,))
    assert [row.id for row in await world.store.inbox(KEY, wanted)] == ["n2"]
    seen = await world.store.mark(KEY, ("n1", "none"), NotificationStatus.SEEN)
    assert [row.id for row in seen] == ["n1"]
    wanted = InboxFilter(statuses=(NotificationStatus.SEEN,))
    assert await world.store.inbox(KEY, wanted) == seen


async def test_a_digest_closes_its_window_with_what_it_told(world: World):
    (row,) = (await world.store.record(None, (event(world),))).rows
    await world.store.judge(KEY, row.id, Verdict(summary_at=world.clock.now()))
    slot = {"inbox": "thr", "local_date": "2026-03-02", "slot": "12:00"}
    window = Window(**slot, notification_ids=("n1",), closed_at=world.clock.now())
    assert await world.store.window(**slot) is None
    assert await world.store.tell(telling(world, summary=True, window=window)) is not None
    assert await world.store.window(**slot) == window
    assert await world.store.tell(telling(world, summary=True, window=window)) is None
