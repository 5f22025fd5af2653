"""What an inbox does with an event, on a thread that is idle and on one that works."""

from datetime import timedelta

import pytest

from core.conversation import Conversation, InboundEvents, OutsideEvent
from core.errors import InvalidInput, InvalidSignal, StoreUnavailable
from core.ids import thread_key
from core.notifications.digest import DigestWindow
from core.notifications.inbox import SUMMARY_INTERVAL, home_of
from core.notifications.ingress import NotificationInput, NotifyOptions
from core.notifications.policy import DeliveryPolicy, PolicyFailed
from core.notifications.store import InboxFilter
from core.notifications.subscriptions import Subscription, Subscriptions
from core.notifications.telling import Routing
from core.notifications.windows import ConversationWindows
from core.signals.routing import IfIdle
from core.stores.tables import Query
from core.threads.thread import ThreadState
from tests.unit.core.notifications.rows import KEY, NOW, House

LATER = NOW + timedelta(hours=1)
CHANNEL = Conversation(platform="slack", tenant="T1", channel="C1")
OTHER = Conversation(platform="slack", tenant="T1", channel="C2")


async def mail(house, key=KEY):
    """The tags and lanes of what waits in the thread's mailbox, without what a person said."""
    thread = await house.store.thread(key)
    return thread.mail - (1 if thread.run_id == "run-1" else 0)


@pytest.mark.parametrize("priority", ["urgent", "high", "medium"])
async def test_an_idle_thread_is_woken_with_the_full_text(priority):
    house = House()
    result = await house.notify(priority=priority)
    assert (result.accepted.action, result.signal.tag_name) == ("wake", "notification")
    assert (result.record.status, result.record.delivered_at) == ("delivered", NOW)
    assert result.record.delivered_signal_id == result.signal.id
    assert result.run_id == (await house.store.thread(KEY)).run_id
    assert house.woken == [KEY]


@pytest.mark.parametrize("busy", [True, False])
async def test_what_is_low_is_left_to_the_courier(busy):
    house = House()
    if busy:
        await house.busy()
    result = await house.notify(priority="low")
    assert (result.signal, result.decision.action) == (None, "summarize")
    assert (result.record.status, result.record.summary_at) == ("pending", NOW)
    assert await mail(house) == 0


async def test_urgent_news_enters_the_run_that_goes_on():
    house = House()
    await house.busy()
    result = await house.notify(priority="urgent")
    assert (result.accepted.action, result.run_id) == ("deliver", "run-1")
    assert result.record.status == "delivered"


@pytest.mark.parametrize(("priority", "deliver_at"), [("high", NOW), ("medium", None)])
async def test_a_working_thread_hears_a_summary_at_once(priority, deliver_at):
    house = House()
    await house.busy()
    result = await house.notify(priority=priority)
    row = result.record
    assert result.signal.tag_name == "notification-summary"
    assert result.signal.attributes == {"pending": 1, "priority": priority}
    assert (row.status, row.summary_at, row.deliver_at) == ("pending", None, deliver_at)
    assert row.summary_signal_id == result.signal.id


async def test_a_second_summary_of_medium_news_waits_but_never_one_of_high():
    house = House()
    await house.busy()
    await house.notify()
    second, high = await house.notify(), await house.notify(priority="high")
    assert (second.signal, second.record.summary_at) == (None, NOW + SUMMARY_INTERVAL)
    assert high.signal is not None


async def test_two_events_of_one_call_see_the_same_thread():
    house = House()
    events = [
        NotificationInput(source="github", kind="k", summary=str(number), priority="high")
        for number in range(2)
    ]
    results = await house.inbox.notify(KEY, events, NotifyOptions(agent_id="helper"))
    assert [one.decision.reason for one in results] == ["idle-high", "idle-high"]
    assert [one.accepted.action for one in results] == ["wake", "deliver"]
    assert [one.record.summary for one in results] == ["0", "1"]


