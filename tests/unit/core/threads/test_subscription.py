"""Watching a thread: order, catching up, and leaving without disturbing anybody."""

import asyncio
import gc
from contextlib import aclosing

import pytest

from core.ids import thread_key
from core.threads.subscription import (
    KEPT_CHUNKS,
    KEPT_THREADS,
    SUBSCRIBER_BUFFER,
    Broadcaster,
    SlowSubscriber,
    Streamed,
    Subscription,
)

KEY = thread_key("res", "thr")


def key(number: int):
    return thread_key("res", f"t{number}")


@pytest.fixture
def broadcaster() -> Broadcaster[str]:
    return Broadcaster()


def publish(broadcaster: Broadcaster[str], words: str, to=KEY) -> None:
    for word in words.split():
        broadcaster.publish(to, word)


async def read(subscription: Subscription[str], count: int) -> list[str]:
    chunks = []
    async with aclosing(subscription.items()) as items:
        async for item in items:
            chunks.append(item.chunk)
            if len(chunks) == count:
                return chunks
    return chunks


async def read_into(seen: list[Streamed[str]], subscription: Subscription[str]) -> None:
    async for item in subscription:
        seen += [item]


async def cursor_of(broadcaster: Broadcaster[str], word: str, to=KEY) -> str:
    """Returns the cursor that a reader of this chunk got."""
    subscription = broadcaster.subscribe(to)
    broadcaster.publish(to, word)
    async with aclosing(subscription.items()) as items:
        return (await anext(items)).cursor


async def test_chunks_come_in_order(broadcaster):
    subscription = broadcaster.subscribe(KEY)
    publish(broadcaster, "a b c")
    assert await read(subscription, 3) == ["a", "b", "c"]


async def test_a_reader_waits_for_what_has_not_been_said_yet(broadcaster):
    reading = asyncio.create_task(read(broadcaster.subscribe(KEY), 1))
    await asyncio.sleep(0)
    publish(broadcaster, "late")
    assert await reading == ["late"]


async def test_each_reader_gets_everything_even_if_another_leaves(broadcaster):
    first, second = broadcaster.subscribe(KEY), broadcaster.subscribe(KEY)
    publish(broadcaster, "a")
    assert await read(first, 1) == ["a"]
    publish(broadcaster, "b")
    assert await read(second, 2) == ["a", "b"]


@pytest.mark.parametrize("other", [thread_key("res", "else"), thread_key("else", "thr")])
async def test_a_reader_hears_its_own_thread_of_its_own_resource_alone(broadcaster, other):
    subscription = broadcaster.subscribe(KEY)
    publish(broadcaster, "secret", to=other)
    publish(broadcaster, "mine")
    assert await read(subscription, 1) == ["mine"]


async def test_without_a_cursor_nothing_old_is_shown(broadcaster):
    publish(broadcaster, "old")
    subscription = broadcaster.subscribe(KEY)
    publish(broadcaster, "new")
    assert await read(subscription, 1) == ["new"]


async def test_with_a_cursor_a_reader_goes_on_after_it(broadcaster):
    cursor = await cursor_of(broadcaster, "seen")
    publish(broadcaster, "missed too")
    subscription = broadcaster.subscribe(KEY, cursor)
    publish(broadcaster, "live")
    assert await read(subscription, 3) == ["missed", "too", "live"]


async def test_a_reader_that_missed_nothing_gets_nothing_twice(broadcaster):
    cursor = await cursor_of(broadcaster, "seen")
    subscription = broadcaster.subscribe(KEY, cursor)
    publish(broadcaster, "next")
    assert await read(subscription, 1) == ["next"]


@pytest.mark.parametrize("cursor", ["0", "-", "otherboot-7", "nonsense", ""])
async def test_a_cursor_of_another_life_replays_all_that_is_remembered(broadcaster, cursor):
    publish(broadcaster, "a b")
    assert await read(broadcaster.subscribe(KEY, cursor), 2) == ["a", "b"]


async def test_only_so_many_chunks_of_a_thread_are_remembered(broadcaster):
    for number in range(KEPT_CHUNKS + 5):
        broadcaster.publish(KEY, str(number))
    assert (await read(broadcaster.subscribe(KEY, "x"), 1)) == ["5"]


