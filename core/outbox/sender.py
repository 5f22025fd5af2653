"""The sender: posts a thread's outbox in order, and looks before it sends anything twice."""

import asyncio
import random
from collections.abc import Mapping
from datetime import timedelta

import structlog

from core.clock import Clock
from core.conversation import Receipt
from core.errors import DeliveryError, StoreUnavailable
from core.faults import point
from core.outbox.entry import EntryState, OutboxEntry
from core.outbox.store import OutboxStore
from core.ports.adapter import Adapter, Delivery

log = structlog.get_logger(__name__)

SETTLE = timedelta(seconds=2)
"""How long an unclear send is left to arrive before the platform is asked for it."""
FIRST_PAUSE = timedelta(seconds=1)
STOP_SECONDS = 10.0
"""How long sends under way may take once the process is told to stop."""
LONGEST_PAUSE = timedelta(minutes=5)


class Sender:
    """One poster per thread: claims the first open entry, sends it, records the receipt."""

    def __init__(
        self, *, store: OutboxStore, adapters: Mapping[str, Adapter], clock: Clock
    ) -> None:
        """Keep the store, the adapters by platform, and the clock that retries are timed by."""
        self._store = store
        self._adapters = adapters
        self._clock = clock
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._stopping = False

    def wake(self, thread_id: str) -> None:
        """Post what is due on this thread, in a task of its own."""
        if self._stopping:
            return
        if thread_id in self._tasks:
            self._again.add(thread_id)
            return
        task = asyncio.create_task(self._post(thread_id), name=f"outbox {thread_id}")
        self._tasks[thread_id] = task
        task.add_done_callback(lambda _: self._done(thread_id))

    async def tick(self) -> None:
        """Wake every thread that has something due: what a crash left, and retries."""
        for thread_id in await self._store.outbox_due():
            self.wake(thread_id)

    async def stop(self) -> None:
        """Let sends that are under way finish, and start no more."""
        self._stopping = True
        tasks = tuple(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
        # A platform that never answers must not hold up the end; the entry is looked up later.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, thread_id: str) -> None:
        del self._tasks[thread_id]
        if thread_id in self._again:
            self._again.discard(thread_id)
            self.wake(thread_id)

    async def _post(self, thread_id: str) -> None:
        try:
            while not self._stopping and await self._post_one(thread_id):
                pass
        except StoreUnavailable as exc:
            log.warning("outbox.store_unavailable", thread=thread_id, error=str(exc))
        # The supervisor of one thread's posts: the entry stays open and the next tick tries again.
        except Exception:
            log.exception("outbox.broke", thread=thread_id)

    async def _post_one(self, thread_id: str) -> bool:
        claimed = await self._store.claim(thread_id)
        if claimed is None:
            return False
        entry, edited = claimed
        adapter = self._adapters.get(entry.conversation.platform)
        # A platform that was taken out of the settings: nothing here will ever send it.
        if adapter is None:
            await self._store.dead(entry.entry_id, f"no adapter for {entry.conversation.platform}")
            return True
        return await self._deliver(entry, edited, adapter)

    async def _deliver(self, entry: OutboxEntry, edited: Receipt | None, adapter: Adapter) -> bool:
        if self._unsettled(entry):
            await self._put_back(entry, "waiting for an unclear send", SETTLE)
            return False
        delivery = Delivery(
            entry_id=entry.entry_id,
            conversation=entry.conversation,
            payload=entry.payload,
            receipt=edited,
        )
        try:
            receipt = await self._find(entry, delivery, adapter)
        except DeliveryError as exc:
            # Whether it arrived is as unclear as before: sent again unseen, it may appear twice.
            return await self._failed(entry, exc, unclear=True)
        try:
            receipt = receipt or await self._send(entry, delivery, adapter)
        except DeliveryError as exc:
            return await self._failed(entry, exc, unclear=exc.uncertain)
        point("outbox.before_sent")
        await self._store.sent(entry.entry_id, receipt)
        point("outbox.after_sent")
        log.info("outbox.sent", entry=entry.entry_id, thread=entry.thread_id)
        return True

    async def _find(
        self, entry: OutboxEntry, delivery: Delivery, adapter: Adapter
    ) -> Receipt | None:
        if entry.state is not EntryState.SENDING or delivery.receipt is not None:
            return None
        found = await adapter.find(delivery)
        if found is not None:
            log.info("outbox.reconciled", entry=entry.entry_id)
        return found

    async def _send(self, entry: OutboxEntry, delivery: Delivery, adapter: Adapter) -> Receipt:
        if entry.expires_at <= self._clock.now():
            raise DeliveryError("not sent in time", permanent=True)
        point("outbox.before_send")
        receipt = await adapter.send(delivery)
        point("outbox.after_send")
        return receipt

    def _unsettled(self, entry: OutboxEntry) -> bool:
        if entry.state is not EntryState.SENDING or entry.attempted_at is None:
            return False
        return self._clock.now() - entry.attempted_at < SETTLE

    async def _failed(self, entry: OutboxEntry, problem: DeliveryError, *, unclear: bool) -> bool:
        log.warning("outbox.failed", entry=entry.entry_id, error=str(problem))
        # Asking again would only wear out the rate limit.
        if problem.permanent:
            await self._store.dead(entry.entry_id, str(problem))
            return True
        pause = _pause(entry, problem)
        if problem.retry_after is not None and not unclear:
            held = entry.model_copy(update={"due_at": self._clock.now() + pause})
            await self._store.hold_back(held, str(problem))
            return False
        state = EntryState.SENDING if unclear else EntryState.PENDING
        await self._put_back(entry.model_copy(update={"state": state}), str(problem), pause)
        return False

    async def _put_back(self, entry: OutboxEntry, reason: str, pause: timedelta) -> None:
        due_at = self._clock.now() + pause
        await self._store.retry_at(entry.model_copy(update={"due_at": due_at}), reason)


def _pause(entry: OutboxEntry, problem: DeliveryError) -> timedelta:
    if problem.retry_after is not None:
        return timedelta(seconds=problem.retry_after)
    if problem.uncertain:
        return SETTLE
    grown: timedelta = FIRST_PAUSE * 2 ** min(entry.attempts, 10)
    jitter: float = random.uniform(0.8, 1.2)  # noqa: S311 - spreads retries, keeps no secret
    return min(grown, LONGEST_PAUSE) * jitter
