"""auth, users, conversations and usergroups: what the bot looks up."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import SlackRefusal
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

Arguments = dict[str, Any]
_MOST = 999


def auth_test(_platform: Platform, _arguments: Arguments) -> dict[str, Any]:
    """Answer auth.test: who the token is."""
    return {
        "url": f"https://{TEAM_DOMAIN}.slack.com/",
        "team": "Loopback",
        "user": "interlock",
        "team_id": TEAM,
        "user_id": BOT_USER,
        "bot_id": BOT,
        "app_id": APP,
        "is_enterprise_install": False,
    }


def user_info(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer users.info."""
    return {"user": _user(platform.world.person(arguments.get("user")))}


def conversation_info(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer conversations.info."""
    return {"channel": _conversation(platform.world.channel(arguments.get("channel", "")))}


def conversation_open(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer conversations.open: the DM with one person."""
    person = platform.world.person(arguments.get("users"))
    return {"channel": {"id": platform.world.channel(person.id).id}}


def conversation_members(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer conversations.members: everyone, or the two of a DM."""
    channel = platform.world.channel(arguments.get("channel", ""))
    members = [channel.person, BOT_USER] if channel.person else list(platform.world.people)
    return {"members": members, "response_metadata": {"next_cursor": ""}}


def history(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer conversations.history: top-level messages, newest first."""
    channel = _readable(platform, arguments)
    messages = [message for message in channel.messages.values() if _is_top_level(message)]
    return _page(list(reversed(messages)), arguments, default=100)


def replies(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer conversations.replies: the root first, then its replies in order."""
    channel = _readable(platform, arguments)
    root = channel.message(arguments.get("ts"), missing="thread_not_found")
    thread_ts = root.get("thread_ts", root["ts"])
    messages = [
        message
        for message in channel.messages.values()
        if thread_ts in (message["ts"], message.get("thread_ts"))
    ]
    return _page(messages, arguments, default=_MOST)


def group_members(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer usergroups.users.list."""
    members = platform.world.groups.get(str(arguments.get("usergroup")))
    if members is None:
        raise SlackRefusal("no_such_subteam")
    return {"users": members}


METHODS: dict[str, Callable[[Platform, Arguments], dict[str, Any]]] = {
    "auth.test": auth_test,
    "conversations.history": history,
    "conversations.info": conversation_info,
    "conversations.members": conversation_members,
    "conversations.open": conversation_open,
    "conversations.replies": replies,
    "usergroups.users.list": group_members,
    "users.info": user_info,
}


def _readable(platform: Platform, arguments: Arguments) -> Channel:
    channel = platform.world.channel(arguments.get("channel", ""))
    if not channel.is_member:
        raise SlackRefusal("not_in_channel")
    return channel


def _page(messages: Sequence[Message], arguments: Arguments, *, default: int) -> dict[str, Any]:
    found = [message for message in messages if _is_wanted(message, arguments)]
    start = _read_cursor(arguments.get("cursor"))
    limit = min(int(arguments.get("limit") or default), _MOST)
    with_metadata = _is_true(arguments.get("include_all_metadata"))
    page = found[start : start + limit]
    more = start + limit < len(found)
    answer: dict[str, Any] = {
        "messages": [_shown(message, with_metadata=with_metadata) for message in page],
        "has_more": more,
    }
    if more:
        answer["response_metadata"] = {"next_cursor": _cursor(start + limit)}
    return answer


def _is_wanted(message: Message, arguments: Arguments) -> bool:
    oldest, latest = str(arguments.get("oldest") or "0"), str(arguments.get("latest") or "9")
    if _is_true(arguments.get("inclusive")) and message["ts"] in (oldest, latest):
        return True
    return bool(oldest < message["ts"] < latest)


def _is_top_level(message: Message) -> bool:
    return bool(message.get("thread_ts", message["ts"]) == message["ts"])


def _shown(message: Message, *, with_metadata: bool) -> Message:
    shown = {name: value for name, value in message.items() if name != "reactions"}
    if not with_metadata:
        shown.pop("metadata", None)
    if message.get("reactions"):
        shown["reactions"] = [
            {"name": name, "users": users, "count": len(users)}
            for name, users in message["reactions"].items()
            if users
        ]
    return shown


def _is_true(value: object) -> bool:
    return value in (True, 1, "1", "true", "True")


def _cursor(start: int) -> str:
    return base64.b64encode(f"next:{start}".encode()).decode()


def _read_cursor(cursor: object) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(str(cursor)).decode().removeprefix("next:"))
    except ValueError:
        raise SlackRefusal("invalid_cursor") from None


def _user(person: Person) -> dict[str, Any]:
    return {
        "id": person.id,
        "team_id": TEAM,
        "name": person.name,
        "deleted": person.deleted,
        "real_name": person.display_name,
        "tz": "Europe/Berlin",
        "tz_label": "Central European Time",
        "tz_offset": 3600,
        "profile": {
            "real_name": person.display_name,
            "display_name": person.display_name,
            "display_name_normalized": person.display_name,
            "team": TEAM,
        },
        "is_admin": False,
        "is_owner": False,
        "is_restricted": False,
        "is_ultra_restricted": False,
        "is_bot": bool(person.bot_id),
        "is_app_user": False,
        "updated": 1_700_000_000,
    }


def _conversation(channel: Channel) -> dict[str, Any]:
    if channel.kind == "im":
        return {
            "id": channel.id,
            "is_im": True,
            "user": channel.person,
            "is_archived": False,
            "created": 1_700_000_000,
            "context_team_id": TEAM,
        }
    return {
        "id": channel.id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "group",
        "is_im": False,
        "is_mpim": False,
        "is_private": channel.kind == "group",
        "is_archived": channel.is_archived,
        "is_general": channel.name == "general",
        "is_member": channel.is_member,
        "is_shared": False,
        "created": 1_700_000_000,
        "creator": "U0001",
        "context_team_id": TEAM,
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }
