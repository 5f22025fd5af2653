"""Desk: what is done with an event, a click or a command once it is read.

Everything goes through the gate and is committed before Slack hears that we have it; cards are
never touched here: the outbox edits them after the decision (channels.md 1c).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.slack import interactions, parse
from adapters.slack.client import SlackClient
from adapters.slack.errands import Errands
from adapters.slack.identity import Identity
from adapters.slack.interactions import Command, Press
from adapters.slack.modals import render_bare_reject, render_reject_view
from adapters.slack.names import NameBook
from adapters.slack.poster import Poster
from core.conversation import Conversation, Inbound, InboundDecision
from core.errors import DeliveryError
from core.ports.adapter import Admission, Gate

log = structlog.get_logger(__name__)

Json = dict[str, Any]
Participates = Callable[[Conversation], Awaitable[bool]]

COMMIT = 1.5
"""Seconds a click waits for its commit before it is answered all the same."""
OPEN = 2.2
"""Seconds a modal may take to open: its trigger is good for three, counted from the click."""

NOT_STORED = "That could not be stored just now. Please try again in a moment."
REFUSED = "You are not allowed to do that here."
GONE = "There is nothing to decide here any more."
HELP = (
    "Mention me in a channel or write to me directly, and I answer in a thread. "
    "`/interlock ask ...` asks me here, `/interlock stop` ends what I am doing. "
    "In a thread, `!stop` stops me and `!queue ...` waits until I am done."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What the desk works with."""

    gate: Gate
    identity: Identity
    client: SlackClient
    poster: Poster
    names: NameBook
    errands: Errands
    participates: Participates


class Desk:
    """Takes what Slack's listeners hand over."""

    def __init__(self, means: Means) -> None:
        """Keep the means."""
        self._means = means

    async def event(self, body: Json) -> None:
        """Take an event of the Events API.

        Raises:
            IdentityUnknown: who we are is unknown, so the event must be sent again.
            StoreUnavailable: nothing was stored; likewise.
        """
        bot = self._means.identity.bot()
        if not parse.is_ours(body, bot):
            log.warning("slack.foreign_event", team=body.get("team_id"), ours=bot.team)
            return
        # Somebody speaks or a profile changed: nothing is asked of Slack before the answer.
        self._learn_name(body, bot.team)
        heard = parse.message(body, bot=bot, name_of=self._means.names.cached)
        if heard is None or not await self._is_for_us(heard):
            return
        said = heard.inbound
        admission = await self._means.gate.admit(said)
        event = body["event"]
        # Slack hides a private line in a thread that nobody has answered in yet.
        place = said.conversation if event.get("thread_ts") else parse.place(bot, event["channel"])
        self._tell(place, str(event["user"]), admission.answer)
        if admission.outcome == "accepted":
            self._warm(said.sender.id)

    async def action(self, payload: Json) -> None:
        """Take a click: reject opens its modal at once, all else is stored first.

        Raises:
            InterlockError: it was not stored; the person is told.
        """
        bot = self._means.identity.bot()
        press = interactions.press(payload, bot=bot, name_of=self._means.names.cached)
        if press is None:
            return
        # A modal must be the first thing after a click: its trigger lives three seconds.
        if press.verb == "reject":
            await self._in_time(self._ask_reason(press))
        else:
            await self._in_time(self._decide(press))

    async def submission(self, payload: Json) -> None:
        """Take a submitted modal; likewise."""
        bot = self._means.identity.bot()
        press = interactions.submission(payload, bot=bot, name_of=self._means.names.cached)
        if press is not None:
            await self._in_time(self._decide(press))

    async def command(self, form: Json) -> str:
        """Take a slash command and return the line its sender sees."""
        bot = self._means.identity.bot()
        command = interactions.command(form, bot=bot, name_of=self._means.names.cached)
        inbound = _inbound_of(command) if command else None
        if inbound is None:
            return HELP
        admission = await self._means.errands.within(
            COMMIT, self._means.gate.admit(inbound), name=f"command {inbound.event_key}"
        )
        if admission is None:
            return "One moment ..."
        return _answer(admission, inbound) or ("Stopping." if inbound.kind == "stop" else "On it.")

    async def _is_for_us(self, heard: parse.Heard) -> bool:
        return heard.addressed or await self._means.participates(heard.inbound.conversation)

    async def _ask_reason(self, press: Press) -> None:
        try:
            # Later than this the trigger is dead, and waiting would only delay the way out.
            async with asyncio.timeout(OPEN):
                await self._means.client.call(
                    "views.open",
                    trigger_id=press.trigger_id,
                    view=render_reject_view(press.card),
                )
        except (DeliveryError, TimeoutError) as exc:
            log.info("slack.modal_not_opened", error=str(exc))
            text = "The form for a reason did not open."
            self._tell(press.conversation, press.user, text, render_bare_reject(press.card.token))

    async def _decide(self, press: Press) -> None:
        inbound = press.stop() if press.verb == "stop" else press.decision()
        # Told in `finally`: also when the gate failed after the click was answered.
        answer: str | None = NOT_STORED
        try:
            admission = await self._means.gate.admit(inbound)
            answer = _answer(admission, inbound)
        finally:
            self._tell(press.conversation, press.user, answer)

    async def _in_time(self, work: Any) -> None:
        await self._means.errands.within(COMMIT, work, name="click")

    def _tell(
        self,
        conversation: Conversation,
        user: str,
        text: str | None,
        blocks: list[Json] | None = None,
    ) -> None:
        if text:
            self._means.errands.tell(
                lambda: self._means.poster.tell(conversation, user, text, blocks),
                name=f"tell {user}",
            )

    def _learn_name(self, body: Json, team: str) -> None:
        event = body.get("event")
        if isinstance(event, dict) and event.get("type") == "user_change":
            user = event.get("user")
            if isinstance(user, dict):
                self._means.names.learn(str(user.get("team_id") or team), user)

    def _warm(self, person: str) -> None:
        """Look the sender's name up now, so that the next step and the next card have it."""
        if self._means.names.cached(person) is None:
            self._means.errands.tell(
                lambda: self._means.names.names([person]), name=f"name of {person}"
            )


def _inbound_of(command: Command) -> Any:
    spoken = parse.Spoken(
        event_key=command.event_key,
        conversation=command.conversation,
        sender=command.sender,
        text="!stop" if command.verb == "stop" else command.rest,
        direct=command.direct,
        metadata={"channel": command.conversation.channel, "command": command.verb},
    )
    # An `ask` without a question is no message; its sender gets the help.
    wanted = command.verb == "stop" or (command.verb == "ask" and command.rest)
    return parse.inbound(spoken) if wanted else None


def _answer(admission: Admission, inbound: Inbound) -> str | None:
    """Return the line for the person, so that no click stays without an answer."""
    if admission.answer or admission.outcome in ("accepted", "duplicate"):
        return admission.answer
    if admission.outcome == "refused":
        return REFUSED
    return GONE if isinstance(inbound, InboundDecision) else None
