"""Tables: the small storage that the steps of every embedded store are written on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from core.approvals.suspension import Suspension
from core.facts import Fact
from core.notifications.notification import Notification, Window
from core.outbox.entry import OutboxEntry
from core.records import Record
from core.runs.run import Call, Document, Run
from core.threads.thread import Binding, HistoryRow, Ingress, Mail, Thread

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Cell = str | int | bool | datetime | None
"""What a column may hold; enums are stored as their value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec(Generic[R]):
    """What a table is: its record type, the attributes that are its key, and those it is found by.

    `columns` are attributes (fields or properties) of the record besides the key. `indexes` are
    the column groups that queries use, in order.
    """

    name: str
    record: type[R]
    key: tuple[str, ...]
    columns: tuple[str, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Which rows are wanted.

    `equals` maps a column to a value, or to a tuple of values of which one must match (None
    matches NULL). `at_most` and `above` compare a column with a bound (`<=`, `>`); NULL matches
    neither. `order` lists columns, `-` in front for falling; NULLs come first when rising.
    """

    equals: Mapping[str, Cell | tuple[Cell, ...]] = field(default_factory=dict)
    at_most: Mapping[str, Cell] = field(default_factory=dict)
    above: Mapping[str, Cell] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    limit: int | None = None


class Table(Protocol[R]):
    """One table inside one transaction; every call is synchronous and quick."""

    def get(self, *key: Cell) -> R | None:
        """Return the row with this key, or None."""

    def add(self, row: R) -> bool:
        """Insert the row; False, and nothing changed, when its key is taken."""

    def put(self, row: R) -> None:
        """Insert the row or replace the one with its key."""

    def remove(self, *key: Cell) -> None:
        """Delete the row with this key, if any."""

    def find(self, query: Query) -> list[R]:
        """Return the rows that match, in the query's order, else in key order."""

    def count(self, query: Query) -> int:
        """Return how many rows match."""


# `ready` is a property of the head row, so `runnable` is one range of one index.
THREADS = Spec(
    name="threads",
    record=Thread,
    key=("thread_id",),
    columns=(
        "resource_id",
        "agent_id",
        "state",
        "ready",
        "lease_until",
        "not_before",
        "updated_at",
    ),
    indexes=(("ready", "lease_until"), ("resource_id", "updated_at"), ("updated_at",)),
)
# A thread's mailbox is a range of the key; it is short, or full.
MAIL = Spec(
    name="mail",
    record=Mail,
    key=("thread_id", "sequence"),
    columns=("lane", "agent_id"),
    indexes=(),
)
# Few rows, each known by its name.
FACTS = Spec(name="facts", record=Fact, key=("name",))
HISTORY = Spec(
    name="history",
    record=HistoryRow,
    key=("thread_id", "sequence"),
    columns=("message_id",),
    indexes=(("message_id",),),
)
BINDINGS = Spec(
    name="bindings",
    record=Binding,
    key=("address",),
    columns=("thread_id", "created_at"),
    indexes=(("thread_id", "created_at"),),
)
# Only found by its key, and by its age when it is forgotten.
INGRESS = Spec(
    name="ingress",
    record=Ingress,
    key=("event_key",),
    columns=("expires_at",),
    indexes=(("expires_at",),),
)
RUNS = Spec(
    name="runs",
    record=Run,
    key=("run_id",),
    columns=("thread_id", "agent_id", "status", "created_at"),
    indexes=(("thread_id", "created_at"), ("status", "created_at")),
)
CALLS = Spec(
    name="calls",
    record=Call,
    key=("run_id", "tool_call_id"),
    columns=("step", "position", "state"),
    indexes=(("run_id", "step", "position"),),
)
DOCUMENTS = Spec(
    name="documents",
    record=Document,
    key=("thread_id", "path"),
    columns=("kind", "created_at"),
    indexes=(),
)
# Found by token for a click, by run for a resume, by time for expiry.
SUSPENSIONS = Spec(
    name="suspensions",
    record=Suspension,
    key=("token",),
    columns=("thread_id", "run_id", "agent_id", "kind", "state", "created_at", "expires_at"),
    indexes=(
        ("run_id",),
        ("thread_id", "created_at"),
        ("state", "expires_at"),
        ("kind", "created_at"),
    ),
)
# `open` keeps the many sent entries out of the one query that runs all the time.
OUTBOX = Spec(
    name="outbox",
    record=OutboxEntry,
    key=("entry_id",),
    columns=("thread_id", "sequence", "state", "open", "due_at"),
    indexes=(("open", "due_at"), ("thread_id", "open", "sequence")),
)
NOTIFICATIONS = Spec(
    name="notifications",
    record=Notification,
    key=("thread_id", "id"),
    columns=(
        "source",
        "status",
        "priority",
        "dedupe_key",
        "coalesce_key",
        "due_at",
        "decided",
        "created_at",
        "updated_at",
    ),
    indexes=(
        ("due_at",),
        ("status", "decided"),
        ("thread_id", "updated_at"),
        ("thread_id", "status", "source"),
    ),
)
WINDOWS = Spec(
    name="windows",
    record=Window,
    key=("inbox", "local_date", "slot"),
    columns=("closed_at",),
    indexes=(),
)

SPECS: tuple[Spec[Any], ...] = (
    BINDINGS,
    CALLS,
    DOCUMENTS,
    FACTS,
    HISTORY,
    INGRESS,
    MAIL,
    NOTIFICATIONS,
    OUTBOX,
    RUNS,
    SUSPENSIONS,
    THREADS,
    WINDOWS,
)
"""Every table of an embedded store; a new one is added here and exists everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables, as one transaction sees them."""

    threads: Table[Thread]
    mail: Table[Mail]
    history: Table[HistoryRow]
    bindings: Table[Binding]
    ingress: Table[Ingress]
    runs: Table[Run]
    calls: Table[Call]
    documents: Table[Document]
    facts: Table[Fact]
    suspensions: Table[Suspension]
    outbox: Table[OutboxEntry]
    notifications: Table[Notification]
    windows: Table[Window]


class Transactor(Protocol):
    """Runs steps against the tables: the whole of what an embedded store must bring."""

    async def write(self, step: Callable[[Tables], T]) -> T:
        """Run the step in one transaction and return its value once it is durable.

        A step that raises leaves no trace, and its error is raised here.

        Raises:
            StoreUnavailable: the commit failed; nothing is stored.
        """

    async def read(self, step: Callable[[Tables], T]) -> T:
        """Run a step that only reads, on one consistent view of what is committed.

        Raises:
            StoreUnavailable: the store cannot be read.
        """

    async def aclose(self) -> None:
        """Finish what was begun and let go of every file and thread."""
