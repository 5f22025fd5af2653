"""Socket Mode: tickets, open sockets, envelopes and their acknowledgements."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.loopback.journal import Journal
from tests.loopback.slack.delivery import Attempt, Outcome
from tests.loopback.slack.options import Options
from tests.loopback.slack.world import APP

MOST_SOCKETS = 10
_HOST = "loopback-applink-1"


@dataclass(slots=True, eq=False)
class Socket:
    """One open connection and the envelopes it has not acknowledged."""

    number: int
    ws: web.WebSocketResponse
    request: web.Request
    waiting: dict[str, asyncio.Future[Any]] = field(default_factory=dict)


class SocketHub:
    """The sockets of the app; a payload goes to any one of them, in turn."""

    def __init__(self, *, options: Callable[[], Options], journal: Journal) -> None:
        """Begin without sockets."""
        self._options = options
        self._journal = journal
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._turns = itertools.count()
        self.sockets: list[Socket] = []

    def issue_ticket(self) -> str:
        """Return a ticket that opens one socket."""
        ticket = secrets.token_hex(16)
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket from hello to its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=404, text="unknown ticket")
        self._tickets.discard(ticket)
        ws = web.WebSocketResponse(heartbeat=self._options().ping_seconds)
        await ws.prepare(request)
        socket = Socket(next(self._numbers), ws, request)
        if len(self.sockets) >= MOST_SOCKETS:
            await self._say_goodbye(socket, "too_many_websockets")
            await ws.close()
            return ws
        await self._serve_open(socket)
        return ws

    async def send(self, attempt: Attempt) -> Outcome:
        """Send an envelope over the next socket and wait for its acknowledgement."""
        if not self.sockets:
            return Outcome(ok=False, reason="connection_failed", via="socket")
        socket = self.sockets[next(self._turns) % len(self.sockets)]
        envelope = _envelope(attempt)
        acknowledged = asyncio.get_running_loop().create_future()
        socket.waiting[envelope["envelope_id"]] = acknowledged
        try:
            async with asyncio.timeout(self._options().answer_seconds):
                await socket.ws.send_json(envelope)
                payload = await acknowledged
        except TimeoutError:
            return Outcome(ok=False, reason="timeout", via="socket")
        except ConnectionError:
            return Outcome(ok=False, reason="connection_failed", via="socket")
        finally:
            socket.waiting.pop(envelope["envelope_id"], None)
        text = "" if payload is None else json.dumps(payload)
        return Outcome(ok=True, status=200, text=text, via="socket")

    async def disconnect(self, reason: str, *, close: bool) -> int:
        """Tell every socket to go (`warning`, `refresh_requested`, `link_disabled`)."""
        told = list(self.sockets)
        for socket in told:
            await self._say_goodbye(socket, reason)
            if close:
                await socket.ws.close()
        return len(told)

    def cut(self) -> int:
        """Break every connection without a word, as a failing network does."""
        broken = list(self.sockets)
        for socket in broken:
            if socket.request.transport is not None:
                socket.request.transport.abort()
        return len(broken)

    async def _serve_open(self, socket: Socket) -> None:
        self.sockets.append(socket)
        self._journal.write("socket", state="open", socket=socket.number)
        try:
            await socket.ws.send_json(self._hello())
            async for message in socket.ws:
                if message.type is WSMsgType.TEXT:
                    self._take_acknowledgement(socket, message.data)
        finally:
            self._forget(socket)

    def _take_acknowledgement(self, socket: Socket, data: str) -> None:
        answer = json.loads(data)
        envelope_id, payload = answer.get("envelope_id", ""), answer.get("payload")
        waiting = socket.waiting.get(envelope_id)
        self._journal.write(
            "ack",
            socket=socket.number,
            envelope_id=envelope_id,
            payload=payload,
            known=waiting is not None,
        )
        if waiting is not None and not waiting.done():
            waiting.set_result(payload)

    def _forget(self, socket: Socket) -> None:
        self.sockets.remove(socket)
        self._journal.write("socket", state="closed", socket=socket.number)
        for waiting in socket.waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionResetError("the socket closed"))

    async def _say_goodbye(self, socket: Socket, reason: str) -> None:
        self._journal.write("socket", state="disconnect", socket=socket.number, reason=reason)
        goodbye = {"type": "disconnect", "reason": reason, "debug_info": {"host": _HOST}}
        await socket.ws.send_json(goodbye)

    def _hello(self) -> dict[str, Any]:
        return {
            "type": "hello",
            "num_connections": len(self.sockets),
            "debug_info": {
                "host": _HOST,
                "build_number": 1,
                "approximate_connection_time": 18060,
            },
            "connection_info": {"app_id": APP},
        }


def _envelope(attempt: Attempt) -> dict[str, Any]:
    envelope: dict[str, Any] = {
        "envelope_id": secrets.token_hex(16),
        "type": attempt.envelope,
        "payload": attempt.body,
        "accepts_response_payload": attempt.envelope != "events_api",
    }
    if attempt.envelope == "events_api":
        envelope |= {"retry_attempt": attempt.number, "retry_reason": attempt.reason}
    return envelope
