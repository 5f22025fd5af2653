"""chat.startStream, appendStream, stopStream: a message that grows (channels.md 2.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.loopback.slack.chat import change, own_message, store_post, writable_channel
from tests.loopback.slack.content import MARKDOWN_TEXT, read_blocks, read_thread
from tests.loopback.slack.platform import Platform
from tests.loopback.slack.refusal import SlackRefusal
from tests.loopback.slack.world import Channel, Message

Arguments = dict[str, Any]


def start_stream(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.startStream: in a thread only, in channels only for a named person."""
    channel = writable_channel(platform, arguments)
    thread_ts = read_thread(channel, arguments)
    if not thread_ts:
        raise SlackRefusal("invalid_thread_ts")
    if channel.kind != "im":
        _require_recipient(arguments)
    content = {"text": _markdown(arguments), "thread_ts": thread_ts, "streaming_state": "open"}
    platform.world.statuses.pop(f"{channel.id}:{thread_ts}", None)
    message = store_post(platform, channel, content, arguments)
    return {"channel": channel.id, "ts": message["ts"]}


def append_stream(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.appendStream."""
    channel, message = _streaming(platform, arguments)
    message["text"] += _markdown(arguments)
    _journal(platform, channel, message, "append")
    return {"channel": channel.id, "ts": message["ts"]}


def stop_stream(platform: Platform, arguments: Arguments) -> dict[str, Any]:
    """Answer chat.stopStream: the last text, the blocks, and the message is an ordinary one."""
    channel, message = _streaming(platform, arguments)
    blocks = read_blocks(arguments["blocks"]) if arguments.get("blocks") else []
    content = {"text": message["text"] + _markdown(arguments), "streaming_state": "completed"}
    if arguments.get("metadata"):
        content["metadata"] = arguments["metadata"]
    change(platform, channel, message, {**content, "blocks": blocks} if blocks else content)
    _journal(platform, channel, message, "stop")
    return {"channel": channel.id, "ts": message["ts"], "message": message}


METHODS: dict[str, Callable[[Platform, Arguments], dict[str, Any]]] = {
    "chat.appendStream": append_stream,
    "chat.startStream": start_stream,
    "chat.stopStream": stop_stream,
}


def _require_recipient(arguments: Arguments) -> None:
    for name in ("recipient_team_id", "recipient_user_id"):
        if not arguments.get(name):
            raise SlackRefusal(f"missing_{name}")


def _streaming(platform: Platform, arguments: Arguments) -> tuple[Channel, Message]:
    channel = writable_channel(platform, arguments)
    message = own_message(channel, arguments, otherwise="message_not_owned_by_app")
    if message.get("streaming_state") != "open":
        raise SlackRefusal("message_not_in_streaming_state")
    return channel, message


def _markdown(arguments: Arguments) -> str:
    if arguments.get("markdown_text") and arguments.get("chunks"):
        raise SlackRefusal("invalid_arguments")
    chunks = arguments.get("chunks") or []
    parts = [chunk.get("text", "") for chunk in chunks if chunk.get("type") == "markdown_text"]
    text = str(arguments.get("markdown_text") or "".join(parts))
    if len(text) > MARKDOWN_TEXT:
        raise SlackRefusal("msg_too_long")
    return text


def _journal(platform: Platform, channel: Channel, message: Message, step: str) -> None:
    place = {"channel": channel.id, "ts": message["ts"], "thread_ts": message["thread_ts"]}
    platform.journal.write("stream", step=step, text=message["text"], **place)
