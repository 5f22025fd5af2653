"""Telling: the one emission that a notification, a summary or a digest becomes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from core.conversation import Conversation, DigestCard
from core.ids import new_id
from core.notifications.notification import Notification, Priority, Window
from core.notifications.store import Telling
from core.signals.routing import IfActive, IfIdle
from core.signals.signal import Signal
from core.threads.store import AcceptRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """How an emission meets its thread: the behaviours, and the options of a run it starts."""

    if_active: IfActive = field(default_factory=IfActive)
    if_idle: IfIdle = field(default_factory=IfIdle)
    own_turn: bool = False
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """A digest's window, and the card that its people get at their conversations."""

    window: Window
    card: DigestCard
    conversations: tuple[Conversation, ...] = ()


def full_key(row: Notification) -> str:
    """Return the event key of telling this row in full; it changes with each merge."""
    return f"notification:{row.id}:{row.coalesced_count}:full"


def tell_fully(row: Notification, signal: Signal, routing: Routing | None = None) -> Telling:
    """Tell one row in full, in its own signal."""
    return Telling(
        request=_request(row, signal, full_key(row), routing or Routing()),
        notification_ids=(row.id,),
    )


def tell_summary(rows: Sequence[Notification], signal: Signal) -> Telling:
    """Tell rows in one summary; only-low ones never wake the thread (signals.md DI10)."""
    first = rows[0]
    # Named by its first row and its growth, so a second courier tells the same only once.
    event_key = f"notification:{first.id}:{first.coalesced_count}:summary"
    return Telling(
        request=_request(first, signal, event_key, quiet_when_low(rows)),
        notification_ids=tuple(row.id for row in rows),
        summary=True,
    )


def tell_digest(rows: Sequence[Notification], signal: Signal, posting: Posting) -> Telling:
    """Tell rows in the digest of one window: a summary for the agent, a card for the people."""
    window = posting.window
    event_key = f"digest:{window.inbox}:{window.local_date}:{window.slot}"
    return Telling(
        request=_request(rows[0], signal, event_key, quiet_when_low(rows)),
        notification_ids=tuple(row.id for row in rows),
        summary=True,
        window=window,
        card=posting.card,
        conversations=posting.conversations,
    )


def quiet_when_low(rows: Sequence[Notification]) -> Routing:
    """Return the routing of a summary: kept without a model call when all of it is low."""
    only_low = all(row.priority is Priority.LOW for row in rows)
    return Routing(if_idle=IfIdle(behavior="persist" if only_low else "wake"))


def _request(row: Notification, signal: Signal, event_key: str, routing: Routing) -> AcceptRequest:
    return AcceptRequest(
        key=row.key,
        agent_id=row.agent_id,
        signal=signal,
        fresh_run_id=new_id("run"),
        event_key=event_key,
        own_turn=routing.own_turn,
        if_active=routing.if_active,
        if_idle=routing.if_idle,
        options=routing.options,
    )
