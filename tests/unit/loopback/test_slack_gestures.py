"""Buttons, modals, slash commands and response URLs."""

import json

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.loopback.slack.client import LoopbackRefused, LoopbackSlack, slack_process
from tests.loopback.slack.receiver import Receiver, Reply


def button(action_id, value):
    text = {"type": "plain_text", "text": action_id}
    return {"type": "button", "text": text, "action_id": action_id, "value": value}


CARD = [{"type": "actions", "elements": [button("pa:1:a", "plan_1"), button("pa:1:r", "plan_1")]}]
REASON = {
    "type": "input",
    "block_id": "reason",
    "label": {"type": "plain_text", "text": "Why?"},
    "element": {"type": "plain_text_input", "action_id": "text", "max_length": 20},
}


def modal(**fields):
    return {
        "type": "modal",
        "callback_id": "reject",
        "title": {"type": "plain_text", "text": "Reject"},
        "submit": {"type": "plain_text", "text": "Send"},
        "private_metadata": "plan_1",
        "blocks": [REASON],
        **fields,
    }


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
        tmp_path, process=process, target=app.url, trigger_seconds=0.5
    ) as running:
        yield running


@pytest.fixture
def client(slack):
    return AsyncWebClient(token=slack.options.bot_token, base_url=slack.api_url)


@pytest.fixture
async def card(slack, app, client):
    ts = (await client.chat_postMessage(channel="C0001", text="plan", blocks=CARD))["ts"]
    await slack.until(app.events)
    return ts


@pytest.fixture
def interaction(app):
    """The newest interactive payload that came."""
    return lambda: [r.body for r in app.received if r.body["type"] != "event_callback"][-1]


@pytest.fixture
async def trigger(slack, card):
    return (await slack.click("U0001", card, "C0001", "pa:1:r"))["trigger_id"]


async def refusal(call):
    with pytest.raises(SlackApiError) as refused:
        await call
    return refused.value.response["error"]


async def test_a_click_carries_the_button_the_message_and_the_person(slack, card, interaction):
    answer = await slack.click("U0002", card, "C0001", "pa:1:a")
    payload = interaction()
    (action,) = payload["actions"]
    assert answer["status"] == 200
    assert (action["action_id"], action["value"], action["type"]) == ("pa:1:a", "plan_1", "button")
    assert action["block_id"] == payload["message"]["blocks"][0]["block_id"]
    assert (payload["user"]["id"], payload["team"]["id"]) == ("U0002", "T0001")
    assert payload["container"]["message_ts"] == payload["message"]["ts"] == card


async def test_each_press_has_its_own_time(slack, card, interaction):
    times = set()
    for _ in range(2):
        await slack.click("U0001", card, "C0001", "pa:1:a")
        times.add(interaction()["actions"][0]["action_ts"])
    assert len(times) == 2


async def test_a_click_is_a_signed_form(slack, app, card):
    await slack.click("U0001", card, "C0001", "pa:1:a")
    assert app.received[-1].headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert app.received[-1].raw.startswith(b"payload=")
    assert "X-Slack-Signature" in app.received[-1].headers


async def test_a_button_that_is_gone_cannot_be_pressed(slack, client, card):
    await client.chat_update(channel="C0001", ts=card, text="approved", blocks=[])
    with pytest.raises(LoopbackRefused, match="pa:1:a"):
        await slack.click("U0001", card, "C0001", "pa:1:a")


async def test_a_stale_screen_still_presses_a_button_that_is_gone(slack, client, card):
    await client.chat_update(channel="C0001", ts=card, text="approved", blocks=[])
    answer = await slack.click("U0002", card, "C0001", "pa:1:a", stale=True)
    assert answer["status"] == 200


async def test_nobody_presses_in_a_strangers_dm(slack, client):
    ts = (await client.chat_postMessage(channel="D0001", text="plan", blocks=CARD))["ts"]
    with pytest.raises(LoopbackRefused, match="does not see"):
        await slack.click("U0002", ts, "D0001", "pa:1:a")


