"""The notification store: inbox rows, and the steps that tell them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from core.conversation import Conversation, DigestCard
from core.ids import ThreadKey
from core.notifications.notification import Notification, NotificationStatus, Priority, Window
from core.threads.store import AcceptRequest
from core.threads.thread import Accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What `record` did: the rows as stored, in order.

    `duplicate` when the delivery id was known (rows of the first time).
    """

    rows: tuple[Notification, ...]
    duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """One emission: the signal to accept, and the rows it tells.

    `summary` marks a summary (rows stay pending, signals.md DI9); otherwise the one row is
    delivered. `window` is the digest window that this closes, `card` what the people get for it,
    at `conversations`.
    """

    request: AcceptRequest
    notification_ids: tuple[str, ...]
    summary: bool = False
    window: Window | None = None
    card: DigestCard | None = None
    conversations: tuple[Conversation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxFilter:
    """Which rows of one inbox are wanted (signals.md N7); empty tuples mean any."""

    statuses: tuple[NotificationStatus, ...] = ()
    priorities: tuple[Priority, ...] = ()
    source: str | None = None
    search: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the policy decided for one row, as it is stored."""

    deliver_at: datetime | None = None
    summary_at: datetime | None = None
    reason: str = ""
    status: NotificationStatus | None = None
    extra: dict[str, Any] = field(default_factory=dict)


# One Protocol for inbox and courier: both live by the same rows.
class NotificationStore(Protocol):
    """Notifications, digest windows, and telling them."""

    async def record(self, ingress_key: str | None, rows: tuple[Notification, ...]) -> Recorded:
        """Claim the delivery id and write all rows or nothing.

        Dedupe and coalesce as digests.md, Two keys, says.

        Each row has `deliver_at` = now until a verdict replaces it, so a crash before the verdict
        costs one courier tick. A passed CI row (attribute `clears`) dismisses the pending failed
        rows it clears.
        """

    async def judge(
        self, key: ThreadKey, notification_id: str, verdict: Verdict
    ) -> Notification | None:
        """Store the policy's verdict on a pending row; None when it is no longer pending."""

    async def tell(self, telling: Telling) -> Accepted | None:
        """Accept the signal, mark the rows and close the window, in one transaction.

        None when there was nothing left to tell.

        A full telling is accepted under the key `notification:{id}:{count}:full`, a summary under
        its window or first row, so that a second courier tells nothing twice.
        """

    async def undelivered(
        self, key: ThreadKey, notification_id: str, error: str, due_at: datetime
    ) -> Notification | None:
        """Count a failed telling; the fifth makes the row `failed` (signals.md DI12)."""

    async def due(self, limit: int = 100) -> list[Notification]:
        """Return pending rows that are due, by due time (signals.md N10)."""

    async def notification(self, key: ThreadKey, notification_id: str) -> Notification:
        """Return one row.

        Raises:
            Unknown: no such row in this thread's inbox.
        """

    async def inbox(self, key: ThreadKey, wanted: InboxFilter) -> list[Notification]:
        """Return rows of one inbox, most recently updated first."""

    async def mark(
        self, key: ThreadKey, notification_ids: tuple[str, ...], status: NotificationStatus
    ) -> list[Notification]:
        """Move rows to a status by the table of legal moves.

        Unknown ids are skipped, each changed row is returned once (N8).

        Raises:
            InvalidInput: the move is not legal.
        """

    async def window(self, inbox: str, local_date: str, slot: str) -> Window | None:
        """Return the digest window of that slot if it was closed."""
