"""Verifying: nothing unsigned is read, and nothing signed breaks us."""

import io
import json
import time

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from adapters.slack.body import read_body, read_json
from adapters.slack.ingress import MOST_BYTES
from adapters.slack.verifier import is_genuine, signature_of
from core.clock import SystemClock
from core.errors import InvalidInput
from tests.unit.adapters.slack.support import scene

SECRET = b"a-signing-secret-0001"
NOW = SystemClock().now()
STAMP = int(NOW.timestamp())
EVENT = {"type": "message", "channel": "D0001", "channel_type": "im", "user": "U1", "ts": "1.0"}


def headers(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


def signed(raw: bytes, *, stamp: int = STAMP, secret: bytes = SECRET) -> list[tuple[str, str]]:
    return [
        ("X-Slack-Request-Timestamp", str(stamp)),
        ("X-Slack-Signature", signature_of(secret, stamp, raw)),
    ]


@pytest.mark.parametrize(
    ("pairs", "genuine"),
    [
        (signed(b"{}"), True),
        (signed(b"{}", stamp=STAMP - 299), True),
        (signed(b"{}", stamp=STAMP - 301), False),
        (signed(b"{}", stamp=STAMP + 302), False),
        (signed(b"{ }"), False),
        (signed(b"{}", secret=b"another"), False),
        (signed(b"{}")[:1], False),
        (signed(b"{}")[1:], False),
        ([*signed(b"{}"), signed(b"{}")[1]], False),
        ([("X-Slack-Request-Timestamp", f" {STAMP}"), signed(b"{}")[1]], False),
        ([("X-Slack-Request-Timestamp", f"0{STAMP}"), signed(b"{}")[1]], False),
        ([("X-Slack-Request-Timestamp", "١٢٣"), signed(b"{}")[1]], False),
        ([signed(b"{}")[0], ("X-Slack-Signature", "v0=é")], False),
    ],
    ids=[
        "right", "old enough", "too old", "too new", "altered", "wrong secret", "no signature",
        "no timestamp", "two signatures", "space", "leading zero", "not ascii digits", "not hex",
    ],
)  # fmt: skip
def test_only_what_slack_signed_just_now_is_genuine(pairs, genuine):
    assert is_genuine(headers(*pairs), b"{}", secret=SECRET, now=NOW) is genuine


@given(st.text(max_size=90), st.text(max_size=90), st.binary(max_size=40))
def test_no_header_makes_the_verifier_stumble(stamp, signature, raw):
    pairs = [("X-Slack-Request-Timestamp", stamp), ("X-Slack-Signature", signature)]
    assert not is_genuine(headers(*pairs), raw, secret=SECRET, now=NOW)


def test_without_a_secret_nothing_is_genuine():
    raw = b"{}"
    assert not is_genuine(headers(*signed(raw, secret=b"")), raw, secret=b"", now=NOW)


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"[]", b"null", b"{", b'{"a": NaN}', b'{"a": 1e999999}'[:-1], b'"\\ud800"',
        b'{"a":' * 5_000, b"\xff\xfe{}", b'{"a": ' + b"9" * 50_000,
    ],
    ids=[
        "empty", "list", "null", "broken", "nan", "cut", "surrogate", "deep", "not utf-8", "huge",
    ],
)  # fmt: skip
def test_json_out_of_bounds_is_refused_without_being_quoted(raw):
    with pytest.raises(InvalidInput, match="the body is not"):
        read_json(raw)


def test_forms_are_read_as_interactions_or_commands():
    form = "application/x-www-form-urlencoded"
    assert read_body(form, b"payload=%7B%22type%22%3A%22view_closed%22%7D") == {
        "type": "view_closed"
    }
    assert read_body(form, b"command=%2Finterlock&text=ask+me") == {
        "command": "/interlock",
        "text": "ask me",
    }
    with pytest.raises(InvalidInput):
        read_body(form, b"&".join(b"a%d=1" % number for number in range(99)))


@pytest.mark.parametrize("how", ["wrong", "old", "missing", "altered"])
async def test_a_forged_event_gets_401_and_leaves_no_trace(tmp_path, how, capsys):
    async with scene(tmp_path) as stage:
        event = {**EVENT, "text": "let me in"}
        assert (await stage.slack.forge(event, how=how))["status"] == 401
        assert not stage.gate.admitted
    assert "let me in" not in capsys.readouterr().out


async def test_slack_may_verify_the_url_before_we_know_who_we_are(tmp_path):
    async with scene(tmp_path, run=False) as stage:
        answer = await stage.slack.challenge()
        assert (answer["status"], answer["body"]) == (200, "c" * 32)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ("[" * 3_000, 400),
        (json.dumps({"type": "event_callback", "event": "no object"}), 200),
        (json.dumps({"type": "app_rate_limited", "team_id": "T0001"}), 200),
        (json.dumps({"type": "block_actions", "user": {"id": "U1"}, "actions": [3]}), 503),
        (json.dumps({"surprise": True}), 200),
    ],
    ids=["broken", "deep", "odd event", "rate limited", "odd action", "unknown"],
)
async def test_what_is_signed_but_odd_breaks_nothing(tmp_path, body, status):
    async with scene(tmp_path) as stage:
        answer = await stage.slack.control("deliver", raw=body)
        assert answer["status"] == status
        assert not stage.gate.admitted


@pytest.mark.parametrize(
    ("extra", "size", "status"),
    [
        ({"Content-Encoding": "gzip"}, 10, 415),
        ({}, MOST_BYTES + 1, 413),
        ({"X-Slack-Request-Timestamp": "soon"}, 10, 401),
    ],
    ids=["compressed", "too long", "malformed"],
)
async def test_what_cannot_be_verified_is_not_read(tmp_path, extra, size, status):
    async with scene(tmp_path) as stage, aiohttp.ClientSession() as session:
        raw = b"x" * size
        sent = {**dict(signed(raw, stamp=int(time.time()))), **extra}
        async with session.post(stage.url, data=io.BytesIO(raw), headers=sent) as response:
            assert response.status == status


async def test_a_body_without_a_length_is_cut_off_at_the_cap(tmp_path):
    async def endless():
        for _ in range(40):
            yield b"x" * 65_536

    async with scene(tmp_path) as stage, aiohttp.ClientSession() as session:
        sent = dict(signed(b"", stamp=int(time.time())))
        async with session.post(stage.url, data=endless(), headers=sent) as response:
            assert response.status == 413
