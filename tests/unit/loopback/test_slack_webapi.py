"""The loopback Slack through the eyes of slack_sdk's real client."""

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.loopback.slack.client import LoopbackSlack, slack_process

METADATA = {"event_type": "interlock_reply", "event_payload": {"outbox": "out_1", "part": 1}}
BUTTON = {
    "type": "button",
    "text": {"type": "plain_text", "text": "Approve"},
    "action_id": "approve",
}
CARD = [{"type": "actions", "elements": [BUTTON]}]


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    with slack_process(tmp_path_factory.mktemp("process")) as running:
        yield running


@pytest.fixture
async def slack(process, tmp_path):
    async with LoopbackSlack(tmp_path, process=process) as running:
        yield running


@pytest.fixture
def client(slack):
    return AsyncWebClient(token=slack.options.bot_token, base_url=slack.api_url)


async def refusal(call):
    with pytest.raises(SlackApiError) as refused:
        await call
    return refused.value.response["error"]


async def test_the_bot_learns_who_it_is(client):
    answer = await client.auth_test()
    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == ("T0001", "U0BOT", "B0BOT")
    assert "chat:write" in answer.headers["x-oauth-scopes"]


@pytest.mark.parametrize(
    ("token", "error"),
    [
        ("xoxb-stolen", "invalid_auth"),
        ("", "not_authed"),
        ("xapp-loopback-0001", "not_allowed_token_type"),
    ],
)
async def test_a_wrong_token_is_refused(slack, token, error):
    client = AsyncWebClient(token=token, base_url=slack.api_url)
    assert await refusal(client.auth_test()) == error


async def test_a_post_keeps_blocks_metadata_and_thread(slack, client):
    root = await client.chat_postMessage(channel="C0001", text="root")
    await client.chat_postMessage(
        channel="C0001",
        text="reply",
        blocks=CARD,
        metadata=METADATA,
        thread_ts=root["ts"],
        unfurl_links=False,
    )
    (post,) = slack.posts(thread_ts=root["ts"])
    assert post["text"] == "reply"
    assert post["blocks"][0]["elements"] == [BUTTON]
    assert post["metadata"] == METADATA
    assert post["unfurl_links"] is False


async def test_a_ts_rises_within_a_channel_and_returns_in_another(client):
    general = [(await client.chat_postMessage(channel="C0001", text="x"))["ts"] for _ in range(3)]
    assert general == sorted(set(general))
    first = (await client.chat_postMessage(channel="G0001", text="x"))["ts"]
    assert first == "1700000000.000100"


REFUSED_POSTS = {
    "unknown channel": ({"channel": "C4040", "text": "x"}, "channel_not_found"),
    "archived": ({"channel": "C0009", "text": "x"}, "is_archived"),
    "not a member": ({"channel": "C0003", "text": "x"}, "not_in_channel"),
    "nothing to say": ({"channel": "C0001", "text": ""}, "no_text"),
    "too long": ({"channel": "C0001", "text": "x" * 40_001}, "msg_too_long"),
    "unknown block": (
        {"channel": "C0001", "text": "x", "blocks": [{"type": "x"}]},
        "invalid_blocks",
    ),
    "two long markdown blocks": (
        {
            "channel": "C0001",
            "text": "x",
            "blocks": [{"type": "markdown", "text": "x" * 6_601}] * 2,
        },
        "msg_blocks_too_long",
    ),
    "markdown and text": (
        {"channel": "C0001", "text": "x", "markdown_text": "y"},
        "markdown_text_conflict",
    ),
    "long markdown text": ({"channel": "C0001", "markdown_text": "x" * 12_001}, "msg_too_long"),
    "empty thread": ({"channel": "C0001", "text": "x", "thread_ts": ""}, "invalid_thread_ts"),
    "thread that is a number": (
        {"channel": "C0001", "text": "x", "thread_ts": "1700000000.0001"},
        "invalid_thread_ts",
    ),
    "unknown thread": (
        {"channel": "C0001", "text": "x", "thread_ts": "1600000000.000100"},
        "thread_not_found",
    ),
    "metadata without payload": (
        {"channel": "C0001", "text": "x", "metadata": {"event_type": "t"}},
        "invalid_metadata_schema",
    ),
    "huge metadata": (
        {
            "channel": "C0001",
            "text": "x",
            "metadata": {"event_type": "t", "event_payload": {"a": "x" * 16_000}},
        },
        "metadata_too_large",
    ),
}


