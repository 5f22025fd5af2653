"""Prompts on the wire: messages, tools and options in the form of the OpenAI protocol. Pure."""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import structlog

from core.messages import ContentPart, FilePart, TextPart, ToolCallPart, ToolResultPart
from core.ports.model import ModelRequest, PromptMessage, ToolSpec

_log = structlog.get_logger(__name__)

_KNOWN_OPTIONS = {
    "openai": {"reasoning_effort"},
    "anthropic": {"cache_control"},
}
_ON_CONTENT = {"cache_control"}
"""Options that belong to a message's content and not to the request."""

Wire = dict[str, Any]


def render_request(request: ModelRequest, *, model: str, provider: str) -> Wire:
    """Return the body of a streamed request.

    What was set in `settings` never replaces what the protocol needs.
    """
    # Ours stand last: a setting named `stream` or `messages` must not win.
    body: Wire = {
        **request.settings,
        **request_options(request.messages, provider),
        "model": model,
        "messages": [render_message(message, provider) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    # An empty list of tools, or a choice without any, is refused by the real server.
    if request.tools:
        body["tools"] = [render_tool(tool) for tool in request.tools]
        body["tool_choice"] = _choice(request.tool_choice)
    return body


def request_options(messages: Iterable[PromptMessage], provider: str) -> Wire:
    """Return the options of this provider that belong to the request; the last message wins.

    Keys may be camelCase or snake_case; an unknown one is logged and passed on (agent.md 1.1).
    """
    found: Wire = {}
    for message in messages:
        for key, value in _options_of(message, provider).items():
            if key not in _ON_CONTENT:
                found[key] = value
    for key in found.keys() - _KNOWN_OPTIONS.get(provider, set()):
        _log.info("model.unknown_option", provider=provider, option=key)
    return found


def render_message(message: PromptMessage, provider: str) -> Wire:
    """Return one message of the prompt."""
    if message.role == "tool" and message.tool_result is not None:
        return _tool_message(message.tool_result)
    wire: Wire = {"role": message.role, "content": _content(message, provider)}
    if message.tool_calls:
        wire["tool_calls"] = [_call(call) for call in message.tool_calls]
        # An empty text beside calls is refused by some servers; null by none.
        wire["content"] = wire["content"] or None
    return wire


def render_tool(tool: ToolSpec) -> Wire:
    """Return a tool as the model is told of it."""
    parameters = {"type": "object", "properties": {}, **tool.parameters}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def result_text(part: ToolResultPart) -> str:
    """Return what the model reads of a tool's result: text as it is, anything else as JSON."""
    if isinstance(part.result, str):
        return part.result
    return json.dumps(part.result, ensure_ascii=False, default=str)


def _choice(choice: str) -> str | Wire:
    """Return a word of the protocol, or the tool that is forced by its name."""
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def _options_of(message: PromptMessage, provider: str) -> Wire:
    """Return a message's options for this provider, in snake_case."""
    options: Mapping[str, Any] = message.provider_options.get(provider) or {}
    return {_snake(key): value for key, value in options.items()}


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()


def _tool_message(part: ToolResultPart) -> Wire:
    return {"role": "tool", "tool_call_id": part.tool_call_id, "content": result_text(part)}


def _call(call: ToolCallPart) -> Wire:
    function = {"name": call.tool_name, "arguments": _arguments(call.args)}
    return {"id": call.tool_call_id, "type": "function", "function": function}


def _arguments(args: Any) -> str:
    """Return JSON of an object, whatever the model once wrote: some providers parse it again."""
    value = _parsed(args) if isinstance(args, str) else args
    if value is None:
        value = {}
    if not isinstance(value, dict):
        value = {"unreadable_arguments": value}
    return json.dumps(value, ensure_ascii=False, default=str)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text or None


def _content(message: PromptMessage, provider: str) -> str | list[Wire]:
    """Return plain text where nothing needs parts: every server understands that."""
    marks = {
        key: value
        for key, value in _options_of(message, provider).items()
        if key in _ON_CONTENT & _KNOWN_OPTIONS.get(provider, set())
    }
    if isinstance(message.content, str):
        if not (marks and message.content):
            return message.content
        return [{"type": "text", "text": message.content, **marks}]
    if not message.content:
        return ""
    parts = [_part(part) for part in message.content]
    # A cache mark covers all that stands before it, so it belongs on the last part.
    parts[-1] |= marks
    return parts


def _part(part: ContentPart) -> Wire:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case FilePart():
            return _file(part)


def _file(part: FilePart) -> Wire:
    """Return a file in the form its media type has in the protocol, or as text about it."""
    kind = part.media_type.partition("/")[0]
    url = part.data if _is_url(part.data) else f"data:{part.media_type};base64,{part.data}"
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    if _is_url(part.data) and not part.data.startswith("data:"):
        return {"type": "text", "text": f"[file {_label(part)}: {part.data}]"}
    # The protocol has no text files: their words go into the prompt instead.
    if kind == "text":
        return {"type": "text", "text": f"[file {_label(part)}]\n{_decoded(part.data)}"}
    if kind == "audio":
        audio = {"data": url.partition(",")[2], "format": part.media_type.partition("/")[2]}
        return {"type": "input_audio", "input_audio": audio}
    return {"type": "file", "file": {"filename": part.filename or "file", "file_data": url}}


def _is_url(data: str) -> bool:
    return data.startswith(("http://", "https://", "data:"))


def _label(part: FilePart) -> str:
    return f"{part.filename or 'without a name'}, {part.media_type}"


def _decoded(data: str) -> str:
    try:
        return base64.b64decode(data.rpartition(",")[2], validate=True).decode(errors="replace")
    except binascii.Error:
        return "(its contents are unreadable)"
