"""Events: a thread's chunks as server-sent events, with a cursor (signals.md 2.12)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import ClientConnectionResetError, web

from adapters.console.exchange import Route, thread_of
from adapters.console.parse import Caller, parse_id
from adapters.console.ports import Host
from adapters.console.security import HEADERS
from adapters.console.threads_api import THREAD
from core.ids import ThreadKey
from core.runs.chunks import Chunk
from core.runs.run import RunStatus
from core.runs.store import RunFilter
from core.threads.subscription import SlowSubscriber, Streamed, Subscription

HEARTBEAT_SECONDS = 15
WATCH_SECONDS = 1.0
"""How often an open stream looks whether its reader is still there."""
FROM_THE_START = "0-0"
"""A cursor of no stream: everything that is remembered is replayed."""
RECENT_RUNS = 500
ENDED = frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.ABORTED})


class Events:
    """Open streams; closing it ends them all, so that the server can stop."""

    def __init__(self, *, host: Host) -> None:
        self._host = host
        self._open: set[Subscription[Chunk]] = set()
        self._closed = False

    def routes(self) -> list[Route]:
        """Return the routes of this part."""
        return [Route(method="GET", path=f"{THREAD}/events", handler=self.stream)]

    async def stream(self, request: web.Request, _: Caller) -> web.StreamResponse:
        """Send chunks until the reader leaves or the gateway stops."""
        key = thread_of(request)
        # An unknown thread is told now: a stream cannot change its status later.
        await self._host.store.thread(key)
        cursor = request.headers.get("Last-Event-ID") or request.query.get("after")
        chunks = await self._chunks(key, parse_id("Last-Event-ID", cursor) if cursor else None)
        response = _open_response()
        await response.prepare(request)
        with suppress(ClientConnectionResetError, ConnectionResetError):
            await self._pump(request, response, chunks)
        return response

    def close(self) -> None:
        """End every stream; their readers come back by themselves."""
        self._closed = True
        for subscription in tuple(self._open):
            subscription.close()

    async def _chunks(self, key: ThreadKey, cursor: str | None) -> "_Chunks":
        skipped: frozenset[str] = frozenset()
        if cursor is None and (await self._host.store.thread(key)).active:
            # Whoever comes in the middle of a run sees it from its first chunk (SU2).
            skipped, cursor = await self._ended(key), FROM_THE_START
        return _Chunks(self._host.subscribe(key, cursor), skipped)

    async def _ended(self, key: ThreadKey) -> frozenset[str]:
        runs = await self._host.store.runs(RunFilter(thread_id=key.thread_id, limit=RECENT_RUNS))
        return frozenset(run.run_id for run in runs if run.status in ENDED)

    async def _pump(
        self, request: web.Request, response: web.StreamResponse, chunks: "_Chunks"
    ) -> None:
        # Registered before the first write, or a stop in between would leave it open.
        self._open.add(chunks.subscription)
        if self._closed:
            chunks.subscription.close()
        watch = asyncio.create_task(
            self._watch(request, response, chunks.subscription), name=f"watch {request.path}"
        )
        try:
            await _send_all(response, chunks)
        finally:
            watch.cancel()
            chunks.subscription.close()
            self._open.discard(chunks.subscription)

    async def _watch(
        self, request: web.Request, response: web.StreamResponse, subscription: Subscription[Chunk]
    ) -> None:
        beat_at = self._host.clock.monotonic() + HEARTBEAT_SECONDS
        while not _has_left(request):
            if self._host.clock.monotonic() >= beat_at:
                beat_at += HEARTBEAT_SECONDS
                with suppress(ClientConnectionResetError, ConnectionResetError):
                    await response.write(b": still here\n\n")
            await self._host.clock.sleep(WATCH_SECONDS)
        subscription.close()


class _Chunks:
    """A subscription without the runs that were over before it began."""

    def __init__(self, subscription: Subscription[Chunk], skipped: frozenset[str]) -> None:
        self.subscription = subscription
        self._skipped = skipped

    async def __aiter__(self) -> AsyncIterator[Streamed[Chunk]]:
        async for item in self.subscription:
            if item.chunk.run_id not in self._skipped:
                yield item


def render_event(item: Streamed[Chunk]) -> bytes:
    """Return a chunk as one server-sent event; pure."""
    data = item.chunk.model_dump_json(by_alias=True, fallback=str)
    return f"id: {item.cursor}\ndata: {data}\n\n".encode()


async def _send_all(response: web.StreamResponse, chunks: _Chunks) -> None:
    try:
        async for item in chunks:
            await response.write(render_event(item))
    except SlowSubscriber as behind:
        await response.write(f"event: {behind.code}\ndata: {{}}\n\n".encode())


def _open_response() -> web.StreamResponse:
    headers = {**HEADERS, "Content-Type": "text/event-stream", "Cache-Control": "no-store"}
    # Proxies that buffer would hold chunks back.
    return web.StreamResponse(headers={**headers, "X-Accel-Buffering": "no"})


def _has_left(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()
