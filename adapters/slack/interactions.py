"""Interactions: clicks, modal submissions and slash commands, as what a person wants; pure.

A button carries the opaque token of its card and nothing else (cases PB-058): `pa:{token}:a`
approves, `:r` asks for the reason, `:n` rejects without one, `:s` stops.
"""

import contextlib
import re
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from adapters.slack.identity import Bot
from adapters.slack.parse import Json, NameOf, nameless, person, place
from core.conversation import Conversation, InboundDecision, InboundStop, Person

Verb = Literal["approve", "reject", "reject_bare", "stop"]

REJECT_VIEW = "interlock_reject"
REASON_BLOCK = "reason"
REASON_INPUT = "feedback"

_ACTION = re.compile(r"pa:(?P<token>.{1,240}):(?P<letter>[arns])", re.DOTALL)
_VERBS: dict[str, Verb] = {"a": "approve", "r": "reject", "n": "reject_bare", "s": "stop"}
_LETTERS = {verb: letter for letter, verb in _VERBS.items()}


class CardPlace(BaseModel, frozen=True):
    """What a modal remembers of its card, as its `private_metadata` (3,000 characters at most)."""

    token: str
    channel: str
    ts: str
    root: str = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A person pressed one of our buttons, or sent off the modal behind one."""

    event_key: str
    verb: Verb
    card: CardPlace
    conversation: Conversation
    sender: Person
    user: str
    trigger_id: str = ""
    feedback: str | None = None

    def decision(self) -> InboundDecision:
        """Return the decision it stands for."""
        return InboundDecision(
            event_key=self.event_key,
            conversation=self.conversation,
            sender=self.sender,
            token=self.card.token,
            action="approved" if self.verb == "approve" else "rejected",
            feedback=self.feedback,
        )

    def stop(self) -> InboundStop:
        """Return the wish to stop that it stands for."""
        return InboundStop(
            event_key=self.event_key, conversation=self.conversation, sender=self.sender
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command: `/interlock {verb} {rest}`."""

    event_key: str
    verb: str
    rest: str
    conversation: Conversation
    sender: Person
    direct: bool


def action_id(token: str, verb: Verb) -> str:
    """Return the id of a button; Slack allows 255 characters."""
    return f"pa:{token}:{_LETTERS[verb]}"


def press(payload: Json, *, bot: Bot, name_of: NameOf = nameless) -> Press | None:
    """Return which of our buttons was pressed (`block_actions`), or None for any other element."""
    action = next((item for item in _list(payload, "actions") if isinstance(item, dict)), {})
    found = _ACTION.fullmatch(str(action.get("action_id")))
    container, user = _dict(payload, "container"), _dict(payload, "user")
    channel = container.get("channel_id") or _dict(payload, "channel").get("id")
    if found is None or not user.get("id") or not channel:
        return None
    # A click on a private message has no `message`; its container still names the place.
    ts = str(container.get("message_ts") or "")
    card = CardPlace(token=found["token"], channel=channel, ts=ts, root=_root(payload, ts))
    return Press(
        event_key=":".join(
            [
                "slack",
                bot.team,
                ts,
                user["id"],
                str(action["action_id"]),
                str(action.get("action_ts")),
            ]
        ),
        verb=_VERBS[found["letter"]],
        card=card,
        conversation=place(bot, channel, card.root),
        sender=person(str(user.get("team_id") or bot.team), user["id"], name_of),
        user=user["id"],
        trigger_id=str(payload.get("trigger_id") or ""),
    )


def submission(payload: Json, *, bot: Bot, name_of: NameOf = nameless) -> Press | None:
    """Return the rejection that a submitted modal stands for; an empty reason is none."""
    view, user = _dict(payload, "view"), _dict(payload, "user")
    card = _card_place(view)
    if view.get("callback_id") != REJECT_VIEW or card is None or not user.get("id"):
        return None
    return Press(
        # A modal is submitted once; when storing failed, the same view may be sent again.
        event_key=f"slack:{bot.team}:view:{view.get('id')}",
        verb="reject",
        card=card,
        conversation=place(bot, card.channel, card.root),
        sender=person(str(user.get("team_id") or bot.team), user["id"], name_of),
        user=user["id"],
        feedback=_reason(view),
    )


def command(form: Json, *, bot: Bot, name_of: NameOf = nameless) -> Command | None:
    """Return a slash command; it knows no thread, so its conversation is the channel itself."""
    user, channel = str(form.get("user_id") or ""), str(form.get("channel_id") or "")
    if not user or not channel:
        return None
    verb, _, rest = str(form.get("text") or "").strip().partition(" ")
    return Command(
        # A command has no event id and no ts; its trigger is issued once.
        event_key=f"slack:{bot.team}:command:{form.get('trigger_id')}",
        verb=verb.lower(),
        rest=rest.strip(),
        conversation=place(bot, channel),
        sender=person(str(form.get("team_id") or bot.team), user, name_of),
        direct=channel.startswith("D"),
    )


def _root(payload: Json, ts: str) -> str:
    thread_ts = _dict(payload, "container").get("thread_ts")
    thread_ts = thread_ts or _dict(payload, "message").get("thread_ts")
    # A top-level card that got replies names itself as its thread; it was posted to the channel.
    return str(thread_ts) if thread_ts and thread_ts != ts else "-"


def _card_place(view: Json) -> CardPlace | None:
    with contextlib.suppress(ValidationError):
        return CardPlace.model_validate_json(str(view.get("private_metadata") or ""))
    return None


def _reason(view: Json) -> str | None:
    values = _dict(_dict(view, "state"), "values")
    value = _dict(_dict(values, REASON_BLOCK), REASON_INPUT).get("value")
    return str(value).strip() or None if value else None


def _dict(owner: Json, name: str) -> Json:
    value = owner.get(name)
    return value if isinstance(value, dict) else {}


def _list(owner: Json, name: str) -> list[Any]:
    value = owner.get(name)
    return value if isinstance(value, list) else []
