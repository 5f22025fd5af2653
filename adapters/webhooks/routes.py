"""Routes of the webhooks: verify the raw bytes, then read them, then hand them to the gate."""

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import structlog
from aiohttp import web
from pydantic import SecretStr

from adapters.webhooks import github
from adapters.webhooks.settings import WebhookSettings
from core.conversation import InboundEvents, OutsideEvent
from core.errors import InvalidInput, StoreUnavailable
from core.faults import point
from core.ports.adapter import Admission, Gate, Handler

log = structlog.get_logger()

BODY_SECONDS = 10.0
"""How long a sender may take over its body: as long as GitHub waits for an answer (S7)."""
RETRY_AFTER = "5"
_CHUNK = 64 * 1024
_DELIVERY_FORM = re.compile(r"[0-9A-Za-z-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One webhook scheme: how its senders prove themselves, and how their words are read.

    `delivery` is the only header that names a delivery of this scheme (PB-071). `body_limit` is
    in bytes.
    """

    name: str
    verify: Callable[[Sequence[SecretStr], Mapping[str, str], bytes], bool]
    parse: Callable[[Mapping[str, str], bytes], github.Parsed]
    delivery: str
    body_limit: int


GITHUB = Source(
    name="github",
    verify=github.verify,
    parse=github.parse,
    delivery=github.DELIVERY,
    body_limit=25 * 1024 * 1024,
)
_SOURCES = {source.name: source for source in (GITHUB,)}


class WebhooksAdapter:
    """The webhook sources of the gateway.

    Mount its routes in an application that does not decompress request bodies.
    """

    def __init__(self, settings: WebhookSettings, *, gate: Gate) -> None:
        """Take the secrets and the one door.

        Raises:
            InvalidConfig: a secret is too short; the text names the variable.
        """
        settings.check()
        self._settings = settings
        self._gate = gate

    def routes(self) -> list[web.RouteDef]:
        """Return one route per source that has a secret."""
        return [
            web.post(f"/webhooks/{name}", partial(self._receive, _SOURCES[name]))
            for name in self._settings.mounted
        ]

    def handlers(self) -> list[Handler]:
        """Return a sample of what comes in; nobody's sender is checked beyond the signature."""
        event = OutsideEvent(topic="github:acme/app", event_kind="push", summary="a push")
        sample = InboundEvents(ingress_key="github:sample", source="github", events=(event,))
        return [Handler(name="webhook", sample=sample)]

    async def _receive(self, source: Source, request: web.Request) -> web.Response:
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return _refusal(415, "compressed", "send the body as it is, without Content-Encoding")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read(request, source.body_limit)
        except TimeoutError:
            return _refusal(408, "too_slow", "the body did not arrive in time")
        if body is None:
            return _refusal(413, "too_large", f"at most {source.body_limit} bytes")
        # Before this line the bytes are a stranger's: nothing has looked into them.
        if not source.verify(self._settings.secrets(source.name), request.headers, body):
            log.info("webhook.refused", source=source.name, size=len(body))
            return _refusal(401, "unauthorized", f"{github.SIGNATURE} does not match the body")
        return await self._take(source, request.headers, body)

    async def _take(self, source: Source, headers: Mapping[str, str], body: bytes) -> web.Response:
        try:
            parsed = source.parse(headers, body)
        except InvalidInput as error:
            return _refusal(400, error.code, str(error))
        inbound = InboundEvents(
            ingress_key=f"{source.name}:{_delivery_id(source, headers, body)}",
            source=source.name,
            events=parsed.events,
        )
        # Nothing to keep means nothing to claim: a ping may come as often as it likes.
        if not inbound.events:
            return web.json_response({"threads": 0}, status=202)
        return await self._admit(inbound)

    async def _admit(self, inbound: InboundEvents) -> web.Response:
        point("webhook.before_record")
        try:
            admission = await self._gate.admit(inbound)
        except StoreUnavailable as error:
            log.warning("webhook.not_stored", delivery=inbound.ingress_key)
            refusal = _refusal(503, error.code, "nothing was stored; send it again")
            refusal.headers["Retry-After"] = RETRY_AFTER
            return refusal
        point("webhook.after_record")
        return _answer(admission)


async def _read(request: web.Request, limit: int) -> bytes | None:
    """Read the body, or None as soon as it is longer than the limit."""
    # The announced length is only a promise: what comes is counted as well.
    if (request.content_length or 0) > limit:
        return None
    body = bytearray()
    async for chunk in request.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)


def _delivery_id(source: Source, headers: Mapping[str, str], body: bytes) -> str:
    """Return the delivery's id; without a proper one, the body itself names it."""
    # Any other scheme's id is a stranger's word, however well this body is signed.
    named = headers.get(source.delivery, "")
    if _DELIVERY_FORM.fullmatch(named):
        return named
    return f"sha256-{hashlib.sha256(body).hexdigest()}"


def _answer(admission: Admission) -> web.Response:
    detail = admission.detail or {}
    answer: dict[str, object] = {"threads": detail.get("threads", 0)}
    if admission.outcome == "duplicate":
        return web.json_response(answer | {"duplicate": True}, status=200)
    return web.json_response(answer, status=202)


def _refusal(status: int, code: str, message: str) -> web.Response:
    error = {"code": code, "message": message}
    response = web.json_response({"error": error}, status=status)
    if status in (408, 413, 415):
        # What is left of the body is not worth reading.
        response.force_close()
    return response