@pytest.mark.parametrize(("arguments", "error"), REFUSED_POSTS.values(), ids=REFUSED_POSTS)
async def test_a_post_slack_would_refuse_is_refused(client, arguments, error):
    assert await refusal(client.api_call("chat.postMessage", json=arguments)) == error


async def test_a_refused_post_names_the_place_and_leaves_no_message(slack, client):
    before = len(slack.posts())
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel="C0001", text="x", blocks=[{"type": "lever"}])
    assert "/blocks/0/type" in refused.value.response["response_metadata"]["messages"][0]
    assert len(slack.posts()) == before


async def test_a_form_encoded_post_means_the_same_as_json(slack, client):
    form = {"channel": "C0001", "text": "by form", "blocks": '[{"type": "divider"}]'}
    await client.api_call("chat.postMessage", data=form)
    (post,) = slack.posts(text="by form")
    assert post["blocks"][0]["type"] == "divider"


async def test_a_reply_to_a_reply_is_refused(client):
    root = await client.chat_postMessage(channel="C0001", text="root")
    reply = await client.chat_postMessage(channel="C0001", text="r", thread_ts=root["ts"])
    again = client.chat_postMessage(channel="C0001", text="x", thread_ts=reply["ts"])
    assert await refusal(again) == "cannot_reply_to_message"


async def test_an_edit_keeps_blocks_unless_they_are_emptied(slack, client):
    ts = (await client.chat_postMessage(channel="C0001", text="plan", blocks=CARD))["ts"]
    await client.chat_update(channel="C0001", ts=ts, text="plan!")
    await client.chat_update(channel="C0001", ts=ts, text="approved", blocks=[])
    first, second = slack.journal.entries("update", ts=ts)
    assert first["blocks"][0]["elements"] == [BUTTON]
    assert (second["text"], second["blocks"]) == ("approved", [])


async def test_an_edit_of_somebody_elses_or_no_message_is_refused(slack, client):
    ts = (await slack.say("U0001", "C0001", "mine", wait=False))["ts"]
    edit = client.chat_update(channel="C0001", ts=ts, text="x")
    assert await refusal(edit) == "cant_update_message"
    lost = client.chat_update(channel="C0001", ts="1600000000.000100", text="x")
    assert await refusal(lost) == "message_not_found"


async def test_an_edit_over_4000_bytes_is_refused(client):
    ts = (await client.chat_postMessage(channel="C0001", text="x"))["ts"]
    long = client.chat_update(channel="C0001", ts=ts, text="é" * 2_001)
    assert await refusal(long) == "msg_too_long"


async def test_a_thread_is_read_in_pages_with_metadata_on_request(client):
    root = (await client.chat_postMessage(channel="C0001", text="0", metadata=METADATA))["ts"]
    for number in (1, 2):
        await client.chat_postMessage(channel="C0001", text=str(number), thread_ts=root)
    first = await client.conversations_replies(
        channel="C0001", ts=root, limit=2, include_all_metadata=True
    )
    cursor = first["response_metadata"]["next_cursor"]
    rest = await client.conversations_replies(channel="C0001", ts=root, limit=2, cursor=cursor)
    assert [message["text"] for message in first["messages"] + rest["messages"]] == ["0", "1", "2"]
    assert first["messages"][0]["metadata"] == METADATA
    assert (first["has_more"], rest["has_more"]) == (True, False)


async def test_metadata_stays_hidden_from_who_does_not_ask(client):
    root = (await client.chat_postMessage(channel="C0001", text="0", metadata=METADATA))["ts"]
    answer = await client.conversations_replies(channel="C0001", ts=root)
    assert "metadata" not in answer["messages"][0]


async def test_history_shows_top_level_messages_newest_first(slack, client):
    old = (await client.chat_postMessage(channel="C0002", text="old"))["ts"]
    await client.chat_postMessage(channel="C0002", text="reply", thread_ts=old)
    await slack.say("U0002", "C0002", "new", wait=False)
    answer = await client.conversations_history(channel="C0002", oldest=old, inclusive=True)
    assert [message["text"] for message in answer["messages"]] == ["new", "old"]


