import contextlib
import sqlite3
from pathlib import Path

import pytest

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from adapters.stores.sqlite.schema import prepare
from core.errors import Fatal
from core.stores.tables import SPECS, Query
from tests.contracts.table_rows import document


def changed(database: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


async def made(database: Path) -> None:
    async with await SqliteTransactor.open(SqliteSettings(path=database)) as store:
        await store.write(lambda tables: tables.documents.add(document("a")))


def schema(database: Path) -> set[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return set(connection.execute("SELECT name, sql FROM sqlite_master"))


async def test_a_new_file_has_every_table_and_index_and_belongs_to_its_owner(database: Path):
    await made(database)
    names = {name for name, _ in schema(database)}
    assert {spec.name for spec in SPECS} | {"store_meta", "threads_ready_lease_until"} <= names
    assert database.stat().st_mode & 0o077 == 0


async def test_a_newer_schema_is_refused_and_left_alone(database: Path):
    await made(database)
    changed(database, "UPDATE store_meta SET value = '99'")
    before = schema(database)
    with pytest.raises(Fatal, match=r"store\.db has schema 99, this Interlock knows 1"):
        await SqliteTransactor.open(SqliteSettings(path=database))
    assert schema(database) == before


async def test_a_refused_start_lets_go_of_the_lock(database: Path):
    await made(database)
    changed(database, "UPDATE store_meta SET value = '99'")
    for _ in range(2):
        with pytest.raises(Fatal, match="schema 99"):
            await SqliteTransactor.open(SqliteSettings(path=database))


async def test_a_table_with_other_columns_is_made_anew_with_its_rows(database: Path):
    await made(database)
    whole = schema(database)
    changed(
        database,
        "ALTER TABLE documents DROP COLUMN kind",
        "DROP INDEX threads_updated_at",
        "CREATE INDEX threads_old ON threads (agent_id)",
    )
    async with await SqliteTransactor.open(SqliteSettings(path=database)) as store:
        kept = await store.read(
            lambda tables: tables.documents.find(Query(equals={"kind": "note"}))
        )
    assert kept == [document("a")]
    assert schema(database) == whole


async def test_a_file_of_another_kind_is_refused(database: Path):
    database.write_text("a diary, not a database. " * 100)
    with pytest.raises(Fatal, match=r"store\.db is not a SQLite database"):
        await SqliteTransactor.open(SqliteSettings(path=database))
    assert database.read_text().startswith("a diary")


async def test_a_folder_in_the_place_of_the_file_is_refused(database: Path):
    database.mkdir()
    with pytest.raises(Fatal, match=r"store\.db cannot be opened: .*Is a directory"):
        await SqliteTransactor.open(SqliteSettings(path=database))


async def test_a_file_system_without_write_ahead_log_is_refused(tmp_path: Path):
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        from adapters.stores.sqlite.connections import _demand_wal

        with pytest.raises(Fatal, match="put it on a local disk"):
            _demand_wal(connection, tmp_path)


def test_preparing_twice_changes_nothing(tmp_path: Path):
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        prepare(connection, tmp_path)
        before = connection.total_changes
        prepare(connection, tmp_path)
        assert connection.total_changes == before + 1


async def test_the_folder_of_a_new_store_is_made(tmp_path: Path):
    path = tmp_path / "a" / "b c?#%" / "store.db"
    async with await SqliteTransactor.open(SqliteSettings(path=path)) as store:
        await store.write(lambda tables: tables.documents.add(document("a")))
        assert await store.read(lambda tables: tables.documents.count(Query())) == 1
    assert sorted(file.name for file in path.parent.iterdir()) == ["store.db", "store.db.lock"]
