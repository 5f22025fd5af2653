"""Samples: one inbound of every kind the adapter takes, sent by nobody anybody knows; pure."""

from typing import Any

from adapters.slack import interactions, parse
from adapters.slack.identity import Bot
from core.conversation import Inbound
from core.ports.adapter import Handler

Json = dict[str, Any]

_BOT = Bot(team="T0SAMPLE", user="U0SAMPLEBOT")
_CARD = "sample"
_STRANGER = {"id": "U0STRANGER", "team_id": "T0SAMPLE"}


# Made by hand: what a stranger sends must not depend on what we parse.
def samples() -> list[Handler]:
    """Return the handlers, each with what a stranger would send to it (architecture.md 2.4)."""
    mention = f"<@{_BOT.user}> hello"
    return [
        Handler(name="slack mention", sample=_said("app_mention", mention)),
        Handler(name="slack message", sample=_said("message", mention)),
        Handler(name="slack direct message", sample=_said("message", "hello", "D0SAMPLE")),
        Handler(name="slack thread reply", sample=_said("message", "and?", thread_ts="1.000000")),
        Handler(name="slack stop", sample=_said("message", "!stop", thread_ts="1.000000")),
        Handler(name="slack approve", sample=_pressed("approve").decision()),
        Handler(name="slack reject without a reason", sample=_pressed("reject_bare").decision()),
        Handler(name="slack stop button", sample=_pressed("stop").stop()),
        Handler(name="slack reject", sample=_submitted().decision()),
    ]


def _said(kind: str, text: str, channel: str = "C0SAMPLE", **more: str) -> Inbound:
    spoken = {"type": kind, "text": text, "channel": channel, "user": _STRANGER["id"]}
    heard = parse.message({"event": {**spoken, "ts": "2.000000", **more}}, bot=_BOT)
    if heard is None:
        raise AssertionError("a sample must say something")
    return heard.inbound


def _pressed(verb: interactions.Verb) -> interactions.Press:
    payload: Json = {
        "user": _STRANGER,
        "container": {"channel_id": "C0SAMPLE", "message_ts": "2.000000"},
        "actions": [{"action_id": interactions.action_id(_CARD, verb), "action_ts": "3.0"}],
    }
    press = interactions.press(payload, bot=_BOT)
    if press is None:
        raise AssertionError("a sample must press something")
    return press


def _submitted() -> interactions.Press:
    card = interactions.CardPlace(token=_CARD, channel="C0SAMPLE", ts="2.000000")
    view = {
        "id": "V0SAMPLE",
        "callback_id": interactions.REJECT_VIEW,
        "private_metadata": card.model_dump_json(),
    }
    press = interactions.submission({"user": _STRANGER, "view": view}, bot=_BOT)
    if press is None:
        raise AssertionError("a sample must be submitted")
    return press
