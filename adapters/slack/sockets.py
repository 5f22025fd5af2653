"""Sockets: Socket Mode, one connection that is watched and built anew when it goes deaf."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.client import SlackClient, vendor_logger
from core.clock import Clock

if TYPE_CHECKING:
    from slack_bolt import BoltResponse
    from slack_sdk.socket_mode.aiohttp import SocketModeClient
    from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
    from slack_sdk.socket_mode.request import SocketModeRequest

log = structlog.get_logger(__name__)

Take = Callable[[dict[str, Any], Mapping[str, str]], Awaitable["BoltResponse"]]

PING = 5.0
WATCH = 0.25
PATIENCE = 60.0
"""Seconds a new client may take to connect before it and its session are thrown away (PB-007)."""
GRACE = 2.0
"""Seconds a connection may be gone, as at a refresh, before the same happens."""


class SocketMode:
    """Receives envelopes; each is acknowledged only once it was taken, else it is sent again."""

    def __init__(self, *, app_token: str, client: SlackClient, take: Take, clock: Clock) -> None:
        """Keep the token, the Web API that opens connections, and what takes a payload."""
        self._app_token = app_token
        self._client = client
        self._take = take
        self._clock = clock
        self.connected = False
        """Whether events can arrive now, for `/readyz`."""

    async def run(self) -> None:
        """Stay connected until cancelled."""
        while True:
            client = self._build()
            connecting = asyncio.create_task(client.connect(), name="slack socket connect")
            try:
                await self._watch(client)
            finally:
                self.connected = False
                # The SDK connects in an endless loop of its own; it must not race the new client.
                connecting.cancel()
                await client.close()
            log.warning("slack.socket_rebuilt")

    def _build(self) -> "SocketModeClient":
        from slack_sdk.socket_mode.aiohttp import SocketModeClient

        client = SocketModeClient(
            app_token=self._app_token,
            web_client=self._client.web,
            logger=vendor_logger(),
            ping_interval=PING,
        )
        client.socket_mode_request_listeners.append(self._on_envelope)
        return client

    async def _watch(self, client: "SocketModeClient") -> None:
        """Return when the connection has been dead for too long."""
        alive_at, patience = self._clock.monotonic(), PATIENCE
        while self._clock.monotonic() - alive_at < patience:
            connected = await client.is_connected()
            if connected != self.connected:
                log.info("slack.socket", connected=connected)
            self.connected = connected
            # Slack swaps the socket every few hours: gone for a moment is not dead yet.
            if connected:
                alive_at, patience = self._clock.monotonic(), GRACE
            await self._clock.sleep(WATCH)

    async def _on_envelope(
        self, client: "AsyncBaseSocketModeClient", request: "SocketModeRequest"
    ) -> None:
        from slack_bolt.adapter.socket_mode.async_internals import send_async_response
        from slack_bolt.adapter.socket_mode.internals import build_headers

        headers = {name: str(value) for name, value in (build_headers(request) or {}).items()}
        answer = await self._take(request.payload, headers)
        # Only a 200 is sent back; anything else leaves the envelope open (reliability.md 1.1).
        await send_async_response(client, request, answer, self._clock.monotonic())
