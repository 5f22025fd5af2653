"""Subscriptions: who watches a thread, and the bounded memory that lets a late watcher catch up."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakSet

from core.errors import InterlockError
from core.ids import ThreadKey, new_id

C = TypeVar("C")
KEPT_CHUNKS = 2_000
"""Chunks remembered per thread for replay."""
KEPT_THREADS = 200
SUBSCRIBER_BUFFER = 4_000
"""Chunks a slow reader may fall behind before it is cut off; it may come back with its cursor."""


class SlowSubscriber(InterlockError):
    """The reader fell too far behind; subscribe again from the last cursor."""

    code = "slow_subscriber"


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed(Generic[C]):
    """A chunk with the cursor after which a later subscription goes on."""

    cursor: str
    chunk: C


@dataclass(slots=True)
class _Channel(Generic[C]):
    """One thread's recent chunks and its present readers."""

    kept: deque[tuple[int, C]] = field(default_factory=lambda: deque(maxlen=KEPT_CHUNKS))
    # Weak: a run's output that nobody keeps must not go on collecting chunks.
    readers: WeakSet["Subscription[C]"] = field(default_factory=WeakSet)


class Subscription(Generic[C]):
    """A reader of one thread: iterate it.

    It goes on from run to run until it is closed (signals.md SU1, SU7).
    """

    def __init__(self, broadcaster: "Broadcaster[C]", key: ThreadKey) -> None:
        """Made by `Broadcaster.subscribe` only."""
        self._broadcaster = broadcaster
        self._key = key
        self._queue: asyncio.Queue[Streamed[C] | None] = asyncio.Queue(SUBSCRIBER_BUFFER)
        self._overflowed = False
        self._closed = False

    def offer(self, item: Streamed[C]) -> None:
        """Hand over one chunk without waiting; a full buffer ends this reader alone."""
        try:
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            self._overflowed = True
            self._broadcaster.forget(self._key, self)

    def close(self) -> None:
        """Stop reading; the run goes on. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._broadcaster.forget(self._key, self)
        if self._queue.full():
            self._queue.get_nowait()
        self._queue.put_nowait(None)

    def __aiter__(self) -> AsyncIterator[Streamed[C]]:
        """Iterate over the chunks as they come; see `items`."""
        return self.items()

    async def items(self) -> AsyncGenerator[Streamed[C], None]:
        """Yield chunks as they come; closing the generator closes the subscription.

        Raises:
            SlowSubscriber: the reader fell behind by more than the buffer.
        """
        try:
            while not (self._overflowed and self._queue.empty()):
                item = await self._queue.get()
                # Closed means at once: what still lies in the buffer is not shown (SU7).
                if item is None or self._closed:
                    return
                yield item
        finally:
            self.close()
        raise SlowSubscriber(
            f"the reader of {self._key} fell behind; subscribe again with its last cursor"
        )


class Broadcaster(Generic[C]):
    """Hands the chunks of runs to the readers of their threads, in order, inside this process."""

    def __init__(self) -> None:
        """Start with nobody listening."""
        self._boot = new_id("s")[-8:]
        self._channels: OrderedDict[ThreadKey, _Channel[C]] = OrderedDict()
        # One count for all threads: a thread that was forgotten must not use its numbers again.
        self._last = 0

    def publish(self, key: ThreadKey, chunk: C) -> None:
        """Give the chunk to each reader of the thread and remember it for late ones."""
        channel = self._channel(key)
        self._last += 1
        channel.kept.append((self._last, chunk))
        item = Streamed(cursor=self._cursor(self._last), chunk=chunk)
        for reader in tuple(channel.readers):
            reader.offer(item)

    def subscribe(self, key: ThreadKey, after: str | None = None) -> Subscription[C]:
        """Open a subscription; with a cursor it first replays what is remembered after it."""
        channel = self._channel(key)
        subscription = Subscription(self, key)
        for number, chunk in self._missed(channel, after):
            subscription.offer(Streamed(cursor=self._cursor(number), chunk=chunk))
        channel.readers.add(subscription)
        return subscription

    def forget(self, key: ThreadKey, subscription: Subscription[C]) -> None:
        """Drop a reader that closed itself."""
        channel = self._channels.get(key)
        if channel is not None:
            channel.readers.discard(subscription)

    def _missed(self, channel: _Channel[C], after: str | None) -> list[tuple[int, C]]:
        if after is None:
            return []
        boot, _, number = after.partition("-")
        seen = int(number) if boot == self._boot and number.isdecimal() else 0
        return [(at, chunk) for at, chunk in channel.kept if at > seen]

    def _cursor(self, number: int) -> str:
        return f"{self._boot}-{number}"

    def _channel(self, key: ThreadKey) -> _Channel[C]:
        channel = self._channels.get(key)
        if channel is None:
            # Room is made first: a new channel has no reader yet and would be the one to go.
            self._shrink()
            channel = self._channels[key] = _Channel()
        self._channels.move_to_end(key)
        return channel

    def _shrink(self) -> None:
        for key in tuple(self._channels):
            if len(self._channels) < KEPT_THREADS:
                return
            if not self._channels[key].readers:
                del self._channels[key]
