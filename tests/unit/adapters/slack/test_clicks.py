"""Clicks: approve is stored before it is answered, reject asks why, everybody gets an answer."""

import asyncio

import pytest

from core.conversation import Button, Card
from core.errors import StoreUnavailable
from core.ports.adapter import Admission
from tests.support import eventually
from tests.unit.adapters.slack.support import Scene, at, reply_to, scene

PLAN = Card(
    token="sus_1",
    title="Ship it",
    body="1. test\n2. release",
    buttons=(
        Button(label="Approve", action="approve", style="primary"),
        Button(label="Reject", action="reject", style="danger"),
        Button(label="Stop", action="stop"),
    ),
)


async def post_card(stage: Scene) -> str:
    return (await stage.adapter.send(reply_to(at("C0001"), PLAN))).message_id


async def press(stage: Scene, ts: str, letter: str, user: str = "U0001") -> dict:
    return await stage.slack.click(user, ts, "C0001", f"pa:sus_1:{letter}")


async def told(stage: Scene) -> dict:
    return (await eventually(lambda: stage.slack.journal.entries("ephemeral")))[-1]


async def test_approve_is_stored_before_the_click_is_answered_and_leaves_the_card(tmp_path):
    async with scene(tmp_path) as stage:
        ts = await post_card(stage)
        assert (await press(stage, ts, "a"))["status"] == 200
        [decision] = stage.gate.admitted
        assert (decision.token, decision.action, decision.feedback) == ("sus_1", "approved", None)
        assert decision.sender.id == "slack:T0001:U0001"
        assert decision.conversation == at("C0001")
        assert not stage.slack.calls("chat.update")


@pytest.mark.parametrize(
    ("admission", "line"),
    [
        (Admission(outcome="refused"), "You are not allowed to do that here."),
        (Admission(outcome="refused", answer="Only Ada may."), "Only Ada may."),
        (Admission(outcome="ignored"), "There is nothing to decide here any more."),
        (Admission(outcome="accepted", answer="Bob approved."), "Bob approved."),
    ],
    ids=["stranger", "named", "gone", "late"],
)  # fmt: skip
async def test_a_click_that_decides_nothing_is_answered_privately(tmp_path, admission, line):
    async with scene(tmp_path) as stage:
        stage.gate.answer = admission
        ts = await post_card(stage)
        assert (await press(stage, ts, "a", "U0002"))["status"] == 200
        answer = await told(stage)
        assert (answer["user"], answer["text"]) == ("U0002", line)


async def test_reject_asks_for_a_reason_that_comes_with_the_decision(tmp_path):
    async with scene(tmp_path) as stage:
        await press(stage, await post_card(stage), "r")
        [view] = await stage.slack.views()
        assert not stage.gate.admitted
        sent = await stage.slack.submit_view("U0001", view["id"], {"feedback": " smaller steps "})
        assert sent["status"] == 200
        [decision] = stage.gate.admitted
        assert (decision.action, decision.feedback) == ("rejected", "smaller steps")
        assert decision.conversation == at("C0001")


async def test_an_empty_reason_is_none_and_closing_decides_nothing(tmp_path):
    async with scene(tmp_path) as stage:
        ts = await post_card(stage)
        await press(stage, ts, "r")
        [view] = await stage.slack.views()
        await stage.slack.close_view("U0001", view["id"])
        assert not stage.gate.admitted
        await press(stage, ts, "r")
        [view] = await stage.slack.views()
        await stage.slack.submit_view("U0001", view["id"], {})
        assert stage.gate.admitted[0].feedback is None


async def test_without_its_modal_reject_offers_a_button_without_a_reason(tmp_path):
    async with scene(tmp_path) as stage:
        await stage.slack.fault("views.open", "error", error="expired_trigger_id")
        await press(stage, await post_card(stage), "r", "U0002")
        offer = await told(stage)
        assert offer["user"] == "U0002"
        await stage.slack.click("U0002", offer["ts"], "C0001", "pa:sus_1:n")
        [decision] = stage.gate.admitted
        assert (decision.action, decision.feedback) == ("rejected", None)


async def test_a_decision_that_could_not_be_stored_says_so(tmp_path):
    async with scene(tmp_path) as stage:
        stage.gate.failure = StoreUnavailable("disk full")
        assert (await press(stage, await post_card(stage), "a"))["status"] == 503
        assert "could not be stored" in (await told(stage))["text"]


async def test_a_slow_commit_does_not_let_the_click_expire(tmp_path):
    async with scene(tmp_path) as stage:
        stage.gate.pause = asyncio.Event()
        assert (await press(stage, await post_card(stage), "a"))["status"] == 200
        assert not stage.gate.admitted
        stage.gate.pause.set()
        await eventually(lambda: stage.gate.admitted)


async def test_the_stop_button_asks_for_the_end_of_the_run(tmp_path):
    async with scene(tmp_path) as stage:
        ts = await post_card(stage)
        await press(stage, ts, "s")
        assert [seen.kind for seen in stage.gate.admitted] == ["stop"]


async def test_a_slash_command_asks_stops_and_helps(tmp_path):
    async with scene(tmp_path) as stage:
        for text in ("ask what is up?", "stop", "dance"):
            await stage.slack.slash("U0001", "C0001", "/interlock", text)
        ask, stop = stage.gate.admitted
        assert (ask.contents, ask.conversation) == ("what is up?", at("C0001"))
        assert stop.kind == "stop"
        lines = [seen["text"] for seen in stage.slack.journal.entries("ephemeral")]
        assert lines[:2] == ["On it.", "Stopping."]
        assert "/interlock ask" in lines[2]
