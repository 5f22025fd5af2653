"""The inbox's steps: what is kept once, merged, cleared, listed, and given up."""

from datetime import timedelta

import pytest

from core.errors import InvalidInput, Unknown
from core.ids import thread_key
from core.notifications.notification import NotificationStatus, Priority
from core.notifications.render import full_signal, summary_signal
from core.notifications.telling import tell_fully, tell_summary
from tests.unit.core.notifications.rows import KEY, NOW, a_row
from tests.unit.core.stores.desk import LATER, PULL, Desk

FACT = "github:acme/app:main:CI:abc:failed"


@pytest.fixture
def desk():
    return Desk()


async def test_a_new_event_is_due_until_somebody_decides(desk):
    (row,) = (await desk.record(a_row(), now=LATER)).rows
    assert (row.coalesced_count, row.delivery_attempts) == (1, 0)
    assert (row.created_at, row.deliver_at, row.decided) == (LATER, LATER, False)
    assert await desk.due(LATER) == [row]


async def test_an_event_makes_its_thread(desk):
    await desk.record(a_row())
    thread = await desk.read(lambda t: t.threads.get(KEY.thread_id))
    assert (thread.resource_id, thread.agent_id, thread.active) == ("team", "helper", False)


async def test_a_thread_of_somebody_else_takes_nothing(desk):
    await desk.record(a_row())
    stranger = a_row(thread_key("stranger", KEY.thread_id), id="n2")
    with pytest.raises(Unknown):
        await desk.record(stranger, key="github:1")
    assert [row.id for row in await desk.inbox()] == ["n1"]
    assert await desk.read(lambda t: t.ingress.get("github:1")) is None


async def test_a_delivery_that_comes_twice_is_kept_once(desk):
    first = await desk.record(a_row(), key="github:1")
    again = await desk.record(a_row(id="n2"), key="github:1", now=LATER)
    assert (again.duplicate, again.rows) == (True, first.rows)
    assert len(await desk.inbox()) == 1


async def test_one_id_on_two_threads_is_two_rows(desk):
    other = thread_key("team", "thread-2")
    await desk.record(a_row(), a_row(other))
    assert (await desk.row(key=other)).thread_id == "thread-2"
    assert (await desk.row()).thread_id == "thread-1"


async def test_an_id_that_is_there_already_is_the_same_event(desk):
    await desk.record(a_row())
    (row,) = (await desk.record(a_row(summary="other"), now=LATER)).rows
    assert row.summary == "CI failed on main"


async def test_the_same_fact_again_grows_the_pending_row(desk):
    await desk.record(a_row(dedupe_key=FACT, priority="high", payload={"run": 1}))
    again = a_row(id="n2", dedupe_key=FACT, priority="low", summary="CI failed again")
    (row,) = (await desk.record(again, now=LATER)).rows
    assert (row.id, row.summary, row.coalesced_count) == ("n1", "CI failed again", 2)
    assert (row.priority, row.payload) == ("high", {"run": 1})
    assert (row.created_at, row.updated_at) == (NOW, LATER)


async def test_a_fact_that_was_announced_is_not_announced_again(desk):
    await desk.record(a_row(dedupe_key=FACT))
    row = await desk.judge("n1", summary_at=NOW)
    await desk.tell(tell_summary([row], summary_signal([row], NOW)))
    (again,) = (await desk.record(a_row(id="n2", dedupe_key=FACT), now=LATER)).rows
    assert (again.decided, again.due_at, again.coalesced_count) == (True, None, 2)


async def test_a_fact_that_grew_more_urgent_is_announced_again(desk):
    await desk.record(a_row(dedupe_key=FACT))
    row = await desk.judge("n1", summary_at=NOW)
    await desk.tell(tell_summary([row], summary_signal([row], NOW)))
    worse = a_row(id="n2", dedupe_key=FACT, priority="urgent")
    (again,) = (await desk.record(worse, now=LATER)).rows
    assert (again.decided, again.deliver_at, again.priority) == (False, LATER, "urgent")


@pytest.mark.parametrize("status", ["delivered", "seen", "dismissed", "archived", "failed"])
@pytest.mark.parametrize("key", ["dedupe_key", "coalesce_key"])
async def test_a_row_that_is_no_longer_pending_absorbs_nothing(desk, status, key):
    await desk.record(a_row(**{key: "k"}))
    await desk.mark(NotificationStatus(status), "n1")
    (row,) = (await desk.record(a_row(id="n2", **{key: "k"}))).rows
    assert (row.id, row.coalesced_count) == ("n2", 1)


