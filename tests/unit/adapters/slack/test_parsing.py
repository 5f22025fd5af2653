"""Parsing: what an event says, to whom, and under which key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import interactions, parse
from adapters.slack.samples import samples
from adapters.slack.text import read_text
from tests.unit.adapters.slack.support import BOT, at


def body(text: str = "hello", **fields) -> dict:
    event = {"type": "message", "user": "U0001", "channel": "C0001", "ts": "1700000000.000100"}
    return {"event_id": "Ev1", "team_id": "T0001", "event": {**event, "text": text, **fields}}


def hear(text: str = "hello", **fields) -> parse.Heard | None:
    return parse.message(body(text, **fields), bot=BOT)


def test_a_message_carries_who_said_it_where_and_when():
    heard = parse.message(
        body("<@U0BOT> hi"), bot=BOT, name_of={"slack:T0001:U0001": "Ada"}.get
    ).inbound
    assert list(heard.attributes.items()) == [
        ("name", "Ada"), ("from", "slack"), ("id", "slack:T0001:U0001"),
    ]  # fmt: skip
    assert heard.metadata == {"ts": "1700000000.000100", "channel": "C0001", "event_id": "Ev1"}
    assert heard.occurred_at.isoformat() == "2023-11-14T22:13:20.000100+00:00"
    assert not heard.direct


@pytest.mark.parametrize(
    ("fields", "root", "direct", "addressed"),
    [
        ({}, "1700000000.000100", False, False),
        ({"type": "app_mention"}, "1700000000.000100", False, True),
        ({"text": "<@U0BOT|bot> hi"}, "1700000000.000100", False, True),
        ({"thread_ts": "1.0", "channel_type": "group"}, "1.0", False, False),
        ({"channel": "D1", "channel_type": "im"}, "-", True, True),
        ({"channel": "D1", "channel_type": "im", "thread_ts": "1.0"}, "1.0", True, True),
        ({"channel": "G2", "channel_type": "mpim"}, "1700000000.000100", False, False),
    ],
    ids=["channel", "mention", "labelled", "private thread", "dm", "dm thread", "group dm"],
)
def test_where_a_message_belongs(fields, root, direct, addressed):
    heard = hear(**fields)
    assert heard.inbound.conversation == at(fields.get("channel", "C0001"), root)
    assert (heard.inbound.direct, heard.addressed) == (direct, addressed)


@pytest.mark.parametrize(
    "fields",
    [
        {"bot_id": "B0BOT"}, {"user": "U0BOT"}, {"bot_id": "B9"}, {"subtype": "bot_message"},
        {"subtype": "message_changed"}, {"subtype": "message_deleted"}, {"hidden": True},
        {"subtype": "channel_join"}, {"user": None}, {"ts": 17}, {"type": "reaction_added"},
        {"text": ""},
    ],
    ids=[
        "ours", "our user", "another bot", "old bot", "edit", "deletion", "hidden", "joined",
        "nobody", "odd ts", "reaction", "nothing",
    ],
)  # fmt: skip
def test_what_nobody_said_to_us_ends_here(fields):
    assert hear(**fields) is None


def test_a_stranger_of_a_connected_workspace_is_not_taken_for_one_of_ours():
    assert hear(user_team="T0666").inbound.sender.id == "slack:T0666:U0001"


@pytest.mark.parametrize(
    ("text", "kind", "lane", "contents"),
    [
        ("<@U0BOT> !stop", "stop", None, None),
        ("Stop", "stop", None, None),
        ("stop the deploy", "message", "deliver", "stop the deploy"),
        ("!queue  later", "message", "queue", "later"),
        ("!queue", "message", "deliver", "!queue"),
        ("!queued", "message", "deliver", "!queued"),
    ],
)
def test_stop_and_queue_are_words_at_the_front(text, kind, lane, contents):
    said = hear(text).inbound
    assert said.kind == kind
    assert getattr(said, "lane", None) == lane
    assert getattr(said, "contents", None) == contents


def test_a_bare_mention_is_still_heard():
    assert hear("<@U0BOT>").inbound.contents == "@U0BOT"


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("&lt;@U0BOT&gt;", "<@U0BOT>"),
        ("<@U0BOT>  ask <@U2|bob>", "ask @U2"),
        ("in <#C1|general> or <#C2>", "in #general (C1) or #C2"),
        ("<https://a.b/?x=1&amp;y=2|docs> <https://c.d>", "docs (https://a.b/?x=1&y=2) https://c.d"),
        ("<mailto:a@b.c|a@b.c>", "a@b.c"),
        ("<!here> <!subteam^S1|@ops> <!date^1^{date}|today>", "@here @S1 today"),
        ("a\x00b\ud800", "a\ufffdb\ufffd"),
    ],
    ids=["entities", "typed", "people", "channels", "links", "mail", "special", "unstorable"],
)  # fmt: skip
def test_slack_markup_becomes_plain_text(raw, read):
    assert read_text(raw, bot_user="U0BOT") == read


def test_a_message_of_blocks_alone_is_read_and_may_mention_us():
    elements = [{"type": "user", "user_id": "U0BOT"}, {"type": "text", "text": " look & see"}]
    section = {"type": "rich_text_section", "elements": elements}
    heard = hear("", blocks=[{"type": "rich_text", "elements": [section]}])
    assert (heard.inbound.contents, heard.addressed) == ("look & see", True)


def test_a_forwarded_message_and_a_file_are_told():
    shared = {"is_share": True, "author_name": "Bob", "text": "the &lt;log&gt;"}
    heard = hear("see", attachments=[shared], files=[{"name": "<!channel>.txt"}])
    assert heard.inbound.contents == "see\nForwarded from Bob: the <log>\n[file: <!channel>.txt]"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["text", "type", "elements", "blocks", "user", "team_id", "id", "files"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["blocks", "attachments", "files", "text"]), JSON), JSON)
def test_no_shape_of_an_event_makes_the_parser_stumble(fields, odd):
    parse.message(body(**fields), bot=BOT)
    parse.message({"event": odd}, bot=BOT)
    interactions.press({"actions": odd, "user": odd, "container": odd}, bot=BOT)
    interactions.submission({"view": odd, "user": odd}, bot=BOT)


def test_a_click_is_named_by_who_pressed_what_when():
    press = interactions.press(
        {
            "user": {"id": "U1", "team_id": "T0001"},
            "container": {"channel_id": "C1", "message_ts": "2.0", "thread_ts": "1.0"},
            "actions": [{"action_id": "pa:sus_1:a", "action_ts": "3.0"}],
        },
        bot=BOT,
    )
    assert press.event_key == "slack:T0001:2.0:U1:pa:sus_1:a:3.0"
    assert press.conversation == at("C1", "1.0")


def test_a_top_level_card_with_replies_still_belongs_to_the_channel():
    press = interactions.press(
        {
            "user": {"id": "U1"},
            "container": {"channel_id": "D1", "message_ts": "2.0", "thread_ts": "2.0"},
            "actions": [{"action_id": "pa:sus_1:s"}],
        },
        bot=BOT,
    )
    assert press.stop().conversation == at("D1")


def test_every_kind_of_ingress_has_a_sample_of_a_stranger():
    kinds = {handler.sample.kind for handler in samples()}
    assert kinds == {"message", "stop", "decision"}
    assert all(handler.sample.sender.id == "slack:T0SAMPLE:U0STRANGER" for handler in samples())
    assert len({handler.name for handler in samples()}) == len(samples())
