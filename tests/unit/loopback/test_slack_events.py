"""Events on their way to the app: signed, in two kinds, retried, forged."""

import pytest
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from tests.loopback.slack.client import LoopbackRefused, LoopbackSlack, slack_process
from tests.loopback.slack.receiver import Receiver, Reply

STRANGER = {"type": "message", "channel": "C0001", "user": "U0001", "text": "x", "ts": "1.2"}


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    with slack_process(tmp_path_factory.mktemp("process")) as running:
        yield running


@pytest.fixture
async def app():
    async with Receiver() as receiver:
        yield receiver


@pytest.fixture
async def slack(process, tmp_path, app):
    async with LoopbackSlack(
        tmp_path, process=process, target=app.url, time_scale=0.001
    ) as running:
        yield running


async def test_an_event_carries_a_signature_slack_sdk_accepts(slack, app):
    await slack.say("U0001", "D0001", "héllo")
    verifier = SignatureVerifier(slack.options.signing_secret)
    assert verifier.is_valid_request(app.received[0].raw, dict(app.received[0].headers))
    assert app.received[0].headers["Content-Type"] == "application/json"


async def test_an_event_names_team_app_and_authorization(slack, app):
    await slack.say("U0001", "D0001", "hi")
    body = app.received[0].body
    assert (body["type"], body["team_id"], body["api_app_id"]) == (
        "event_callback",
        "T0001",
        "A0001",
    )
    assert body["authorizations"][0]["user_id"] == "U0BOT"
    assert body["event_id"].startswith("Ev")


async def test_a_mention_arrives_twice_with_one_ts_and_two_event_ids(slack, app):
    said = await slack.say("U0001", "C0001", "<@U0BOT> deploy")
    assert [event["type"] for event in app.events()] == ["message", "app_mention"]
    assert {event["ts"] for event in app.events()} == {said["ts"]}
    assert len(set(said["event_ids"])) == 2


async def test_either_twin_may_come_first(slack, app):
    await slack.say("U0001", "C0001", "<@U0BOT> deploy", order="mention_first")
    assert [event["type"] for event in app.events()] == ["app_mention", "message"]


async def test_the_twins_may_come_together(slack, app):
    app.replies = [Reply(seconds=0.3)]
    await slack.say("U0001", "C0001", "<@U0BOT> deploy", order="together")
    assert len(app.events()) == 2


async def test_a_direct_message_is_no_mention(slack, app):
    await slack.say("U0001", "D0001", "<@U0BOT> hi")
    (event,) = app.events()
    assert (event["type"], event["channel_type"]) == ("message", "im")


async def test_a_reply_names_its_thread_and_whose_it_is(slack, app):
    root = (await slack.say("U0001", "C0001", "root"))["ts"]
    await slack.say("U0002", "C0001", "reply", thread_ts=root)
    assert app.events()[1]["thread_ts"] == root
    assert app.events()[1]["parent_user_id"] == "U0001"


async def test_a_channel_without_the_bot_tells_it_only_mentions(slack, app):
    await slack.say("U0001", "C0003", "nothing for you")
    await slack.say("U0001", "C0003", "<@U0BOT> come")
    assert [event["type"] for event in app.events()] == ["app_mention"]


async def test_the_bot_hears_its_own_posts(slack, app):
    client = AsyncWebClient(token=slack.options.bot_token, base_url=slack.api_url)
    await client.chat_postMessage(channel="C0001", text="me")
    await slack.until(lambda: app.events("message"))
    assert app.events()[0]["bot_id"] == "B0BOT"


async def test_an_edit_tells_what_it_was_and_what_it_is(slack, app):
    ts = (await slack.say("U0001", "C0001", "teh"))["ts"]
    edited = await slack.edit("U0001", "C0001", ts, "the")
    event = app.events()[1]
    assert event["subtype"] == "message_changed"
    assert (event["previous_message"]["text"], event["message"]["text"]) == ("teh", "the")
    assert event["message"]["edited"] == {"user": "U0001", "ts": edited["ts"]}


async def test_nobody_edits_what_another_wrote(slack):
    ts = (await slack.say("U0001", "C0001", "mine"))["ts"]
    with pytest.raises(LoopbackRefused, match="did not write"):
        await slack.edit("U0002", "C0001", ts, "yours")


