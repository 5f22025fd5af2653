"""A store on a file of the test's own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def store(database: Path) -> AsyncIterator[SqliteTransactor]:
    async with await SqliteTransactor.open(SqliteSettings(path=database)) as transactor:
        yield transactor
