"""Guards: what may interrupt a run from outside: an abort, a lost lease, the process stopping."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from core.errors import InterlockError, LeaseLost

T = TypeVar("T")


class Aborted(InterlockError):
    """Somebody asked for the run's end."""

    code = "aborted"


class Leaving(InterlockError):
    """The process is stopping: the run pauses at this boundary, another owner takes it up."""

    code = "leaving"


class Guard:
    """Lets a run's waits be cut short; the first reason stands."""

    def __init__(self) -> None:
        """Start uninterrupted."""
        self.run_id: str | None = None
        """The run that goes on now: an abort is meant for one run and must not end the next."""
        self._raised = asyncio.Event()
        self._reason: InterlockError | None = None
        self._leaving = False

    def leave(self) -> None:
        """Let the run stop at its next boundary; what is under way is finished first."""
        self._leaving = True

    def abort(self) -> None:
        """Interrupt because somebody asked for the run's end."""
        self._interrupt(Aborted("the run was stopped"))

    def lose(self, reason: LeaseLost) -> None:
        """Interrupt because another owner has the thread: nothing more may be written."""
        self._interrupt(reason)

    def check(self) -> None:
        """Raise the reason if there is one."""
        if self._reason is not None:
            raise self._reason
        if self._leaving:
            raise Leaving("the process is stopping")

    def clear_abort(self) -> None:
        """Forget an abort that was carried out, so that it does not end the next run."""
        if isinstance(self._reason, Aborted):
            self._reason = None
            self._raised.clear()

    async def race(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, unless the run is interrupted first.

        Then the work is cancelled and the reason raised.
        """
        task = asyncio.create_task(work, name="guarded work")
        # A task of its own, so that a reason is seen while the work waits for something slow.
        stop = asyncio.create_task(self._raised.wait(), name="guard")
        try:
            await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self.check()
            return await task
        finally:
            stop.cancel()
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def _interrupt(self, reason: InterlockError) -> None:
        # The first reason stands: a lost lease is not turned into an abort, nor the other way.
        if self._reason is None:
            self._reason = reason
            self._raised.set()
