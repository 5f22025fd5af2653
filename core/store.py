"""The store: the Protocols that stand beside their records, joined into what a runtime needs."""

from typing import Protocol

from core.approvals.store import ApprovalStore
from core.facts import FactStore
from core.notifications.store import NotificationStore
from core.outbox.store import OutboxStore
from core.runs.store import RunStore
from core.threads.store import ThreadStore


class Store(
    ThreadStore, RunStore, ApprovalStore, OutboxStore, NotificationStore, FactStore, Protocol
):
    """Everything durable; each method is one atomic step (architecture.md 5)."""

    async def aclose(self) -> None:
        """Finish what was begun and close."""
