import asyncio
import json

import pytest

from core.errors import StoreUnavailable, ThreadBlocked
from core.testing import Say
from tests.unit.adapters.console.desk import KEY, MAIN, Setup, open_desk


async def test_a_message_is_stored_and_wakes_a_run():
    async with open_desk(Setup(script=[Say(text="Hello.")])) as desk:
        answer = await desk.say()
        assert answer.status == 202
        assert answer.body["accepted"]["action"] == "wake"
        assert answer.body["accepted"]["runId"].startswith("run_")
        history = await desk.call("GET", f"{MAIN}/messages")
        first, second = history.body["messages"]
        assert first["id"] == answer.body["signal"]["id"]
        assert second["content"] == [{"type": "text", "text": "Hello."}]


async def test_a_message_can_wait_for_the_next_turn():
    hold = asyncio.Event()
    script = [Say(text="one", gate=hold), Say(text="two")]
    async with open_desk(Setup(script=script)) as desk:
        await desk.call("POST", f"{MAIN}/messages", {"contents": "first"})
        queued = await desk.call("POST", f"{MAIN}/messages", {"contents": "second", "queue": True})
        hold.set()
        await desk.runtime.idle()
        assert queued.body["accepted"]["action"] == "deliver"
        assert len(desk.model.requests) == 2


async def test_the_type_of_a_message_cannot_be_smuggled_in():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        body = {"contents": "x", "type": "notification", "tagName": "notification"}
        assert (await desk.call("POST", f"{MAIN}/messages", body)).status == 202
        await desk.runtime.idle()
        rows = await desk.runtime.store.history(KEY)
        assert rows[0].message.type == "user"


async def test_a_console_session_signs_with_its_own_name():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        await desk.visit()
        forged = {"name": "Root", "from": "slack", "id": "slack:T1:U1", "mood": "calm"}
        branch = {"attributes": {"name": "Root", "late": True}}
        body = {"contents": "x", "attributes": forged, "ifIdle": branch}
        assert (await desk.write(f"{MAIN}/messages", body)).status == 202
        await desk.runtime.idle()
        row = (await desk.call("GET", f"{MAIN}/messages")).body["messages"][0]
        assert row["signal"]["attributes"] == {
            "name": "Ada",
            "from": "console",
            "id": "console:local:ada",
            "mood": "calm",
            "late": True,
        }


async def test_attributes_of_a_program_stand_as_given():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        body = {"contents": "x", "attributes": {"name": "Devin", "from": "slack"}}
        await desk.call("POST", f"{MAIN}/messages", body)
        await desk.runtime.idle()
        assert desk.model.prompts() == ['<user name="Devin" from="slack">x</user>']


async def test_the_same_idempotency_key_means_once():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        answers = [
            await desk.call(
                "POST", f"{MAIN}/messages", {"contents": "x"}, Idempotency_Key="order-1"
            )
            for _ in range(2)
        ]
        await desk.runtime.idle()
        assert answers[0].body == answers[1].body
        assert len(desk.model.requests) == 1


async def test_the_id_in_a_body_means_once_too():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        body = {"id": "sig_mine", "contents": "x"}
        answers = [await desk.call("POST", f"{MAIN}/messages", body) for _ in range(2)]
        assert answers[0].body == answers[1].body
        assert answers[0].body["signal"] == {"id": "sig_mine"}
        await desk.runtime.idle()


async def test_a_signal_that_only_persists_wakes_nobody():
    async with open_desk() as desk:
        body = {
            "type": "reactive",
            "contents": "the build is green",
            "ifIdle": {"behavior": "persist"},
        }
        answer = await desk.call("POST", f"{MAIN}/signals", body)
        assert answer.status == 202
        assert answer.body["accepted"] == {"action": "persist"}
        row = (await desk.call("GET", f"{MAIN}/messages")).body["messages"][0]
        assert row["signal"]["type"] == "reactive"
        assert not desk.model.requests


async def test_a_notification_answers_with_its_record_and_the_decision():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        body = {"source": "github", "kind": "ci-status", "summary": "red", "priority": "low"}
        answer = await desk.call("POST", f"{MAIN}/notifications", body)
        assert answer.status == 202
        assert answer.body["record"]["summary"] == "red"
        assert answer.body["record"]["threadId"] == "main"
        assert answer.body["decision"]["action"] == "summarize"


async def test_a_stop_ends_the_run_and_a_second_finds_nothing():
    async with open_desk(Setup(script=[Say(gate=asyncio.Event())])) as desk:
        await desk.call("POST", f"{MAIN}/messages", {"contents": "x"})
        first = await desk.call("POST", f"{MAIN}/abort")
        await desk.runtime.idle()
        second = await desk.call("POST", f"{MAIN}/abort")
        assert [first.body, second.body] == [{"aborted": True}, {"aborted": False}]


