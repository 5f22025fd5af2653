import pytest

from core.testing import Say
from tests.unit.adapters.console.desk import MAIN, Setup, open_desk

EVENT = {"source": "github", "kind": "ci-status", "summary": "Build 7 failed", "priority": "low"}


async def put(desk, **changes):
    answer = await desk.call("POST", f"{MAIN}/notifications", EVENT | changes)
    return answer.body["record"]["id"]


@pytest.mark.parametrize(
    ("mark", "status"), [("seen", "seen"), ("dismiss", "dismissed"), ("archive", "archived")]
)
async def test_a_person_marks_a_row(mark, status):
    async with open_desk() as desk:
        row = await put(desk)
        await desk.visit()
        marked = await desk.write(f"{MAIN}/inbox/{row}/{mark}")
        assert marked.status == 200, marked.text
        assert marked.body["notification"]["status"] == status
        kept = (await desk.ask("GET", f"{MAIN}/inbox?status={status}")).body["notifications"]
        assert [one["id"] for one in kept] == [row]


async def test_the_inbox_can_be_searched_and_filtered():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        await put(desk)
        await put(desk, summary="Issue 9 opened", source="gitlab", kind="issue")
        for query, found in (
            ("search=opened", 1),
            ("source=github", 1),
            ("priority=low", 2),
            ("priority=high,urgent", 0),
            ("status=pending,seen&limit=1", 1),
        ):
            rows = (await desk.call("GET", f"{MAIN}/inbox?{query}")).body["notifications"]
            assert len(rows) == found, query


async def test_a_word_that_is_no_status_is_400_and_names_those_there_are():
    async with open_desk() as desk:
        await put(desk)
        answer = await desk.call("GET", f"{MAIN}/inbox?status=unread")
        assert answer.status == 400
        assert "pending" in answer.error["message"]


async def test_a_row_once_dismissed_stays_so():
    async with open_desk() as desk:
        row = await put(desk)
        await desk.call("POST", f"{MAIN}/inbox/{row}/dismiss")
        answer = await desk.call("POST", f"{MAIN}/inbox/{row}/seen")
        assert answer.status == 400
        kept = (await desk.call("GET", f"{MAIN}/inbox")).body["notifications"]
        assert kept[0]["status"] == "dismissed"


async def test_an_unknown_row_or_mark_is_404():
    async with open_desk() as desk:
        row = await put(desk)
        for path in ("inbox/ntf_none/seen", f"inbox/{row}/burn"):
            assert (await desk.call("POST", f"{MAIN}/{path}")).status == 404, path
        assert (await desk.call("GET", "/api/v1/threads/a/b/inbox")).status == 404


async def test_a_stranger_marks_nothing():
    async with open_desk(Setup(talk=("api:token",))) as desk:
        row = await put(desk)
        await desk.visit()
        assert (await desk.write(f"{MAIN}/inbox/{row}/seen")).status == 403
        rows = (await desk.ask("GET", f"{MAIN}/inbox")).body["notifications"]
        assert rows[0]["status"] == "pending"
