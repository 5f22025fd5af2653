"""Errands: small tasks that outlive the request they came from, each owned and named."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import structlog

from core.errors import DeliveryError

log = structlog.get_logger(__name__)

Result = TypeVar("Result")


class Errands:
    """The tasks under way; `aclose` ends them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def start(self, work: Coroutine[Any, Any, Result], *, name: str) -> asyncio.Task[Result]:
        """Start a task; its failure is logged, whoever waits for it may see it too."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        # The loop itself holds tasks weakly: without this set one may vanish half-way.
        task.add_done_callback(self._done)
        return task

    async def within(
        self, seconds: float, work: Coroutine[Any, Any, Result], *, name: str
    ) -> Result | None:
        """Return the work's result if it comes in time, else None and let it go on by itself.

        Raises:
            Exception: what the work raised in time.
        """
        task = self.start(work, name=name)
        done, _ = await asyncio.wait({task}, timeout=seconds)
        return task.result() if done else None

    def tell(self, call: Callable[[], Awaitable[object]], *, name: str) -> None:
        """Say something to a person that may get lost: it is tried once."""
        if not self._closed:
            self.start(_try(call, name), name=name)

    async def aclose(self) -> None:
        """Cancel what still runs."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.warning("slack.errand_failed", errand=task.get_name(), **describe(problem))


def describe(problem: BaseException) -> dict[str, Any]:
    """Return a problem for the log: its type and where it arose; its text may quote a body."""
    # Frames without their variables, and no text: either may hold what people wrote.
    frames = traceback.extract_tb(problem.__traceback__)[-3:]
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(problem).__name__, "where": where}


async def _try(call: Callable[[], Awaitable[object]], name: str) -> None:
    try:
        await call()
    except DeliveryError as exc:
        log.info("slack.not_told", errand=name, error=str(exc))
