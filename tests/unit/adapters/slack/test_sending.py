"""Sending: one message for one outbox entry, whatever breaks on the way."""

import pytest

from core.conversation import Card, DigestCard, Notice, Receipt, Reply
from core.errors import DeliveryError
from tests.unit.adapters.slack.support import MENTION, Scene, at, reply_to, scene

LONG = Reply(text="\n\n".join(f"Paragraph {number}. {'word ' * 60}" for number in range(60)))


async def thread(stage: Scene) -> str:
    return str((await stage.slack.say("U0001", "C0001", MENTION))["ts"])


async def test_a_reply_lands_in_the_thread_it_answers(tmp_path):
    async with scene(tmp_path) as stage:
        root = await thread(stage)
        receipt = await stage.adapter.send(reply_to(at("C0001", root), Reply(text="**Done**")))
        [post] = stage.slack.posts()
        assert (post["ts"], post["thread_ts"]) == (receipt.message_id, root)
        assert post["blocks"][0]["text"] == "**Done**"
        assert (post["unfurl_links"], post["unfurl_media"]) == (False, False)


async def test_a_dm_and_a_channel_itself_get_no_thread(tmp_path):
    async with scene(tmp_path) as stage:
        await stage.adapter.send(reply_to(at("D0001"), Reply(text="hi")))
        assert "thread_ts" not in stage.slack.calls("chat.postMessage")[0]["args"]


@pytest.mark.parametrize("kind", ["accept_then_drop", "cut_body", "accept_then_http"])
async def test_a_post_whose_answer_was_lost_is_found_and_not_repeated(tmp_path, kind):
    async with scene(tmp_path) as stage:
        delivery = reply_to(at("C0001", await thread(stage)), Reply(text="once"))
        assert await stage.adapter.find(delivery) is None
        await stage.slack.fault("chat.postMessage", kind)
        with pytest.raises(DeliveryError) as lost:
            await stage.adapter.send(delivery)
        assert lost.value.uncertain
        found = await stage.adapter.find(delivery)
        assert [post["ts"] for post in stage.slack.posts()] == [found.message_id]


async def test_a_top_level_post_is_found_in_the_channel(tmp_path):
    async with scene(tmp_path) as stage:
        delivery = reply_to(at("D0001"), Reply(text="hi"))
        receipt = await stage.adapter.send(delivery)
        assert await stage.adapter.find(delivery) == receipt
        assert (
            await stage.adapter.find(reply_to(at("D0001"), Reply(text="hi"), entry_id="x")) is None
        )


async def test_a_long_reply_goes_on_at_its_missing_part(tmp_path):
    async with scene(tmp_path) as stage:
        delivery = reply_to(at("C0001", await thread(stage)), LONG)
        await stage.slack.fault("chat.postMessage", "http", skip=1, status=500)
        with pytest.raises(DeliveryError):
            await stage.adapter.send(delivery)
        assert await stage.adapter.find(delivery) is None
        receipt = await stage.adapter.send(delivery)
        texts = [post["blocks"][0]["text"] for post in stage.slack.posts()]
        assert "".join("".join(texts).split()) == "".join(LONG.text.split())
        assert receipt.message_id == stage.slack.posts()[0]["ts"]


async def test_an_edit_makes_the_message_equal_to_the_new_text(tmp_path):
    async with scene(tmp_path) as stage:
        place = at("C0001", await thread(stage))
        receipt = await stage.adapter.send(reply_to(place, LONG))
        edit = reply_to(place, Reply(text="short"), entry_id="entry_2", receipt=receipt)
        assert (await stage.adapter.send(edit)).message_id == receipt.message_id
        shown = [seen for seen in await stage.slack.messages("C0001") if seen.get("bot_id")]
        assert [seen["blocks"][0]["text"] for seen in shown] == ["short"]
        again = reply_to(place, LONG, entry_id="entry_3", receipt=receipt)
        await stage.adapter.send(again)
        await stage.adapter.send(again)
        shown = [seen for seen in await stage.slack.messages("C0001") if seen.get("bot_id")]
        assert len(shown) == 2


