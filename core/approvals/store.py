"""The approval store: suspensions, and the one step that decides them."""

from dataclasses import dataclass
from typing import Protocol

from core.approvals.suspension import Decision, Suspension, SuspensionKind, SuspensionState


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspensionFilter:
    """Which suspensions a list shows; None means any."""

    thread_id: str | None = None
    run_id: str | None = None
    agent_id: str | None = None
    kind: SuspensionKind | None = None
    state: SuspensionState | None = None
    limit: int = 100


class ApprovalStore(Protocol):
    """Suspensions and decisions."""

    async def suspension(self, token: str) -> Suspension:
        """Return a suspension.

        Raises:
            Unknown: no such token.
        """

    async def suspensions(self, wanted: SuspensionFilter) -> list[Suspension]:
        """Return suspensions, the newest first."""

    async def resolve(self, token: str, decision: Decision) -> Suspension:
        """Decide once.

        The call gets its resume data, a `resume` entry heads the mailbox, the card's edit enters
        the

        outbox; all or nothing.

        Raises:
            Unknown: no such token.
            AlreadyDecided: somebody was first, it expired, or its run was stopped; says who,
                when and what.
        """

    async def expire(self, limit: int = 100) -> list[Suspension]:
        """Expire the suspensions that are past their time.

        Each resumes its run as rejected by expiry.
        """