async def test_an_ephemeral_button_is_pressed_by_its_reader_only(slack, client, interaction):
    place = {"channel": "C0001", "user": "U0002"}
    ts = (await client.chat_postEphemeral(**place, text="plan", blocks=CARD))["message_ts"]
    await slack.click("U0002", ts, "C0001", "pa:1:r")
    assert interaction()["container"]["is_ephemeral"]
    with pytest.raises(LoopbackRefused, match="sees no message"):
        await slack.click("U0001", ts, "C0001", "pa:1:r")


async def test_a_failing_app_fails_the_click_without_a_retry(slack, app, card):
    app.replies = [Reply(status=500)]
    assert (await slack.click("U0001", card, "C0001", "pa:1:a"))["reason"] == "http_error"
    assert len(slack.journal.entries("interaction")) == 1


async def test_a_modal_opens_for_whoever_clicked(slack, client, trigger):
    answer = await client.views_open(trigger_id=trigger, view=modal())
    (view,) = await slack.views()
    assert (view["id"], view["owner"]) == (answer["view"]["id"], "U0001")
    assert view["private_metadata"] == "plan_1"


async def test_a_trigger_opens_one_modal(client, trigger):
    await client.views_open(trigger_id=trigger, view=modal())
    again = client.views_open(trigger_id=trigger, view=modal())
    assert await refusal(again) == "exchanged_trigger_id"


async def test_a_trigger_expires(slack, client, trigger):
    issued = slack.journal.entries("interaction")[-1]["at"]
    await slack.until(lambda: slack.journal.write("tick")["at"] > issued + 0.6)
    assert (
        await refusal(client.views_open(trigger_id=trigger, view=modal())) == "expired_trigger_id"
    )


async def test_an_invented_trigger_is_refused(client):
    assert (
        await refusal(client.views_open(trigger_id="1.2.3", view=modal())) == "invalid_trigger_id"
    )


BAD_VIEWS = {
    "long title": (modal(title={"type": "plain_text", "text": "x" * 25}), "/view/title"),
    "long submit": (modal(submit={"type": "plain_text", "text": "x" * 25}), "/view/submit"),
    "long close": (modal(close={"type": "plain_text", "text": "x" * 25}), "/view/close"),
    "long metadata": (modal(private_metadata="x" * 3001), "/view/private_metadata"),
    "long callback": (modal(callback_id="x" * 256), "/view/callback_id"),
    "too many blocks": (modal(blocks=[{"type": "divider"}] * 101), "/view/blocks"),
    "input without submit": (modal(submit=None), "submit"),
    "no title": (modal(title=None), "title"),
    "no modal": (modal(type="window"), "/view"),
}


@pytest.mark.parametrize(("view", "place"), BAD_VIEWS.values(), ids=BAD_VIEWS)
async def test_a_bad_modal_is_refused_and_the_trigger_kept(client, trigger, view, place):
    with pytest.raises(SlackApiError) as refused:
        await client.views_open(trigger_id=trigger, view=view)
    assert place in str(refused.value.response["response_metadata"]["messages"])
    assert (await client.views_open(trigger_id=trigger, view=modal()))["ok"]


async def test_a_modal_is_updated_by_id_and_guarded_by_its_hash(slack, client, trigger):
    view = (await client.views_open(trigger_id=trigger, view=modal()))["view"]
    titled = modal(title={"type": "plain_text", "text": "Reject v2"})
    await client.views_update(view_id=view["id"], hash=view["hash"], view=titled)
    assert (await slack.views())[0]["title"]["text"] == "Reject v2"
    late = client.views_update(view_id=view["id"], hash=view["hash"], view=modal())
    assert await refusal(late) == "hash_conflict"
    assert await refusal(client.views_update(view_id="V9", view=modal())) == "not_found"


