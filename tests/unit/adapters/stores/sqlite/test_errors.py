import sqlite3
from pathlib import Path

import pytest

from adapters.stores.sqlite.errors import translated, unavailable
from core.errors import StoreUnavailable

PATH = Path("data/store.db")


def error(name: str) -> sqlite3.OperationalError:
    made = sqlite3.OperationalError("as the library says it")
    made.sqlite_errorcode = getattr(sqlite3, name)
    return made


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("SQLITE_FULL", "the disk under data/store.db is full"),
        ("SQLITE_IOERR_FSYNC", "data/store.db could not be read or written"),
        ("SQLITE_READONLY_DBMOVED", "data/store.db is read-only"),
        ("SQLITE_CANTOPEN", "data/store.db or its -wal file cannot be opened"),
        ("SQLITE_BUSY_SNAPSHOT", "data/store.db is locked by another program"),
        ("SQLITE_CORRUPT", "data/store.db is damaged"),
        ("SQLITE_NOTADB", "data/store.db is not a SQLite database"),
    ],
)
def test_trouble_with_the_file_is_told_in_a_sentence(name: str, told: str):
    cause = error(name)
    failure = translated(cause, PATH)
    assert isinstance(failure, StoreUnavailable)
    assert str(failure).startswith(told)
    assert str(failure).endswith("(as the library says it)")
    assert failure.__cause__ is cause


@pytest.mark.parametrize(
    "fault", [error("SQLITE_ERROR"), sqlite3.ProgrammingError("no"), LookupError("x")], ids=repr
)
def test_a_fault_of_our_own_stays_what_it_is(fault: Exception):
    assert translated(fault, PATH) is fault


def test_a_lost_transaction_is_unavailable_for_whatever_reason():
    assert "data/store.db could not commit: no" in str(unavailable(sqlite3.Error("no"), PATH))