async def test_the_same_stop_sent_again_gets_the_first_outcome():
    async with open_desk(Setup(script=[Say(gate=asyncio.Event())])) as desk:
        await desk.call("POST", f"{MAIN}/messages", {"contents": "x"})
        stops = [await desk.call("POST", f"{MAIN}/abort", Idempotency_Key="once") for _ in range(2)]
        assert [stop.body for stop in stops] == [{"aborted": True}] * 2
        assert len(desk.gate.admitted) == 2


async def test_a_stop_on_an_unknown_thread_is_404():
    async with open_desk() as desk:
        assert (await desk.call("POST", f"{MAIN}/abort")).status == 404


async def test_a_stranger_is_refused_and_nothing_is_stored():
    async with open_desk(Setup(talk=(), approve=())) as desk:
        for path in ("messages", "signals", "notifications"):
            bodies = {
                "messages": {"contents": "x"},
                "signals": {"type": "reactive", "contents": "x"},
                "notifications": {"source": "s", "kind": "k", "summary": "x"},
            }
            answer = await desk.call("POST", f"{MAIN}/{path}", bodies[path])
            assert (answer.status, answer.error["code"]) == (403, "forbidden")
        assert (await desk.call("GET", "/api/v1/threads")).body == {"threads": []}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("messages", {}, "contents"),
        ("messages", {"contents": 3}, "contents"),
        ("messages", {"contents": [{"type": "video"}]}, "contents.0"),
        ("messages", {"contents": "x", "colour": "red"}, "colour"),
        ("messages", {"contents": "x", "queue": "yes"}, "queue"),
        ("messages", {"contents": "x", "ifIdle": {"behavior": "deliver"}}, "ifIdle.behavior"),
        ("messages", {"contents": "x", "attributes": {"a b": 1}}, "attributes"),
        ("messages", {"contents": "x", "agentId": ""}, "agentId"),
        ("signals", {"contents": "x"}, "type"),
        ("notifications", {"source": "s", "kind": "k"}, "summary"),
        (
            "notifications",
            {"source": "s", "kind": "k", "summary": "x", "priority": "huge"},
            "priority",
        ),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
async def test_a_wrong_field_is_named_and_nothing_is_done(path, body, field):
    async with open_desk() as desk:
        answer = await desk.call("POST", f"{MAIN}/{path}", body)
        assert answer.status == 400, answer.text
        assert field in answer.error["fields"], answer.text
        assert (await desk.call("GET", MAIN)).status == 404


async def test_an_unknown_type_of_signal_is_400_and_points_to_the_tag():
    async with open_desk() as desk:
        answer = await desk.call("POST", f"{MAIN}/signals", {"type": "shout", "contents": "x"})
        assert (answer.status, answer.error["code"]) == (400, "invalid_signal")
        assert "shout" in answer.error["message"]


async def test_an_unknown_agent_is_404():
    async with open_desk() as desk:
        answer = await desk.call("POST", f"{MAIN}/messages", {"contents": "x", "agentId": "nobody"})
        assert answer.status == 404


async def test_a_thread_of_another_owner_is_404():
    async with open_desk(Setup(script=[Say(text="ok")])) as desk:
        await desk.say()
        path = "/api/v1/threads/someone-else/main/messages"
        assert (await desk.call("POST", path, {"contents": "x"})).status == 404


async def test_a_store_that_cannot_write_is_503_with_a_time_to_come_back():
    async with open_desk() as desk:
        desk.gate.problems.append(StoreUnavailable("the disk is full"))
        answer = await desk.call("POST", f"{MAIN}/messages", {"contents": "x"})
        assert (answer.status, answer.headers["Retry-After"]) == (503, "1")


async def test_a_full_mailbox_is_409():
    async with open_desk() as desk:
        desk.gate.problems.append(ThreadBlocked("the mailbox of main is full"))
        answer = await desk.call("POST", f"{MAIN}/messages", {"contents": "x"})
        assert (answer.status, answer.error["code"]) == (409, "thread_blocked")


async def test_a_fault_of_ours_is_told_by_an_id_alone():
    async with open_desk() as desk:
        desk.gate.problems.append(RuntimeError("secret inside"))
        answer = await desk.call("POST", f"{MAIN}/messages", {"contents": "x"})
        assert (answer.status, answer.error["code"]) == (500, "internal")
        assert "err_" in answer.error["message"]
        assert "secret" not in answer.text