async def test_a_submission_carries_what_was_typed_and_closes_the_modal(
    slack, client, trigger, interaction
):
    view_id = (await client.views_open(trigger_id=trigger, view=modal()))["view"]["id"]
    await slack.submit_view("U0001", view_id, {"text": "too risky"})
    view = interaction()["view"]
    assert view["state"]["values"]["reason"]["text"]["value"] == "too risky"
    assert (view["callback_id"], view["private_metadata"]) == ("reject", "plan_1")
    assert await slack.views() == []


@pytest.mark.parametrize(
    ("user", "values"),
    [("U0001", {}), ("U0001", {"text": "x" * 21}), ("U0002", {"text": "not mine"})],
    ids=["required field empty", "text too long", "somebody else's modal"],
)
async def test_what_a_person_cannot_submit_is_refused(slack, client, trigger, user, values):
    view_id = (await client.views_open(trigger_id=trigger, view=modal()))["view"]["id"]
    with pytest.raises(LoopbackRefused):
        await slack.submit_view(user, view_id, values)


@pytest.mark.parametrize(
    ("answer", "titles"),
    [
        ({"response_action": "errors", "errors": {"reason": "say more"}}, ["Reject"]),
        (
            {
                "response_action": "update",
                "view": modal(title={"type": "plain_text", "text": "Sure?"}),
            },
            ["Sure?"],
        ),
        ({"response_action": "push", "view": modal()}, ["Reject", "Reject"]),
        ({"response_action": "clear"}, []),
    ],
    ids=["errors", "update", "push", "clear"],
)
async def test_the_answer_to_a_submission_decides_what_is_shown(
    slack, app, client, trigger, answer, titles
):
    view_id = (await client.views_open(trigger_id=trigger, view=modal()))["view"]["id"]
    app.replies = [Reply(body=answer)]
    await slack.submit_view("U0001", view_id, {"text": "no"})
    assert [view["title"]["text"] for view in await slack.views()] == titles


@pytest.mark.parametrize(("asked", "told"), [(True, "view_closed"), (False, "block_actions")])
async def test_closing_is_told_only_when_asked_for(
    slack, client, trigger, interaction, asked, told
):
    opened = await client.views_open(trigger_id=trigger, view=modal(notify_on_close=asked))
    await slack.close_view("U0001", opened["view"]["id"])
    assert interaction()["type"] == told
    assert await slack.views() == []


async def test_a_slash_command_is_a_form_and_its_answer_is_private(slack, app):
    app.replies = [Reply(body={"response_type": "ephemeral", "text": "2 plans wait"})]
    await slack.slash("U0003", "C0001", "/interlock", "status")
    form = app.received[0].body
    assert (form["command"], form["text"], form["user_id"]) == ("/interlock", "status", "U0003")
    assert form["trigger_id"]
    (shown,) = slack.journal.entries("ephemeral")
    assert (shown["user"], shown["text"], shown["by"]) == ("U0003", "2 plans wait", "command")


async def test_a_response_url_answers_privately_five_times(slack, card, interaction):
    await slack.click("U0001", card, "C0001", "pa:1:a")
    hook = AsyncWebhookClient(interaction()["response_url"])
    answers = [(await hook.send(text=f"note {n}")).status_code for n in range(6)]
    assert answers == [200] * 5 + [404]
    assert [note["by"] for note in slack.journal.entries("ephemeral")] == ["response_url"] * 5


async def test_a_response_url_replaces_the_card_or_posts_for_all(slack, card, interaction):
    await slack.click("U0001", card, "C0001", "pa:1:a")
    hook = AsyncWebhookClient(interaction()["response_url"])
    await hook.send(text="approved", replace_original=True)
    await hook.send(text="for all", response_type="in_channel")
    replaced, posted = await slack.messages("C0001")
    assert (replaced["text"], replaced["blocks"], posted["text"]) == ("approved", [], "for all")


async def test_an_unknown_verb_of_the_control_api_is_not_found(slack):
    async with aiohttp.ClientSession() as session:
        answer = await session.post(f"{slack.process.url}/_control/dance", data=json.dumps({}))
        assert answer.status == 404
