"""Content: what Slack refuses in the text, metadata and thread of a message, and in a view."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.loopback.slack.blocks import (
    MARKDOWN_TOTAL,
    check_message_blocks,
    check_view_blocks,
    markdown_characters,
)
from tests.loopback.slack.refusal import SlackRefusal
from tests.loopback.slack.world import Channel

Arguments = dict[str, Any]

TEXT = 40_000
UPDATE_TEXT_BYTES = 4_000
MARKDOWN_TEXT = 12_000
METADATA_BYTES = 16_000
_TS = re.compile(r"\d{10}\.\d{6}")
_VIEW_TEXTS = (("title", 24), ("submit", 24), ("close", 24))


def read_content(arguments: Arguments) -> dict[str, Any]:
    """Return the text, blocks and metadata of a message that Slack would take.

    Raises:
        SlackRefusal: `no_text`, `msg_too_long`, `invalid_blocks`, `msg_blocks_too_long`,
            `markdown_text_conflict` or a metadata error.
    """
    text, blocks = str(arguments.get("text") or ""), arguments.get("blocks")
    if "markdown_text" in arguments:
        text = _read_markdown_text(arguments)
    if not text and not blocks and not arguments.get("attachments"):
        raise SlackRefusal("no_text")
    if len(text) > TEXT:
        raise SlackRefusal("msg_too_long")
    content: dict[str, Any] = {"text": text, **_read_metadata(arguments)}
    if blocks is not None:
        content["blocks"] = read_blocks(blocks)
    return content


def read_blocks(blocks: object) -> list[dict[str, Any]]:
    """Return a message's blocks when Slack would take them.

    Raises:
        SlackRefusal: `invalid_blocks` with the reasons, or `msg_blocks_too_long`.
    """
    errors = check_message_blocks(blocks)
    if errors:
        raise SlackRefusal("invalid_blocks", errors)
    assert isinstance(blocks, list)
    if markdown_characters(blocks) > MARKDOWN_TOTAL:
        raise SlackRefusal("msg_blocks_too_long")
    return blocks


def read_thread(channel: Channel, arguments: Arguments) -> str:
    """Return the root of the thread to post into, empty for a top-level message.

    Raises:
        SlackRefusal: the ts is no ts, unknown here, or that of a reply.
    """
    thread_ts = arguments.get("thread_ts")
    if thread_ts is None:
        return ""
    if not _TS.fullmatch(str(thread_ts)):
        raise SlackRefusal("invalid_thread_ts")
    parent = channel.message(thread_ts, missing="thread_not_found")
    if parent.get("thread_ts", thread_ts) != thread_ts:
        raise SlackRefusal("cannot_reply_to_message")
    return str(thread_ts)


def check_update_text(text: str) -> None:
    """Refuse a text that `chat.update` finds too long: 4,000 bytes, entities counted as sent.

    Raises:
        SlackRefusal: `msg_too_long`.
    """
    if len(text.encode()) > UPDATE_TEXT_BYTES:
        raise SlackRefusal("msg_too_long")


def read_view(view: object) -> dict[str, Any]:
    """Return a modal or home view that Slack would take.

    Raises:
        SlackRefusal: `invalid_arguments` with the reasons.
    """
    if not isinstance(view, dict) or view.get("type") not in ("modal", "home"):
        raise SlackRefusal("invalid_arguments", ["[ERROR] unsupported type [json-pointer:/view]"])
    errors = [*_view_text_errors(view), *check_view_blocks(view.get("blocks"))]
    for name, most in (("private_metadata", 3000), ("callback_id", 255)):
        if len(str(view.get(name) or "")) > most:
            errors.append(_too_long(name, most))
    if errors:
        raise SlackRefusal("invalid_arguments", errors)
    return view


def _view_text_errors(view: dict[str, Any]) -> list[str]:
    errors = []
    for name, most in _VIEW_TEXTS:
        text = view.get(name)
        if isinstance(text, dict) and len(str(text.get("text"))) > most:
            errors.append(_too_long(name, most))
    inputs = any(block.get("type") == "input" for block in view.get("blocks") or [])
    if view["type"] == "modal" and not view.get("title"):
        errors.append("[ERROR] missing required field: title [json-pointer:/view]")
    if view["type"] == "modal" and inputs and not view.get("submit"):
        errors.append("[ERROR] missing required field: submit [json-pointer:/view]")
    return errors


def _too_long(name: str, most: int) -> str:
    return f"[ERROR] must be less than {most + 1} characters [json-pointer:/view/{name}]"


def _read_markdown_text(arguments: Arguments) -> str:
    if arguments.get("text") or arguments.get("blocks"):
        raise SlackRefusal("markdown_text_conflict")
    text = str(arguments["markdown_text"])
    if len(text) > MARKDOWN_TEXT:
        raise SlackRefusal("msg_too_long")
    return text


def _read_metadata(arguments: Arguments) -> dict[str, Any]:
    metadata = arguments.get("metadata")
    if not metadata:
        return {}
    if not isinstance(metadata, dict):
        raise SlackRefusal("invalid_metadata_format")
    shaped = isinstance(metadata.get("event_payload"), dict) and metadata.get("event_type")
    if not shaped:
        raise SlackRefusal("invalid_metadata_schema")
    if len(json.dumps(metadata).encode()) > METADATA_BYTES:
        raise SlackRefusal("metadata_too_large")
    return {"metadata": metadata}
