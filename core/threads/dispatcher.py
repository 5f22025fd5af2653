"""The dispatcher: takes signals in, and sees that every thread with work has an owner."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import structlog

from core.errors import InterlockError
from core.ids import ThreadKey
from core.threads.lease import LEASE_TTL, Lease
from core.threads.store import AcceptRequest, ThreadStore
from core.threads.thread import Accepted

log = structlog.get_logger(__name__)
Own = Callable[[Lease], Awaitable[None]]


class Dispatcher:
    """Accepts signals and wakes threads; runs each of its threads in a task of its own.

    `own` runs a thread under a lease until it is drained. `limit` is how many threads run at once
    in this process; the others wait in the store.
    """

    def __init__(
        self,
        *,
        store: ThreadStore,
        own: Own,
        owner: str,
        ttl: timedelta = LEASE_TTL,
        limit: int = 200,
    ) -> None:
        """Keep the collaborators; nothing runs before the first wake."""
        self._store = store
        self._own = own
        self._owner = owner
        self._ttl = ttl
        self._slots = asyncio.Semaphore(limit)
        self._tasks: dict[ThreadKey, asyncio.Task[None]] = {}
        self._again: set[ThreadKey] = set()
        self._stopping = False

    async def send(self, request: AcceptRequest) -> Accepted:
        """Take a signal in; once this returns it is durable, and its thread will be run."""
        accepted = await self._store.accept(request)
        if accepted.action in ("wake", "deliver") and not accepted.duplicate:
            self.wake(request.key)
        return accepted

    def wake(self, key: ThreadKey) -> None:
        """See that the thread gets an owner, here or elsewhere; costs nothing when it has one."""
        if self._stopping:
            return
        if key in self._tasks:
            # Its owner may be past its last look: look again once it is done.
            self._again.add(key)
            return
        task = asyncio.create_task(self._run(key), name=f"thread {key}")
        self._tasks[key] = task
        # A strong reference until it is done: the loop keeps only weak ones.
        task.add_done_callback(lambda _: self._done(key))

    async def reap(self) -> int:
        """Wake every thread that has work and no owner; returns how many there were."""
        keys = await self._store.runnable()
        for key in keys:
            self.wake(key)
        return len(keys)

    async def idle(self) -> None:
        """Wait until no thread runs in this process."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))
            await asyncio.sleep(0)

    async def stop(self, grace: timedelta) -> None:
        """Take no more threads; give the running ones this long, then cancel them."""
        self._stopping = True
        tasks = tuple(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=grace.total_seconds())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _done(self, key: ThreadKey) -> None:
        del self._tasks[key]
        if key in self._again:
            self._again.discard(key)
            self.wake(key)

    async def _run(self, key: ThreadKey) -> None:
        # The slot first: a lease that waited for one would run out meanwhile.
        async with self._slots:
            # A slot that comes free while the process stops is not for new work.
            if self._stopping:
                return
            try:
                lease = await self._store.acquire(key, self._owner, self._ttl)
                if lease is not None:
                    await self._own(lease)
            except InterlockError as exc:
                log.warning("thread.run_failed", thread=str(key), error=str(exc), code=exc.code)
            # A fault in one thread must not end the others: it is told, and the reaper tries again.
            except Exception:
                log.exception("thread.run_broke", thread=str(key))
