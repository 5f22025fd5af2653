"""Outbox entries: replies that are committed before they are sent, and where each stands."""

import hashlib
from datetime import datetime, timedelta
from enum import StrEnum

from core.conversation import Conversation, Outgoing, Receipt
from core.records import Record

# An answer that comes hours late helps nobody and startles everybody.
REPLY_EXPIRY = timedelta(hours=1)
DIGEST_EXPIRY = timedelta(hours=24)
ATTEMPT_LIMIT = 8


class EntryState(StrEnum):
    """Where an entry stands; `sending` after a crash is looked up before anything is sent again."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"
    """Refused for good, or tried too often."""
    EXPIRED = "expired"


FINAL_STATES = frozenset({EntryState.SENT, EntryState.DEAD, EntryState.EXPIRED})


class OutboxEntry(Record):
    """One message on its way out, in its thread's order.

    `edits` names the entry whose message this one replaces. `due_at` is when it may be tried next;
    past `expires_at` it is not sent any more (reliability.md 0.11). `attempted_at` is when it was
    last claimed.
    """

    entry_id: str
    thread_id: str
    sequence: int
    conversation: Conversation
    payload: Outgoing
    state: EntryState = EntryState.PENDING
    edits: str | None = None
    attempts: int = 0
    due_at: datetime
    expires_at: datetime
    created_at: datetime
    attempted_at: datetime | None = None
    receipt: Receipt | None = None
    error: str | None = None

    @property
    def open(self) -> bool:
        """Say whether something is still to be done with it."""
        return self.state not in FINAL_STATES


def reply_id(run_id: str, turn: int) -> str:
    """Return the id of a turn's one reply.

    It is a hash of run and turn, so a second commit cannot make a second reply.
    """
    # NUL cannot stand in an id, so no other pair gives the same text.
    digest = hashlib.sha256(f"{run_id}\0{turn}".encode()).hexdigest()
    return f"out_{digest[:32]}"
