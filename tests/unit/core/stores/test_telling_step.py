"""Telling: the step that accepts a signal, marks what it tells, and closes a window."""

from datetime import timedelta

import pytest

from core.conversation import Conversation, DigestCard
from core.notifications.notification import NotificationStatus, Window
from core.notifications.render import full_signal, summary_signal
from core.notifications.telling import (
    Posting,
    Routing,
    tell_digest,
    tell_fully,
    tell_summary,
)
from core.signals.routing import IfIdle
from core.stores.tables import Query
from tests.unit.core.notifications.rows import KEY, NOW, a_row
from tests.unit.core.stores.desk import LATER, PULL, Desk

CHANNEL = Conversation(platform="slack", tenant="T1", channel="C1")


@pytest.fixture
def desk():
    return Desk()


async def test_telling_in_full_accepts_the_signal_and_delivers_the_row(desk):
    (row,) = (await desk.record(a_row())).rows
    accepted = await desk.tell(tell_fully(row, full_signal(row, NOW)), LATER)
    told = await desk.row()
    assert (accepted.action, told.status, told.delivered_at) == ("wake", "delivered", LATER)
    assert told.delivered_signal_id == accepted.signal.id
    assert (await desk.read(lambda t: t.threads.get(KEY.thread_id))).mail == 1


async def test_a_second_courier_tells_nothing(desk):
    (row,) = (await desk.record(a_row())).rows
    await desk.tell(tell_fully(row, full_signal(row, NOW)))
    assert await desk.tell(tell_fully(row, full_signal(row, NOW))) is None
    assert (await desk.read(lambda t: t.threads.get(KEY.thread_id))).mail == 1


@pytest.mark.parametrize("status", ["seen", "dismissed", "archived"])
async def test_what_somebody_cleared_in_flight_stays_cleared(desk, status):
    (row,) = (await desk.record(a_row())).rows
    await desk.mark(NotificationStatus(status), "n1")
    assert await desk.tell(tell_fully(row, full_signal(row, NOW))) is None
    assert (await desk.row()).status == status


async def test_a_text_that_changed_since_it_was_rendered_is_not_sent(desk):
    (old,) = (await desk.record(a_row(coalesce_key=PULL))).rows
    await desk.record(a_row(id="n2", coalesce_key=PULL, summary="newer"))
    assert await desk.tell(tell_fully(old, full_signal(old, NOW))) is None
    assert (await desk.row()).status == "pending"


async def test_a_signal_that_led_nowhere_told_nothing_and_may_come_again(desk):
    (row,) = (await desk.record(a_row())).rows
    nowhere = Routing(if_idle=IfIdle(behavior="discard"))
    accepted = await desk.tell(tell_fully(row, full_signal(row, NOW), nowhere))
    assert (accepted.action, (await desk.row()).status) == ("discard", "pending")
    again = await desk.tell(tell_fully(row, full_signal(row, NOW)))
    assert (again.action, again.duplicate) == ("wake", False)


async def test_a_summary_leaves_its_rows_pending(desk):
    await desk.record(a_row(), a_row(id="n2"))
    rows = [await desk.judge(one, summary_at=NOW, deliver_at=LATER) for one in ("n1", "n2")]
    accepted = await desk.tell(tell_summary(rows, summary_signal(rows, NOW)), LATER)
    for told in await desk.inbox():
        assert (told.status, told.summary_at, told.deliver_at) == ("pending", None, LATER)
        assert told.summary_signal_id == accepted.signal.id
        assert told.last_delivery_attempt_at == LATER


async def test_what_came_while_a_summary_was_written_is_still_to_be_decided(desk):
    await desk.record(a_row(coalesce_key=PULL), a_row(id="n2"))
    rows = [await desk.judge(one, summary_at=NOW) for one in ("n1", "n2")]
    await desk.record(a_row(id="n3", coalesce_key=PULL), now=LATER)
    await desk.tell(tell_summary(rows, summary_signal(rows, NOW)), LATER)
    grown = await desk.row()
    assert (grown.decided, grown.deliver_at, grown.summary_signal_id) == (False, LATER, None)


def window(**more):
    given = {"inbox": KEY.thread_id, "local_date": "2026-11-30", "slot": "09:00"}
    return Window(**given, closed_at=NOW, **more)


async def digest(desk, *, missed=False, conversations=(CHANNEL,)):
    await desk.record(a_row())
    rows = [await desk.judge("n1", summary_at=NOW)]
    posting = Posting(
        window=window(missed=missed),
        card=DigestCard(title="1 notification", lines=("github: CI failed",)),
        conversations=conversations,
    )
    return tell_digest(rows, summary_signal(rows, NOW), posting)


async def test_a_digest_closes_its_window_and_posts_its_card_in_one_step(desk):
    await desk.tell(await digest(desk))
    closed = await desk.read(lambda t: t.windows.get(KEY.thread_id, "2026-11-30", "09:00"))
    (entry,) = await desk.read(lambda t: t.outbox.find(Query()))
    assert closed.notification_ids == ("n1",)
    assert (entry.conversation, entry.payload.kind) == (CHANNEL, "digest")
    assert entry.expires_at == NOW + timedelta(hours=24)


async def test_a_window_is_closed_once(desk):
    telling = await digest(desk)
    assert await desk.tell(telling) is not None
    assert await desk.tell(telling) is None
    assert len(await desk.read(lambda t: t.outbox.find(Query()))) == 1


async def test_a_missed_window_is_only_written_down(desk):
    assert await desk.tell(await digest(desk, missed=True)) is None
    closed = await desk.read(lambda t: t.windows.get(KEY.thread_id, "2026-11-30", "09:00"))
    assert (closed.missed, (await desk.row()).summary_at) == (True, NOW)
    assert await desk.read(lambda t: t.outbox.find(Query())) == []
