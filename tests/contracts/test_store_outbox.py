"""What every store promises about messages on their way out: in order, once, and not for ever."""

from datetime import timedelta

import pytest

from core.conversation import Conversation, Receipt, Reply
from core.ids import thread_key
from core.outbox.entry import ATTEMPT_LIMIT, EntryState, OutboxEntry
from core.testing import NOON
from tests.contracts.store_world import KEY, PLACE, World

RECEIPT = Receipt(message_id="m1", channel="C")
MINUTE = timedelta(minutes=1)


def entry(number: int, **changes) -> OutboxEntry:
    told = {
        "entry_id": f"out{number}",
        "thread_id": "thr",
        "sequence": number,
        "conversation": PLACE,
        "payload": Reply(text=f"line {number}"),
        "due_at": NOON,
        "expires_at": NOON + timedelta(hours=1),
        "created_at": NOON,
    }
    return OutboxEntry(**{**told, **changes})


async def put(world: World, *entries: OutboxEntry) -> None:
    await world.transactor.write(lambda tables: [tables.outbox.put(one) for one in entries])


async def state_of(world: World, number: int, thread: str = "thr") -> tuple[str, str | None]:
    found = [one for one in await world.store.outbox(thread) if one.entry_id == f"out{number}"]
    return found[0].state.value, found[0].error


async def claimed(world: World) -> str | None:
    found = await world.store.claim("thr")
    return found[0].entry_id if found else None


async def test_an_empty_outbox_gives_nothing(world: World):
    assert await world.store.claim("thr") is None
    assert await world.store.outbox_due() == []


async def test_claiming_marks_the_attempt_and_shows_how_it_stood_before(world: World):
    await put(world, entry(1))
    await world.clock.advance(MINUTE)
    before, edited = await world.store.claim("thr")
    (after,) = await world.store.outbox("thr")
    assert (before.state, before.attempts, edited) == (EntryState.PENDING, 0, None)
    assert (after.state, after.attempts) == (EntryState.SENDING, 1)
    assert after.attempted_at == world.clock.now()


async def test_messages_leave_in_the_order_in_which_they_were_said(world: World):
    await put(world, entry(3), entry(1), entry(2))
    order = []
    while (found := await world.store.claim("thr")) is not None:
        order.append(found[0].sequence)
        await world.store.sent(found[0].entry_id, RECEIPT)
    assert order == [1, 2, 3]


async def test_nothing_overtakes_a_message_that_is_tried_again_later(world: World):
    await put(world, entry(1, due_at=NOON + MINUTE), entry(2))
    assert await claimed(world) is None
    await world.clock.advance(MINUTE)
    assert await claimed(world) == "out1"


async def test_a_message_that_was_being_sent_is_seen_as_such(world: World):
    await put(world, entry(1))
    await world.store.claim("thr")
    again, _ = await world.store.claim("thr")
    assert (again.state, again.attempts) == (EntryState.SENDING, 1)


async def test_a_sent_message_keeps_its_receipt_and_no_error(world: World):
    await put(world, entry(1, error="busy"))
    await world.store.claim("thr")
    await world.store.sent("out1", RECEIPT)
    (sent,) = await world.store.outbox("thr")
    assert (sent.state, sent.receipt, sent.error) == (EntryState.SENT, RECEIPT, None)
    assert await claimed(world) is None


async def test_a_message_put_back_waits_for_its_time_in_its_state(world: World):
    await put(world, entry(1))
    before, _ = await world.store.claim("thr")
    later = {"due_at": NOON + MINUTE, "state": EntryState.SENDING}
    await world.store.retry_at(before.model_copy(update=later), "unclear")
    assert await state_of(world, 1) == ("sending", "unclear")
    assert await world.store.outbox_due() == []
    await world.clock.advance(MINUTE)
    assert await world.store.outbox_due() == ["thr"]


async def test_a_message_tried_too_often_is_given_up(world: World):
    await put(world, entry(1), entry(2))
    for _ in range(ATTEMPT_LIMIT):
        before, _ = await world.store.claim("thr")
        await world.store.retry_at(before, "busy")
    assert await state_of(world, 1) == ("dead", "busy")
    assert await claimed(world) == "out2"


async def test_waiting_for_a_busy_platform_is_no_failed_attempt(world: World):
    await put(world, entry(1))
    for _ in range(ATTEMPT_LIMIT + 2):
        before, _ = await world.store.claim("thr")
        await world.store.hold_back(before, "asked to wait")
    assert await state_of(world, 1) == ("pending", "asked to wait")
    await world.store.sent("out1", RECEIPT)
    await world.store.hold_back(before, "late")
    assert (await state_of(world, 1))[0] == "sent"


