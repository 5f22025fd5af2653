"""What the real server refuses: keys, bodies, tool schemas, and calls left without an answer."""

from __future__ import annotations

import re
from typing import Any

_ROLES = {"system", "developer", "user", "assistant", "tool"}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PARTS = {"text", "image_url", "input_audio", "file", "refusal"}


class Refusal(Exception):
    """A request that gets an HTTP error, in the words of the real server."""

    def __init__(
        self, status: int, message: str, *, param: str | None = None, code: str | None = None
    ) -> None:
        """Keep what the error object says."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code

    def body(self) -> dict[str, Any]:
        """Return the error document."""
        return {"error": error_object(self.message, "invalid_request_error", self.param, self.code)}


def error_object(
    message: str, kind: str, param: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """Return the object that stands under `error`."""
    return {"message": message, "type": kind, "param": param, "code": code}


def check_key(header: str | None, key: str) -> None:
    """Refuse a missing or foreign bearer key."""
    if not header or not header.startswith("Bearer "):
        raise Refusal(401, "You didn't provide an API key. Provide it as a Bearer token.")
    given = header.removeprefix("Bearer ")
    if given != key:
        text = f"Incorrect API key provided: {given}. You can find your API key in your settings."
        raise Refusal(401, text, code="invalid_api_key")


def check_body(body: Any) -> None:
    """Refuse a body that the real server refuses."""
    if not isinstance(body, dict):
        raise Refusal(400, "We could not parse the JSON body of your request.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Refusal(400, "you must provide a model parameter")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refusal(400, "[] is too short - 'messages'", param="messages")
    for position, message in enumerate(messages):
        _check_message(message, f"messages.[{position}]")
    _check_pairs(messages)
    _check_tools(body)
    if body.get("stream_options") is not None and not body.get("stream"):
        text = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise Refusal(400, text, param="stream_options")


def _check_message(message: Any, where: str) -> None:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise Refusal(400, f"Invalid value for {where}.role.", param=f"{where}.role")
    content = message.get("content")
    if content is None and not message.get("tool_calls"):
        text = f"Invalid value for 'content': expected a string, got null: {where}"
        raise Refusal(400, text, param=f"{where}.content")
    if isinstance(content, list) and not (content and all(_is_part(part) for part in content)):
        raise Refusal(400, f"Invalid value: {where}.content", param=f"{where}.content")
    if content is not None and not isinstance(content, str | list):
        raise Refusal(400, f"Invalid type for '{where}.content'", param=f"{where}.content")
    for call in message.get("tool_calls") or ():
        _check_call(call, where)


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _PARTS and part["type"] in part


def _check_call(call: Any, where: str) -> None:
    function = call.get("function", {}) if isinstance(call, dict) else {}
    good = isinstance(function.get("arguments"), str) and _NAME.fullmatch(function.get("name", ""))
    if not good or call.get("type") != "function" or not call.get("id"):
        raise Refusal(400, f"Invalid tool call in {where}.", param=f"{where}.tool_calls")


def _check_pairs(messages: list[dict[str, Any]]) -> None:
    """Every call is answered before the next message, and every answer has its call."""
    open_calls: list[str] = []
    for position, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                text = (
                    "Invalid parameter: messages with role 'tool' must be a response to a"
                    " preceeding message with 'tool_calls'."
                )
                raise Refusal(400, text, param=f"messages.[{position}].role")
            open_calls.remove(message["tool_call_id"])
            continue
        _refuse_open(open_calls, position)
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        if len(set(open_calls)) < len(open_calls):
            raise Refusal(400, "Duplicate tool call ids.", param=f"messages.[{position}]")
    _refuse_open(open_calls, len(messages))


def _refuse_open(open_calls: list[str], position: int) -> None:
    if open_calls:
        text = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding"
            " to each 'tool_call_id'. The following tool_call_ids did not have response messages:"
            f" {', '.join(open_calls)}"
        )
        raise Refusal(400, text, param=f"messages.[{position}].role")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    if tools is None:
        if body.get("tool_choice") is not None:
            text = "'tool_choice' is only allowed when 'tools' are specified."
            raise Refusal(400, text, param="tool_choice")
        return
    if not isinstance(tools, list) or not tools:
        raise Refusal(400, "[] is too short - 'tools'", param="tools")
    for position, tool in enumerate(tools):
        _check_tool(tool, f"tools[{position}]")
    _check_choice(body.get("tool_choice"), [tool["function"]["name"] for tool in tools])


def _check_tool(tool: Any, where: str) -> None:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or tool.get("type") != "function":
        raise Refusal(400, f"Missing required parameter: '{where}.function'.", param=where)
    if not _NAME.fullmatch(function.get("name", "")):
        text = f"Invalid '{where}.function.name': string does not match pattern."
        raise Refusal(400, text, param=f"{where}.function.name")
    parameters = function.get("parameters", {"type": "object"})
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        text = (
            f"Invalid schema for function '{function['name']}': schema must be a JSON Schema of"
            " 'type: \"object\"'."
        )
        raise Refusal(
            400, text, param=f"{where}.function.parameters", code="invalid_function_parameters"
        )


def _check_choice(choice: Any, names: list[str]) -> None:
    if choice is None or choice in ("auto", "none", "required"):
        return
    chosen = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    if chosen not in names:
        raise Refusal(400, "Tool choice names a tool that is not given.", param="tool_choice")
