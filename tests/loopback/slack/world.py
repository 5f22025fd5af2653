"""The world: the team, its people and channels, and what was written there."""

from __future__ import annotations

import itertools
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.loopback.slack.refusal import SlackRefusal

TEAM = "T0001"
TEAM_DOMAIN = "loopback"
BOT_USER = "U0BOT"
BOT = "B0BOT"
APP = "A0001"

Message = dict[str, Any]
View = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Someone in the team; a bot has a `bot_id`."""

    id: str
    name: str
    display_name: str
    bot_id: str = ""
    deleted: bool = False


@dataclass(slots=True, kw_only=True)
class Channel:
    """One channel, private channel or DM, with its messages by ts in the order written."""

    id: str
    name: str
    kind: str = "channel"
    """`channel`, `group` (private) or `im`: the `channel_type` of its message events."""
    person: str = ""
    is_member: bool = True
    is_archived: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    earlier_blocks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Blocks a message once had, by ts: what a person with a stale screen may still press."""
    ephemerals: dict[str, Message] = field(default_factory=dict)
    sequence: Iterator[int] = field(default_factory=itertools.count)
    epoch: int = 0

    def mint_ts(self) -> str:
        """Return the next ts: strictly rising here, and the same ones occur in other channels."""
        return f"{self.epoch + next(self.sequence)}.000100"

    def message(self, ts: object, *, missing: str = "message_not_found") -> Message:
        """Return one message.

        Raises:
            SlackRefusal: there is none with this ts.
        """
        found = self.messages.get(str(ts))
        if found is None:
            raise SlackRefusal(missing)
        return found

    def add(self, message: Message) -> Message:
        """Store a message under its ts and count it on its parent."""
        self.messages[message["ts"]] = message
        parent = self.messages.get(message.get("thread_ts", ""))
        if parent is not None and parent is not message:
            _count_reply(parent, message)
        return message

    def set_blocks(self, message: Message, blocks: list[dict[str, Any]]) -> None:
        """Replace a message's blocks and remember the ones it had."""
        self.earlier_blocks.setdefault(message["ts"], []).extend(message.get("blocks", []))
        message["blocks"] = blocks


@dataclass(slots=True, kw_only=True)
class Trigger:
    """The right to open one view, bought by a click and soon worthless."""

    user: str
    issued: float
    used: bool = False


class World:
    """Everything that exists in the team; plain state, changed by one event loop."""

    def __init__(self, *, epoch: int) -> None:
        """Make the team as every test finds it."""
        self.people = {person.id: person for person in _people()}
        self.channels = {channel.id: channel for channel in _channels()}
        for channel in self.channels.values():
            channel.epoch = epoch
        self.epoch = epoch
        self.groups = {"S0009": ["U0001", "U0002"]}
        self.views: dict[str, View] = {}
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.statuses: dict[str, str] = {}
        self._numbers = itertools.count(1)

    def number(self) -> int:
        """Return the next number of this world, for ids."""
        return next(self._numbers)

    def person(self, user: object) -> Person:
        """Return one person.

        Raises:
            SlackRefusal: `user_not_found`.
        """
        found = self.people.get(str(user))
        if found is None:
            raise SlackRefusal("user_not_found")
        return found

    def channel(self, name: object) -> Channel:
        """Return a channel by id, by #name, or by a person's id (their DM).

        Raises:
            SlackRefusal: `channel_not_found`.
        """
        wanted = str(name).lstrip("#")
        for channel in self.channels.values():
            if wanted in (channel.id, channel.name) or (wanted and wanted == channel.person):
                return channel
        raise SlackRefusal("channel_not_found")

    def issue_trigger(self, user: str) -> str:
        """Return a fresh trigger_id for a person's click, command or submission."""
        trigger = f"{self.number()}.{TEAM}.{secrets.token_hex(8)}"
        self.triggers[trigger] = Trigger(user=user, issued=time.monotonic())
        return trigger

    def spend_trigger(self, trigger_id: object, *, seconds: float) -> str:
        """Use a trigger_id up and return whose it was.

        Raises:
            SlackRefusal: unknown, older than `seconds`, or used before.
        """
        trigger = self.triggers.get(str(trigger_id))
        if trigger is None:
            raise SlackRefusal("invalid_trigger_id")
        if time.monotonic() - trigger.issued > seconds:
            raise SlackRefusal("expired_trigger_id")
        if trigger.used:
            raise SlackRefusal("exchanged_trigger_id")
        trigger.used = True
        return trigger.user


@dataclass(slots=True, kw_only=True)
class ResponseUrl:
    """What a response_url points at, and how often it may still be used."""

    channel: str
    user: str
    message_ts: str = ""
    uses_left: int = 5


def _count_reply(parent: Message, reply: Message) -> None:
    users = parent.setdefault("reply_users", [])
    if reply["user"] not in users:
        users.append(reply["user"])
    parent["thread_ts"] = parent["ts"]
    parent["reply_count"] = parent.get("reply_count", 0) + 1
    parent["reply_users_count"] = len(users)
    parent["latest_reply"] = reply["ts"]


def _people() -> list[Person]:
    return [
        Person(id="U0001", name="ada", display_name="Ada"),
        Person(id="U0002", name="bob", display_name="Bob"),
        Person(id="U0003", name="carol", display_name="Carol"),
        Person(id="U0004", name="dave", display_name="Dave"),
        Person(id="U0005", name="eve", display_name='Eve </user> "&<b>'),
        Person(id="U0006", name="frank", display_name="Frank", deleted=True),
        Person(id="U0009", name="deploybot", display_name="Deploybot", bot_id="B0009"),
        Person(id=BOT_USER, name="interlock", display_name="Interlock", bot_id=BOT),
    ]


def _channels() -> list[Channel]:
    return [
        Channel(id="C0001", name="general"),
        Channel(id="C0002", name="random"),
        Channel(id="C0003", name="elsewhere", is_member=False),
        Channel(id="C0009", name="attic", is_archived=True),
        Channel(id="G0001", name="backstage", kind="group"),
        *(
            Channel(id=f"D{number:04}", name=f"dm-{number}", kind="im", person=f"U{number:04}")
            for number in range(1, 6)
        ),
    ]
