"""Conversations: where people are, what they say there, and what is sent back to them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from core.ids import escape_part
from core.messages import ContentPart
from core.records import Record


class Conversation(Record):
    """An address on a platform: theirs, not ours (architecture.md 4).

    `tenant` is the team or guild, `root` the message that a thread hangs on, `-` for the channel
    itself.
    """

    platform: str
    tenant: str
    channel: str
    root: str = "-"

    @property
    def key(self) -> str:
        """Return the address as one text.

        Parts are escaped, so no two addresses share one (PB-049).
        """
        # Escaped part by part: joined bare, two addresses could share a key.
        parts = (self.platform, self.tenant, self.channel, self.root)
        return ":".join(escape_part(part) for part in parts)


class Person(Record):
    """Who acts: a stable id for rules, and a name for people.

    `id` is `slack:T1:U2`, `console:local:ada` or `api:token`; `name` is None until somebody looked
    it up.
    """

    id: str
    name: str | None = None
    platform: str = ""
    groups: tuple[str, ...] = ()
    """Ids of user groups or roles the person is known to be in."""


class InboundMessage(Record):
    """A person said something that is for the agent.

    `event_key` names the event for ever (architecture.md 6.4). `lane` is `deliver` (steer what
    runs) or `queue`.
    """

    kind: Literal["message"] = "message"
    event_key: str
    conversation: Conversation
    sender: Person
    contents: str | tuple[ContentPart, ...]
    attributes: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    lane: Literal["deliver", "queue"] = "deliver"
    direct: bool = False
    """A one-to-one conversation: its thread belongs to the person."""
    occurred_at: datetime | None = None


class InboundStop(Record):
    """A person wants the run in this conversation to end."""

    kind: Literal["stop"] = "stop"
    event_key: str
    conversation: Conversation
    sender: Person


class InboundDecision(Record):
    """A person answered a card.

    `token` names the suspension. `action` is `approved` or `rejected`; `feedback` the reason,
    where one was written.
    """

    kind: Literal["decision"] = "decision"
    event_key: str
    conversation: Conversation
    sender: Person
    token: str
    action: Literal["approved", "rejected"]
    feedback: str | None = None


class InboundSignal(Record):
    """A program puts something into a thread it names: the HTTP API's messages and signals.

    `spec` is the signal's input as sent (type, tagName, contents, attributes, metadata ...);
    `if_active` and `if_idle` are `{behavior, attributes}` in the words of signals.md 2.5.
    """

    kind: Literal["signal"] = "signal"
    event_key: str | None
    resource_id: str
    thread_id: str
    sender: Person
    spec: dict[str, Any]
    own_turn: bool = False
    if_active: dict[str, Any] = Field(default_factory=dict)
    if_idle: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    run_id: str | None = None


class InboundAbort(Record):
    """A program, or a person at the console, ends the run of a thread it names."""

    kind: Literal["abort"] = "abort"
    resource_id: str
    thread_id: str
    sender: Person


class InboundResume(Record):
    """A program answers a paused run: `data` is the resume data.

    Without `tool_call_id` exactly one call must wait (agent.md R9).
    """

    kind: Literal["resume"] = "resume"
    run_id: str
    tool_call_id: str | None = None
    sender: Person
    data: Any = None


class OutsideEvent(Record):
    """One event of an outside source, ready to be kept.

    What happened, how urgent, under which keys.

    `topic` is matched by subscriptions (`github:acme/app#12`); `clears` names the dedupe keys'
    prefix of pending rows that this event makes moot.
    """

    topic: str
    event_kind: str
    summary: str
    priority: Literal["low", "medium", "high", "urgent"] = "medium"
    outcome: str | None = None
    dedupe_key: str | None = None
    coalesce_key: str | None = None
    clears: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    payload: Any = None


class InboundEvents(Record):
    """A verified webhook delivery: its ingress key (source and delivery id) and its events."""

    kind: Literal["events"] = "events"
    ingress_key: str
    source: str
    events: tuple[OutsideEvent, ...]


class InboundNotification(Record):
    """A program puts one event into the inbox of a thread it names (the HTTP API)."""

    kind: Literal["notification"] = "notification"
    event_key: str | None
    resource_id: str
    thread_id: str
    sender: Person
    spec: dict[str, Any]
    agent_id: str | None = None


# One closed union: the gate knows every kind, and a new one cannot slip past it.
Inbound = Annotated[
    InboundMessage
    | InboundStop
    | InboundDecision
    | InboundSignal
    | InboundAbort
    | InboundResume
    | InboundEvents
    | InboundNotification,
    Field(discriminator="kind"),
]


class Button(Record):
    """A button on a card: what it says, and the decision it stands for."""

    label: str
    action: Literal["approve", "reject", "stop"]
    style: Literal["primary", "danger", "default"] = "default"


class Reply(Record):
    """Markdown text that goes out to a conversation."""

    kind: Literal["reply"] = "reply"
    text: str


class Notice(Record):
    """A line from the gateway itself, such as an error; `to` makes it private where it can be."""

    kind: Literal["notice"] = "notice"
    text: str
    to: str | None = None


class Card(Record):
    """A plan or question that waits for people, in its present state.

    `state` is a word of the suspension's states; `note` says who decided and what. Buttons are
    shown only while it waits.
    """

    kind: Literal["card"] = "card"
    token: str
    title: str
    body: str
    state: str = "waiting"
    note: str | None = None
    buttons: tuple[Button, ...] = ()
    version: int = 1


class DigestCard(Record):
    """Several notifications told to people at once: one line per object."""

    kind: Literal["digest"] = "digest"
    title: str
    lines: tuple[str, ...]
    more: int = 0


Outgoing = Annotated[Reply | Notice | Card | DigestCard, Field(discriminator="kind")]


class Receipt(Record):
    """What a platform named the message it accepted; enough to edit it later."""

    message_id: str
    channel: str | None = None
    root: str | None = None
    """Set where people can answer below the message: their answers come under this root."""
