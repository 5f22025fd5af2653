"""The adapter ports: how a chat platform brings people in and takes answers out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from core.conversation import Conversation, Inbound, Outgoing, Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One outbox entry on its way to a platform.

    `entry_id` rides along as the platform's own metadata or nonce, so that an unclear send can be
    looked up. `receipt` is set when this replaces a message that was sent before: edit it.
    """

    entry_id: str
    conversation: Conversation
    payload: Outgoing
    receipt: Receipt | None = None


# What the outbox needs and no more: bringing people in is each adapter's own affair.
class Adapter(Protocol):
    """A chat platform."""

    platform: str
    """The first part of every address of this platform, such as `slack`."""

    async def send(self, delivery: Delivery) -> Receipt:
        """Post the payload, or make the message of `delivery.receipt` equal to it.

        Raises:
            DeliveryError: `permanent` (never again), `uncertain` (may have been accepted) or
                `retry_after` seconds.
        """

    async def find(self, delivery: Delivery) -> Receipt | None:
        """Look up a message whose sending was unclear, by its entry id.

        None when the platform has none.

        Raises:
            DeliveryError: when the platform cannot be asked now.
        """

    async def names(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return display names of person ids, from the cache or the platform, within 2 s.

        Unknown ones are left out.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What the gate did with one inbound thing.

    `outcome`: `accepted` (stored, with `detail` such as the action and run id), `duplicate`
    (stored before), `refused` (policy says no; nothing stored) or `ignored`. `answer` is a line
    for the person, where one is due.
    """

    outcome: Literal["accepted", "duplicate", "refused", "ignored"]
    answer: str | None = None
    detail: Mapping[str, Any] | None = None


class Gate(Protocol):
    """The one door: every kind of ingress goes through it (architecture.md 2.4)."""

    async def admit(self, inbound: Inbound) -> Admission:
        """Check the sender against policy, store what was said or decided, and wake the thread.

        When it returns, an accepted thing survives the death of any process.

        Raises:
            StoreUnavailable: nothing was stored; let the platform send it again.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """One kind of event an adapter takes, with a sample that a test sends as a stranger."""

    name: str
    sample: Inbound