async def test_a_send_that_never_comes_back_is_given_up_too(world: World):
    await put(world, entry(1), entry(2))
    for _ in range(ATTEMPT_LIMIT):
        assert await claimed(world) == "out1"
    assert await claimed(world) == "out2"
    assert await state_of(world, 1) == ("dead", "tried too often")


@pytest.mark.parametrize("final", ["sent", "dead"])
async def test_what_is_closed_is_not_put_back(world: World, final):
    await put(world, entry(1))
    before, _ = await world.store.claim("thr")
    if final == "sent":
        await world.store.sent("out1", RECEIPT)
    else:
        await world.store.dead("out1", "not in channel")
    await world.store.retry_at(before, "late")
    await world.store.dead("out1", "later")
    assert (await state_of(world, 1))[0] == final


async def test_what_came_too_late_is_closed_and_the_next_is_taken(world: World):
    await put(world, entry(1), entry(2, expires_at=NOON + timedelta(hours=9)))
    await world.clock.advance(timedelta(hours=1))
    assert await claimed(world) == "out2"
    assert await state_of(world, 1) == ("expired", "not sent in time")


async def test_an_unclear_send_is_looked_up_even_past_its_time(world: World):
    await put(world, entry(1, state=EntryState.SENDING))
    await world.clock.advance(timedelta(hours=9))
    assert await claimed(world) == "out1"


async def test_an_edit_brings_the_receipt_of_what_it_edits(world: World):
    await put(world, entry(1), entry(2, edits="out1"))
    await world.store.claim("thr")
    await world.store.sent("out1", RECEIPT)
    assert (await world.store.claim("thr"))[1] == RECEIPT


@pytest.mark.parametrize("fate", ["dead", "missing"])
async def test_hundreds_of_edits_of_a_message_never_sent_are_dropped(world: World, fate):
    edits = [entry(number, edits="out1") for number in range(2, 700)]
    await put(world, *([entry(1)] if fate == "dead" else []), *edits, entry(700))
    await world.store.dead("out1", "refused")
    assert await claimed(world) == "out700"
    assert await state_of(world, 690) == ("dead", "the message to edit was never sent")


async def test_unknown_messages_are_passed_over(world: World):
    await world.store.sent("none", RECEIPT)
    await world.store.dead("none", "why")
    await world.store.retry_at(entry(1), "why")
    assert await world.store.outbox() == []


async def test_threads_with_something_due_are_named_once_each(world: World):
    other = {"thread_id": "other", "entry_id": "x", "due_at": NOON - MINUTE}
    await put(world, entry(1), entry(2), entry(9, **other), entry(3, due_at=NOON + MINUTE))
    assert await world.store.outbox_due() == ["other", "thr"]
    assert await world.store.outbox_due(limit=1) == ["other"]


async def test_a_long_queue_on_one_thread_does_not_hide_the_others(world: World):
    stuck = [entry(number) for number in range(150)]
    await put(world, *stuck, entry(999, thread_id="other", due_at=NOON + MINUTE))
    await world.clock.advance(MINUTE)
    assert set(await world.store.outbox_due()) == {"thr", "other"}


async def test_the_outbox_is_listed_from_the_newest(world: World):
    await put(world, entry(1), entry(2), entry(3, thread_id="other"))
    assert [one.sequence for one in await world.store.outbox("thr")] == [2, 1]
    assert [one.sequence for one in await world.store.outbox(limit=2)] == [3, 2]


async def test_what_was_posted_at_top_level_belongs_to_its_thread(world: World):
    await world.say()
    channel = PLACE.model_copy(update={"root": "-"})
    await put(world, entry(1, conversation=channel))
    await world.store.sent("out1", RECEIPT.model_copy(update={"root": "77"}))
    place: Conversation = PLACE.model_copy(update={"root": "77"})
    assert (await world.store.binding(place.key)).key == KEY


async def test_a_place_that_belongs_to_another_thread_stays_there(world: World):
    await world.say()
    place: Conversation = PLACE.model_copy(update={"root": "77"})
    await world.store.bind(place, thread_key("res", "other"), "ada")
    await put(world, entry(1, conversation=PLACE.model_copy(update={"root": "-"})))
    await world.store.sent("out1", RECEIPT.model_copy(update={"root": "77"}))
    assert (await world.store.binding(place.key)).thread_id == "other"