async def test_people_and_places_are_looked_up(client):
    ada = (await client.users_info(user="U0001"))["user"]
    assert ada["profile"]["display_name"] == "Ada"
    assert (await client.conversations_info(channel="D0001"))["channel"]["user"] == "U0001"
    assert (await client.conversations_info(channel="G0001"))["channel"]["is_private"]
    assert (await client.usergroups_users_list(usergroup="S0009"))["users"] == ["U0001", "U0002"]
    assert (await client.conversations_open(users="U0002"))["channel"]["id"] == "D0002"


async def test_what_does_not_exist_is_said_to_be_unknown(client):
    assert await refusal(client.users_info(user="U4040")) == "user_not_found"
    assert await refusal(client.conversations_info(channel="C4040")) == "channel_not_found"
    assert await refusal(client.usergroups_users_list(usergroup="S1")) == "no_such_subteam"
    assert await refusal(client.api_call("chat.shout")) == "unknown_method"


async def test_an_ephemeral_is_shown_to_one_person_and_kept_out_of_history(slack, client):
    answer = await client.chat_postEphemeral(channel="C0001", user="U0002", text="only you")
    (shown,) = slack.journal.entries("ephemeral", ts=answer["message_ts"])
    assert (shown["user"], shown["text"]) == ("U0002", "only you")
    assert answer["message_ts"] not in [m["ts"] for m in await slack.messages("C0001")]


async def test_a_reaction_is_added_once_and_removed_once(client):
    ts = (await client.chat_postMessage(channel="C0001", text="x"))["ts"]
    place = {"channel": "C0001", "timestamp": ts, "name": "eyes"}
    await client.reactions_add(**place)
    assert await refusal(client.reactions_add(**place)) == "already_reacted"
    await client.reactions_remove(**place)
    assert await refusal(client.reactions_remove(**place)) == "no_reaction"


async def test_a_permalink_of_a_reply_names_its_thread(client):
    root = (await client.chat_postMessage(channel="C0001", text="x"))["ts"]
    reply = (await client.chat_postMessage(channel="C0001", text="y", thread_ts=root))["ts"]
    link = (await client.chat_getPermalink(channel="C0001", message_ts=reply))["permalink"]
    assert link.endswith(f"/archives/C0001/p{reply.replace('.', '')}?thread_ts={root}&cid=C0001")


async def test_a_status_is_shown_until_the_bot_posts(slack, client):
    root = (await slack.say("U0001", "C0001", "hi", wait=False))["ts"]
    await client.assistant_threads_setStatus(channel_id="C0001", thread_ts=root, status="thinking")
    assert (await slack.control("statuses"))["statuses"] == {f"C0001:{root}": "thinking"}
    await client.chat_postMessage(channel="C0001", thread_ts=root, text="done")
    assert (await slack.control("statuses"))["statuses"] == {}


async def test_a_stream_grows_and_is_closed_for_good(slack, client):
    root = (await slack.say("U0001", "D0001", "hi", wait=False))["ts"]
    ts = (await client.chat_startStream(channel="D0001", thread_ts=root, markdown_text="a"))["ts"]
    await client.chat_appendStream(channel="D0001", ts=ts, markdown_text="b")
    await client.chat_stopStream(channel="D0001", ts=ts, markdown_text="c")
    assert (await slack.messages("D0001"))[-1]["text"] == "abc"
    late = client.chat_appendStream(channel="D0001", ts=ts, markdown_text="d")
    assert await refusal(late) == "message_not_in_streaming_state"


async def test_a_stream_in_a_channel_needs_its_reader(slack, client):
    root = (await slack.say("U0001", "C0001", "hi", wait=False))["ts"]
    start = client.chat_startStream(channel="C0001", thread_ts=root)
    assert await refusal(start) == "missing_recipient_team_id"


async def test_every_call_is_in_the_journal_with_its_answer_and_without_the_token(slack, client):
    await client.chat_postMessage(channel="C0001", text="witness")
    (call,) = slack.calls("chat.postMessage", args__text="witness")
    assert call["answer"]["ok"]
    assert slack.options.bot_token not in str(call)