async def test_deletions_and_reactions_are_told(slack, app):
    ts = (await slack.say("U0001", "C0001", "x"))["ts"]
    await slack.react("U0002", "C0001", ts, "eyes")
    await slack.delete("C0001", ts)
    await slack.until(lambda: len(app.events()) == 3)
    told = {event.get("subtype", event["type"]) for event in app.events()[1:]}
    assert told == {"reaction_added", "message_deleted"}


async def test_a_failed_event_is_retried_three_times_with_the_reason(slack, app):
    app.replies = [Reply(status=503)] * 4
    (event_id,) = (await slack.say("U0001", "D0001", "hi"))["event_ids"]
    tries = await slack.until(
        lambda: len(found := slack.deliveries(event_id=event_id)) == 4 and found
    )
    assert [each["retry_num"] for each in tries] == [0, 1, 2, 3]
    assert app.received[1].headers["X-Slack-Retry-Num"] == "1"
    assert app.received[1].headers["X-Slack-Retry-Reason"] == "http_error"
    assert app.received[0].raw == app.received[3].raw


async def test_the_second_retry_waits_a_scaled_minute(slack, app):
    await slack.settings(time_scale=0.01)
    app.replies = [Reply(status=500)] * 2
    await slack.say("U0001", "D0001", "hi")
    first, second, third = await slack.until(lambda: len(d := slack.deliveries()) == 3 and d)
    assert second["at"] - first["at"] < 0.5
    assert third["at"] - second["at"] >= 0.6


async def test_no_retry_is_honoured(slack, app):
    app.replies = [Reply(status=400, headers={"x-slack-no-retry": "1"})]
    await slack.say("U0001", "D0001", "one")
    await slack.say("U0001", "D0001", "two")
    assert [each["retry_num"] for each in slack.deliveries()] == [0, 0]


async def test_an_answer_after_the_deadline_is_a_timeout(slack, app):
    await slack.settings(answer_seconds=0.2)
    app.replies = [Reply(seconds=1.0)]
    await slack.say("U0001", "D0001", "hi")
    first, second = await slack.until(lambda: len(d := slack.deliveries()) == 2 and d)
    assert (first["reason"], second["ok"]) == ("http_timeout", True)


async def test_an_app_that_is_down_gets_the_event_when_it_is_back(slack, app, free_port):
    await slack.settings(target=f"http://127.0.0.1:{free_port}/slack/events", time_scale=0.01)
    await slack.say("U0001", "D0001", "are you there")
    await slack.set_target(app.url)
    (event,) = await slack.until(app.events)
    assert event["text"] == "are you there"
    assert slack.deliveries()[0]["reason"] == "connection_failed"


async def test_an_answered_event_may_come_again(slack, app):
    (event_id,) = (await slack.say("U0001", "D0001", "hi"))["event_ids"]
    assert (await slack.redeliver(event_id))["status"] == 200
    assert app.received[1].raw == app.received[0].raw
    assert app.received[1].headers["X-Slack-Retry-Num"] == "1"


@pytest.mark.parametrize("how", ["wrong", "old", "missing", "altered"])
async def test_a_forged_delivery_does_not_verify(slack, app, how):
    app.replies = [Reply(status=401)]
    assert (await slack.forge(STRANGER, how=how))["status"] == 401
    verifier = SignatureVerifier(slack.options.signing_secret)
    assert not verifier.is_valid_request(app.received[0].raw, dict(app.received[0].headers))


async def test_the_url_is_verified_with_a_challenge(slack, app):
    app.replies = [Reply(body={"challenge": "c" * 32})]
    answer = await slack.challenge()
    assert app.received[0].body["type"] == "url_verification"
    assert "c" * 32 in answer["body"]


async def test_an_event_of_another_workspace_can_be_sent(slack, app):
    await slack.event(STRANGER, team="T0002")
    assert app.received[0].body["team_id"] == "T0002"


async def test_a_signed_body_may_be_rubbish(slack, app):
    await slack.deliver("{", content_type="text/plain")
    verifier = SignatureVerifier(slack.options.signing_secret)
    assert verifier.is_valid_request(app.received[0].raw, dict(app.received[0].headers))
