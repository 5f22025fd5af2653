"""A digest as its people meet it: at its hour, once, or late, or missed and mentioned."""

from datetime import timedelta

import pytest

from core.conversation import Conversation
from core.notifications.digest import DigestWindow
from core.notifications.policy import DeliveryPolicy
from tests.unit.core.notifications.rows import KEY, NOW, House

CHANNEL = Conversation(platform="slack", tenant="T1", channel="C1")


class EverySixHours:
    """Opens at 00:00, 06:00, 12:00 and 18:00 UTC."""

    def after(self, instant):
        whole = instant.replace(hour=instant.hour // 6 * 6, minute=0, second=0, microsecond=0)
        return whole + timedelta(hours=6)


@pytest.fixture
async def house():
    async def windows(_):
        return [DigestWindow(schedule=EverySixHours(), zone="UTC", conversation=CHANNEL)]

    house = House(windows=windows)
    await house.store.bind(CHANNEL, KEY, "helper")
    return house


async def cards(house):
    return [entry.payload for entry in reversed(await house.store.outbox())]


async def test_low_news_waits_for_the_window_and_then_comes_as_one(house):
    for summary in ("one", "two"):
        await house.notify(priority="low", summary=summary)
        await house.clock.advance(timedelta(seconds=1))
    assert (await house.pass_(hours=5, minutes=59)).signals == []
    done = await house.pass_(minutes=1)
    (card,) = await cards(house)
    assert [one.contents for one in done.signals] == ["github: 2"]
    assert card.lines == ("github: one", "github: two")
    assert house.woken == []


async def test_a_window_is_told_once(house):
    await house.notify(priority="low")
    await house.pass_(hours=6)
    await house.notify(priority="low")
    done = await house.pass_(minutes=10)
    window = await house.store.window(KEY.thread_id, "2026-11-30", "18:00")
    assert (done.signals, len(await cards(house))) == ([], 1)
    assert len(window.notification_ids) == 1


async def test_news_between_two_windows_comes_with_the_second(house):
    await house.notify(priority="low", summary="first")
    await house.pass_(hours=6)
    await house.notify(priority="low", summary="second")
    await house.pass_(hours=6)
    assert [card.lines for card in await cards(house)] == [
        ("github: first",),
        ("github: second",),
    ]


async def test_nothing_due_posts_nothing(house):
    await house.pass_(hours=6)
    assert await cards(house) == []
    assert await house.store.window(KEY.thread_id, "2026-11-30", "18:00") is None


async def test_a_digest_may_be_late_by_an_hour(house):
    await house.notify(priority="low")
    assert len((await house.pass_(hours=7)).signals) == 1


async def test_a_digest_missed_is_written_down_and_mentioned_by_the_next(house):
    """PB-074."""
    await house.notify(priority="low")
    assert (await house.pass_(hours=7, minutes=1)).signals == []
    missed = await house.store.window(KEY.thread_id, "2026-11-30", "18:00")
    assert missed.missed
    await house.pass_(hours=5)
    (card,) = await cards(house)
    assert card.title == "1 notification (one digest before this was missed)"


async def test_after_days_asleep_there_is_one_digest_and_no_burst(house):
    """PB-073."""
    await house.notify(priority="low")
    await house.clock.advance(timedelta(days=3, hours=3))
    await house.notify(priority="low")
    await house.courier.dispatch_due()
    await house.pass_(hours=3)
    assert [len(card.lines) for card in await cards(house)] == [2]


async def test_urgent_news_waits_for_no_window(house):
    await house.notify(priority="urgent")
    assert house.woken == [KEY]


async def test_a_summary_at_a_time_of_its_own_comes_then_and_without_a_card(house):
    own = {"action": "summarize", "summary_at": NOW + timedelta(minutes=30)}
    house.policy = DeliveryPolicy(default=own)
    await house.notify(priority="low")
    done = await house.pass_(minutes=30)
    assert (len(done.signals), await cards(house)) == (1, [])
