import errno
import os
from pathlib import Path

import pytest

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from adapters.stores.sqlite.lock import _refusal, hold
from core.errors import Fatal
from tests.unit.adapters.stores.sqlite.processes import child


async def test_a_second_process_is_told_who_holds_the_file(store: SqliteTransactor, database: Path):
    with child("hold", database) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.startswith(f"Fatal: the store {database} is held by process {os.getpid()} ")
    assert f"{database}.lock" in errors


async def test_the_lock_goes_with_the_process_that_is_killed(database: Path):
    with child("hold", database) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(Fatal, match=f"held by process {process.pid} "):
            await SqliteTransactor.open(SqliteSettings(path=database))
        process.kill()
        process.wait()
        async with await SqliteTransactor.open(SqliteSettings(path=database)):
            assert Path(f"{database}.lock").read_text() == f"{os.getpid()}\n"


async def test_even_the_same_process_opens_a_file_once(store: SqliteTransactor, database: Path):
    with pytest.raises(Fatal, match=f"held by process {os.getpid()} "):
        await SqliteTransactor.open(SqliteSettings(path=database))


async def test_a_closed_store_can_be_opened_again(database: Path):
    for _ in range(2):
        async with await SqliteTransactor.open(SqliteSettings(path=database)):
            pass


def test_a_file_system_without_locks_is_told_apart_from_a_held_file(tmp_path: Path):
    database = tmp_path / "store.db"
    cause = OSError(errno.ENOLCK, "No locks available")
    told = str(_refusal(database, tmp_path / "store.db.lock", "unknown", cause))
    assert told == f"the store {database} cannot be locked with {database}.lock: No locks available"


def test_a_lock_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "store.db.lock").mkdir()
    with pytest.raises(Fatal, match=r"store\.db\.lock cannot be opened: Is a directory"):
        hold(tmp_path / "store.db")
