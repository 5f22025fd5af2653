"""The teller: hands an emission to the store, wakes its thread, and counts what went wrong."""

import zlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol

import structlog

from core.clock import Clock
from core.conversation import Conversation
from core.errors import InterlockError, StoreUnavailable, Unknown
from core.ids import ThreadKey
from core.notifications.notification import Notification
from core.notifications.store import NotificationStore, Telling
from core.threads.thread import Accepted, Binding, Thread

log = structlog.get_logger(__name__)

FIRST_RETRY = timedelta(seconds=30)
LONGEST_RETRY = timedelta(hours=1)

Wake = Callable[[ThreadKey], object]


class InboxStore(NotificationStore, Protocol):
    """What inbox and courier need of the store: notifications, and where threads are."""

    async def thread(self, key: ThreadKey) -> Thread:
        """See ThreadStore."""

    async def binding(self, address: str) -> Binding | None:
        """See ThreadStore."""

    async def bindings(self, thread_id: str) -> list[Binding]:
        """See ThreadStore."""

    async def bind(self, conversation: Conversation, key: ThreadKey, agent_id: str) -> Binding:
        """See ThreadStore."""


class Teller:
    """Sends tellings; a failed one is counted on each of its rows and tried again later."""

    def __init__(self, *, store: InboxStore, clock: Clock, wake: Wake) -> None:
        """Keep the store, the clock that retries are reckoned with, and who wakes threads."""
        self._store = store
        self._clock = clock
        self._wake = wake

    async def tell(self, rows: Sequence[Notification], telling: Telling) -> Accepted | None:
        """Send one emission; None when nothing was left to tell or the thread did not take it."""
        try:
            accepted = await self._store.tell(telling)
        except InterlockError as error:
            await self.fail(rows, str(error))
            return None
        if accepted is None:
            return None
        if accepted.action == "discard":
            await self.fail(rows, "the thread was told to discard it")
            return None
        if accepted.action != "persist":
            self._wake(telling.request.key)
        return accepted

    async def fail(self, rows: Sequence[Notification], error: str) -> None:
        """Count a failed attempt on each row; the store gives one up at the fifth (DI12)."""
        now = self._clock.now()
        log.warning("notification.not_told", rows=[row.id for row in rows], error=error)
        try:
            for row in rows:
                await self._store.undelivered(row.key, row.id, error, now + backoff(row))
        except StoreUnavailable:
            # The rows are still due: the courier comes back to them.
            log.warning("notification.not_counted", rows=[row.id for row in rows])


async def is_active(store: InboxStore, key: ThreadKey) -> bool:
    """Say whether the thread has a run that is promised, going or paused, in any process."""
    try:
        thread = await store.thread(key)
    except Unknown:
        return False
    return thread.active


def backoff(row: Notification) -> timedelta:
    """Return how long to wait after one more failure: twice as long each time, never in step.

    The jitter comes from the row's id, so that it is the same in every process.
    """
    wait = min(FIRST_RETRY * (1 << row.delivery_attempts), LONGEST_RETRY)
    return wait * (1 + zlib.crc32(row.id.encode()) % 256 / 1024)
