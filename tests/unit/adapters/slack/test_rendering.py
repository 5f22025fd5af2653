"""Rendering: whatever the model writes, Slack takes it and nobody is pinged."""

import json
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.models.blocks import Block

from adapters.shared.splitting import byte_size, utf16_size
from adapters.slack import manifest
from adapters.slack.interactions import CardPlace
from adapters.slack.markup import escape_markdown, to_mrkdwn
from adapters.slack.modals import render_bare_reject, render_reject_view
from adapters.slack.names import display_name
from adapters.slack.render import render
from core.conversation import Button, Card, DigestCard, Notice, Reply
from tests.loopback.slack.blocks import check_message_blocks, check_view_blocks

WILD = st.text(max_size=200) | st.sampled_from(
    ["```py\n" + "x = 1 < 2\n" * 900 + "```", "&" * 4_000, "😀" * 7_000, "a" * 13_000, "<!channel>"]
)
TEXTS = st.lists(WILD, max_size=4).map("\n\n".join)
BUTTONS = (Button(label="Approve", action="approve", style="primary"),)
CARDS = st.builds(
    Card, token=st.text("abc_09", min_size=1, max_size=60), title=WILD, body=TEXTS,
    state=st.sampled_from(["waiting", "approved"]), note=st.none() | WILD,
    buttons=st.just(BUTTONS), version=st.integers(1, 3),
)  # fmt: skip
DIGESTS = st.builds(
    DigestCard, title=WILD, lines=st.lists(WILD, max_size=90).map(tuple), more=st.integers(0, 9)
)
PAYLOADS = TEXTS.map(lambda text: Reply(text=text)) | CARDS | DIGESTS
PAYLOADS |= TEXTS.map(lambda text: Notice(text=text))


@given(PAYLOADS)
def test_slack_takes_every_message_whatever_was_written(payload):
    for part in render(payload):
        blocks = list(part.blocks)
        assert check_message_blocks(blocks) == []
        assert [Block.parse(block).to_dict()["type"] for block in blocks] == [
            block["type"] for block in blocks
        ]
        assert 0 < byte_size(part.text) <= 3_500
        assert (
            sum(utf16_size(block["text"]) for block in blocks if block["type"] == "markdown")
            <= 13_000
        )


@given(TEXTS)
def test_nothing_a_model_writes_leaves_an_angle_bracket_open(text):
    shown = json.dumps([part.blocks for part in render(Reply(text=text))])
    assert "<" not in shown


@given(CARDS | DIGESTS)
def test_on_cards_an_angle_bracket_opens_links_only(payload):
    shown = json.dumps([part.blocks for part in render(payload)])
    assert not re.search(r"<(?!https?://|mailto:)", shown, re.IGNORECASE)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<!channel> <!here> <@U0OTHER>", "&lt;!channel&gt; &lt;!here&gt; &lt;@U0OTHER&gt;"),
        ("[x](!channel)", "x (!channel)"),
        ("[x](javascript:alert)", "x (javascript:alert)"),
        ("[a](https://a.b/?c=1&d=(2))", "[a](https://a.b/?c=1&amp;d=(2))"),
        ("<https://a.b>", "https://a.b"),
        ("> quoted > twice", "> quoted &gt; twice"),
        ("x86_64 `ChartPanel` C:\\Users", "x86_64 `ChartPanel` C:\\Users"),
        ("`a < [b](c)`", "`a &lt; [b](c)`"),
        ("```\n> a\n[x](y)\n```\n> b", "```\n&gt; a\n[x](y)\n```\n> b"),
        ("mail a@b.c, @scope/pkg", "mail a@b.c, @scope/pkg"),
    ],
)
def test_only_the_three_control_characters_are_escaped(written, shown):
    assert escape_markdown(written) == shown


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("## A **big** plan", "*A big plan*"),
        ("- one\n  * two", "• one\n  • two"),
        ("**bold** *soft* ~~gone~~", "*bold* _soft_ ~gone~"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
        ("[docs](https://a.b)", "<https://a.b|docs>"),
        ("```python\na **b**\n```", "```\na **b**\n```"),
        ("`**not bold**`", "`**not bold**`"),
    ],
)
def test_a_plan_is_shown_in_slacks_older_markup(markdown, mrkdwn):
    assert to_mrkdwn(markdown) == mrkdwn


@given(TEXTS)
def test_the_older_markup_is_never_longer(text):
    escaped = escape_markdown(text)
    assert utf16_size(to_mrkdwn(escaped)) <= utf16_size(escaped)


def test_only_a_waiting_card_has_buttons_and_they_carry_the_token_alone():
    card = Card(token="sus_1", title="Ship", body="it", buttons=BUTTONS)
    [part] = render(card)
    assert part.blocks[-1]["elements"] == [
        {
            "type": "button", "action_id": "pa:sus_1:a", "value": "sus_1", "style": "primary",
            "text": {"type": "plain_text", "text": "Approve"},
        }
    ]  # fmt: skip
    [decided] = render(card.model_copy(update={"state": "rejected", "note": "Rejected by Ada: no"}))
    assert [block["type"] for block in decided.blocks] == ["header", "section", "context"]


def test_a_plan_too_long_to_show_says_how_much_is_missing():
    body = "\n".join(f"{number:06} {'x' * 90}" for number in range(3_000))
    [part] = render(Card(token="sus_1", title="Ship", body=body, buttons=BUTTONS))
    shown = sum(block["text"]["text"].count("\n") + 1 for block in part.blocks[1:46])
    assert part.blocks[46]["elements"][0]["text"].startswith(f"… and {3_000 - shown} more lines")


def test_a_digest_says_how_many_are_left_out():
    lines = tuple("y" * 2_000 for _ in range(60))
    [part] = render(DigestCard(title="Today", lines=lines, more=3))
    assert part.blocks[-1]["elements"][0]["text"] == "… and 18 more."


def test_the_modal_and_the_way_out_are_what_slack_takes():
    view = render_reject_view(CardPlace(token="t" * 240, channel="C1", ts="1.0", root="1.0"))
    assert check_view_blocks(view["blocks"]) == []
    assert len(view["private_metadata"]) < 3_000
    assert check_message_blocks(render_bare_reject("t" * 240)) == []


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"profile": {"display_name": "Ada", "real_name": "Ada L"}, "name": "al"}, "Ada"),
        ({"profile": {"display_name": " ", "real_name": "Ada L"}, "name": "al"}, "Ada L"),
        ({"profile": None, "name": "al"}, "al"),
        ({}, ""),
    ],
    ids=["display", "real", "handle", "none"],
)
def test_people_are_called_what_they_chose(user, name):
    assert display_name(user) == name


@pytest.mark.parametrize("url", [None, "https://bots.example.com/"])
def test_the_manifest_is_yaml_that_asks_for_what_we_use(url):
    text = manifest(public_url=url)
    app = yaml.safe_load(text)
    assert app["settings"]["socket_mode_enabled"] is (url is None)
    assert "chat:write" in app["oauth_config"]["scopes"]["bot"]
    assert "message.groups" in app["settings"]["event_subscriptions"]["bot_events"]
    assert app["features"]["slash_commands"][0]["command"] == "/interlock"
    assert ("https://bots.example.com/slack/events" in text) is (url is not None)
    assert "Delayed Events" in text
