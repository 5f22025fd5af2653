"""The control API: POST /_control/{verb} with a JSON body, for tests only."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from tests.loopback.journal import wall_seconds
from tests.loopback.slack import gestures, modals, people
from tests.loopback.slack.delivery import JSON, signed_headers
from tests.loopback.slack.faults import Fault
from tests.loopback.slack.options import Options
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import NotPossible, SlackRefusal
from tests.loopback.slack.webapi import PLATFORM

Order = dict[str, Any]
Verb = Callable[[Platform, Order], Awaitable[dict[str, Any]]]
_TOO_OLD = 301


async def fault(platform: Platform, order: Order) -> dict[str, Any]:
    """Set a fault (faults.Fault by field name)."""
    platform.faults.set(Fault(**order))
    platform.journal.write("fault", fault=order)
    return {}


async def clear_faults(platform: Platform, _order: Order) -> dict[str, Any]:
    """Forget all faults and open all closed methods."""
    platform.faults.clear()
    platform.limits.clear()
    return {}


async def settings(platform: Platform, order: Order) -> dict[str, Any]:
    """Change settings that may change while it runs."""
    platform.change(order)
    return {}


async def restart(platform: Platform, order: Order) -> dict[str, Any]:
    """Begin anew with other options (options.Options by field name)."""
    await platform.restart(Options(**order))
    return {}


async def messages(platform: Platform, order: Order) -> dict[str, Any]:
    """Return the present messages of a channel in the order written."""
    return {"messages": list(platform.world.channel(order["channel"]).messages.values())}


async def views(platform: Platform, _order: Order) -> dict[str, Any]:
    """Return the open modals with their owners."""
    return {
        "views": [
            {**modals.shown(view), "owner": view["owner"], "errors": view["errors"]}
            for view in platform.world.views.values()
        ]
    }


async def statuses(platform: Platform, _order: Order) -> dict[str, Any]:
    """Return the statuses now shown, by `channel:thread_ts`."""
    return {"statuses": platform.world.statuses}


async def archive(platform: Platform, order: Order) -> dict[str, Any]:
    """Archive a channel."""
    platform.world.channel(order["channel"]).is_archived = True
    return {}


async def challenge(platform: Platform, _order: Order) -> dict[str, Any]:
    """Send url_verification and return what came back."""
    body = {"type": "url_verification", "challenge": "c" * 32, "token": "loopback-verification"}
    raw = json.dumps(body).encode()
    return await _post_signed(platform, raw, secret=platform.options.signing_secret)


async def deliver(platform: Platform, order: Order) -> dict[str, Any]:
    """Deliver any raw body, signed, whether it can be parsed or not: `raw, content_type?`."""
    raw = order["raw"].encode()
    signed = signed_headers(
        raw, secret=platform.options.signing_secret, timestamp=int(wall_seconds())
    )
    return await _post(platform, raw, signed, content_type=order.get("content_type", JSON))


async def forge(platform: Platform, order: Order) -> dict[str, Any]:
    """Deliver what Slack did not sign: `how` is wrong, old, missing or altered; `event` inside."""
    raw = json.dumps(platform.wrap(order["event"])).encode()
    secret = platform.options.signing_secret
    match order.get("how", "wrong"):
        case "old":
            return await _post_signed(platform, raw, secret=secret, age=_TOO_OLD)
        case "missing":
            return await _post(platform, raw, {})
        case "altered":
            signed = signed_headers(raw, secret=secret, timestamp=int(wall_seconds()))
            return await _post(platform, raw + b" ", signed)
        case _:
            return await _post_signed(platform, raw, secret="not-the-secret")


async def disconnect(platform: Platform, order: Order) -> dict[str, Any]:
    """Tell every socket to go: `reason` (refresh_requested), `close` ends them at once."""
    reason = order.get("reason", "refresh_requested")
    return {"told": await platform.sockets.disconnect(reason, close=bool(order.get("close")))}


async def cut_sockets(platform: Platform, _order: Order) -> dict[str, Any]:
    """Break every socket without a word."""
    return {"cut": platform.sockets.cut()}


async def sockets(platform: Platform, _order: Order) -> dict[str, Any]:
    """Return how many sockets are open."""
    return {"open": len(platform.sockets.sockets)}


VERBS: dict[str, Verb] = {
    **gestures.VERBS,
    **people.VERBS,
    "archive": archive,
    "challenge": challenge,
    "clear_faults": clear_faults,
    "cut_sockets": cut_sockets,
    "deliver": deliver,
    "disconnect": disconnect,
    "fault": fault,
    "forge": forge,
    "messages": messages,
    "restart": restart,
    "settings": settings,
    "sockets": sockets,
    "statuses": statuses,
    "views": views,
}


async def handle(request: web.Request) -> web.Response:
    """Do what a test asks; 409 with the reason when it cannot be done."""
    platform = request.app[PLATFORM]
    platform.base_url = f"http://{request.host}"
    verb = VERBS.get(request.match_info["verb"])
    if verb is None:
        return web.json_response({"error": "no such verb"}, status=404)
    try:
        return web.json_response(await verb(platform, json.loads(await request.text() or "{}")))
    except (NotPossible, SlackRefusal, KeyError, TypeError, ValueError) as error:
        return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=409)


async def _post_signed(
    platform: Platform, raw: bytes, *, secret: str, age: int = 0
) -> dict[str, Any]:
    timestamp = int(wall_seconds()) - age
    return await _post(platform, raw, signed_headers(raw, secret=secret, timestamp=timestamp))


async def _post(
    platform: Platform, raw: bytes, headers: dict[str, str], *, content_type: str = JSON
) -> dict[str, Any]:
    outcome = await platform.http.post(raw, {**headers, "Content-Type": content_type})
    return {"status": outcome.status, "body": outcome.text, "reason": outcome.reason}
