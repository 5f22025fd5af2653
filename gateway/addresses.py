"""Addresses: the ids that settings are written in, and the conversations that they name."""

import re
from urllib.parse import unquote

from core.conversation import Conversation
from core.errors import InvalidConfig
from core.ids import escape_part

_TEAM = r"slack:[TE][A-Z0-9]+"
_GUILD = r"discord:(?:\d+|@me)"
_ESCAPED = r"(?:[\w.~-]|%[0-9A-F]{2})+"
_ID = re.compile(
    rf"{_TEAM}:(?:[UWCGDS][A-Z0-9]+|\*)|{_GUILD}:(?:(?:user|role|channel)/\d+|\*)"
    rf"|console:local:(?:{_ESCAPED}|\*)|api:token"
)
_CHANNEL = re.compile(
    rf"{_TEAM}:[CGD][A-Z0-9]+|{_GUILD}:channel/\d+|console:local:(?!\*){_ESCAPED}"
)
_EVERYONE = re.compile(r"discord:(\d+):role/\1")


def check_id(value: str) -> str:
    """Return the id if it has the shape of one; names are refused (gateway.md, Policy).

    Raises:
        ValueError: it is not an id.
    """
    if not _ID.fullmatch(value):
        raise ValueError(
            f"{value!r} is not an id: use slack:T..:U.., discord:GUILD:user/ID, "
            "console:local:NAME or api:token; `*` may stand for the last part"
        )
    return value


def check_approver(value: str) -> str:
    """Return the id if it may be listed in `approve`: a Discord guild's everyone may not.

    Raises:
        ValueError: it is not an id, or it is everybody's role.
    """
    if _EVERYONE.fullmatch(check_id(value)):
        raise ValueError(f"{value!r} is the role of everyone: list a person or another role")
    return value


def check_channel(value: str) -> str:
    """Return the id if it names a channel.

    Raises:
        ValueError: it does not.
    """
    if not _CHANNEL.fullmatch(value):
        raise ValueError(
            f"{value!r} names no channel: use slack:T..:C.., discord:GUILD:channel/ID or "
            "console:local:THREAD"
        )
    return value


def parse_address(text: str) -> Conversation:
    """Return the conversation of a channel's id: the channel itself, root `-` (gateway.md).

    Raises:
        InvalidConfig: it does not name a channel.
    """
    try:
        platform, tenant, channel = check_channel(text).split(":")
    except ValueError as exc:
        raise InvalidConfig(str(exc)) from exc
    channel = unquote(channel.removeprefix("channel/"))
    return Conversation(platform=platform, tenant=tenant, channel=channel)


def channel_id(conversation: Conversation) -> str:
    """Return the id by which settings name a conversation's channel; parts are escaped."""
    tenant, channel = escape_part(conversation.tenant), escape_part(conversation.channel)
    middle = "channel/" if conversation.platform == "discord" else ""
    return f"{conversation.platform}:{tenant}:{middle}{channel}"
