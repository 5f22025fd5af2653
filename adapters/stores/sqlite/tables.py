"""Tables: one connection's view of the rows, record in and record out."""

import sqlite3
from operator import attrgetter
from typing import Any, TypeVar

from typing_extensions import override

from adapters.stores.sqlite.codec import Stored, encode
from adapters.stores.sqlite.statements import Statements
from core.records import Record
from core.stores.tables import SPECS, Cell, Query, Spec, Table, Tables

R = TypeVar("R", bound=Record)

STATEMENTS = tuple(Statements(spec) for spec in SPECS)


class SqliteTable(Table[R]):
    """One table on one connection; the columns find a row, `body` is the row."""

    def __init__(self, connection: sqlite3.Connection, statements: Statements) -> None:
        """Work on this connection, inside whatever transaction it is in."""
        spec: Spec[R] = statements.spec
        self._execute = connection.execute
        self._statements = statements
        self._parse = spec.record.model_validate_json
        # Two names and more make attrgetter answer with a tuple, as bindings are.
        self._cells = attrgetter(*statements.columns, "model_dump_json")

    @override
    def get(self, *key: Cell) -> R | None:
        found = self._execute(self._statements.select, [encode(cell) for cell in key]).fetchone()
        return None if found is None else self._parse(found[0])

    @override
    def add(self, row: R) -> bool:
        return self._execute(self._statements.insert, self._bound(row)).rowcount == 1

    @override
    def put(self, row: R) -> None:
        self._execute(self._statements.upsert, self._bound(row))

    @override
    def remove(self, *key: Cell) -> None:
        self._execute(self._statements.delete, [encode(cell) for cell in key])

    @override
    def find(self, query: Query) -> list[R]:
        return [self._parse(body) for (body,) in self._execute(*self._statements.find(query))]

    @override
    def count(self, query: Query) -> int:
        return int(self._execute(*self._statements.count(query)).fetchone()[0])

    def _bound(self, row: R) -> list[Stored]:
        *cells, dump = self._cells(row)
        return [*map(encode, cells), dump()]


def tables_on(connection: sqlite3.Connection) -> Tables:
    """Return every table as this connection sees it."""
    tables: dict[str, SqliteTable[Any]] = {
        statements.spec.name: SqliteTable(connection, statements) for statements in STATEMENTS
    }
    return Tables(**tables)
