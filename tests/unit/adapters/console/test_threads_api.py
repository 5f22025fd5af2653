import pytest

from core.testing import Say
from tests.unit.adapters.console.desk import MAIN, Setup, open_desk

ODD = "/api/v1/threads/slack%3AT1%2FC1/t%20%25%2F1"


async def test_a_thread_is_made_changed_and_shown():
    async with open_desk() as desk:
        made = await desk.call("PUT", MAIN, {"title": "Deploys", "metadata": {"a": 1}})
        await desk.call("PUT", MAIN, {"metadata": {"b": 2}})
        shown = (await desk.call("GET", MAIN)).body
        assert made.status == 200
        assert (shown["id"], shown["title"], shown["agentId"]) == ("main", "Deploys", "helper")
        assert shown["metadata"] == {"a": 1, "b": 2}
        assert "leaseUntil" not in shown
        assert "epoch" not in shown


async def test_an_agent_that_is_not_there_cannot_get_a_thread():
    async with open_desk() as desk:
        answer = await desk.call("PUT", MAIN, {"agentId": "nobody"})
        assert answer.status == 400
        assert answer.error["fields"] == {"agentId": "unknown agent"}
        assert "helper" in answer.error["message"]


async def test_a_stranger_can_make_no_thread():
    async with open_desk(Setup(talk=())) as desk:
        assert (await desk.call("PUT", MAIN, {"title": "x"})).status == 403
        assert (await desk.call("GET", MAIN)).status == 404


async def test_ids_in_a_path_are_percent_decoded():
    async with open_desk() as desk:
        made = (await desk.call("PUT", ODD, {})).body
        assert (made["resourceId"], made["threadId"]) == ("slack:T1/C1", "t %/1")
        assert (await desk.call("GET", ODD)).body["id"] == "t %/1"


@pytest.mark.parametrize("thread", ["a%00b", "a%0Ab", "x" * 256])
async def test_an_id_that_could_do_harm_is_400(thread):
    async with open_desk() as desk:
        answer = await desk.call("GET", f"/api/v1/threads/console%3Alocal/{thread}")
        assert (answer.status, list(answer.error["fields"])) == (400, ["threadId"])


async def test_a_thread_under_another_resource_is_unknown():
    async with open_desk() as desk:
        await desk.call("PUT", MAIN, {})
        elsewhere = "/api/v1/threads/other/main"
        for method, path in (("GET", ""), ("GET", "/messages"), ("PUT", ""), ("GET", "/inbox")):
            answer = await desk.call(method, elsewhere + path, {} if method == "PUT" else None)
            assert answer.status == 404, path


async def test_threads_are_listed_by_owner_and_agent():
    async with open_desk() as desk:
        for path in (MAIN, ODD):
            await desk.call("PUT", path, {})
        listed = (await desk.call("GET", "/api/v1/threads?resourceId=console%3Alocal")).body
        assert [thread["id"] for thread in listed["threads"]] == ["main"]
        none = (await desk.call("GET", "/api/v1/threads?agentId=other")).body
        assert none == {"threads": []}


async def test_history_comes_in_pages():
    async with open_desk(Setup(script=[Say(text=str(n)) for n in range(3)])) as desk:
        for word in ("a", "b", "c"):
            await desk.say(word)
        seen, after = [], 0
        while after is not None:
            page = (await desk.call("GET", f"{MAIN}/messages?after={after}&limit=2")).body
            seen += [row["content"][0]["text"] for row in page["messages"]]
            after = page["next"]
        assert seen == ["a", "0", "b", "1", "c", "2"]


async def test_the_newest_rows_can_be_asked_for_alone():
    async with open_desk(Setup(script=[Say(text="one"), Say(text="two")])) as desk:
        await desk.say("a")
        await desk.say("b")
        page = (await desk.call("GET", f"{MAIN}/messages?newest&limit=1")).body
        assert [row["content"][0]["text"] for row in page["messages"]] == ["two"]


async def test_a_row_shows_calls_and_results_in_camel_case():
    script = [Say(calls=(("clock", {}),)), Say(text="Noon.")]
    async with open_desk(Setup(script=script)) as desk:
        await desk.say("what time is it?")
        said, asked, told, answered = (await desk.call("GET", f"{MAIN}/messages")).body["messages"]
        assert said["signal"] | {"id": ""} == {
            "id": "",
            "type": "user",
            "tagName": "user",
            "attributes": None,
            "metadata": None,
        }
        assert (asked["role"], told["role"]) == ("assistant", "tool")
        assert asked["content"][0]["toolName"] == "clock"
        assert told["content"][0]["toolCallId"] == asked["content"][0]["toolCallId"]
        assert answered["sequence"] > told["sequence"]
        assert answered["runId"] == asked["runId"]


@pytest.mark.parametrize("query", ["after=x", "after=-1", "limit=1.5"])
async def test_a_crooked_page_is_400(query):
    async with open_desk() as desk:
        await desk.call("PUT", MAIN, {})
        assert (await desk.call("GET", f"{MAIN}/messages?{query}")).status == 400


async def test_an_unknown_thread_has_no_history():
    async with open_desk() as desk:
        assert (await desk.call("GET", f"{MAIN}/messages")).status == 404
