import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.stores.sqlite.codec import encode
from adapters.stores.sqlite.schema import prepare
from adapters.stores.sqlite.tables import STATEMENTS
from core.stores.tables import Query
from core.threads.thread import Lane

BY_NAME = {statements.spec.name: statements for statements in STATEMENTS}
EARLY = datetime(2026, 1, 1, tzinfo=UTC)


def plan(table: str, query: Query) -> str:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        prepare(connection, Path("store.db"))
        select, values = BY_NAME[table].find(query)
        rows = connection.execute(f"EXPLAIN QUERY PLAN {select}", values).fetchall()
    return "; ".join(str(row[3]) for row in rows)


@pytest.mark.parametrize(
    ("table", "query", "index"),
    [
        pytest.param(
            "threads",
            Query(equals={"ready": True}, at_most={"lease_until": EARLY}, order=("lease_until",)),
            "threads_ready_lease_until (ready=? AND lease_until<?)",
            id="runnable threads",
        ),
        pytest.param(
            "mail",
            Query(equals={"thread_id": "t", "lane": "queued"}, order=("sequence",), limit=1),
            "sqlite_autoindex_mail_1 (thread_id=?)",
            id="the next mail",
        ),
        pytest.param(
            "outbox",
            Query(equals={"thread_id": "t", "open": True}, order=("sequence",)),
            "outbox_thread_id_open_sequence (thread_id=? AND open=?)",
            id="a thread's outbox",
        ),
        pytest.param(
            "notifications",
            Query(at_most={"due_at": EARLY}, order=("due_at",)),
            "notifications_due_at (due_at<?)",
            id="due notifications",
        ),
        pytest.param(
            "ingress",
            Query(at_most={"expires_at": EARLY}, order=("expires_at",), limit=9),
            "ingress_expires_at (expires_at<?)",
            id="old event keys",
        ),
    ],
)
def test_the_frequent_questions_are_answered_by_an_index_alone(
    table: str, query: Query, index: str
):
    assert plan(table, query) == f"SEARCH {table} USING INDEX {index}"


@pytest.mark.parametrize(
    ("cell", "stored"),
    [
        (None, None),
        ("text", "text"),
        (7, 7),
        (True, 1),
        (Lane.QUEUED, "queued"),
        (datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC), 1_000_005),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
    ],
    ids=repr,
)
def test_a_cell_is_stored_as_a_plain_value(cell: object, stored: object):
    assert encode(cell) == stored
    assert type(encode(cell)) in (str, int, bool, type(None))


def test_an_instant_without_its_zone_is_refused():
    with pytest.raises(TypeError, match="offset-naive"):
        encode(datetime(2026, 1, 1))  # noqa: DTZ001 - the very thing that is refused


def test_no_value_becomes_part_of_a_statement():
    hostile = "'; DROP TABLE threads; --"
    query = Query(equals={"thread_id": (hostile, None)}, above={"lease_until": hostile})
    select, values = BY_NAME["threads"].find(query)
    assert hostile not in select
    assert values == [hostile, hostile, -1]
