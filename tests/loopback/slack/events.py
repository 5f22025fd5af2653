"""Events: the bodies Slack sends, built from the world; pure."""

from __future__ import annotations

import re
import uuid
from typing import Any

from tests.loopback.slack.world import (
    APP,
    BOT,
    BOT_USER,
    TEAM,
    TEAM_DOMAIN,
    Channel,
    Message,
    Person,
)

VERIFICATION_TOKEN = "loopback-verification"
_MENTION = re.compile(r"<@([UW][A-Z0-9]+)>")
_NOT_IN_EVENTS = ("reply_count", "reply_users", "reply_users_count", "latest_reply", "reactions")

Body = dict[str, Any]


def event_callback(event: Body, *, event_id: str, now: float, team: str = TEAM) -> Body:
    """Return the outer body of an Events API delivery."""
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": team,
        "context_team_id": team,
        "context_enterprise_id": None,
        "api_app_id": APP,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(now),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": team,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event_id}",
    }


def person_message(person: Person, ts: str, text: str) -> Message:
    """Return a message as a person (or another app's bot) writes it."""
    message: Message = {
        "type": "message",
        "user": person.id,
        "ts": ts,
        "client_msg_id": str(uuid.uuid4()),
        "text": text,
        "team": TEAM,
        "blocks": [rich_text(text)],
    }
    if person.bot_id:
        message |= {"bot_id": person.bot_id, "app_id": "A0009"}
    return message


def bot_message(ts: str, content: Body) -> Message:
    """Return a message as our bot posts it."""
    return {
        "type": "message",
        "user": BOT_USER,
        "ts": ts,
        "bot_id": BOT,
        "app_id": APP,
        "team": TEAM,
        "bot_profile": {
            "id": BOT,
            "app_id": APP,
            "name": "Interlock",
            "deleted": False,
            "updated": 1_700_000_000,
            "icons": {"image_36": "", "image_48": "", "image_72": ""},
            "team_id": TEAM,
        },
        **content,
    }


def message_event(channel: Channel, message: Message) -> Body:
    """Return the `message` event of a new message."""
    return {
        **_bare(message),
        "channel": channel.id,
        "event_ts": message["ts"],
        "channel_type": channel.kind,
    }


def mention_event(channel: Channel, message: Message) -> Body:
    """Return the `app_mention` event of a message that mentions the bot; it has no channel_type."""
    return {
        **_bare(message),
        "type": "app_mention",
        "channel": channel.id,
        "event_ts": message["ts"],
    }


def changed_event(channel: Channel, message: Message, previous: Message, event_ts: str) -> Body:
    """Return the `message_changed` event of an edit."""
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": _bare(message) | {"source_team": TEAM, "user_team": TEAM},
        "previous_message": _bare(previous),
        "channel": channel.id,
        "hidden": True,
        "ts": event_ts,
        "event_ts": event_ts,
        "channel_type": channel.kind,
    }


def deleted_event(channel: Channel, previous: Message, event_ts: str) -> Body:
    """Return the `message_deleted` event."""
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": _bare(previous),
        "channel": channel.id,
        "hidden": True,
        "deleted_ts": previous["ts"],
        "ts": event_ts,
        "event_ts": event_ts,
        "channel_type": channel.kind,
    }


def reaction_event(kind: str, channel: Channel, message: Message, *, user: str, name: str) -> Body:
    """Return a `reaction_added` or `reaction_removed` event."""
    return {
        "type": kind,
        "user": user,
        "reaction": name,
        "item": {"type": "message", "channel": channel.id, "ts": message["ts"]},
        "item_user": message["user"],
        "event_ts": channel.mint_ts(),
    }


def interaction(kind: str, person: Person, **fields: Any) -> Body:
    """Return what every interactive payload has in common, with its own fields."""
    return {
        "type": kind,
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": TEAM},
        "api_app_id": APP,
        "token": VERIFICATION_TOKEN,
        "team": {"id": TEAM, "domain": TEAM_DOMAIN},
        "enterprise": None,
        "is_enterprise_install": False,
        **fields,
    }


def slash_command(channel: Channel, person: Person, command: str, text: str) -> dict[str, str]:
    """Return the form of a slash command, without trigger_id and response_url."""
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": TEAM,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.kind == "im" else channel.name,
        "user_id": person.id,
        "user_name": person.name,
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
    }


def rich_text(text: str) -> Body:
    """Return the rich_text block Slack's own composer sends along."""
    elements: list[Body] = []
    for index, part in enumerate(_MENTION.split(text)):
        if index % 2:
            elements.append({"type": "user", "user_id": part})
        elif part:
            elements.append({"type": "text", "text": part})
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "block_id": "rich", "elements": [section]}


def mentions_bot(text: str) -> bool:
    """Return whether a text mentions the bot."""
    return BOT_USER in _MENTION.findall(text)


def _bare(message: Message) -> Message:
    return {name: value for name, value in message.items() if name not in _NOT_IN_EVENTS}
