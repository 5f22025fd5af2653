"""Following an answer: our own deadlines on a stream of chunks, whoever sends it.

A provider's library has timeouts too, but some count per byte and some not at all; here one rule
holds for every client (reliability.md R23).
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import structlog

from adapters.models.answer import Answer, Chunk
from core.errors import ModelError, ModelTimeout
from core.ports.model import Deadlines, ModelEvent, ModelRequest

_log = structlog.get_logger(__name__)


async def follow(
    chunks: AsyncGenerator[Chunk, None], request: ModelRequest
) -> AsyncIterator[ModelEvent]:
    """Yield the events of an answer within the request's deadlines.

    Only chunks with content count as a sign of life. However this ends, `chunks` is closed, and
    with it the connection.

    Raises:
        ModelTimeout: a deadline passed.
        ModelError: whatever `chunks` raises, or the answer is not complete.
    """
    answer = Answer(request)
    watch = _Watch(request.deadlines)
    async with aclosing(chunks):
        while (chunk := await _next(chunks, answer, watch)) is not None:
            events = answer.take(chunk)
            for event in events:
                yield event
            if events:
                watch.sign_of_life()
    for event in answer.close():
        yield event


async def _next(
    chunks: AsyncGenerator[Chunk, None], answer: Answer, watch: "_Watch"
) -> Chunk | None:
    try:
        return await watch.wait(chunks)
    except ModelError as error:
        if not answer.complete:
            raise
        # All but the token counts is here: a line that breaks now costs nothing.
        _log.info("model.usage_lost", error=str(error))
        return None


class _Watch:
    """The three deadlines of one answer, on the event loop's own clock."""

    def __init__(self, deadlines: Deadlines) -> None:
        self._now = asyncio.get_running_loop().time
        self._deadlines = deadlines
        self._total = self._now() + deadlines.total.total_seconds()
        self._next, self._limit, self._what = 0.0, deadlines.first_token, ""
        self._expect(deadlines.first_token, "the first token")

    def sign_of_life(self) -> None:
        """Start to wait for the next chunk; time the reader took does not count."""
        self._expect(self._deadlines.between_chunks, "the next chunk")

    async def wait(self, chunks: AsyncGenerator[Chunk, None]) -> Chunk | None:
        """Return the next chunk, None at the end."""
        # Never a timeout around a `yield`: it would strike in the reader's code.
        at = min(self._next, self._total)
        # A flood of empty chunks may never let the timer run: look at the clock as well.
        if self._now() > at:
            raise self._late()
        try:
            async with asyncio.timeout_at(at):
                return await anext(chunks, None)
        except TimeoutError as exc:
            raise self._late() from exc

    def _expect(self, limit: timedelta, what: str) -> None:
        self._next = self._now() + limit.total_seconds()
        self._limit, self._what = limit, what

    def _late(self) -> ModelTimeout:
        limit, what = self._limit, self._what
        if self._total <= self._next:
            limit, what = self._deadlines.total, "the end of the answer"
        seconds = limit.total_seconds()
        return ModelTimeout(f"the model took over {seconds:g} s for {what}", retryable=True)
