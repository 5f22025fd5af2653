"""Writer: the one thread that writes, and commits in groups."""

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from adapters.stores.sqlite.errors import translated, unavailable
from adapters.stores.sqlite.settings import SqliteSettings
from adapters.stores.sqlite.tables import tables_on
from core.errors import StoreUnavailable
from core.faults import point
from core.stores.tables import Tables

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """A step that waits, and the future through which its caller learns the outcome."""

    step: Callable[[Tables], Any]
    future: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step returned, or the error that its caller gets."""

    value: Any = None
    error: BaseException | None = None


class Writer:
    """Takes every step that waits, runs each in a savepoint of its own, commits them together.

    A step alone is committed at once. A cancelled caller changes nothing: its step is part of its
    group all the same.
    """

    def __init__(self, connection: sqlite3.Connection, settings: SqliteSettings) -> None:
        """Own this connection from here on; the thread starts at once."""
        self.commits = 0
        """Commits so far: with many callers fewer than writes."""
        self._connection = connection
        self._execute = connection.execute
        self._tables = tables_on(connection)
        self._settings = settings
        self._padding = settings.commit_padding.total_seconds()
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="sqlite writer", daemon=True)
        self._thread.start()

    def submit(self, step: Callable[[Tables], T]) -> asyncio.Future[T]:
        """Put the step in the queue; the future is settled once it is on disk, or never will be.

        Raises:
            StoreUnavailable: the queue is full, or the store is closed.
        """
        path, limit = self._settings.path, self._settings.queue_limit
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._gate:
            if self._closed:
                raise StoreUnavailable(f"the store {path} is closed; nothing was stored")
            if self._queue.qsize() >= limit:
                raise StoreUnavailable(f"{limit} writes wait for {path} already; try again soon")
            self._queue.put(Job(step, future))
        return future

    def close(self) -> None:
        """Commit what waits, take no more, close the connection; blocks until all is done."""
        with self._gate:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while (job := self._queue.get()) is not None:
                self._commit_group([job])
        finally:
            self._end()

    def _commit_group(self, taken: list[Job]) -> None:
        """Commit the job taken and those that wait; tell their callers.

        A failing COMMIT fails them all: none of them is stored (architecture.md 5).
        """
        outcomes: list[Outcome] | None = None
        path = self._settings.path
        try:
            outcomes = self._perform_all(taken)
        except sqlite3.Error as exc:
            self._roll_back()
            # Each caller gets an error of its own: a shared one would gather all their traces.
            outcomes = [Outcome(error=unavailable(exc, path)) for _ in taken]
        finally:
            # Should this thread ever die, nobody is left waiting for it.
            _announce(taken, outcomes or [_closed(path) for _ in taken])

    def _perform_all(self, taken: list[Job]) -> list[Outcome]:
        self._begin()
        outcomes = [self._perform(job) for job in self._joining(taken)]
        self._commit()
        return outcomes

    def _joining(self, taken: list[Job]) -> Iterator[Job]:
        """Yield the first job, then each that has come in meanwhile, up to the limit."""
        yield taken[0]
        # Asked for one by one: those that come in while earlier steps run still share the commit.
        while len(taken) < self._settings.group_limit:
            try:
                job = self._queue.get_nowait()
            except Empty:
                return
            if job is None:
                # The end was asked for: commit first, then meet it again.
                self._queue.put(None)
                return
            taken.append(job)
            yield job

    def _perform(self, job: Job) -> Outcome:
        self._execute("SAVEPOINT step")
        try:
            value = job.step(self._tables)
        except BaseException as exc:  # noqa: BLE001 - a step is its caller's: its error goes there
            return self._undo(exc)
        self._execute("RELEASE step")
        return Outcome(value=value)

    def _undo(self, error: BaseException) -> Outcome:
        """Take back one step; the others in its group live on."""
        if isinstance(error, sqlite3.Error) and not self._connection.in_transaction:
            # On some errors SQLite gives up the whole transaction: then all of the group fail.
            raise error
        self._execute("ROLLBACK TO step")
        self._execute("RELEASE step")
        if isinstance(error, StopIteration):
            # No future can carry it; a coroutine turns it into this as well.
            error = RuntimeError("the step raised StopIteration")
        return Outcome(error=translated(error, self._settings.path))

    def _begin(self) -> None:
        # What is left of a group whose own ROLLBACK failed.
        if self._connection.in_transaction:
            self._execute("ROLLBACK")
        # The lock is asked for now: a step that has read cannot be told later that it is too late.
        self._execute("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        point("store.before_commit")
        if self._padding:
            time.sleep(self._padding)
        self._execute("COMMIT")
        self.commits += 1
        point("store.after_commit")

    def _roll_back(self) -> None:
        # A disk that fails may fail here too; the next group begins with another attempt.
        with contextlib.suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._execute("ROLLBACK")

    def _end(self) -> None:
        with self._gate:
            self._closed = True
        with contextlib.suppress(Empty):
            while True:
                job = self._queue.get_nowait()
                if job is not None:
                    _announce([job], [_closed(self._settings.path)])
        # On a failing disk the log stays and is taken up at the next start.
        with contextlib.suppress(sqlite3.Error):
            self._execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()


def _closed(path: Path) -> Outcome:
    return Outcome(error=StoreUnavailable(f"the store {path} is closed; nothing was stored"))


def _announce(jobs: list[Job], outcomes: list[Outcome]) -> None:
    """Settle the futures where they live: one call into each loop for the whole group."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Outcome]]]
    by_loop = defaultdict(list)
    for job, outcome in zip(jobs, outcomes, strict=True):
        by_loop[job.future.get_loop()].append((job.future, outcome))
    for loop, settled in by_loop.items():
        # A loop that was closed has nobody left to be told.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, settled)


def _settle(settled: list[tuple[asyncio.Future[Any], Outcome]]) -> None:
    for future, outcome in settled:
        # Its caller was cancelled meanwhile; the step counts all the same.
        if future.done():
            continue
        if outcome.error is None:
            future.set_result(outcome.value)
        else:
            future.set_exception(outcome.error)
