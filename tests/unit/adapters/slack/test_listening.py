"""Listening: what people write reaches the gate once, and is acknowledged only when it is kept."""

import pytest

from core.errors import StoreUnavailable
from core.ports.adapter import Admission
from tests.support import eventually
from tests.unit.adapters.slack.support import MENTION, at, scene


@pytest.mark.parametrize("order", ["message_first", "mention_first", "together"])
async def test_a_mention_is_heard_once_whichever_twin_comes_first(tmp_path, order):
    async with scene(tmp_path) as stage:
        said = await stage.slack.say("U0001", "C0001", MENTION, order=order)
        [heard] = stage.gate.admitted
        assert heard.event_key == f"slack:T0001:C0001:{said['ts']}"
        assert heard.conversation == at("C0001", said["ts"])
        assert heard.contents == "hello"


@pytest.mark.parametrize("failure", [StoreUnavailable("disk full"), RuntimeError("a bug")])
async def test_an_event_that_was_not_kept_is_refused_and_comes_again(tmp_path, failure):
    async with scene(tmp_path) as stage:
        stage.gate.failure = failure
        said = await stage.slack.say("U0001", "D0001", "hello")
        [event_id] = said["event_ids"]
        assert stage.slack.deliveries(event_id=event_id)[0]["status"] == 503
        stage.gate.failure = None
        await eventually(lambda: stage.gate.admitted)
        assert stage.slack.deliveries(event_id=event_id)[-1]["status"] == 200


async def test_before_auth_test_succeeds_an_event_is_not_acknowledged_and_its_retry_is(tmp_path):
    async with scene(tmp_path, run=False) as stage:
        await stage.slack.say("U0001", "D0001", "hello")
        assert stage.slack.deliveries()[0]["status"] == 503
        assert not stage.slack.calls("auth.test")
        await stage.adapter._identity.learn()
        await eventually(lambda: stage.gate.admitted)


async def test_auth_test_is_asked_again_until_it_answers(tmp_path):
    async with scene(tmp_path, run=False) as stage:
        await stage.slack.fault("auth.test", "http", times=2)
        bot = await stage.adapter._identity.learn()
        assert (bot.team, bot.user) == ("T0001", "U0BOT")
        assert len(stage.slack.calls("auth.test")) == 3


async def test_a_follow_up_in_our_thread_needs_no_mention(tmp_path):
    async with scene(tmp_path) as stage:
        root = (await stage.slack.say("U0001", "G0001", MENTION))["ts"]
        await stage.slack.say("U0002", "G0001", "not yet ours", thread_ts=root)
        stage.bound.add(at("G0001", root).key)
        await stage.slack.say("U0002", "G0001", "and this?", thread_ts=root)
        assert [heard.contents for heard in stage.gate.admitted] == ["hello", "and this?"]


async def test_chatter_bots_and_our_own_posts_are_not_for_us(tmp_path):
    async with scene(tmp_path) as stage:
        await stage.slack.say("U0001", "C0001", "just talking")
        await stage.slack.say("U0009", "C0001", MENTION)
        await stage.adapter._client.call("chat.postMessage", channel="D0001", text="mine")
        await eventually(lambda: len(stage.slack.deliveries()) >= 4)
        assert not stage.gate.admitted


async def test_an_event_of_another_team_is_taken_and_dropped(tmp_path):
    async with scene(tmp_path) as stage:
        event = {"type": "message", "channel": "D1", "channel_type": "im", "user": "U1"}
        await stage.slack.event({**event, "ts": "1.000100", "text": "hi"}, team="T0666")
        assert stage.slack.deliveries()[0]["status"] == 200
        assert not stage.gate.admitted


async def test_any_other_event_is_acknowledged(tmp_path):
    async with scene(tmp_path) as stage:
        await stage.slack.event({"type": "pin_added", "user": "U0001"})
        assert stage.slack.deliveries()[0]["status"] == 200


async def test_a_refused_person_is_told_privately(tmp_path):
    async with scene(tmp_path) as stage:
        stage.gate.answer = Admission(outcome="refused", answer="You may not talk to me here.")
        await stage.slack.say("U0003", "C0001", MENTION)
        [told] = await eventually(lambda: stage.slack.journal.entries("ephemeral"))
        assert (told["user"], told["text"]) == ("U0003", "You may not talk to me here.")
        assert told["thread_ts"] is None


async def test_over_a_socket_an_envelope_is_acknowledged_only_once_kept(tmp_path):
    async with scene(tmp_path, socket=True, answer_seconds=0.2) as stage:
        stage.gate.failure = StoreUnavailable("disk full")
        await stage.slack.say("U0001", "D0001", "hello")
        assert not stage.slack.deliveries()[0]["ok"]
        assert not stage.slack.journal.entries("ack")
        stage.gate.failure = None
        await eventually(lambda: stage.gate.admitted)
        await eventually(lambda: stage.slack.journal.entries("ack", known=True))


async def test_a_cut_socket_is_opened_again(tmp_path):
    async with scene(tmp_path, socket=True) as stage:
        await stage.slack.control("cut_sockets")
        await eventually(
            lambda: len(stage.slack.journal.entries("socket", state="open")) > 1, within=30
        )
        await stage.known()
        await stage.slack.say("U0001", "D0001", "hello", wait=False)
        await eventually(lambda: stage.gate.admitted)


async def test_status_says_what_it_waits_for(tmp_path):
    async with scene(tmp_path, run=False) as stage:
        assert stage.adapter.status() == {
            "ready": False,
            "team": None,
            "problem": "auth.test has not answered yet",
            "mode": "http",
        }
        await stage.adapter._identity.learn()
        assert stage.adapter.status()["ready"]
