"""The outbox store: one poster per thread, in order."""

from typing import Protocol

from core.conversation import Receipt
from core.outbox.entry import OutboxEntry


class OutboxStore(Protocol):
    """Outbox entries and the steps of sending one."""

    async def outbox_due(self, limit: int = 100) -> list[str]:
        """Return ids of threads that have an entry to send now."""

    async def claim(self, thread_id: str) -> tuple[OutboxEntry, Receipt | None] | None:
        """Take the thread's first open entry if it is due: mark it `sending`, count the attempt.

        Returns the entry *as it was before* (so a found `sending` shows an unclear attempt) and
        the receipt of the message it edits, if any. An entry past its expiry is closed as expired
        and skipped. None when nothing is due.
        """

    async def sent(self, entry_id: str, receipt: Receipt) -> None:
        """Close the entry: the platform has it under this receipt."""

    async def retry_at(self, entry: OutboxEntry, error: str) -> None:
        """Put the entry back with the `due_at` and `state` it has.

        An uncertain one stays `sending`, to be looked up first.

        One that was tried too often is closed as dead.
        """

    async def hold_back(self, entry: OutboxEntry, error: str) -> None:
        """Put the entry back until its `due_at`, uncounted: the platform asked us to wait."""

    async def dead(self, entry_id: str, error: str) -> None:
        """Close the entry for good."""

    async def outbox(self, thread_id: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        """Return entries, the newest first."""
