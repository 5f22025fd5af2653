"""What the courier tells, when, and in which order."""

import asyncio
from datetime import timedelta

import pytest

from core.errors import InvalidInput, Unknown
from core.ids import thread_key
from core.notifications.courier import HOLD
from core.notifications.notification import NotificationStatus
from core.notifications.policy import DeliveryDecision, DeliveryPolicy
from core.stores.tables import Query
from core.threads.thread import ThreadState
from tests.unit.core.notifications.rows import KEY, NOW, House, a_row

SOON = {"action": "defer", "deliver_at": NOW + timedelta(minutes=1)}


async def texts(house, key=KEY):
    """Everything the thread was told, by tag, in order."""
    mail = await house.store._read(lambda tables: tables.mail.find(_of(key)))
    return [one.signal.tag_name for one in mail if one.signal.type == "notification"]


def _of(key):
    return Query(equals={"thread_id": key.thread_id})


async def test_low_news_reaches_an_idle_thread_without_waking_it():
    house = House()
    result = await house.notify(priority="low")
    done = await house.pass_(seconds=1)
    (told,) = await house.store.history(KEY)
    row = await house.row(result.record.id)
    assert (told.message.type, house.woken) == ("notification-summary", [])
    assert (row.status, row.summary_at, row.summary_signal_id) == (
        "pending",
        None,
        done.signals[0].id,
    )
    assert (await house.store.thread(KEY)).state is ThreadState.IDLE


async def test_low_news_enters_a_run_that_goes_on():
    house = House()
    await house.busy()
    await house.notify(priority="low")
    await house.pass_(seconds=1)
    assert await texts(house) == ["notification-summary"]
    assert house.woken == [KEY]


async def test_many_low_rows_are_one_summary():
    house = House()
    for number in range(150):
        await house.notify(priority="low", source=("email", "slack")[number % 2])
    done = await house.pass_(seconds=1)
    (signal,) = done.signals
    assert signal.contents == "email: 75, slack: 75"
    assert await house.store.due() == []


async def test_what_a_crash_left_undecided_is_still_one_summary():
    house = House()
    rows = tuple(a_row(id=f"n{number}", priority="low") for number in range(250))
    await house.store.record("github:1", rows)
    done = await house.pass_(seconds=1)
    assert [signal.contents for signal in done.signals] == ["github: 250"]


async def test_a_summary_with_more_than_low_news_wakes_the_thread():
    rule = {"action": "summarize", "summary_at": NOW + timedelta(minutes=1)}
    house = House(policy=DeliveryPolicy(default=rule))
    for priority in ("low", "medium"):
        await house.notify(priority=priority)
    await house.pass_(minutes=2)
    assert house.woken == [KEY]


async def test_deferred_news_is_told_in_full_at_its_time():
    house = House(policy=DeliveryPolicy(default=SOON))
    result = await house.notify()
    assert (await house.pass_(seconds=59)).signals == []
    done = await house.pass_(seconds=1)
    row = await house.row(result.record.id)
    assert (done.delivered, row.status) == ([row.id], "delivered")
    assert await texts(house) == ["notification"]


async def test_high_news_is_held_while_the_thread_works_and_told_when_it_rests():
    house = House()
    await house.busy()
    result = await house.notify(priority="high")
    assert (await house.pass_(seconds=1)).signals == []
    held = await house.row(result.record.id)
    assert (held.status, held.delivery_attempts) == ("pending", 0)
    assert held.deliver_at == NOW + timedelta(seconds=1) + HOLD
    await house.idle()
    assert (await house.pass_(seconds=HOLD.seconds)).delivered == [held.id]


async def test_held_rows_of_one_thread_do_not_starve_another():
    house = House()
    await house.busy()
    for _ in range(150):
        await house.notify(priority="high")
    other = thread_key("team", "thread-2")
    await house.notify(other, priority="low")
    await house.pass_(seconds=1)
    assert len(await house.store.history(other)) == 1