@pytest.mark.parametrize(
    "other", [{"source": "gitlab"}, {"dedupe_key": "val2"}, {"thread_id": "thread-2"}]
)
async def test_other_sources_keys_and_threads_stay_apart(desk, other):
    await desk.record(a_row(dedupe_key="val1"))
    given = {"id": "n2", "dedupe_key": "val1"} | other
    (row,) = (await desk.record(a_row(**given))).rows
    assert row.id == "n2"


async def test_related_events_become_one_row_that_is_decided_anew(desk):
    await desk.record(a_row(coalesce_key=PULL, priority="high", attributes={"a": 1, "b": 1}))
    await desk.judge("n1", deliver_at=LATER)
    await desk.fail("n1")
    event = a_row(id="n2", coalesce_key=PULL, kind="comment", attributes={"b": 2}, priority="low")
    (row,) = (await desk.record(event, now=LATER)).rows
    assert (row.id, row.kind, row.attributes) == ("n1", "comment", {"a": 1, "b": 2})
    assert (row.priority, row.delivery_attempts, row.decided) == ("high", 0, False)


async def test_two_events_of_one_delivery_merge_in_their_order(desk):
    """PB-034."""
    rows = (a_row(id=name, coalesce_key=PULL, summary=name) for name in ("first", "second"))
    await desk.record(*rows)
    (row,) = await desk.inbox()
    assert (row.id, row.summary, row.coalesced_count) == ("first", "second", 2)


def red(row_id="n1", sha="abc", workflow="CI", **more):
    key = f"github:acme/app:main:{workflow}:{sha}:failed"
    fields = {"dedupe_key": key, "attributes": {"outcome": "failed"}, "priority": "high"}
    return a_row(id=row_id, **(fields | more))


def green(row_id="n9", sha="def", **more):
    fields = {
        "dedupe_key": f"github:acme/app:main:CI:{sha}:passed",
        "attributes": {"outcome": "passed"},
        "metadata": {"clears": "github:acme/app:main:CI:"},
        "priority": "low",
        "summary": "CI passed on main",
    }
    return a_row(id=row_id, **(fields | more))


async def test_green_clears_red_that_nobody_heard_of(desk):
    await desk.record(red(), red("n2", workflow="Lint"), red("n3", workflow="CI%3A slow"))
    (passed,) = (await desk.record(green(), now=LATER)).rows
    cleared = await desk.row()
    assert (cleared.status, cleared.delivery_reason) == ("dismissed", "cleared")
    assert cleared.dismissed_at == LATER
    assert {(await desk.row(one)).status for one in ("n2", "n3")} == {"pending"}
    assert passed.priority == "low"


@pytest.mark.parametrize("status", ["delivered", "seen"])
async def test_green_after_red_that_was_told_is_medium(desk, status):
    await desk.record(red())
    await desk.mark(NotificationStatus(status), "n1")
    (passed,) = (await desk.record(green())).rows
    assert (passed.priority, (await desk.row()).status) == ("medium", status)


async def test_a_second_green_is_no_news(desk):
    await desk.record(red())
    await desk.mark(NotificationStatus.DELIVERED, "n1")
    await desk.record(green(), now=LATER)
    (passed,) = (await desk.record(green("n10", sha="fff"), now=LATER)).rows
    assert passed.priority == "low"


async def test_green_does_not_clear_what_somebody_wrote_beside_the_red(desk):
    await desk.record(red(coalesce_key=PULL))
    await desk.record(a_row(id="n2", coalesce_key=PULL, summary="please look"))
    await desk.record(green(coalesce_key=PULL))
    row = await desk.row()
    assert (row.status, row.coalesced_count, row.priority) == ("pending", 3, "high")


async def test_a_verdict_is_stored_with_its_reason(desk):
    await desk.record(a_row())
    row = await desk.judge("n1", deliver_at=LATER, reason="tomorrow")
    assert (row.deliver_at, row.delivery_reason, row.decided) == (LATER, "tomorrow", True)
    assert await desk.due(NOW) == []


