"""Bolt: slack-bolt's app behind our own verifier; it routes, and acknowledges after the commit."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.client import SlackClient, vendor_logger
from adapters.slack.desk import Desk
from adapters.slack.errands import describe
from adapters.slack.identity import Identity

if TYPE_CHECKING:
    from slack_bolt import BoltResponse
    from slack_bolt.async_app import AsyncAck, AsyncApp
    from slack_bolt.authorization import AuthorizeResult

    Authorize = Callable[[], Awaitable[AuthorizeResult]]

log = structlog.get_logger(__name__)

Json = dict[str, Any]

ANY = re.compile(r"")
RETRY_AFTER = "3"
_INTERACTIONS = frozenset(
    ["block_actions", "view_submission", "view_closed", "shortcut", "message_action"]
)


class Bolt:
    """One `AsyncApp` for HTTP and Socket Mode: `take` gives it a parsed body and gets its answer.

    `process_before_response` lets the acknowledgement wait for the listener (by default it goes
    out first), `authorize` answers from memory, and an error is a 503: Slack sends it again.
    """

    def __init__(self, *, desk: Desk, identity: Identity, client: SlackClient) -> None:
        """Keep what the listeners call; the app itself is made on first use."""
        self._desk = desk
        self._identity = identity
        self._client = client
        self._app: AsyncApp | None = None

    async def take(self, body: Json, headers: Mapping[str, str] | None = None) -> "BoltResponse":
        """Return the answer to a verified body: 200 once it is stored or nothing to store."""
        from slack_bolt import BoltResponse
        from slack_bolt.request.async_request import AsyncBoltRequest

        if not is_known(body):
            log.info("slack.dropped", type=str(body.get("type"))[:60], reason="unknown shape")
            return BoltResponse(status=200, body="")
        # The mode in which bolt takes a parsed body: it must not parse again what we bounded.
        request = AsyncBoltRequest(mode="socket_mode", body=body, headers=dict(headers or {}))
        return await self._ready().async_dispatch(request)

    def _ready(self) -> "AsyncApp":
        if self._app is None:
            self._app = self._build()
        return self._app

    def _build(self) -> "AsyncApp":
        from slack_bolt.async_app import AsyncApp

        app = AsyncApp(
            name="interlock",
            logger=vendor_logger(),
            client=self._client.web,
            authorize=_authorizing(self._identity, self._client.token),
            process_before_response=True,
            # Ours has verified the raw bytes; these would parse first or answer unsigned requests.
            request_verification_enabled=False,
            ssl_check_enabled=False,
            url_verification_enabled=False,
            # What we said ourselves ends in `parse`, where a test can see it.
            ignoring_self_events_enabled=False,
        )
        _listen(app, self._desk)
        return app


def _listen(app: "AsyncApp", desk: Desk) -> None:
    """Register one listener for everything there is; bolt fills arguments in by their names."""

    async def take_event(body: Json) -> None:
        await desk.event(body)

    async def take_action(body: Json, ack: "AsyncAck") -> None:
        await desk.action(body)
        await ack()

    async def take_submission(body: Json, ack: "AsyncAck") -> None:
        await desk.submission(body)
        await ack()

    async def take_command(body: Json, ack: "AsyncAck") -> None:
        await ack(text=await desk.command(body), response_type="ephemeral")

    async def take_nothing(ack: "AsyncAck") -> None:
        await ack()

    app.event(ANY)(take_event)
    app.action(ANY)(take_action)
    app.view(ANY)(take_submission)
    app.view_closed(ANY)(take_nothing)
    app.command(ANY)(take_command)
    app.shortcut(ANY)(take_nothing)
    app.error(refuse)


def _authorizing(identity: Identity, token: str) -> "Authorize":
    """Return bolt's `authorize`, which answers from what `auth.test` told us, never from Slack."""
    from slack_bolt.authorization import AuthorizeResult

    async def authorize() -> AuthorizeResult:
        bot = identity.bot()
        return AuthorizeResult(
            enterprise_id=bot.enterprise,
            team_id=bot.team,
            bot_user_id=bot.user,
            bot_id=bot.bot_id,
            bot_token=token,
        )

    return authorize


async def refuse(error: Exception) -> "BoltResponse":
    """Answer an error: 503, so that Slack sends it again."""
    from slack_bolt import BoltResponse

    # Never a 200: whatever failed, the event is not stored, and Slack has it still.
    log.warning("slack.not_taken", **describe(error))
    return BoltResponse(status=503, body="", headers={"Retry-After": RETRY_AFTER})


def is_known(body: Json) -> bool:
    """Say whether a body has a shape that bolt may look into; the rest is dropped, with a 200.

    A subscription whose deliveries fail is switched off by Slack (reliability.md 1.1).
    """
    kind = body.get("type")
    if kind == "event_callback":
        event = body.get("event")
        return isinstance(event, dict) and isinstance(event.get("type"), str)
    if kind in _INTERACTIONS:
        return isinstance(body.get("user"), dict)
    return "command" in body and "user_id" in body