async def test_the_most_urgent_goes_first_and_then_the_oldest():
    later = NOW + timedelta(minutes=1)

    def rule(asked):
        if asked.record.kind == "sum":
            return {"action": "summarize", "summary_at": later}
        return {"action": "defer", "deliver_at": later}

    house = House(policy=DeliveryPolicy(decide=rule))
    await house.notify(kind="sum", priority="medium")
    for kind, priority in [("b", "medium"), ("c", "high"), ("d", "low"), ("e", "high")]:
        await house.clock.advance(timedelta(seconds=1))
        await house.notify(kind=kind, priority=priority)
    done = await house.pass_(minutes=2)
    kinds = [one.attributes.get("kind", one.tag_name) for one in done.signals]
    assert kinds == ["c", "e", "notification-summary", "b", "d"]


async def test_a_row_due_for_both_takes_its_summary_first():
    both = {"action": "summarize", "summary_at": NOW, "deliver_at": NOW}
    house = House(policy=DeliveryPolicy(default=both))
    await house.notify(priority="low")
    first = await house.pass_(seconds=1)
    second = await house.pass_(seconds=1)
    tags = [[one.tag_name for one in done.signals] for done in (first, second)]
    assert tags == [["notification-summary"], ["notification"]]


async def test_what_somebody_saw_meanwhile_is_not_told():
    house = House(policy=DeliveryPolicy(default=SOON))
    result = await house.notify()
    await house.store.mark(KEY, (result.record.id,), NotificationStatus.SEEN)
    assert (await house.pass_(minutes=2)).signals == []


async def test_an_event_that_a_crash_left_undecided_is_decided():
    house = House()
    await house.store.record("github:1", (a_row(priority="urgent"),))
    await house.pass_(seconds=1)
    assert (await house.row("n1")).status == "delivered"


async def test_a_thread_whose_agent_is_gone_gives_up_after_five_and_stops_nobody():
    house = House(policy=DeliveryPolicy(default=SOON))
    result = await house.notify()
    other = thread_key("team", "thread-2")
    await house.notify(other)
    _lose_the_agent_of(house, KEY)
    for _ in range(6):
        await house.pass_(hours=2)
    row = await house.row(result.record.id)
    assert (row.status, row.delivery_attempts) == ("failed", 5)
    assert "no agent" in row.last_delivery_error
    assert await texts(house, other) == ["notification"]


def _lose_the_agent_of(house, key):
    tell = house.store.tell

    async def fail(telling):
        if telling.request.key == key:
            raise Unknown("there is no agent helper")
        return await tell(telling)

    house.store.tell = fail


async def test_failed_tellings_are_tried_less_and_less_often():
    house = House(policy=DeliveryPolicy(default=SOON))
    result = await house.notify()
    _lose_the_agent_of(house, KEY)
    waits = []
    for _ in range(3):
        now = house.clock.now()
        await house.pass_(hours=1)
        row = await house.row(result.record.id)
        waits.append(row.deliver_at - now - timedelta(hours=1))
    assert waits[0] < waits[1] < waits[2]


@pytest.mark.parametrize("holds", [True, False])
async def test_a_policy_is_asked_again_for_hold_only(holds):
    house = House(policy=DeliveryPolicy(default=SOON))
    result = await house.notify()
    house.policy = DeliveryPolicy(decide=lambda _: DeliveryDecision(action="discard", hold=holds))
    await house.pass_(minutes=2)
    row = await house.row(result.record.id)
    assert (row.status, row.delivery_attempts) == ("pending" if holds else "delivered", 0)


async def test_a_policy_that_breaks_later_still_wakes_the_thread():
    house = House(policy=DeliveryPolicy(default=SOON))
    await house.notify()
    house.policy = DeliveryPolicy(decide=lambda _: 1 / 0)
    await house.pass_(minutes=2)
    assert house.woken == [KEY]


async def test_two_couriers_at_once_tell_everything_once():
    house = House(policy=DeliveryPolicy(default=SOON))
    for _ in range(20):
        await house.notify()
    await house.clock.advance(timedelta(minutes=2))
    await asyncio.gather(*(house.courier.dispatch_due() for _ in range(2)))
    assert len(await texts(house)) == 20


async def test_a_pass_with_nothing_due_does_nothing():
    done = await House().courier.dispatch_due()
    assert (done.signals, done.delivered, done.failed) == ([], [], [])


async def test_an_hour_without_a_zone_is_refused():
    with pytest.raises(InvalidInput, match="aware"):
        await House().courier.dispatch_due(NOW.replace(tzinfo=None))