@pytest.mark.parametrize(
    ("rule", "busy", "action", "status"),
    [
        ("persist", False, "persist", "delivered"),
        ("persist", True, "persist", "delivered"),
        ("queue", False, "wake", "delivered"),
        ("queue", True, "deliver", "delivered"),
        ("discard", False, None, "discarded"),
        ({"action": "defer", "deliverAt": LATER}, False, None, "pending"),
    ],
)
async def test_a_policy_of_ones_own_is_followed(rule, busy, action, status):
    house = House(policy=DeliveryPolicy(default=rule))
    if busy:
        await house.busy()
    result = await house.notify()
    assert (result.accepted and result.accepted.action, result.record.status) == (action, status)


async def test_queued_news_takes_a_turn_of_its_own():
    house = House(policy=DeliveryPolicy(default="queue"))
    await house.busy()
    assert (await house.notify()).run_id != "run-1"


async def test_persisted_news_is_in_the_history_and_wakes_nobody():
    house = House(policy=DeliveryPolicy(default="persist"))
    await house.notify()
    (row,) = await house.store.history(KEY)
    assert (row.message.type, house.woken) == ("notification", [])
    assert (await house.store.thread(KEY)).state is ThreadState.IDLE


async def test_deferred_news_keeps_its_time_and_reason():
    rule = {"action": "defer", "deliver_at": LATER, "reason": "lunch"}
    result = await House(policy=DeliveryPolicy(default=rule)).notify()
    assert (result.record.deliver_at, result.record.delivery_reason) == (LATER, "lunch")


async def test_a_merged_event_is_decided_again():
    house = House(policy=DeliveryPolicy(default={"action": "defer", "deliver_at": LATER}))
    first, again = [await house.notify(coalesceKey="k") for _ in range(2)]
    assert (again.record.id, again.record.coalesced_count) == (first.record.id, 2)
    assert again.decision.action == "defer"


async def test_the_same_fact_is_announced_once():
    house = House()
    await house.busy()
    first, again = [await house.notify(dedupeKey="k", priority="high") for _ in range(2)]
    assert (again.signal, again.decision.reason) == (None, "already-announced")
    assert (again.record.id, again.record.coalesced_count) == (first.record.id, 2)


@pytest.mark.parametrize("priority", ["high", "low"])
async def test_the_same_key_gives_the_first_outcome(priority):
    house = House()
    first = await house.notify(ingress_key="api:1", priority=priority)
    again = await house.notify(ingress_key="api:1", priority=priority)
    assert again.record == first.record
    assert again.decision.action == first.decision.action
    assert again.decision.reason == first.decision.reason


async def test_what_cannot_be_shown_is_refused_and_not_kept():
    house = House()
    with pytest.raises(InvalidSignal):
        await house.notify(attributes={"a b": 1})
    with pytest.raises(InvalidInput):
        await House(policy=DeliveryPolicy(default="defer")).notify()


async def test_news_that_the_sender_does_not_want_told_is_tried_again_later():
    house = House()
    routing = Routing(if_idle=IfIdle(behavior="discard"))
    one = NotificationInput(source="github", kind="k", summary="s")
    options = NotifyOptions(agent_id="helper", routing=routing)
    (result,) = await house.inbox.notify(KEY, [one], options)
    row = result.record
    assert (result.accepted, row.status, row.delivery_attempts) == (None, "pending", 1)
    assert row.deliver_at > NOW
    assert "discard" in row.last_delivery_error


async def test_a_policy_that_raises_rejects_the_call_and_loses_nothing():
    house = House(policy=DeliveryPolicy(decide=lambda _: 1 / 0))
    with pytest.raises(PolicyFailed):
        await house.notify(priority="urgent")
    (row,) = await house.store.due()
    assert row.decided is False