async def test_a_decided_card_loses_its_buttons_and_names_who_decided(tmp_path):
    async with scene(tmp_path) as stage:
        card = Card(token="sus_1", title="Ship", body="it", state="approved")
        note = "Approved by slack:T0001:U0001."
        receipt = await stage.adapter.send(reply_to(at("C0001"), card))
        decided = card.model_copy(update={"note": note})
        await stage.adapter.send(reply_to(at("C0001"), decided, receipt=receipt))
        blocks = stage.slack.journal.entries("update")[-1]["blocks"]
        assert blocks[-1]["elements"][0]["text"] == "Approved by Ada."


async def test_a_private_notice_is_seen_by_one_person(tmp_path):
    async with scene(tmp_path) as stage:
        notice = Notice(text="Only you", to="slack:T0001:U0002")
        delivery = reply_to(at("C0001"), notice)
        await stage.adapter.send(delivery)
        [seen] = stage.slack.journal.entries("ephemeral")
        assert (seen["user"], seen["text"]) == ("U0002", "Only you")
        assert await stage.adapter.find(delivery) is None


@pytest.mark.parametrize(
    ("channel", "fault", "permanent", "uncertain", "retry_after"),
    [
        ("C9999", None, True, False, None),
        ("C0003", None, True, False, None),
        ("C0009", None, True, False, None),
        ("C0001", {"kind": "error", "error": "token_revoked"}, True, False, None),
        ("C0001", {"kind": "error", "error": "a_new_error"}, False, False, None),
        ("C0001", {"kind": "ratelimit", "retry_after": 7}, False, False, 7),
        ("C0001", {"kind": "http", "status": 502}, False, True, None),
        ("C0001", {"kind": "drop_before"}, False, True, None),
    ],
    ids=["unknown", "no member", "archived", "revoked", "new", "429", "502", "dropped"],
)
async def test_a_failure_says_what_the_sender_must_do(
    tmp_path, channel, fault, permanent, uncertain, retry_after
):
    async with scene(tmp_path) as stage:
        if fault:
            await stage.slack.fault("chat.postMessage", **fault)
        with pytest.raises(DeliveryError) as failed:
            await stage.adapter.send(reply_to(at(channel), Reply(text="hi")))
        told = failed.value
        assert (told.permanent, told.uncertain) == (permanent, uncertain)
        assert told.retry_after == retry_after
        assert len(stage.slack.calls("chat.postMessage")) == 1


async def test_when_slack_is_not_there_a_post_may_be_tried_again(tmp_path):
    async with scene(tmp_path) as stage:
        await stage.slack.process.stop()
        with pytest.raises(DeliveryError) as failed:
            await stage.adapter.send(reply_to(at("C0001"), DigestCard(title="t", lines=("a",))))
        assert not failed.value.permanent
        assert not failed.value.uncertain


async def test_editing_what_was_deleted_is_permanent(tmp_path):
    async with scene(tmp_path) as stage:
        gone = Receipt(message_id="1700000000.000999", channel="C0001")
        card = Card(token="sus_1", title="t", body="b")
        with pytest.raises(DeliveryError) as failed:
            await stage.adapter.send(reply_to(at("C0001"), card, receipt=gone))
        assert failed.value.permanent


async def test_names_come_from_slack_once_and_follow_a_change(tmp_path):
    async with scene(tmp_path) as stage:
        ids = ["slack:T0001:U0001", "slack:T0001:U9999", "discord:1:2"]
        for _ in range(2):
            assert await stage.adapter.names(ids[:1]) == {ids[0]: "Ada"}
        assert len(stage.slack.calls("users.info")) == 1
        assert await stage.adapter.names(ids) == {ids[0]: "Ada"}
        changed = {"id": "U0001", "team_id": "T0001", "profile": {"display_name": "Ada L."}}
        await stage.slack.event({"type": "user_change", "user": changed})
        assert await stage.adapter.names(ids[:1]) == {ids[0]: "Ada L."}


async def test_a_429_leaves_names_out_and_is_not_asked_again_meanwhile(tmp_path):
    async with scene(tmp_path) as stage:
        await stage.slack.fault("users.info", "ratelimit", retry_after=60)
        for _ in range(3):
            assert await stage.adapter.names(["slack:T0001:U0002"]) == {}
        assert len(stage.slack.calls("users.info")) == 1


async def test_slow_names_are_left_out_after_two_seconds(tmp_path):
    async with scene(tmp_path) as stage:
        await stage.slack.fault("users.info", "delay", seconds=6, where={"user": "U0002"})
        asked = ["slack:T0001:U0001", "slack:T0001:U0002"]
        assert await stage.adapter.names(asked) == {asked[0]: "Ada"}