async def test_a_discarded_row_is_over(desk):
    await desk.record(a_row())
    row = await desk.judge("n1", status=NotificationStatus.DISCARDED, now=LATER)
    assert (row.status, row.discarded_at, row.due_at) == ("discarded", LATER, None)
    assert await desk.judge("n1", deliver_at=NOW) is None


async def test_a_row_that_grew_meanwhile_is_judged_again(desk):
    await desk.record(a_row(coalesce_key=PULL))
    await desk.record(a_row(id="n2", coalesce_key=PULL))
    assert await desk.judge("n1", deliver_at=LATER, extra={"coalesced_count": 1}) is None
    assert (await desk.row()).decided is False


async def test_the_fifth_failure_gives_a_row_up(desk):
    await desk.record(a_row())
    for attempt in range(1, 5):
        row = await desk.fail("n1", NOW + timedelta(minutes=attempt))
        assert (row.status, row.delivery_attempts) == ("pending", attempt)
        assert row.deliver_at == NOW + timedelta(minutes=attempt)
    row = await desk.fail("n1")
    assert (row.status, row.delivery_attempts, row.due_at) == ("failed", 5, None)
    assert row.last_delivery_error == "the model is away"
    assert await desk.fail("n1") is None


async def test_a_failure_gives_a_row_without_a_time_one(desk):
    await desk.record(a_row())
    await desk.judge("n1")
    assert (await desk.fail("n1")).deliver_at == LATER


async def test_a_success_clears_the_last_error(desk):
    await desk.record(a_row())
    row = await desk.fail("n1")
    await desk.tell(tell_fully(row, full_signal(row, NOW)))
    assert (await desk.row()).last_delivery_error is None


async def test_rows_come_due_by_the_earlier_of_their_times(desk):
    await desk.record(a_row(), a_row(id="n2"), a_row(id="n3"))
    await desk.judge("n1", deliver_at=LATER, summary_at=LATER + timedelta(hours=1))
    await desk.judge("n2", deliver_at=LATER, summary_at=NOW)
    await desk.judge("n3")
    assert [row.id for row in await desk.due(LATER)] == ["n2", "n1"]
    assert [row.id for row in await desk.due(LATER, limit=1)] == ["n2"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["n3", "n2", "n1"]),
        ({"statuses": (NotificationStatus.SEEN,)}, ["n2"]),
        ({"priorities": (Priority.LOW, Priority.URGENT)}, ["n3"]),
        ({"source": "email"}, ["n2"]),
        ({"search": "CI FAILED"}, ["n3", "n1"]),
        ({"search": "EMAIL", "limit": 1}, ["n2"]),
        ({"search": "nothing"}, []),
        ({"limit": 2}, ["n3", "n2"]),
    ],
)
async def test_an_inbox_is_listed_by_what_is_wanted(desk, wanted, found):
    await desk.record(a_row())
    await desk.record(a_row(id="n2", source="email", summary="hi"), now=LATER)
    await desk.mark(NotificationStatus.SEEN, "n2", now=LATER)
    await desk.record(a_row(id="n3", priority="low"), now=LATER + timedelta(minutes=1))
    assert [row.id for row in await desk.inbox(**wanted)] == found


async def test_marking_skips_what_is_unknown_and_names_each_row_once(desk):
    await desk.record(a_row(), a_row(id="n2"))
    marked = await desk.mark(NotificationStatus.SEEN, "n2", "gone", "n2", "n1", now=LATER)
    assert [(row.id, row.status, row.seen_at) for row in marked] == [
        ("n2", "seen", LATER),
        ("n1", "seen", LATER),
    ]
    assert await desk.mark(NotificationStatus.SEEN) == []


async def test_one_illegal_mark_undoes_them_all(desk):
    await desk.record(a_row(), a_row(id="n2"))
    await desk.mark(NotificationStatus.ARCHIVED, "n2")
    with pytest.raises(InvalidInput, match="n2 is archived"):
        await desk.mark(NotificationStatus.DISMISSED, "n1", "n2")
    assert (await desk.row()).status == "pending"


async def test_a_row_of_another_thread_or_owner_is_unknown(desk):
    await desk.record(a_row())
    with pytest.raises(Unknown, match="n2"):
        await desk.row("n2")
    with pytest.raises(Unknown, match="n1"):
        await desk.row(key=thread_key("stranger", KEY.thread_id))