async def test_the_options_of_the_run_come_from_caller_and_policy():
    rule = {"action": "deliver", "streamOptions": {"maxSteps": 3}}
    house = House(policy=DeliveryPolicy(default=rule))
    one = NotificationInput(source="github", kind="k", summary="s")
    options = NotifyOptions(agent_id="helper", routing=Routing(options={"mode": "plan"}))
    await house.inbox.notify(KEY, [one], options)
    (waiting,) = await house.store._read(lambda tables: tables.mail.find(Query()))
    assert waiting.options == {"mode": "plan", "maxSteps": 3}


def delivery(*events, key="github:1"):
    return InboundEvents(ingress_key=key, source="github", events=events)


def event(topic="github:acme/app#12", **more):
    given = {"topic": topic, "event_kind": "ci-status", "summary": "CI failed"}
    return OutsideEvent.model_validate(given | more)


def subscribed(*conversations):
    return Subscriptions(
        listed=tuple(
            Subscription(topic="github:acme/app", agent_id="helper", conversation=one)
            for one in conversations
        )
    )


async def test_a_delivery_reaches_each_subscribed_channel_once():
    house = House(subscriptions=subscribed(CHANNEL, OTHER))
    first = await house.inbox.receive(delivery(event(outcome="failed")))
    again = await house.inbox.receive(delivery(event()))
    assert (first.threads, first.duplicate) == (2, False)
    assert (again.threads, again.duplicate) == (2, True)
    assert house.woken == [home_of(CHANNEL), home_of(OTHER)]


async def test_an_event_keeps_its_outcome_and_hides_what_it_clears():
    house = House(subscriptions=subscribed(CHANNEL))
    await house.inbox.receive(
        delivery(event(outcome="passed", clears="github:acme/app:main:CI:", priority="low"))
    )
    (row,) = await house.store.due()
    assert row.attributes == {"outcome": "passed"}
    assert row.metadata == {"clears": "github:acme/app:main:CI:"}


async def test_a_topic_that_nobody_watches_leaves_no_trace():
    house = House(subscriptions=subscribed(CHANNEL))
    received = await house.inbox.receive(delivery(event(topic="github:acme/app2#1")))
    assert received.threads == 0
    assert await house.store.due() == []


async def test_a_broken_policy_does_not_lose_a_delivery():
    house = House(policy=DeliveryPolicy(decide=lambda _: 1 / 0), subscriptions=subscribed(CHANNEL))
    assert (await house.inbox.receive(delivery(event()))).threads == 1
    await house.courier.dispatch_due()
    assert house.woken == [home_of(CHANNEL)]


async def test_a_store_that_takes_nothing_is_told_to_the_sender():
    house = House(subscriptions=subscribed(CHANNEL))

    async def refuse(*_):
        raise StoreUnavailable("the disk is full")

    house.store.record = refuse
    with pytest.raises(StoreUnavailable):
        await house.inbox.receive(delivery(event()))


async def test_a_channel_keeps_the_thread_it_already_has():
    house = House(subscriptions=subscribed(CHANNEL))
    await house.store.bind(CHANNEL, thread_key("ops", "old-thread"), "helper")
    await house.inbox.receive(delivery(event()))
    assert house.woken == [thread_key("ops", "old-thread")]


class Hourly:
    def after(self, instant):
        whole = instant.replace(minute=0, second=0, microsecond=0)
        return whole + timedelta(hours=1)


async def test_low_news_waits_for_the_digest_of_its_channel_only():
    house = House(subscriptions=subscribed(CHANNEL, OTHER))
    listed = [DigestWindow(schedule=Hourly(), zone="UTC", conversation=CHANNEL)]
    house.inbox._windows = ConversationWindows(store=house.store, listed=listed)
    await house.inbox.receive(delivery(event(priority="low")))
    times = {
        one: (await house.store.inbox(home_of(one), InboxFilter()))[0].summary_at
        for one in (CHANNEL, OTHER)
    }
    assert times == {CHANNEL: NOW + timedelta(hours=1), OTHER: NOW}
