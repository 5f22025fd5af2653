"""The Web API's front door: arguments, token, faults and limits, then the method."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.loopback.slack import chat, modals, reading, streams
from tests.loopback.slack.faults import Fault
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import SlackRefusal

Method = Callable[[Platform, dict[str, Any]], dict[str, Any]]

PLATFORM: web.AppKey[Platform] = web.AppKey("platform", Platform)
SCOPES = (
    "app_mentions:read,assistant:write,channels:history,channels:read,chat:write,commands,"
    "groups:history,groups:read,im:history,im:read,im:write,reactions:read,reactions:write,"
    "usergroups:read,users:read"
)
_JSON_ARGUMENTS = ("attachments", "blocks", "chunks", "metadata", "view")


def open_connection(platform: Platform, _arguments: dict[str, Any]) -> dict[str, Any]:
    """Answer apps.connections.open: a URL that opens one socket."""
    base = platform.base_url.replace("http", "ws", 1)
    return {"url": f"{base}/link/?ticket={platform.sockets.issue_ticket()}&app_id=A0001"}


METHODS: dict[str, Method] = {
    **chat.METHODS,
    **modals.METHODS,
    **reading.METHODS,
    **streams.METHODS,
    "apps.connections.open": open_connection,
}
POSTS = frozenset(["chat.postMessage", "chat.startStream", "chat.postEphemeral"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request as it came."""

    method: str
    arguments: dict[str, Any]
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is answered; no body means that the connection is closed instead."""

    body: dict[str, Any] | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    inside_retry_after: bool = False
    """The call came although an earlier answer asked to wait."""


async def handle(request: web.Request) -> web.StreamResponse:
    """Answer one Web API call and write it into the journal, whatever becomes of the answer."""
    platform = request.app[PLATFORM]
    platform.base_url = f"http://{request.host}"
    call = await read_call(request)
    fault = platform.faults.take(call.method, call.arguments)
    if fault is not None and fault.kind == "delay":
        await asyncio.sleep(fault.seconds)
    answer = _answer(platform, call, fault)
    platform.journal.write(
        "api",
        method=call.method,
        args=call.arguments,
        answer=answer.body,
        status=answer.status,
        fault=fault.kind if fault else None,
        inside_retry_after=answer.inside_retry_after,
    )
    return await _send(request, answer, fault)


async def read_call(request: web.Request) -> Call:
    """Read the arguments from query, form or JSON body, as slack_sdk sends them."""
    arguments: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        arguments |= json.loads(await request.text() or "{}")
    else:
        arguments |= dict(await request.post())
    for name in _JSON_ARGUMENTS:
        if isinstance(arguments.get(name), str):
            arguments[name] = _decode(arguments[name])
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    sent = arguments.pop("token", "")
    return Call(
        method=request.match_info["method"],
        arguments=arguments,
        token=token if scheme == "Bearer" else str(sent),
    )


def _answer(platform: Platform, call: Call, fault: Fault | None) -> Answer:
    refused = _fault_answer(platform, call, fault) or _limit_answer(platform, call)
    if refused is not None:
        return refused
    try:
        _check_token(platform, call)
        method = METHODS.get(call.method)
        if method is None:
            raise SlackRefusal("unknown_method")
        body = {"ok": True, **method(platform, call.arguments)}
    except SlackRefusal as refusal:
        return Answer(body=refusal.body())
    if fault is not None and fault.kind == "accept_then_http":
        return Answer(body={"ok": False}, status=fault.status)
    return Answer(body=body, headers={"x-oauth-scopes": SCOPES})


def _fault_answer(platform: Platform, call: Call, fault: Fault | None) -> Answer | None:
    match fault.kind if fault else None:
        case "drop_before":
            return Answer(body=None)
        case "error":
            assert fault is not None
            return Answer(body={"ok": False, "error": fault.error})
        case "http":
            assert fault is not None
            return Answer(body={"ok": False}, status=fault.status)
        case "ratelimit":
            assert fault is not None
            platform.limits.close(call.method, fault.retry_after)
            return _wait(fault.retry_after)
        case _:
            return None


def _limit_answer(platform: Platform, call: Call) -> Answer | None:
    closed = platform.limits.wait_for_method(call.method)
    if closed > 0:
        return _wait(closed, inside=True)
    if call.method not in POSTS:
        return None
    channel = str(call.arguments.get("channel"))
    seconds = platform.limits.wait_for_post(channel, rate=platform.options.post_rate)
    return _wait(seconds) if seconds > 0 else None


def _wait(seconds: float, *, inside: bool = False) -> Answer:
    return Answer(
        body={"ok": False, "error": "ratelimited"},
        status=429,
        headers={"Retry-After": str(math.ceil(seconds))},
        inside_retry_after=inside,
    )


def _check_token(platform: Platform, call: Call) -> None:
    options = platform.options
    app_level = call.method == "apps.connections.open"
    if not call.token:
        raise SlackRefusal("not_authed")
    if call.token not in (options.bot_token, options.app_token):
        raise SlackRefusal("invalid_auth")
    if call.token != (options.app_token if app_level else options.bot_token):
        raise SlackRefusal("not_allowed_token_type")


async def _send(request: web.Request, answer: Answer, fault: Fault | None) -> web.StreamResponse:
    kind = fault.kind if fault else None
    if answer.body is None or kind == "accept_then_drop":
        return drop(request)
    if kind == "cut_body":
        return await _cut(request, json.dumps(answer.body).encode())
    return web.json_response(answer.body, status=answer.status, headers=answer.headers)


def drop(request: web.Request) -> web.Response:
    """Reset the connection; the response returned is never seen."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _cut(request: web.Request, raw: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(raw)
    await response.prepare(request)
    await response.write(raw[: len(raw) // 2])
    # The half must reach the client before the reset discards what is unsent.
    await asyncio.sleep(0.05)
    drop(request)
    return response


def _decode(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