async def test_a_reader_that_falls_behind_is_cut_off_alone(broadcaster):
    slow, quick = broadcaster.subscribe(KEY), broadcaster.subscribe(KEY)
    reading = asyncio.create_task(read(quick, SUBSCRIBER_BUFFER + 2))
    for number in range(SUBSCRIBER_BUFFER + 2):
        broadcaster.publish(KEY, str(number))
        await asyncio.sleep(0)
    assert len(await reading) == SUBSCRIBER_BUFFER + 2
    seen: list[Streamed[str]] = []
    with pytest.raises(SlowSubscriber, match="subscribe again"):
        await read_into(seen, slow)
    assert [item.chunk for item in seen] == [str(number) for number in range(SUBSCRIBER_BUFFER)]


async def test_a_reader_that_was_cut_off_comes_back_with_its_cursor(broadcaster):
    slow = broadcaster.subscribe(KEY)
    for number in range(SUBSCRIBER_BUFFER + 2):
        broadcaster.publish(KEY, str(number))
    seen: list[Streamed[str]] = []
    with pytest.raises(SlowSubscriber):
        await read_into(seen, slow)
    again = broadcaster.subscribe(KEY, seen[-1].cursor)
    assert (await read(again, 2))[-1] == str(SUBSCRIBER_BUFFER + 1)


async def test_closing_ends_the_reading_at_once(broadcaster):
    subscription = broadcaster.subscribe(KEY)
    publish(broadcaster, "a b c")
    seen = []
    async for item in subscription:
        seen.append(item.chunk)
        subscription.close()
    assert seen == ["a"]


async def test_closing_twice_is_as_good_as_once(broadcaster):
    subscription = broadcaster.subscribe(KEY)
    subscription.close()
    subscription.close()
    publish(broadcaster, "a")
    assert await read(subscription, 1) == []


async def test_closing_wakes_a_reader_that_waits(broadcaster):
    subscription = broadcaster.subscribe(KEY)
    reading = asyncio.create_task(read(subscription, 1))
    await asyncio.sleep(0)
    subscription.close()
    assert await reading == []


async def test_a_full_buffer_can_be_closed_too(broadcaster):
    subscription = broadcaster.subscribe(KEY)
    for _ in range(SUBSCRIBER_BUFFER):
        broadcaster.publish(KEY, "x")
    subscription.close()
    assert await read(subscription, 1) == []


async def test_leaving_the_loop_closes_the_subscription(broadcaster):
    subscription = broadcaster.subscribe(KEY)
    publish(broadcaster, "a b")
    assert await read(subscription, 1) == ["a"]
    assert await read(subscription, 1) == []


async def test_a_subscription_that_nobody_keeps_is_let_go(broadcaster):
    broadcaster.subscribe(KEY)
    gc.collect()
    assert not broadcaster._channels[KEY].readers


async def test_many_threads_are_not_all_remembered(broadcaster):
    for number in range(KEPT_THREADS * 2):
        publish(broadcaster, "x", to=key(number))
    assert len(broadcaster._channels) == KEPT_THREADS


async def test_a_watched_thread_is_never_forgotten(broadcaster):
    watched = broadcaster.subscribe(key(0))
    for number in range(1, KEPT_THREADS * 2):
        publish(broadcaster, "x", to=key(number))
    publish(broadcaster, "still here", to=key(0))
    assert await read(watched, 2) == ["still", "here"]


async def test_more_threads_than_are_kept_may_be_watched_at_once(broadcaster):
    readers = [broadcaster.subscribe(key(number)) for number in range(KEPT_THREADS + 3)]
    for number in range(KEPT_THREADS + 3):
        publish(broadcaster, f"for{number}", to=key(number))
    heard = [await read(reader, 1) for reader in readers]
    assert heard == [[f"for{number}"] for number in range(KEPT_THREADS + 3)]


async def test_a_cursor_is_good_after_its_thread_was_forgotten(broadcaster):
    cursor = await cursor_of(broadcaster, "seen")
    for number in range(KEPT_THREADS + 1):
        publish(broadcaster, "x", to=key(number))
    assert KEY not in broadcaster._channels
    publish(broadcaster, "first after")
    assert await read(broadcaster.subscribe(KEY, cursor), 2) == ["first", "after"]


async def test_a_reader_may_close_after_its_thread_was_forgotten(broadcaster):
    subscription = broadcaster.subscribe(KEY)
    broadcaster._channels.clear()
    subscription.close()
    assert await read(subscription, 1) == []
