"""Schema: makes the tables of a new file, and brings an older file up to the Specs of today."""

import sqlite3
from pathlib import Path
from typing import Any

from adapters.stores.sqlite.statements import Statements, quote, sql
from adapters.stores.sqlite.tables import STATEMENTS, SqliteTable
from core.errors import Fatal

SCHEMA_VERSION = 1
"""Rises when a record's stored JSON changes so that an older program could not read it."""
_META = "CREATE TABLE IF NOT EXISTS store_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT"


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make or update all tables in one transaction; leaves a newer file untouched.

    Raises:
        Fatal: the file was written by a newer Interlock.
    """
    connection.execute("BEGIN IMMEDIATE")
    # In one transaction: a start that is killed leaves the old schema or the new one.
    try:
        _demand_readable(connection, path)
        for statements in STATEMENTS:
            _update_table(connection, statements)
        connection.execute(
            "INSERT INTO store_meta VALUES ('schema_version', ?) "
            "ON CONFLICT DO UPDATE SET value = excluded.value",
            (str(SCHEMA_VERSION),),
        )
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _demand_readable(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute(_META)
    asked = "SELECT value FROM store_meta WHERE name = 'schema_version'"
    found = connection.execute(asked).fetchone()
    version = SCHEMA_VERSION if found is None else int(found[0])
    if version > SCHEMA_VERSION:
        raise Fatal(
            f"the store {path} has schema {version}, this Interlock knows {SCHEMA_VERSION}: "
            "start the newer version that wrote it, or restore the backup made before the update"
        )


def _update_table(connection: sqlite3.Connection, statements: Statements) -> None:
    name = statements.spec.name
    present = _definitions(connection, name, "table")
    if present != {name: statements.create}:
        _rebuild(connection, statements, filled=bool(present))
    present = _definitions(connection, name, "index")
    for index, _ in present.items() - statements.indexes.items():
        connection.execute(f"DROP INDEX {quote(index)}")
    for _, definition in statements.indexes.items() - present.items():
        connection.execute(definition)


def _rebuild(connection: sqlite3.Connection, statements: Statements, *, filled: bool) -> None:
    """Make the table, with the bodies of the one it replaces where there is one.

    Columns are only ways to find a body, so a new column needs no migration of its own.
    """
    name, former = quote(statements.spec.name), quote(f"{statements.spec.name}_former")
    if filled:
        connection.execute(f"ALTER TABLE {name} RENAME TO {former}")
    connection.execute(statements.create)
    if not filled:
        return
    table: SqliteTable[Any] = SqliteTable(connection, statements)
    for (body,) in connection.execute(sql("SELECT body FROM", former)):
        table.put(statements.spec.record.model_validate_json(body))
    connection.execute(f"DROP TABLE {former}")


def _definitions(connection: sqlite3.Connection, table: str, kind: str) -> dict[str, str]:
    """Return the SQL of what was made by SQL, by its name: a table, or its indexes."""
    asked = "SELECT name, sql FROM sqlite_master WHERE tbl_name = ? AND type = ? AND sql NOT NULL"
    return dict(connection.execute(asked, (table, kind)))
