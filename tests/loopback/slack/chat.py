"""chat.*, reactions.* and status: what the bot writes."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from tests.loopback.slack.blocks import with_block_ids
from tests.loopback.slack.content import (
    check_update_text,
    read_blocks,
    read_content,
    read_thread,
)
from tests.loopback.slack.events import (
    bot_message,
    changed_event,
    deleted_event,
    message_event,
    reaction_event,
)
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import SlackRefusal
from tests.loopback.slack.world import BOT, BOT_USER, TEAM_DOMAIN, Channel, Message

Arguments = dict[str, Any]
_NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")
_TOLD = ("text", "blocks", "metadata", "unfurl_links", "unfurl_media", "reply_broadcast")


def writable_channel(platform: Platform, arguments: Arguments) -> Channel:
    """Return the channel to write to.

    Raises:
        SlackRefusal: `channel_not_found`, `is_archived` or `not_in_channel`.
    """
    channel = platform.world.channel(arguments.get("channel", ""))
    if channel.is_archived:
        raise SlackRefusal("is_archived")
    if not channel.is_member:
        raise SlackRefusal("not_in_channel")
    return channel


def post_message(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.postMessage: store it and deliver it back as the bot's own message."""
    channel = writable_channel(platform, arguments)
    thread_ts = read_thread(channel, arguments)
    content = _stored(platform, read_content(arguments))
    if thread_ts:
        content["thread_ts"] = thread_ts
        platform.world.statuses.pop(f"{channel.id}:{thread_ts}", None)
    message = store_post(platform, channel, content, arguments)
    return {"channel": channel.id, "ts": message["ts"], "message": shown(message)}


def store_post(
    platform: Platform, channel: Channel, content: dict[str, Any], told: Arguments
) -> Message:
    """Add a message of the bot, write it into the journal and deliver it back."""
    message = channel.add(bot_message(channel.mint_ts(), content))
    platform.journal.write(
        "post",
        channel=channel.id,
        ts=message["ts"],
        thread_ts=message.get("thread_ts"),
        **{name: content.get(name, told.get(name)) for name in _TOLD},
    )
    platform.emit([message_event(channel, message)])
    return message


