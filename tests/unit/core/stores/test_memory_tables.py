import asyncio
import threading

import pytest

from core.stores.memory_tables import MemoryTransactor
from core.stores.tables import Query, Tables
from tests.contracts.table_rows import document, notification, thread


def considered(tables: Tables, name: str, **equals: object) -> int:
    """How many rows a query has to look at."""
    return len(list(getattr(tables, name)._rows._candidates(Query(equals=equals))))


async def test_a_threads_query_looks_at_its_own_rows_among_ten_thousand():
    def fill(tables: Tables) -> None:
        for number in range(10_000):
            tables.documents.put(document(f"{number}", thread_id=f"t{number % 2_000}"))

    store = MemoryTransactor()
    await store.write(fill)
    look = Query(equals={"thread_id": "t7", "kind": "note"})
    found = await store.read(lambda tables: tables.documents.find(look))
    assert [row.path for row in found] == ["2007", "4007", "6007", "7", "8007"]
    assert await store.read(lambda tables: considered(tables, "documents", thread_id="t7")) == 5


async def test_the_index_that_leaves_the_fewest_rows_is_taken():
    def fill(tables: Tables) -> None:
        for number in range(100):
            tables.threads.put(thread(f"t{number}", resource_id=f"r{number % 50}"))

    def ask(tables: Tables) -> list[int]:
        return [
            considered(tables, "threads", ready=False, resource_id=("r1", "r2", "r1")),
            considered(tables, "threads", ready=(True, False)),
            considered(tables, "threads", state="idle"),
        ]

    store = MemoryTransactor()
    await store.write(fill)
    assert await store.read(ask) == [4, 100, 100]


async def test_an_index_keeps_nothing_of_rows_that_are_gone():
    store = MemoryTransactor()
    await store.write(lambda tables: tables.notifications.put(notification("n1")))
    await store.write(lambda tables: tables.notifications.remove("t1", "n1"))
    rows = await store.read(lambda tables: tables.notifications._rows)
    assert not any(rows.buckets.values())


async def test_a_step_taken_back_leaves_indexes_as_they_were():
    def spoil(tables: Tables) -> None:
        for name in ("t1", "t2", "t1"):
            tables.threads.put(thread(name, mail=3))
        tables.threads.remove("t1")
        raise LookupError("no")

    store = MemoryTransactor()
    await store.write(lambda tables: tables.threads.put(thread("t1")))
    with pytest.raises(LookupError):
        await store.write(spoil)
    for ready, names in ((True, []), (False, ["t1"])):
        query = Query(equals={"ready": ready})
        found = await store.read(lambda tables, query=query: tables.threads.find(query))
        assert [row.thread_id for row in found] == names


async def test_other_tasks_get_to_run_at_each_step():
    store, order = MemoryTransactor(), []

    async def work(name: str) -> None:
        for _ in range(3):
            await store.write(lambda _: order.append(name))

    await asyncio.gather(work("a"), work("b"))
    assert order == ["a", "b"] * 3


def test_event_loops_in_several_threads_may_share_the_rows():
    def grow(tables: Tables) -> None:
        head = tables.threads.get("t1") or thread()
        tables.threads.put(head.model_copy(update={"sequence": head.sequence + 1}))

    async def work() -> None:
        for _ in range(100):
            await store.write(grow)

    store = MemoryTransactor()
    workers = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    head = asyncio.run(store.read(lambda tables: tables.threads.get("t1")))
    assert head.sequence == 400


async def test_closing_keeps_the_rows():
    store = MemoryTransactor()
    await store.write(lambda tables: tables.threads.put(thread()))
    await store.aclose()
    assert await store.read(lambda tables: tables.threads.count(Query())) == 1
