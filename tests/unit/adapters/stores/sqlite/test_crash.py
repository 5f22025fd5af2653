"""SIGKILL at any moment loses nothing that was acknowledged (reliability.md R1, R13)."""

import contextlib
import itertools
import signal
import sqlite3
from pathlib import Path

import pytest

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from core.stores.tables import Query
from tests.unit.adapters.stores.sqlite.processes import child


async def demand_all(database: Path, acknowledged: set[str]) -> None:
    async with await SqliteTransactor.open(SqliteSettings(path=database)) as store:
        rows = await store.read(lambda tables: tables.documents.find(Query()))
    assert acknowledged <= {row.path for row in rows}
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_a_killed_process_loses_no_row_that_it_acknowledged(database: Path):
    acknowledged: set[str] = set()
    for heard in (40, 200):
        with child("write", database) as process:
            acknowledged |= set(map(str.strip, itertools.islice(process.stdout, heard)))
            process.kill()
            acknowledged |= {line.strip() for line in process.stdout if line.endswith("\n")}
    assert len(acknowledged) >= 40
    await demand_all(database, acknowledged)


@pytest.mark.parametrize("point", ["store.before_commit#4", "store.after_commit#4"])
async def test_a_process_killed_beside_its_commit_keeps_its_word(database: Path, point: str):
    with child("write", database, kill_at=point) as process:
        acknowledged = {line.strip() for line in process.stdout if line.endswith("\n")}
        assert process.wait() == -signal.SIGKILL
    assert acknowledged
    await demand_all(database, acknowledged)
