"""Addresses: the ids of settings as the conversations they name."""

from core.conversation import Conversation
from core.errors import InvalidConfig


def parse_address(text: str) -> Conversation:
    """Return the conversation of a channel's id: the channel itself, root `-` (gateway.md).

    Raises:
        InvalidConfig: it does not name a channel.
    """
    parts = text.split(":")
    if len(parts) == 3 and parts[0] == "slack" and parts[2][:1] in ("C", "G", "D"):
        return Conversation(platform="slack", tenant=parts[1], channel=parts[2])
    if len(parts) == 3 and parts[0] == "discord" and parts[2].startswith("channel/"):
        channel = parts[2].removeprefix("channel/")
        return Conversation(platform="discord", tenant=parts[1], channel=channel)
    if len(parts) == 3 and parts[:2] == ["console", "local"] and parts[2]:
        return Conversation(platform="console", tenant="local", channel=parts[2])
    raise InvalidConfig(
        f"{text!r} names no channel: use slack:T..:C.., discord:GUILD:channel/ID or "
        "console:local:THREAD"
    )
