"""Leases: who may run a thread, and until when."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from core.ids import ThreadKey

# Short, since a crash costs this long; long enough for two failed renewals.
LEASE_TTL = timedelta(seconds=6)
"""Life of a lease; renewed at a third of it (signals.md L1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to run one thread.

    `epoch` is the fence: every write carries it and the store refuses an older one (signals.md L9,
    5.15). `until` is UTC.
    """

    key: ThreadKey
    owner: str
    epoch: int
    until: datetime
