import asyncio
import contextlib
import json
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic

import pytest

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from core.errors import StoreUnavailable
from core.stores.tables import Query, Tables
from tests.contracts.table_rows import document
from tests.support import eventually
from tests.unit.adapters.stores.sqlite.processes import child


def adding(path: str, content: str = "text") -> Callable[[Tables], bool]:
    return lambda tables: tables.documents.add(document(path, content))


async def kept(store: SqliteTransactor) -> set[str]:
    return {row.path for row in await store.read(lambda tables: tables.documents.find(Query()))}


def limit_pages(tables: Tables, pages: int) -> None:
    tables.documents._execute(f"PRAGMA max_page_count = {pages}").fetchone()


@contextlib.asynccontextmanager
async def busy(store: SqliteTransactor) -> AsyncIterator[None]:
    """Keeps the writer inside a step, so that what is written meanwhile waits behind it."""
    begun, over = threading.Event(), threading.Event()

    def wait(_: Tables) -> None:
        begun.set()
        over.wait(10)

    holding = asyncio.create_task(store.write(wait))
    await asyncio.to_thread(begun.wait, 10)
    try:
        yield
    finally:
        over.set()
    await asyncio.gather(holding, return_exceptions=True)


async def started(*writes: object) -> list[asyncio.Task]:
    tasks = [asyncio.create_task(write) for write in writes]
    await asyncio.sleep(0)
    return tasks


