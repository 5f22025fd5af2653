"""Receiver: the smallest app a Slack can talk to; it keeps what came and answers as told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs

from aiohttp import web


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the app answers to one request; `seconds` late."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came."""

    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        """Return the JSON body, the JSON inside `payload=`, or the fields of the form."""
        if self.headers["Content-Type"] == "application/json":
            return dict(json.loads(self.raw))
        form = parse_qs(self.raw.decode(), keep_blank_values=True)
        if "payload" in form:
            return dict(json.loads(form["payload"][0]))
        return {name: values[0] for name, values in form.items()}


class Receiver:
    """An asynchronous context manager that listens on a free loopback port."""

    def __init__(self) -> None:
        """Answer 200 to everything until told otherwise."""
        self.received: list[Received] = []
        self.replies: list[Reply] = []
        """The next answers, first one first; when used up, 200 with an empty body."""
        self.url = ""
        app = web.Application()
        app.router.add_post("/slack/events", self._take)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        """Listen."""
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/slack/events"
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the inner events that came, of one type when it is named."""
        bodies = [received.body for received in self.received]
        events = [body["event"] for body in bodies if body.get("type") == "event_callback"]
        return [event for event in events if kind in (None, event["type"])]

    async def _take(self, request: web.Request) -> web.Response:
        raw = await request.read()
        self.received.append(Received(headers=dict(request.headers), raw=raw))
        reply = self.replies.pop(0) if self.replies else Reply()
        await asyncio.sleep(reply.seconds)
        if reply.body is None:
            return web.Response(status=reply.status, headers=reply.headers)
        return web.json_response(reply.body, status=reply.status, headers=reply.headers)
