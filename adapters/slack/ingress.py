"""Ingress: POST /slack/events, from raw bytes to an answer; verified before anything is parsed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import structlog
from aiohttp import web

from adapters.slack.body import read_body
from adapters.slack.verifier import is_genuine, timestamp_of
from core.clock import Clock
from core.errors import InvalidInput

if TYPE_CHECKING:
    from slack_bolt import BoltResponse

log = structlog.get_logger(__name__)

Json = dict[str, Any]
Take = Callable[[Json, Mapping[str, str]], Awaitable["BoltResponse"]]

MOST_BYTES = 1024 * 1024
BODY_SECONDS = 5.0
PATH = "/slack/events"
_RETRIES = ("X-Slack-Retry-Num", "X-Slack-Retry-Reason")


class Ingress:
    """The one HTTP route: events, interactivity and slash commands."""

    def __init__(self, *, secret: str, take: Take, clock: Clock) -> None:
        """Keep the signing secret, what takes a verified body, and the clock signatures age by."""
        self._secret = secret.encode()
        self._take = take
        self._clock = clock

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Verify, read and hand over one request; never logs a body."""
        # Slack never compresses; a bomb would block the loop before its signature is checked.
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return web.Response(status=415)
        # A request that cannot be genuine is not worth reading.
        if timestamp_of(request.headers, now=self._clock.now()) is None:
            return _refuse("timestamp")
        raw = await _read_raw(request)
        if raw is None:
            return web.Response(status=413)
        if not is_genuine(request.headers, raw, secret=self._secret, now=self._clock.now()):
            return _refuse("signature")
        try:
            body = read_body(request.content_type, raw)
        except InvalidInput as exc:
            log.warning("slack.unreadable", reason=str(exc), size=len(raw))
            return web.Response(status=400)
        return await self._answer(request, body)

    async def _answer(self, request: web.Request, body: Json) -> web.StreamResponse:
        from slack_bolt.adapter.aiohttp import to_aiohttp_response

        if body.get("type") == "url_verification":
            return web.Response(text=str(body.get("challenge", "")))
        # A retry is a normal delivery; only the key of an event makes it a duplicate (PB-001).
        headers = {name: request.headers[name] for name in _RETRIES if name in request.headers}
        if headers:
            log.info("slack.retry", reason=headers.get("X-Slack-Retry-Reason"))
        return await to_aiohttp_response(await self._take(body, headers))


def _refuse(what: str) -> web.Response:
    log.info("slack.refused", reason=what)
    return web.Response(status=401)


async def _read_raw(request: web.Request) -> bytes | None:
    """Return the body as it came, or None when it is too long.

    Raises:
        HTTPRequestTimeout: it did not arrive in time.
    """
    # What is announced is refused unread; what is not announced, while it is read.
    if (request.content_length or 0) > MOST_BYTES:
        return None
    raw = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.content.iter_any():
                raw += chunk
                if len(raw) > MOST_BYTES:
                    return None
    except TimeoutError:
        raise web.HTTPRequestTimeout from None
    return bytes(raw)