def update(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.update; what is not given stays, an empty list of blocks removes them."""
    channel = writable_channel(platform, arguments)
    message = own_message(channel, arguments, otherwise="cant_update_message")
    content = _update_content(message, arguments)
    check_update_text(content["text"])
    change(platform, channel, message, _stored(platform, content))
    return {
        "channel": channel.id,
        "ts": message["ts"],
        "text": message["text"],
        "message": shown(message),
    }


def change(platform: Platform, channel: Channel, message: Message, content: dict[str, Any]) -> None:
    """Change a message of the bot, write it into the journal and deliver the change."""
    previous = copy.deepcopy(message)
    if "blocks" in content:
        channel.set_blocks(message, content.pop("blocks"))
    edited_ts = channel.mint_ts()
    message |= {**content, "edited": {"user": BOT_USER, "ts": edited_ts}}
    platform.journal.write(
        "update",
        channel=channel.id,
        ts=message["ts"],
        thread_ts=message.get("thread_ts"),
        text=message["text"],
        blocks=message.get("blocks"),
        metadata=message.get("metadata"),
    )
    platform.emit([changed_event(channel, message, previous, edited_ts)])


def own_message(channel: Channel, arguments: Arguments, *, otherwise: str) -> Message:
    """Return the bot's message that the call names by ts.

    Raises:
        SlackRefusal: `message_not_found`, or the given code when someone else wrote it.
    """
    message = channel.message(arguments.get("ts"))
    if message.get("bot_id") != BOT:
        raise SlackRefusal(otherwise)
    return message


def delete(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.delete."""
    channel = writable_channel(platform, arguments)
    message = own_message(channel, arguments, otherwise="cant_delete_message")
    remove(platform, channel, message)
    return {"channel": channel.id, "ts": message["ts"]}


def remove(platform: Platform, channel: Channel, message: Message) -> list[str]:
    """Delete a message whoever wrote it; return the ids of the events."""
    del channel.messages[message["ts"]]
    platform.journal.write("delete", channel=channel.id, ts=message["ts"])
    deliveries = platform.emit([deleted_event(channel, message, channel.mint_ts())])
    return [delivery.event_id for delivery in deliveries]


def post_ephemeral(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.postEphemeral: shown to one person, never delivered back, never in history."""
    channel = writable_channel(platform, arguments)
    user = platform.world.person(arguments.get("user")).id
    if channel.person not in ("", user):
        raise SlackRefusal("user_not_in_channel")
    thread_ts = read_thread(channel, arguments)
    content = _stored(platform, read_content(arguments))
    if thread_ts:
        content["thread_ts"] = thread_ts
    return {"message_ts": show_privately(platform, channel, user, content)}


def show_privately(
    platform: Platform, channel: Channel, user: str, content: dict[str, Any], *, by: str = "api"
) -> str:
    """Show something to one person; `by` tells how it came: api, response_url or command."""
    message = bot_message(channel.mint_ts(), {**content, "only_for": user})
    channel.ephemerals[message["ts"]] = message
    platform.journal.write(
        "ephemeral",
        channel=channel.id,
        ts=message["ts"],
        thread_ts=content.get("thread_ts"),
        user=user,
        text=content.get("text", ""),
        blocks=content.get("blocks"),
        by=by,
    )
    return str(message["ts"])


def permalink(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.getPermalink."""
    channel = platform.world.channel(arguments.get("channel", ""))
    message = channel.message(arguments.get("message_ts"))
    place = f"{channel.id}/p{message['ts'].replace('.', '')}"
    link = f"https://{TEAM_DOMAIN}.slack.com/archives/{place}"
    if message.get("thread_ts", message["ts"]) != message["ts"]:
        link += f"?thread_ts={message['thread_ts']}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def add_reaction(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer reactions.add."""
    channel = writable_channel(platform, arguments)
    react(platform, channel, arguments, user=BOT_USER)
    return {}


def remove_reaction(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer reactions.remove."""
    channel = writable_channel(platform, arguments)
    unreact(platform, channel, arguments, user=BOT_USER)
    return {}


def react(platform: Platform, channel: Channel, arguments: Arguments, *, user: str) -> list[str]:
    """Add someone's reaction; return the ids of the events."""
    message, name = _reacted(channel, arguments)
    users = _reactions(message).setdefault(name, [])
    if user in users:
        raise SlackRefusal("already_reacted")
    users.append(user)
    return _tell_reaction(platform, "reaction_added", (channel, message), user=user, name=name)


def unreact(platform: Platform, channel: Channel, arguments: Arguments, *, user: str) -> list[str]:
    """Take someone's reaction away; return the ids of the events."""
    message, name = _reacted(channel, arguments)
    users = _reactions(message).get(name, [])
    if user not in users:
        raise SlackRefusal("no_reaction")
    users.remove(user)
    return _tell_reaction(platform, "reaction_removed", (channel, message), user=user, name=name)


def set_status(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer assistant.threads.setStatus; an empty status clears, so does a post."""
    channel = platform.world.channel(arguments.get("channel_id", ""))
    thread_ts = str(channel.message(arguments.get("thread_ts"), missing="thread_not_found")["ts"])
    status = str(arguments.get("status", ""))
    key = f"{channel.id}:{thread_ts}"
    platform.world.statuses.pop(key, None)
    if status:
        platform.world.statuses[key] = status
    platform.journal.write("status", channel=channel.id, thread_ts=thread_ts, status=status)
    return {}


METHODS: dict[str, Callable[[Platform, Arguments], dict[str, Any]]] = {
    "assistant.threads.setStatus": set_status,
    "chat.delete": delete,
    "chat.getPermalink": permalink,
    "chat.postEphemeral": post_ephemeral,
    "chat.postMessage": post_message,
    "chat.update": update,
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
}


def _update_content(message: Message, arguments: Arguments) -> dict[str, Any]:
    if "text" not in arguments and "blocks" in arguments:
        return {"text": message["text"], "blocks": read_blocks(arguments["blocks"])}
    return read_content(arguments)


def _stored(platform: Platform, content: dict[str, Any]) -> dict[str, Any]:
    if "blocks" not in content:
        return content
    prefix = f"b{platform.world.number()}-"
    return {**content, "blocks": with_block_ids(content["blocks"], prefix=prefix)}


def shown(message: Message) -> Message:
    """Return a message as Slack shows it to the app, reactions left out."""
    return {name: value for name, value in message.items() if name != "reactions"}


def _reacted(channel: Channel, arguments: Arguments) -> tuple[Message, str]:
    name = str(arguments.get("name", "")).strip(":")
    if not _NAME.fullmatch(name):
        raise SlackRefusal("invalid_name")
    return channel.message(arguments.get("timestamp")), name


def _reactions(message: Message) -> dict[str, list[str]]:
    reactions: dict[str, list[str]] = message.setdefault("reactions", {})
    return reactions


def _tell_reaction(
    platform: Platform, kind: str, place: tuple[Channel, Message], *, user: str, name: str
) -> list[str]:
    channel, message = place
    fields = {"channel": channel.id, "ts": message["ts"], "user": user, "name": name}
    platform.journal.write("reaction", change=kind.removeprefix("reaction_"), **fields)
    event = reaction_event(kind, channel, message, user=user, name=name)
    return [delivery.event_id for delivery in platform.emit([event])]
