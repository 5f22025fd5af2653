"""Parse: Slack's events and slash commands as what a person said; pure.

Keys are those of architecture.md 6.4: a message is `slack:{team}:{channel}:{ts}`, shared by its
twins `message` and `app_mention`, of which either may come first or alone.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from adapters.slack.identity import Bot
from adapters.slack.text import blocks_mention, mentions, read_message
from core.conversation import Conversation, InboundMessage, InboundStop, Person
from core.ids import escape_part

Json = dict[str, Any]
NameOf = Callable[[str], str | None]

PLATFORM = "slack"
_SPOKEN = frozenset(["", "file_share", "me_message", "thread_broadcast"])
"""Subtypes in which a person says something; every other one is about the channel."""
_STOP = frozenset(["!stop", "stop"])
_QUEUE = "!queue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a person said, and whether to us.

    `addressed` is true for a mention and a DM. Anything else is for the agent only when it takes
    part in the conversation, which only the store knows.
    """

    inbound: InboundMessage | InboundStop
    addressed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """Who said what where, however it came."""

    event_key: str
    conversation: Conversation
    sender: Person
    text: str = ""
    direct: bool = False
    metadata: Mapping[str, Any] | None = None
    occurred_at: datetime | None = None


def nameless(_person: str) -> str | None:
    """Know nobody's name."""
    return None


def is_ours(body: Json, bot: Bot) -> bool:
    """Say whether an event reaches our installation (channels.md 1, multi-workspace)."""
    authorizations = body.get("authorizations")
    named = authorizations if isinstance(authorizations, list) else []
    teams = [item.get("team_id") for item in named if isinstance(item, dict)]
    return bot.team in (*teams, body.get("team_id"), body.get("context_team_id"))


def message(body: Json, *, bot: Bot, name_of: NameOf = nameless) -> Heard | None:
    """Return what an `app_mention` or `message` event says, or None when nobody spoke.

    Our own messages and those of other bots end here; so do edits, deletions and notices.

    Args:
        body: the outer body of an `event_callback`.
        bot: who we are.
        name_of: the cached display name of a person id, if any.
    """
    event = body.get("event")
    if not isinstance(event, dict) or not _is_spoken(event, bot):
        return None
    mentioned = _mentions_us(event, bot)
    text = read_message(event, bot_user=bot.user) or (f"@{bot.user}" if mentioned else "")
    if not text:
        return None
    spoken = _spoken(body, event, bot, name_of)
    said = inbound(replace(spoken, text=text))
    return Heard(inbound=said, addressed=spoken.direct or mentioned)


def inbound(spoken: Spoken) -> InboundMessage | InboundStop:
    """Return what was said as a message, or as the wish to stop (`!stop`, `stop`).

    `!queue ...` waits for the next turn. Attributes come in the order name, from, id (gateway.md).
    """
    if spoken.text.lower() in _STOP:
        return InboundStop(
            event_key=spoken.event_key, conversation=spoken.conversation, sender=spoken.sender
        )
    text, queued = _queued(spoken.text)
    return InboundMessage(
        event_key=spoken.event_key,
        conversation=spoken.conversation,
        sender=spoken.sender,
        contents=text,
        attributes={"name": spoken.sender.name, "from": PLATFORM, "id": spoken.sender.id},
        metadata=dict(spoken.metadata or {}),
        lane="queue" if queued else "deliver",
        direct=spoken.direct,
        occurred_at=spoken.occurred_at,
    )


def person(team: str, user: str, name_of: NameOf = nameless) -> Person:
    """Return a person by their own team: somebody of a connected workspace is not one of ours."""
    name = f"{PLATFORM}:{escape_part(team)}:{escape_part(user)}"
    return Person(id=name, name=name_of(name), platform=PLATFORM)


def place(bot: Bot, channel: str, root: str = "-") -> Conversation:
    """Return an address in our team."""
    return Conversation(platform=PLATFORM, tenant=bot.team, channel=channel, root=root)


def _is_spoken(event: Json, bot: Bot) -> bool:
    by_bot = event.get("bot_id") or event.get("bot_profile") or event.get("user") == bot.user
    complete = all(isinstance(event.get(name), str) for name in ("user", "channel", "ts"))
    return (
        event.get("type") in ("app_mention", "message")
        and (event.get("subtype") or "") in _SPOKEN
        and complete
        # Two bots that answer each other never end.
        and not by_bot
        and not event.get("hidden")
    )


def _spoken(body: Json, event: Json, bot: Bot, name_of: NameOf) -> Spoken:
    channel, ts = event["channel"], event["ts"]
    direct = event.get("channel_type") == "im" or channel.startswith("D")
    # A DM is flat unless its person opened a thread in it; a channel gets a thread per mention.
    root = event.get("thread_ts") or ("-" if direct else ts)
    # In a shared channel the event is ours but its author may be of another workspace.
    team = event.get("user_team") or event.get("source_team") or event.get("team") or bot.team
    return Spoken(
        event_key=f"{PLATFORM}:{bot.team}:{channel}:{ts}",
        conversation=place(bot, channel, str(root)),
        sender=person(str(team), event["user"], name_of),
        direct=direct,
        metadata={"ts": ts, "channel": channel, "event_id": body.get("event_id")},
        occurred_at=_instant(ts),
    )


def _mentions_us(event: Json, bot: Bot) -> bool:
    text = str(event.get("text") or "")
    return (
        event.get("type") == "app_mention"
        or mentions(text, bot.user)
        or (not text and blocks_mention(event, bot.user))
    )


def _queued(text: str) -> tuple[str, bool]:
    word, _, rest = text.partition(" ")
    if word.lower() == _QUEUE and rest.strip():
        return rest.strip(), True
    return text, False


def _instant(ts: str) -> datetime | None:
    # A ts names a message and is never computed with; here it only tells the time.
    with contextlib.suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(float(ts), UTC)
    return None
