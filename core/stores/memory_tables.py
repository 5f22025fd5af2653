"""Memory tables: rows kept in this process, the reference for how a transactor behaves."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeVar

from typing_extensions import override

from core.records import Record
from core.stores.tables import SPECS, Cell, Query, Spec, Table, Tables, Transactor

R = TypeVar("R", bound=Record)
T = TypeVar("T")
Key = tuple[Cell, ...]
Undo = list[Callable[[], object]]


class MemoryTable(Table[R]):
    """One table's rows, seen by a step that may write (`undo` given) or only read (None).

    Rows are kept as JSON: a reader gets what a store on disk would give, and shares nothing.
    """

    def __init__(self, rows: "_Rows", undo: Undo | None) -> None:
        """Work on these rows; each change notes in `undo` how to take it back."""
        self._rows = rows
        self._undo = undo
        self._record: type[R] = rows.spec.record

    @override
    def get(self, *key: Cell) -> R | None:
        entry = self._rows.entries.get(key)
        return None if entry is None else self._read(entry)

    @override
    def add(self, row: R) -> bool:
        entry = self._rows.entry(row)
        if entry.key in self._rows.entries:
            return False
        self._change(entry.key, entry)
        return True

    @override
    def put(self, row: R) -> None:
        entry = self._rows.entry(row)
        self._change(entry.key, entry)

    @override
    def remove(self, *key: Cell) -> None:
        self._change(key, None)

    @override
    def find(self, query: Query) -> list[R]:
        found = sorted(self._rows.matching(query), key=attrgetter("key"))
        for column in reversed(query.order):
            self._rows.demand(column.removeprefix("-"))
            found.sort(key=_rank_of(column.removeprefix("-")), reverse=column.startswith("-"))
        return [self._read(entry) for entry in found[: query.limit]]

    @override
    def count(self, query: Query) -> int:
        return sum(1 for _ in self._rows.matching(query))

    def _read(self, entry: "_Entry") -> R:
        return self._record.model_validate_json(entry.body)

    def _change(self, key: Key, entry: "_Entry | None") -> None:
        if self._undo is None:
            raise TypeError(f"a step that only reads may not change {self._rows.spec.name}")
        before = self._rows.replace(key, entry)
        self._undo.append(lambda: self._rows.replace(key, before))


class MemoryTransactor(Transactor):
    """Runs steps against rows in this process; nothing survives it.

    A step holds the event loop until it is done, so steps never see one another half-way.
    """

    def __init__(self) -> None:
        """Begin with empty tables."""
        rows = [_Rows(spec) for spec in SPECS]
        self._undo: Undo = []
        self._writing = _tables(rows, self._undo)
        self._reading = _tables(rows, None)
        # Loops in several threads may share one transactor.
        self._turn = threading.Lock()

    @override
    async def write(self, step: Callable[[Tables], T]) -> T:
        # As with a real store, other tasks get to run at each step.
        await asyncio.sleep(0)
        with self._turn, self._transaction():
            return step(self._writing)

    @override
    async def read(self, step: Callable[[Tables], T]) -> T:
        await asyncio.sleep(0)
        with self._turn:
            return step(self._reading)

    @override
    async def aclose(self) -> None:
        """Keep the rows: there is nothing to let go of."""

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        committed = False
        # Whatever ends the step counts, a cancelled interpreter too: hence no except.
        try:
            yield
            committed = True
        finally:
            # Newest first: the same row may have changed twice.
            while self._undo and not committed:
                self._undo.pop()()
            self._undo.clear()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row as it is kept: its key, the cells it is found by (key columns included), its JSON."""

    key: Key
    cells: dict[str, Cell]
    body: str


@dataclass(slots=True)
class _Rows:
    """The rows of one table, by key and by the first column of each index."""

    spec: Spec[Any]
    entries: dict[Key, _Entry] = field(default_factory=dict)
    buckets: dict[str, dict[Cell, dict[Key, _Entry]]] = field(init=False)

    def __post_init__(self) -> None:
        leading = {self.spec.key[0], *(index[0] for index in self.spec.indexes)}
        self.buckets = {column: {} for column in sorted(leading)}

    def entry(self, row: Record) -> _Entry:
        cells = {name: getattr(row, name) for name in (*self.spec.key, *self.spec.columns)}
        key = tuple(cells[name] for name in self.spec.key)
        return _Entry(key, cells, row.model_dump_json())

    def replace(self, key: Key, entry: _Entry | None) -> _Entry | None:
        """Put this entry in the place of the key's, None to empty it; returns what was there."""
        before = self.entries.pop(key, None)
        if before is not None:
            for column, bucket in self.buckets.items():
                _discard(bucket, before.cells[column], key)
        if entry is not None:
            self.entries[key] = entry
            for column, bucket in self.buckets.items():
                bucket.setdefault(entry.cells[column], {})[key] = entry
        return before

    def matching(self, query: Query) -> Iterator[_Entry]:
        for column in (*query.equals, *query.at_most, *query.above):
            self.demand(column)
        return (entry for entry in self._candidates(query) if _matches(entry.cells, query))

    def demand(self, column: str) -> None:
        """Refuse a column that the table was not declared with, as a database would."""
        if column not in self.spec.key and column not in self.spec.columns:
            raise KeyError(f"{column} is no column of table {self.spec.name}")

    def _candidates(self, query: Query) -> Iterable[_Entry]:
        """Return the fewest rows that an index can narrow the query down to."""
        choices = [
            [bucket.get(cell, {}) for cell in dict.fromkeys(_as_tuple(query.equals[column]))]
            for column, bucket in self.buckets.items()
            if column in query.equals
        ]
        if not choices:
            return self.entries.values()
        fewest = min(choices, key=lambda groups: sum(map(len, groups)))
        return (entry for group in fewest for entry in group.values())


def _discard(bucket: dict[Cell, dict[Key, _Entry]], cell: Cell, key: Key) -> None:
    group = bucket[cell]
    # Empty groups go: ids as cells would otherwise be kept for ever.
    del group[key]
    if not group:
        del bucket[cell]


def _matches(cells: dict[str, Cell], query: Query) -> bool:
    return (
        all(cells[column] in _as_tuple(wanted) for column, wanted in query.equals.items())
        and all(_at_most(cells[column], bound) for column, bound in query.at_most.items())
        and all(_at_most(cells[column], bound) is False for column, bound in query.above.items())
    )


def _at_most(cell: Any, bound: Any) -> bool | None:
    """Compare as SQL does: None when either side is missing."""
    return None if cell is None or bound is None else bool(cell <= bound)


def _as_tuple(wanted: Cell | tuple[Cell, ...]) -> tuple[Cell, ...]:
    return wanted if isinstance(wanted, tuple) else (wanted,)


def _rank_of(column: str) -> Callable[[_Entry], tuple[Any, ...]]:
    """Return the sort key of a column, in which a missing cell comes before every other."""

    def rank(entry: _Entry) -> tuple[Any, ...]:
        cell = entry.cells[column]
        return (0,) if cell is None else (1, cell)

    return rank


def _tables(rows: list[_Rows], undo: Undo | None) -> Tables:
    tables: dict[str, MemoryTable[Any]] = {one.spec.name: MemoryTable(one, undo) for one in rows}
    return Tables(**tables)
