"""The inbox as an agent uses it: its own thread's, and no other."""

import pytest

from core.errors import StoreUnavailable
from core.ids import thread_key
from core.notifications.tool import inbox_tool
from core.tools.execution import execute
from core.tools.tool import ToolContext
from tests.unit.core.notifications.rows import KEY, NOW, House, a_row


@pytest.fixture
def house():
    return House()


async def ask(house, key=KEY, **arguments):
    """Run the tool as a run does: the outcome's result, an error's included."""
    context = ToolContext(agent_id="helper", run_id="run-1", thread=key, now=NOW)
    return await execute(inbox_tool(house.store), arguments, context)


async def result(house, **arguments):
    outcome = await ask(house, **arguments)
    assert not outcome.is_error, outcome.result
    return outcome.result


async def keep(house, *ids, **fields):
    for one in ids:
        await house.store.record(None, (a_row(id=one, **fields),))


async def statuses(house, *ids):
    return [(await house.row(one)).status.value for one in ids]


async def test_a_list_walks_through_what_is_unread(house):
    await keep(house, *(f"n{number}" for number in range(25)))
    pages = [await result(house, action="list") for _ in range(3)]
    assert [len(page["notifications"]) for page in pages] == [20, 5, 0]
    assert [page["hasMore"] for page in pages] == [True, False, False]
    assert [page["markedSeen"] for page in pages] == [20, 5, 0]
    assert {one["status"] for one in pages[0]["notifications"]} == {"seen"}


async def test_what_is_no_business_of_the_model_is_left_out(house):
    await keep(house, "n1", payload={"secret": 1}, metadata={"m": 1}, last_delivery_error="boom")
    (shown,) = (await result(house, action="list"))["notifications"]
    assert not shown.keys() & {"payload", "metadata", "lastDeliveryError"}
    assert (shown["id"], shown["summary"]) == ("n1", "CI failed on main")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"priority": "high"}, ["n2"]),
        ({"source": "email"}, ["n3"]),
        ({"status": "seen"}, []),
        ({"limit": 1}, ["n3"]),
    ],
)
async def test_a_list_may_be_narrowed(house, wanted, found):
    await keep(house, "n1")
    await keep(house, "n2", priority="high")
    await house.clock.advance(NOW - NOW.replace(hour=11))
    await keep(house, "n3", source="email")
    page = await result(house, action="list", **wanted)
    assert [one["id"] for one in page["notifications"]] == found


async def test_a_search_looks_through_every_status(house):
    await keep(house, "n1", "n2", "n3")
    await result(house, action="archive", id="n1")
    page = await result(house, action="search", query="ci FAILED")
    assert {one["id"]: one["status"] for one in page["notifications"]} == {
        "n1": "archived",
        "n2": "seen",
        "n3": "seen",
    }


async def test_a_page_is_shown_even_when_it_cannot_be_marked(house):
    await keep(house, "n1")

    async def refuse(*_):
        raise StoreUnavailable("the disk is full")

    house.store.mark = refuse
    page = await result(house, action="list")
    assert (page["markedSeen"], page["notifications"][0]["status"]) == (0, "pending")


@pytest.mark.parametrize(
    ("action", "status"),
    [("markSeen", "seen"), ("dismiss", "dismissed"), ("archive", "archived")],
)
async def test_one_notification_is_cleared_by_its_id(house, action, status):
    await keep(house, "n1", "n2")
    answer = await result(house, action=action, id="n1")
    assert answer["notification"]["status"] == status
    assert await statuses(house, "n1", "n2") == [status, "pending"]


async def test_reading_sends_the_full_text_to_the_thread_and_tells_only_how_many(house):
    await keep(house, "n1", "n2")
    answer = await result(house, action="read")
    assert answer == {
        "message": "2 notifications will be delivered to this thread.",
        "delivered": 2,
        "markedSeen": 2,
        "unavailable": 0,
        "alreadyRead": 0,
    }
    assert await statuses(house, "n1", "n2") == ["seen", "seen"]
    assert (await house.store.thread(KEY)).mail == 2


async def test_what_was_read_is_not_sent_again(house):
    await keep(house, "n1")
    await result(house, action="read", id="n1")
    again = await result(house, action="read", id="n1")
    assert (again["delivered"], again["alreadyRead"]) == (0, 1)
    assert again["message"] == "Nothing unread needed to be delivered."
    assert (await house.store.thread(KEY)).mail == 1


async def test_what_was_delivered_before_is_only_marked(house):
    told = await house.notify(priority="urgent")
    answer = await result(house, action="read", id=told.record.id)
    assert (answer["delivered"], answer["markedSeen"]) == (0, 1)


async def test_a_high_one_that_was_read_is_not_told_later(house):
    await house.busy()
    told = await house.notify(priority="high")
    await result(house, action="read", id=told.record.id)
    await house.idle()
    assert (await house.pass_(hours=1)).signals == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "search"}, "query"),
        ({"action": "search", "query": "  "}, "query"),
        ({"action": "dismiss"}, "id"),
        ({"action": "archive", "id": " "}, "id"),
        ({"action": "list", "limit": 0}, "limit"),
        ({"action": "list", "threadId": "thread-2"}, "threadId"),
        ({"action": "markSeen", "id": "gone"}, "gone"),
        ({"action": "read", "id": "gone"}, "gone"),
        ({"action": "burn"}, "action"),
    ],
)
async def test_a_request_that_makes_no_sense_is_answered_with_why(house, arguments, said):
    await keep(house, "n1")
    outcome = await ask(house, **arguments)
    assert outcome.is_error
    assert said in str(outcome.result)
    assert await statuses(house, "n1") == ["pending"]


async def test_what_is_over_cannot_be_marked_again(house):
    await keep(house, "n1")
    await result(house, action="archive", id="n1")
    outcome = await ask(house, action="dismiss", id="n1")
    assert "archived" in str(outcome.result)


@pytest.mark.parametrize("key", [thread_key("team", "thread-2"), thread_key("other", "thread-1")])
async def test_another_thread_sees_nothing_of_it(house, key):
    await keep(house, "n1")
    outcome = await ask(house, key, action="list")
    assert outcome.is_error or outcome.result["notifications"] == []
    assert await statuses(house, "n1") == ["pending"]


async def test_without_a_thread_there_is_no_inbox(house):
    outcome = await ask(house, None, action="list")
    assert "no thread" in str(outcome.result)
