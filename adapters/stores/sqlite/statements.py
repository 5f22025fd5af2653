"""Statements: the SQL of a table, written once from its Spec; no value is ever part of it."""

from collections.abc import Iterable
from typing import Any

from adapters.stores.sqlite.codec import Stored, encode
from core.stores.tables import Cell, Query, Spec


class Statements:
    """The SQL of one table: its making, and its reading and writing by key."""

    def __init__(self, spec: Spec[Any]) -> None:
        """Write every statement that does not depend on a query."""
        table, columns = quote(spec.name), (*spec.key, *spec.columns)
        insert = _insert(table, (*columns, "body"))
        key = " AND ".join(f"{quote(name)} = ?" for name in spec.key)
        self.spec = spec
        self.columns = columns
        self.create = _create(spec)
        self.indexes = dict(_index(spec, group) for group in spec.indexes)
        self.bodies = sql("SELECT body FROM", table)
        self.select = sql(self.bodies, "WHERE", key)
        self.insert = sql(insert, "ON CONFLICT DO NOTHING")
        self.upsert = sql(insert, "ON CONFLICT DO UPDATE SET", _excluded((*spec.columns, "body")))
        self.delete = sql("DELETE FROM", table, "WHERE", key)

    def find(self, query: Query) -> tuple[str, list[Stored]]:
        """Return the SELECT of a query and what is bound to it."""
        where, values = self._where(query)
        order = ", ".join([*map(self._order, query.order), listed(self.spec.key)])
        values.append(-1 if query.limit is None else query.limit)
        return sql(self.bodies, where, "ORDER BY", order, "LIMIT ?"), values

    def count(self, query: Query) -> tuple[str, list[Stored]]:
        """Return the SELECT that counts a query's rows, and what is bound to it."""
        where, values = self._where(query)
        return sql("SELECT count(*) FROM", quote(self.spec.name), where), values

    def _where(self, query: Query) -> tuple[str, list[Stored]]:
        terms: list[str] = []
        values: list[Stored] = []
        for column, wanted in query.equals.items():
            terms.append(_equals(self._column(column), wanted, values))
        for operator, bounds in (("<=", query.at_most), (">", query.above)):
            for column, bound in bounds.items():
                terms.append(f"{self._column(column)} {operator} ?")
                values.append(encode(bound))
        return ("WHERE " + " AND ".join(terms) if terms else ""), values

    def _order(self, column: str) -> str:
        falling = column.startswith("-")
        return self._column(column.removeprefix("-")) + (" DESC" if falling else "")

    def _column(self, name: str) -> str:
        if name not in self.columns:
            raise KeyError(f"{name} is no column of table {self.spec.name}")
        return quote(name)


def sql(*parts: str) -> str:
    """Return one statement; its parts are words of SQL and names from a Spec, never a value."""
    return " ".join(parts)


def quote(name: str) -> str:
    """Return a name from a Spec as SQL reads it."""
    return f'"{name}"'


def listed(names: Iterable[str]) -> str:
    """Return quoted names with commas between them."""
    return ", ".join(map(quote, names))


def marks(values: Iterable[Any]) -> str:
    """Return one placeholder for each value."""
    return ", ".join("?" for _ in values)


def _equals(column: str, wanted: Cell | tuple[Cell, ...], values: list[Stored]) -> str:
    """Return the term for one column and bind its values; None means NULL."""
    if not isinstance(wanted, tuple):
        wanted = (wanted,)
    present = [encode(cell) for cell in wanted if cell is not None]
    values.extend(present)
    term = f"{column} = ?" if len(present) == 1 else f"{column} IN ({marks(present)})"
    if len(present) == len(wanted):
        return term
    return f"({term} OR {column} IS NULL)" if present else f"{column} IS NULL"


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return sql("INSERT INTO", table, f"({listed(columns)}) VALUES ({marks(columns)})")


def _excluded(columns: tuple[str, ...]) -> str:
    return ", ".join(f"{quote(name)} = excluded.{quote(name)}" for name in columns)


def _create(spec: Spec[Any]) -> str:
    # Bodies make rows too large for WITHOUT ROWID to pay: grouped writes took half as long again.
    columns = [f"{quote(name)} ANY NOT NULL" for name in spec.key]
    columns += [f"{quote(name)} ANY" for name in spec.columns]
    return (
        f"CREATE TABLE {quote(spec.name)} ({', '.join(columns)}, body TEXT NOT NULL, "
        f"PRIMARY KEY ({listed(spec.key)})) STRICT"
    )


def _index(spec: Spec[Any], columns: tuple[str, ...]) -> tuple[str, str]:
    """Return the index's name and making; the key ends it, so that ties come in order too."""
    name = "_".join((spec.name, *columns))
    whole = (*columns, *(one for one in spec.key if one not in columns))
    return name, f"CREATE INDEX {quote(name)} ON {quote(spec.name)} ({listed(whole)})"
