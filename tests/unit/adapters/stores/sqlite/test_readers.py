import asyncio
import sqlite3
import threading
from pathlib import Path

import pytest

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from adapters.stores.sqlite.connections import open_reading
from core.errors import StoreUnavailable
from core.stores.tables import Query, Tables
from tests.contracts.table_rows import document
from tests.support import eventually


def count(tables: Tables) -> int:
    return tables.documents.count(Query())


async def test_a_reader_keeps_its_view_while_others_write(store: SqliteTransactor):
    begun, over = threading.Event(), threading.Event()

    def read_twice(tables: Tables) -> tuple[int, int]:
        first = count(tables)
        begun.set()
        over.wait(10)
        return first, count(tables)

    reading = asyncio.create_task(store.read(read_twice))
    await asyncio.to_thread(begun.wait, 10)
    await store.write(lambda tables: tables.documents.add(document("a")))
    over.set()
    assert await reading == (0, 0)
    assert await store.read(count) == 1


async def test_a_reader_does_not_see_a_step_that_is_not_committed(store: SqliteTransactor):
    begun, over = threading.Event(), threading.Event()

    def write_slowly(tables: Tables) -> None:
        tables.documents.add(document("a"))
        begun.set()
        over.wait(10)

    writing = asyncio.create_task(store.write(write_slowly))
    await asyncio.to_thread(begun.wait, 10)
    assert await store.read(count) == 0
    over.set()
    await writing
    assert await store.read(count) == 1


async def test_no_more_readers_work_at_once_than_are_allowed(store: SqliteTransactor):
    working, over = [], threading.Event()

    def read(tables: Tables) -> int:
        working.append(threading.get_ident())
        over.wait(10)
        return count(tables)

    reads = [asyncio.create_task(store.read(read)) for _ in range(9)]
    await eventually(lambda: len(working) == 4)
    over.set()
    assert await asyncio.gather(*reads) == [0] * 9
    assert len(set(working)) == 4
    assert store._readers._idle.qsize() == 4


async def test_a_reading_connection_cannot_write_by_any_statement(
    store: SqliteTransactor, database: Path
):
    connection = open_reading(SqliteSettings(path=database))
    for statement in ("DELETE FROM threads", "CREATE TABLE x (y)", "PRAGMA user_version = 3"):
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute(statement)
    connection.close()


async def test_a_reader_that_fails_can_be_used_again(store: SqliteTransactor):
    def fail(tables: Tables) -> None:
        raise LookupError(count(tables))

    for _ in range(9):
        with pytest.raises(LookupError):
            await store.read(fail)
    assert await store.read(count) == 0


async def test_a_damaged_file_is_named(store: SqliteTransactor, database: Path):
    rows = [document(f"{number}", "x" * 2_000) for number in range(20)]
    await store.write(lambda tables: [tables.documents.add(row) for row in rows])
    await store.aclose()
    with database.open("r+b") as file:
        file.seek(-4_096 * 5, 2)
        file.write(b"\xff" * 4_096 * 5)
    async with await SqliteTransactor.open(SqliteSettings(path=database)) as damaged:
        with pytest.raises(StoreUnavailable, match=r"store\.db is damaged: stop"):
            await damaged.read(lambda tables: tables.documents.find(Query()))