async def test_every_commit_reaches_the_disk_before_it_is_told(store: SqliteTransactor):
    def ask(tables: Tables) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [tables.documents._execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await store.write(ask) == ["wal", 2, 0]


async def test_a_write_alone_is_committed_alone(store: SqliteTransactor):
    for path in "abc":
        await store.write(adding(path))
    assert store.commits == 3


async def test_writes_that_wait_share_one_commit(store: SqliteTransactor):
    async with busy(store):
        writes = await started(*(store.write(adding(f"{number}")) for number in range(50)))
    assert all(await asyncio.gather(*writes))
    assert store.commits == 1
    assert len(await kept(store)) == 50


async def test_fifty_concurrent_writes_take_far_fewer_commits(store: SqliteTransactor):
    await asyncio.gather(*(store.write(adding(f"{number}")) for number in range(50)))
    assert store.commits < 25


async def test_a_group_is_bounded(database: Path):
    settings = SqliteSettings(path=database, group_limit=10)
    async with await SqliteTransactor.open(settings) as store:
        async with busy(store):
            writes = await started(*(store.write(adding(f"{number}")) for number in range(29)))
        await asyncio.gather(*writes)
        assert store.commits == 3


async def test_one_failing_caller_does_not_undo_its_group(store: SqliteTransactor):
    def fail(tables: Tables) -> None:
        tables.documents.put(document("a", "spoilt"))
        raise LookupError("no")

    async with busy(store):
        writes = await started(
            store.write(adding("a")), store.write(fail), store.write(adding("b"))
        )
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [repr(outcome) for outcome in outcomes] == ["True", "LookupError('no')", "True"]
    assert (await store.read(lambda tables: tables.documents.get("t1", "a"))).content == "text"
    assert store.commits == 1


async def test_a_cancelled_caller_does_not_break_its_group(store: SqliteTransactor):
    async with busy(store):
        writes = await started(*(store.write(adding(path)) for path in "abc"))
        writes[1].cancel()
    await asyncio.wait(writes)
    assert writes[1].cancelled()
    assert await kept(store) == {"a", "b", "c"}


async def test_a_full_queue_asks_for_another_try(database: Path):
    settings = SqliteSettings(path=database, queue_limit=2)
    async with await SqliteTransactor.open(settings) as store:
        async with busy(store):
            await started(store.write(adding("a")), store.write(adding("b")))
            with pytest.raises(StoreUnavailable, match=r"2 writes wait .*store\.db.*try again"):
                await store.write(adding("c"))
        await store.write(adding("d"))
        assert await kept(store) == {"a", "b", "d"}


async def test_closing_commits_what_waits_and_takes_no_more(database: Path):
    store = await SqliteTransactor.open(SqliteSettings(path=database))
    async with busy(store):
        writes = await started(*(store.write(adding(path)) for path in "abc"))
        closing = asyncio.create_task(store.aclose())
        await eventually(lambda: store._writer._closed)
    assert all(await asyncio.gather(*writes))
    await closing
    await store.aclose()
    for refused in (store.write(adding("d")), kept(store)):
        with pytest.raises(StoreUnavailable, match="is closed"):
            await refused
    async with await SqliteTransactor.open(SqliteSettings(path=database)) as again:
        assert await kept(again) == {"a", "b", "c"}


async def test_a_store_without_pages_left_says_so_and_recovers(store: SqliteTransactor):
    await store.write(lambda tables: limit_pages(tables, 1))
    writes = (store.write(adding(f"{number}", "x" * 8_000)) for number in range(10))
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {StoreUnavailable}
    assert "store.db is full: free some space" in str(outcomes[0])
    assert await kept(store) == set()
    await store.write(lambda tables: limit_pages(tables, 100_000))
    assert await store.write(adding("after"))


def test_a_disk_that_fills_up_anywhere_refuses_whole_groups_and_the_store_goes_on(database: Path):
    with child("fill", database) as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    told = json.loads(output)
    assert len(told["refused"]) >= 100
    assert {text.split("(")[0] for text in told["refused"].values()} == {"StoreUnavailable"}
    assert all("store.db" in text for text in told["refused"].values())
    assert sorted(told["kept"]) == sorted(told["accepted"])


@pytest.mark.parametrize("then", ["SELECT 1", "SELECT nonsense"], ids=["quietly", "loudly"])
async def test_a_lost_transaction_fails_its_group_alone(store: SqliteTransactor, then: str):
    def lose(tables: Tables) -> None:
        tables.documents._execute("ROLLBACK")
        tables.documents._execute(then)

    async with busy(store):
        writes = await started(store.write(adding("a")), store.write(lose))
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {StoreUnavailable}
    assert await store.write(adding("b"))
    assert await kept(store) == {"b"}


async def test_what_a_failed_rollback_left_behind_is_cleared_away(store: SqliteTransactor):
    store._writer._connection.execute("BEGIN")
    store._writer._connection.execute("DELETE FROM store_meta")
    assert await store.write(adding("a"))
    rows = store._writer._connection.execute("SELECT count(*) FROM store_meta").fetchone()
    assert rows == (1,)


async def test_a_commit_can_be_made_as_slow_as_another_disk(database: Path):
    settings = SqliteSettings(path=database, commit_padding=timedelta(milliseconds=40))
    async with await SqliteTransactor.open(settings) as store:
        begun = monotonic()
        await store.write(adding("a"))
        assert monotonic() - begun >= 0.04


async def test_an_outside_program_that_holds_the_file_is_waited_for_only_so_long(database: Path):
    settings = SqliteSettings(path=database, busy_timeout=timedelta(0))
    async with await SqliteTransactor.open(settings) as store:
        with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="locked by another program"):
                await store.write(adding("a"))
            other.execute("ROLLBACK")
        assert await store.write(adding("a"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_nobody_waits_for_a_writer_that_died(database: Path):
    settings = SqliteSettings(path=database, group_limit=2)
    async with await SqliteTransactor.open(settings) as store:
        async with busy(store):
            writes = await started(*(store.write(adding(path)) for path in "abc"))
            store._writer._padding = "no number, which no code of ours survives"
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {StoreUnavailable}
        with pytest.raises(StoreUnavailable, match="is closed; nothing was stored"):
            await store.write(adding("d"))


def test_callers_in_two_event_loops_share_one_writer(database: Path):
    with asyncio.Runner() as runner:
        store = runner.run(SqliteTransactor.open(SqliteSettings(path=database)))
        others = [
            threading.Thread(target=lambda path=path: asyncio.run(store.write(adding(path))))
            for path in "abc"
        ]
        for other in others:
            other.start()
        for other in others:
            other.join()
        assert runner.run(kept(store)) == {"a", "b", "c"}
        runner.run(store.aclose())


def test_a_caller_whose_loop_is_gone_is_not_waited_for(database: Path):
    with asyncio.Runner() as runner:
        store = runner.run(SqliteTransactor.open(SqliteSettings(path=database)))
        runner.run(_leave(store))
    with asyncio.Runner() as runner:
        assert runner.run(kept(store)) <= {"left"}
        assert runner.run(store.write(adding("next")))
        runner.run(store.aclose())


async def _leave(store: SqliteTransactor) -> None:
    store._writer.submit(adding("left"))
