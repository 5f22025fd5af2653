"""Exchanges: one request read within bounds, one answer given, whatever happens between."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog
from aiohttp import web

from adapters.console.errors import Refused, error_response, internal_body
from adapters.console.parse import Ask, Caller, parse_key
from adapters.console.payload import parse_object
from adapters.console.security import HEADERS, Door
from core.conversation import Inbound
from core.errors import InterlockError, NotAllowed
from core.ids import ThreadKey, new_id
from core.ports.adapter import Admission, Gate

BODY_MAX = 1024 * 1024
log = structlog.get_logger()

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
Handler = Callable[[web.Request, Caller], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One line of the API's table: a method, a path, and who answers."""

    method: str
    path: str
    handler: Handler


def secure(door: Door, answer: Answer) -> Answer:
    """Wrap an answer: Host first, errors as JSON, our headers on all that leaves."""

    async def secured(request: web.Request) -> web.StreamResponse:
        response = await _answered(door, answer, request)
        # An event stream has sent its headers long ago, with ours among them.
        if not response.prepared:
            response.headers.update(HEADERS)
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    return secured


def authenticated(door: Door, handler: Handler) -> Answer:
    """Wrap a handler of the API: it is told who asks."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return await handler(request, door.caller(request))

    return answer


async def read_object(request: web.Request) -> dict[str, Any]:
    """Read the body as a JSON object.

    Raises:
        Refused: compressed (415) or over 1 MiB (413).
        InvalidInput: not such an object.
    """
    return parse_object(await read_body(request))


async def read_body(request: web.Request) -> bytes:
    """Read the body, no further than the cap.

    Raises:
        Refused: compressed (415) or over 1 MiB (413).
    """
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refused(415, "unsupported_encoding", "Send the body without compression.")
    # The announced length spares us the reading; what is read is counted, for it may lie.
    if (request.content_length or 0) > BODY_MAX:
        raise _too_large()
    body = bytearray()
    async for piece in request.content.iter_any():
        body += piece
        if len(body) > BODY_MAX:
            raise _too_large()
    return bytes(body)


def thread_of(request: web.Request) -> ThreadKey:
    """Return the thread that the path names."""
    return parse_key(request.match_info["resource"], request.match_info["thread"])


def ask_of(request: web.Request, key: ThreadKey, caller: Caller) -> Ask:
    """Return the frame of a write to a thread."""
    return Ask(key=key, caller=caller, idempotency=request.headers.get("Idempotency-Key"))


async def admit(gate: Gate, inbound: Inbound) -> Admission:
    """Bring something to the gate.

    Raises:
        NotAllowed: policy refused it; nothing was stored.
        InterlockError: as the gate says.
    """
    admission = await gate.admit(inbound)
    if admission.outcome == "refused":
        raise NotAllowed(admission.answer or "Policy does not let you do this here.")
    return admission


async def _answered(door: Door, answer: Answer, request: web.Request) -> web.StreamResponse:
    try:
        # Before anything else, so that a rebound name learns nothing, not even which routes exist.
        door.check_host(request)
        return await answer(request)
    except InterlockError as error:
        return error_response(error)
    except web.HTTPException:
        raise
    # Whatever broke, the caller gets JSON and an id to look up in the log.
    except Exception:
        error_id = new_id("err")
        log.exception("console.failed", error_id=error_id, path=request.path)
        return web.json_response(internal_body(error_id), status=500)


def _too_large() -> Refused:
    return Refused(413, "too_large", f"The body is larger than {BODY_MAX} bytes.")
