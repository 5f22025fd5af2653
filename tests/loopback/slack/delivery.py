"""Delivery: events and interactions to the app, signed and retried as Slack does.

An event that is not answered 2xx within three seconds is sent again at once, a minute and five
minutes later (reliability.md 1.1), unless the answer carries `x-slack-no-retry`. Interactions and
commands are sent once: the person sees that it failed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

import aiohttp

from tests.loopback.journal import Journal, wall_seconds
from tests.loopback.slack.options import Options

RETRY_AFTER_SECONDS = (0.0, 60.0, 300.0)
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try to hand something over."""

    envelope: str
    """The Socket Mode type: events_api, interactive or slash_commands."""
    body: dict[str, Any]
    number: int = 0
    reason: str = ""
    """Why the try before failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a try."""

    ok: bool
    status: int = 0
    reason: str = ""
    retry: bool = True
    text: str = ""
    via: str = "http"


@dataclass(slots=True)
class Delivery:
    """An event on its way."""

    event_id: str
    body: dict[str, Any]
    tried: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first try has its outcome."""


class Transport(Protocol):
    """A way to the app: HTTP requests or sockets."""

    async def send(self, attempt: Attempt) -> Outcome:
        """Hand it over and wait for the answer, three seconds at most."""
        ...


class Courier:
    """Sends what happens in the world to the app, each event by a task of its own."""

    def __init__(
        self,
        *,
        transport: Callable[[], Transport],
        options: Callable[[], Options],
        journal: Journal,
    ) -> None:
        """Take the transport and the options as functions: both may change while it runs."""
        self._transport = transport
        self._options = options
        self._journal = journal
        self._tasks: set[asyncio.Task[None]] = set()
        self._sent: dict[str, Delivery] = {}

    def emit(self, bodies: Sequence[dict[str, Any]], *, in_order: bool = True) -> list[Delivery]:
        """Start delivering events; in order, each waits for the first try of the one before."""
        deliveries = [Delivery(body["event_id"], body) for body in bodies]
        previous: Delivery | None = None
        for delivery in deliveries:
            self._sent[delivery.event_id] = delivery
            event = delivery.body["event"]
            self._journal.write("event", event_id=delivery.event_id, event=event)
            self._spawn(delivery, previous if in_order else None)
            previous = delivery
        return deliveries

    async def again(self, event_id: str) -> Outcome:
        """Send an event once more, as Slack does when the acknowledgement was lost.

        Raises:
            KeyError: no such event.
        """
        delivery = self._sent[event_id]
        return await self._try(delivery, number=1, reason="http_timeout")

    async def ask(self, envelope: str, body: dict[str, Any]) -> Outcome:
        """Deliver an interaction or a command, once, and return what the app answered."""
        outcome = await self._transport().send(Attempt(envelope=envelope, body=body))
        kind = body.get("type", "slash_command")
        self._journal.write("interaction", type=kind, body=body, **_told(outcome))
        return outcome

    async def close(self) -> None:
        """Give up what is still to be retried."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, delivery: Delivery, previous: Delivery | None) -> None:
        task = asyncio.create_task(self._deliver(delivery, previous), name=delivery.event_id)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _deliver(self, delivery: Delivery, previous: Delivery | None) -> None:
        if previous is not None:
            await previous.tried.wait()
        outcome = await self._try(delivery, number=0, reason="")
        for number, pause in enumerate(RETRY_AFTER_SECONDS, start=1):
            if outcome.ok or not outcome.retry:
                return
            await asyncio.sleep(pause * self._options().time_scale)
            outcome = await self._try(delivery, number=number, reason=outcome.reason)

    async def _try(self, delivery: Delivery, *, number: int, reason: str) -> Outcome:
        attempt = Attempt(envelope="events_api", body=delivery.body, number=number, reason=reason)
        outcome = await self._transport().send(attempt)
        self._journal.write(
            "delivery",
            event_id=delivery.event_id,
            event_type=delivery.body["event"]["type"],
            retry_num=number,
            retry_reason=reason,
            **_told(outcome),
        )
        delivery.tried.set()
        return outcome


class HttpTransport:
    """POSTs to the app's URL, one request for one event."""

    def __init__(self, *, session: aiohttp.ClientSession, options: Callable[[], Options]) -> None:
        """Take the session to use and where to find the present options."""
        self._session = session
        self._options = options

    async def send(self, attempt: Attempt) -> Outcome:
        """Sign and post it."""
        content_type, raw = encode(attempt)
        options = self._options()
        signed = signed_headers(raw, secret=options.signing_secret, timestamp=int(wall_seconds()))
        return await self.post(
            raw, {**signed, **_retry_headers(attempt), "Content-Type": content_type}
        )

    async def post(self, raw: bytes, headers: Mapping[str, str]) -> Outcome:
        """Post raw bytes under the given headers; also the way of forged deliveries."""
        options = self._options()
        if not options.target:
            return Outcome(ok=False, reason="connection_failed")
        timeout = aiohttp.ClientTimeout(total=options.answer_seconds)
        try:
            async with self._session.post(
                options.target,
                data=raw,
                headers={"User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)", **headers},
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                return _answered(response, await response.text(errors="replace"))
        except TimeoutError:
            return Outcome(ok=False, reason="http_timeout")
        except aiohttp.ClientError:
            return Outcome(ok=False, reason="connection_failed")


def signed_headers(raw: bytes, *, secret: str, timestamp: int) -> dict[str, str]:
    """Return Slack's signature headers over the raw body (version v0)."""
    base = b"v0:%d:%b" % (timestamp, raw)
    digest = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(timestamp), "X-Slack-Signature": f"v0={digest}"}


def encode(attempt: Attempt) -> tuple[str, bytes]:
    """Return content type and raw body: JSON for events, forms for interactions and commands."""
    match attempt.envelope:
        case "interactive":
            return FORM, urlencode({"payload": json.dumps(attempt.body)}).encode()
        case "slash_commands":
            return FORM, urlencode(attempt.body).encode()
        case _:
            return JSON, json.dumps(attempt.body, ensure_ascii=False).encode()


def _retry_headers(attempt: Attempt) -> dict[str, str]:
    if not attempt.number:
        return {}
    return {"X-Slack-Retry-Num": str(attempt.number), "X-Slack-Retry-Reason": attempt.reason}


def _answered(response: aiohttp.ClientResponse, text: str) -> Outcome:
    ok = 200 <= response.status < 300
    return Outcome(
        ok=ok,
        status=response.status,
        reason="" if ok else "http_error",
        retry=response.headers.get("x-slack-no-retry") != "1",
        text=text,
    )


def _told(outcome: Outcome) -> dict[str, Any]:
    return {
        "ok": outcome.ok,
        "status": outcome.status,
        "reason": outcome.reason,
        "retry": outcome.retry,
        "via": outcome.via,
        "answer": outcome.text,
    }
