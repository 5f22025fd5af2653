"""The in-memory store: the reference implementation, for one process and its life."""

from core.clock import Clock
from core.stores.memory_tables import MemoryTransactor
from core.stores.table_store import TableStore


class MemoryStore(TableStore):
    """A Store that forgets everything with its process; the rules are those of every other."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        """Start empty."""
        super().__init__(MemoryTransactor(), clock=clock)
