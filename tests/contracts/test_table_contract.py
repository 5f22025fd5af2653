"""What every transactor and its tables promise, on memory and on SQLite."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.stores.sqlite import SqliteSettings, SqliteTransactor
from core.notifications.notification import Notification, NotificationStatus, Priority
from core.stores.memory_tables import MemoryTransactor
from core.stores.tables import SPECS, Query, Spec, Tables, Transactor
from tests.contracts.table_rows import at, document, notification, thread

KINDS = ("memory", "sqlite")


async def opened(kind: str, folder: Path) -> Transactor:
    if kind == "memory":
        return MemoryTransactor()
    return await SqliteTransactor.open(SqliteSettings(path=folder / "store.db"))


@pytest.fixture(params=KINDS)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Transactor]:
    transactor = await opened(request.param, tmp_path)
    yield transactor
    await transactor.aclose()


async def fill(store: Transactor, *rows: Notification) -> None:
    await store.write(lambda tables: [tables.notifications.put(row) for row in rows])


async def found(store: Transactor, **query: object) -> list[str]:
    rows = await store.read(lambda tables: tables.notifications.find(Query(**query)))
    return [row.id for row in rows]


async def test_a_row_is_read_back_exactly_as_it_was_written(store: Transactor):
    row = notification("n1", deliver_at=at(1), payload={"a": [1, None, "ü\u0000☃"]}, topic="")
    await fill(store, row)
    assert await store.read(lambda tables: tables.notifications.get("t1", "n1")) == row


async def test_an_unknown_key_finds_nothing(store: Transactor):
    await fill(store, notification("n1"))
    assert await store.read(lambda tables: tables.notifications.get("t2", "n1")) is None


async def test_adding_a_taken_key_changes_nothing(store: Transactor):
    assert await store.write(lambda tables: tables.threads.add(thread(title="first")))
    assert not await store.write(lambda tables: tables.threads.add(thread(title="second")))
    assert (await store.read(lambda tables: tables.threads.get("t1"))).title == "first"


async def test_putting_a_taken_key_replaces_row_and_columns(store: Transactor):
    await fill(store, notification("n1", source="ci"))
    await fill(store, notification("n1", source="github"))
    assert await found(store, equals={"source": "ci"}) == []
    assert await found(store, equals={"source": "github"}) == ["n1"]


async def test_a_removed_row_is_gone_and_removing_it_again_is_fine(store: Transactor):
    await fill(store, notification("n1"), notification("n2"))
    for _ in range(2):
        await store.write(lambda tables: tables.notifications.remove("t1", "n1"))
    assert await found(store) == ["n2"]


async def test_rows_come_in_the_order_of_their_keys(store: Transactor):
    await fill(store, notification("n2"), notification("n10"), notification("n1", thread_id="t2"))
    assert await found(store) == ["n10", "n2", "n1"]


async def test_equals_takes_a_value_several_or_none(store: Transactor):
    await fill(
        store,
        notification("n1", dedupe_key="a"),
        notification("n2", dedupe_key="b"),
        notification("n3"),
    )
    assert await found(store, equals={"dedupe_key": "b"}) == ["n2"]
    assert await found(store, equals={"dedupe_key": None}) == ["n3"]
    assert await found(store, equals={"dedupe_key": ("a", "b", "b", "c")}) == ["n1", "n2"]
    assert await found(store, equals={"dedupe_key": ("a", None)}) == ["n1", "n3"]
    assert await found(store, equals={"dedupe_key": ()}) == []


async def test_states_and_flags_are_found_by_their_plain_values(store: Transactor):
    await fill(store, notification("n1", priority=Priority.HIGH, decided=True), notification("n2"))
    assert await found(store, equals={"priority": "high", "decided": True}) == ["n1"]
    assert await found(store, equals={"priority": Priority.MEDIUM, "decided": False}) == ["n2"]


async def test_bounds_are_exact_and_never_match_a_missing_value(store: Transactor):
    await fill(
        store,
        notification("n1", deliver_at=at(1)),
        notification("n2", deliver_at=at(2)),
        notification("n3"),
    )
    assert await found(store, at_most={"due_at": at(1)}) == ["n1"]
    assert await found(store, above={"due_at": at(1)}) == ["n2"]
    assert await found(store, above={"due_at": at(0)}, at_most={"due_at": at(2)}) == ["n1", "n2"]
    assert await found(store, at_most={"due_at": None}) == []
    assert await found(store, above={"due_at": None}) == []


async def test_missing_values_come_first_when_rising_and_last_when_falling(store: Transactor):
    await fill(
        store,
        notification("n1", deliver_at=at(2)),
        notification("n2"),
        notification("n3", deliver_at=at(1)),
    )
    assert await found(store, order=("due_at",)) == ["n2", "n3", "n1"]
    assert await found(store, order=("-due_at",)) == ["n1", "n3", "n2"]


async def test_ties_come_in_the_order_of_their_keys_whichever_way(store: Transactor):
    rows = [notification(name, source=name[0]) for name in ("b2", "a1", "b1", "a2")]
    await fill(store, *rows)
    assert await found(store, order=("-source",)) == ["b1", "b2", "a1", "a2"]
    assert await found(store, order=("source", "-id"), limit=3) == ["a2", "a1", "b2"]


async def test_counting_ignores_order_and_limit(store: Transactor):
    await fill(store, *(notification(f"n{number}") for number in range(5)))
    query = Query(equals={"source": "github"}, order=("id",), limit=2)
    assert await store.read(lambda tables: tables.notifications.count(query)) == 5


async def test_a_column_that_was_not_declared_is_refused(store: Transactor):
    for query in ({"equals": {"summary": "x"}}, {"order": ("summary",)}, {"above": {"x": 1}}):
        with pytest.raises(KeyError, match="is no column of table notifications"):
            await found(store, **query)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
async def test_every_table_can_be_asked_by_each_of_its_columns(store: Transactor, spec: Spec):
    def ask(tables: Tables) -> list[object]:
        table = getattr(tables, spec.name)
        return [
            table.find(Query(equals={name: None}, above={name: 1}, order=(f"-{name}",)))
            for name in (*spec.key, *spec.columns)
        ]

    assert not any(await store.read(ask))


async def test_a_step_sees_its_own_writes(store: Transactor):
    def step(tables: Tables) -> list[str]:
        tables.notifications.put(notification("n1"))
        tables.notifications.put(notification("n2"))
        tables.notifications.remove("t1", "n1")
        return [row.id for row in tables.notifications.find(Query(equals={"thread_id": "t1"}))]

    assert await store.write(step) == ["n2"]


async def test_a_step_that_raises_leaves_no_trace_and_tells_its_caller(store: Transactor):
    def spoil(tables: Tables) -> None:
        tables.notifications.put(notification("n1", source="ci"))
        tables.notifications.remove("t1", "n2")
        tables.threads.add(thread())
        raise LookupError("changed my mind")

    await fill(store, notification("n1"), notification("n2"))
    with pytest.raises(LookupError, match="changed my mind"):
        await store.write(spoil)
    assert await found(store, equals={"source": "github"}) == ["n1", "n2"]
    assert await store.read(lambda tables: tables.threads.count(Query())) == 0


@pytest.mark.parametrize(
    ("ending", "told"),
    [(StopIteration, RuntimeError), (GeneratorExit, GeneratorExit), (asyncio.CancelledError,) * 2],
    ids=["StopIteration", "GeneratorExit", "CancelledError"],
)
async def test_a_step_that_ends_in_an_odd_way_hurts_only_its_caller(
    store: Transactor, ending: type[BaseException], told: type[BaseException]
):
    def spoil(tables: Tables) -> None:
        tables.threads.add(thread())
        raise ending

    with pytest.raises(told):
        await store.write(spoil)
    await fill(store, notification("n1"))
    assert await found(store) == ["n1"]
    assert await store.read(lambda tables: tables.threads.count(Query())) == 0


async def test_a_step_that_raises_does_not_hurt_those_beside_it(store: Transactor):
    def step(number: int) -> Callable[[Tables], None]:
        def perform(tables: Tables) -> None:
            tables.notifications.put(notification(f"n{number:02}"))
            if number % 3 == 0:
                raise LookupError(number)

        return perform

    writes = [store.write(step(number)) for number in range(12)]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert [repr(one) for one in outcomes if one] == [f"LookupError({n})" for n in (0, 3, 6, 9)]
    assert await found(store) == [f"n{number:02}" for number in range(12) if number % 3]


async def test_fifty_writers_of_one_row_do_not_lose_a_change(store: Transactor):
    def grow(tables: Tables) -> None:
        head = tables.threads.get("t1") or thread()
        tables.threads.put(head.model_copy(update={"sequence": head.sequence + 1}))

    await asyncio.gather(*(store.write(grow) for _ in range(50)))
    assert (await store.read(lambda tables: tables.threads.get("t1"))).sequence == 50


async def test_readers_see_all_of_a_step_or_nothing(store: Transactor):
    async def write(number: int) -> None:
        await fill(store, notification(f"a{number}"), notification(f"b{number}"))

    async def read() -> int:
        return await store.read(lambda tables: tables.notifications.count(Query()))

    work = [job for number in range(20) for job in (write(number), read())]
    counts = [count for count in await asyncio.gather(*work) if count is not None]
    assert all(count % 2 == 0 for count in counts)
    assert await read() == 40


async def test_a_step_that_only_reads_cannot_change_anything(store: Transactor):
    await store.write(lambda tables: tables.threads.put(thread()))
    for step in (
        lambda tables: tables.threads.put(thread("t2")),
        lambda tables: tables.threads.remove("t1"),
    ):
        with pytest.raises(TypeError, match="only reads"):
            await store.read(step)
    assert await store.read(lambda tables: tables.threads.count(Query())) == 1


async def test_what_a_reader_does_to_its_row_stays_with_the_reader(store: Transactor):
    mine = thread(metadata={"colour": "red"})
    await store.write(lambda tables: tables.threads.put(mine))
    mine.metadata["colour"] = "green"
    (await store.read(lambda tables: tables.threads.get("t1"))).metadata["colour"] = "blue"
    kept = await store.read(lambda tables: tables.threads.get("t1"))
    assert kept.metadata == {"colour": "red"}


async def test_a_caller_who_goes_away_does_not_disturb_the_others(store: Transactor):
    writes = [
        asyncio.create_task(store.write(lambda tables, path=path: tables.documents.put(path)))
        for path in (document("a"), document("b"), document("c"))
    ]
    await asyncio.sleep(0)
    writes[1].cancel()
    await asyncio.wait(writes)
    kept = await store.read(lambda tables: tables.documents.find(Query()))
    assert {"a", "c"} <= {row.path for row in kept}


NAMES = st.sampled_from(("a", "b", "B", "é", ""))
DUE = st.none() | st.integers(-3, 3).map(at)
ROWS = st.lists(
    st.builds(
        notification,
        st.text("xyz", min_size=1, max_size=3),
        thread_id=NAMES,
        source=NAMES,
        status=st.sampled_from(NotificationStatus),
        dedupe_key=st.none() | NAMES,
        decided=st.booleans(),
        deliver_at=DUE,
        summary_at=DUE,
    ),
    max_size=12,
)
CELLS = {
    "thread_id": NAMES,
    "source": NAMES,
    "status": st.sampled_from(NotificationStatus),
    "dedupe_key": st.none() | NAMES,
    "decided": st.booleans(),
    "due_at": DUE,
}
WANTED = {name: cell | st.lists(cell, max_size=3).map(tuple) for name, cell in CELLS.items()}
BOUNDS = {name: CELLS[name] for name in ("source", "due_at", "dedupe_key")}
ORDERS = st.lists(
    st.tuples(st.sampled_from(("", "-")), st.sampled_from(sorted(CELLS))).map("".join), max_size=3
)
QUERIES = st.builds(
    Query,
    equals=st.fixed_dictionaries({}, optional=WANTED),
    at_most=st.fixed_dictionaries({}, optional=BOUNDS),
    above=st.fixed_dictionaries({}, optional=BOUNDS),
    order=ORDERS.map(tuple),
    limit=st.none() | st.integers(0, 5),
)


def naive(rows: list[Notification], query: Query) -> list[Notification]:
    kept = list({(row.thread_id, row.id): row for row in rows}.values())
    for name, wanted in query.equals.items():
        choices = wanted if isinstance(wanted, tuple) else (wanted,)
        kept = [row for row in kept if getattr(row, name) in choices]
    for name, bound in query.at_most.items():
        kept = [row for row in kept if None not in (bound, getattr(row, name))]
        kept = [row for row in kept if getattr(row, name) <= bound]
    for name, bound in query.above.items():
        kept = [row for row in kept if None not in (bound, getattr(row, name))]
        kept = [row for row in kept if getattr(row, name) > bound]
    kept.sort(key=lambda row: (row.thread_id, row.id))
    for term in reversed(query.order):
        kept.sort(key=lambda row: _rank(row, term.lstrip("-")), reverse=term.startswith("-"))
    return kept[: query.limit]


def _rank(row: Notification, name: str) -> tuple[bool, object]:
    cell = getattr(row, name)
    return (cell is not None, "" if cell is None else cell)


@pytest.mark.parametrize("kind", KINDS)
def test_any_query_finds_what_a_plain_filter_finds(kind: str, tmp_path: Path):
    with asyncio.Runner() as runner:
        store = runner.run(opened(kind, tmp_path))

        @settings(max_examples=150)
        @given(rows=ROWS, query=QUERIES)
        def agrees(rows: list[Notification], query: Query) -> None:
            found, count = runner.run(store.write(lambda tables: _asked(tables, rows, query)))
            assert found == naive(rows, query)
            assert count == len(naive(rows, Query(**{**_parts(query), "limit": None})))

        try:
            agrees()
        finally:
            runner.run(store.aclose())


def _asked(tables: Tables, rows: list[Notification], query: Query) -> tuple[list, int]:
    for old in tables.notifications.find(Query()):
        tables.notifications.remove(old.thread_id, old.id)
    for row in rows:
        tables.notifications.put(row)
    return tables.notifications.find(query), tables.notifications.count(query)


def _parts(query: Query) -> dict[str, object]:
    return {name: getattr(query, name) for name in ("equals", "at_most", "above", "order")}
