"""The sender: in order, once, and never again without looking where a send was unclear."""

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from core.conversation import Conversation, Receipt, Reply
from core.errors import DeliveryError, StoreUnavailable
from core.outbox.entry import EntryState, OutboxEntry
from core.outbox.sender import LONGEST_PAUSE, SETTLE, Sender
from core.stores.memory_tables import MemoryTransactor
from core.stores.table_store import TableStore
from core.testing import NOON, FakeClock, RecordingAdapter
from tests.support import eventually

PLACE = Conversation(platform="test", tenant="T", channel="C")
HOUR = timedelta(hours=1)
BUSY = DeliveryError("busy")
UNCLEAR = DeliveryError("cut off", uncertain=True)
REFUSED = DeliveryError("not in channel", permanent=True)


class Post:
    """An outbox, its sender, and a platform that does as told."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.transactor = MemoryTransactor()
        self.store = TableStore(self.transactor, clock=self.clock)
        self.platform = LosingAdapter()
        self.sender = Sender(store=self.store, adapters={"test": self.platform}, clock=self.clock)

    async def put(self, number: int, **changes) -> None:
        told = {
            "entry_id": f"out{number}",
            "thread_id": "thr",
            "sequence": number,
            "conversation": PLACE,
            "payload": Reply(text=f"line {number}"),
            "due_at": NOON,
            "expires_at": NOON + HOUR,
            "created_at": NOON,
        }
        entry = OutboxEntry(**{**told, **changes})
        await self.transactor.write(lambda tables: tables.outbox.put(entry))

    async def post(self) -> list[str]:
        """Let the sender work until it rests; returns all that the platform took."""
        self.sender.wake("thr")
        await eventually(lambda: not self.sender._tasks)
        return self.seen()

    def seen(self) -> list[str]:
        return [delivery.payload.text for delivery in self.platform.sent]

    async def entry(self, number: int = 1) -> OutboxEntry:
        return await self.transactor.read(lambda tables: tables.outbox.get(f"out{number}"))


class LosingAdapter(RecordingAdapter):
    """Keeps what it is given; `losses` are raised only after the message has arrived."""

    def __init__(self) -> None:
        super().__init__("test")
        self.losses: list[Exception] = []
        self.unfindable: list[Exception] = []
        self.asked: list[str] = []
        self.gate: asyncio.Event | None = None

    async def send(self, delivery):
        if self.gate is not None:
            await self.gate.wait()
        receipt = await super().send(delivery)
        if self.losses:
            raise self.losses.pop(0)
        return receipt

    async def find(self, delivery):
        self.asked.append(delivery.entry_id)
        if self.unfindable:
            raise self.unfindable.pop(0)
        return await super().find(delivery)


@pytest.fixture
async def post() -> Post:
    return Post()


async def test_replies_arrive_in_their_order(post):
    for number in (2, 1, 3):
        await post.put(number)
    assert await post.post() == ["line 1", "line 2", "line 3"]
    entry = await post.entry(3)
    assert (entry.state, entry.receipt) == (EntryState.SENT, Receipt(message_id="m3"))


async def test_a_reply_written_while_the_sender_works_is_sent_too(post):
    post.platform.gate = asyncio.Event()
    await post.put(1)
    post.sender.wake("thr")
    await eventually(lambda: post.sender._tasks)
    await post.put(2)
    post.sender.wake("thr")
    post.platform.gate.set()
    await eventually(lambda: post.seen() == ["line 1", "line 2"])


async def test_the_tick_finds_every_thread_with_something_due(post):
    await post.put(1)
    await post.put(2, thread_id="other")
    await post.sender.tick()
    await eventually(lambda: len(post.seen()) == 2)


async def test_an_edit_changes_the_message_that_was_sent(post):
    await post.put(1)
    await post.put(2, edits="out1")
    await post.post()
    edit = post.platform.sent[1]
    assert (edit.receipt, edit.payload.text) == (Receipt(message_id="m1"), "line 2")


async def test_a_busy_platform_is_asked_again_after_a_growing_pause(post):
    await post.put(1)
    pauses = []
    post.platform.problems = [BUSY] * 3
    for _ in range(3):
        await post.post()
        entry = await post.entry()
        pauses.append((entry.due_at - post.clock.now()).total_seconds())
        assert (entry.state, entry.error) == (EntryState.PENDING, "busy")
        await post.clock.advance(entry.due_at - post.clock.now())
    assert await post.post() == ["line 1"]
    assert post.platform.asked == []
    assert pauses == [
        pytest.approx(1, rel=0.2),
        pytest.approx(2, rel=0.2),
        pytest.approx(4, rel=0.2),
    ]


async def test_a_pause_never_grows_beyond_measure(post):
    await post.put(1, attempts=6, expires_at=NOON + timedelta(days=9))
    post.platform.problems = [DeliveryError("busy")]
    await post.post()
    assert (await post.entry()).due_at - NOON <= LONGEST_PAUSE * 1.2


async def test_nothing_is_sent_before_the_platform_allows_it(post):
    await post.put(1)
    await post.put(2)
    post.platform.problems = [DeliveryError("slow down", retry_after=30)]
    assert await post.post() == []
    await post.clock.advance(timedelta(seconds=29))
    assert await post.post() == []
    await post.clock.advance(timedelta(seconds=1))
    assert await post.post() == ["line 1", "line 2"]


async def test_a_refused_reply_is_closed_and_the_next_is_sent(post):
    await post.put(1)
    await post.put(2)
    post.platform.problems = [REFUSED]
    assert await post.post() == ["line 2"]
    assert ((await post.entry()).state, (await post.entry()).error) == ("dead", "not in channel")


async def test_a_platform_nobody_serves_gets_nothing(post):
    await post.put(1, conversation=PLACE.model_copy(update={"platform": "fax"}))
    await post.put(2)
    assert await post.post() == ["line 2"]
    assert (await post.entry()).error == "no adapter for fax"


async def test_a_reply_that_arrived_although_the_line_broke_is_not_sent_again(post):
    await post.put(1)
    post.platform.losses = [UNCLEAR]
    await post.post()
    assert (await post.entry()).state is EntryState.SENDING
    await post.clock.advance(SETTLE)
    assert await post.post() == ["line 1"]
    assert (await post.entry()).receipt == Receipt(message_id="m1")


async def test_a_reply_that_did_not_arrive_is_sent_after_a_look(post):
    await post.put(1)
    post.platform.problems = [UNCLEAR]
    assert await post.post() == []
    await post.clock.advance(SETTLE)
    assert await post.post() == ["line 1"]
    assert post.platform.asked == ["out1"]


async def test_what_a_crash_left_is_looked_up_once_it_can_have_arrived(post):
    await post.put(1, state=EntryState.SENDING, attempted_at=NOON)
    assert await post.post() == []
    assert post.platform.asked == []
    await post.clock.advance(SETTLE)
    assert await post.post() == ["line 1"]
    assert post.platform.asked == ["out1"]


@pytest.mark.parametrize("problem", [BUSY, UNCLEAR, DeliveryError("limit", retry_after=5)])
async def test_a_look_that_fails_leaves_the_send_as_unclear_as_it_was(post, problem):
    await post.put(1)
    post.platform.losses = [UNCLEAR]
    await post.post()
    post.platform.unfindable = [problem]
    await post.clock.advance(SETTLE)
    await post.post()
    assert (await post.entry()).state is EntryState.SENDING
    await post.clock.advance(timedelta(minutes=1))
    assert await post.post() == ["line 1"]


async def test_an_unclear_reply_that_never_arrived_is_not_sent_hours_later(post):
    await post.put(1, state=EntryState.SENDING, attempted_at=NOON)
    await post.put(2, expires_at=NOON + HOUR * 9)
    await post.clock.advance(HOUR * 5)
    assert await post.post() == ["line 2"]
    assert ((await post.entry()).state, (await post.entry()).error) == ("dead", "not sent in time")


async def test_an_unclear_reply_that_arrived_is_recorded_even_hours_later(post):
    await post.put(1)
    post.platform.losses = [UNCLEAR]
    await post.post()
    await post.clock.advance(HOUR * 5)
    assert await post.post() == ["line 1"]
    assert (await post.entry()).state is EntryState.SENT


async def test_a_reply_that_waited_too_long_is_not_sent(post):
    await post.put(1)
    await post.clock.advance(HOUR)
    assert await post.post() == []
    assert (await post.entry()).state is EntryState.EXPIRED


async def test_an_unclear_edit_is_simply_made_again(post):
    await post.put(1)
    await post.post()
    await post.put(2, edits="out1")
    post.platform.losses = [UNCLEAR]
    await post.post()
    await post.clock.advance(SETTLE)
    assert await post.post() == ["line 1", "line 2", "line 2"]
    assert post.platform.asked == []


async def test_a_reply_that_breaks_every_time_does_not_block_the_rest_for_ever(post):
    await post.put(1)
    await post.put(2)
    post.platform.problems = [KeyError("a fault of ours")] * 8
    with capture_logs() as logs:
        for _ in range(9):
            await post.post()
            await post.clock.advance(timedelta(minutes=1))
    assert {entry["event"] for entry in logs} >= {"outbox.broke"}
    assert post.seen() == ["line 2"]
    assert (await post.entry()).error == "tried too often"


async def test_a_store_that_is_away_is_waited_for(post):
    await post.put(1)
    away = FailingStore(post.store)
    sender = Sender(store=away, adapters={"test": post.platform}, clock=post.clock)
    with capture_logs() as logs:
        sender.wake("thr")
        await eventually(lambda: not sender._tasks)
    assert [entry["event"] for entry in logs] == ["outbox.store_unavailable"]
    assert await post.post() == ["line 1"]


class FailingStore:
    """A store whose disk is full."""

    def __init__(self, store: TableStore) -> None:
        self.store = store

    async def claim(self, thread_id: str):
        raise StoreUnavailable("the disk is full")


async def test_a_stop_finishes_the_send_under_way_and_begins_no_other(post):
    post.platform.gate = asyncio.Event()
    await post.put(1)
    await post.put(2)
    post.sender.wake("thr")
    await eventually(lambda: post.sender._tasks)
    await asyncio.sleep(0)
    stopping = asyncio.create_task(post.sender.stop())
    await asyncio.sleep(0)
    post.platform.gate.set()
    await stopping
    assert post.seen() == ["line 1"]
    assert await post.post() == ["line 1"]
