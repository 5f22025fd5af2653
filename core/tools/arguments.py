"""Arguments: reading what the model wrote for a call, and saying what is wrong with it."""

import json
import math
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_jsonable_python

from core.signals.values import well_formed
from core.tools.tool import Tool

RESERVED = frozenset({"resumeData", "_background", "suspendedToolRunId"})
"""Names the runtime owns; a model that writes them is not believed (agent.md T15, A7)."""
ECHO_LIMIT = 200


class BadArguments(Exception):
    """The call's input cannot be used.

    `result` is what the model is told, and the tool is not run.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        """Keep the structured answer of agent.md T4."""
        super().__init__(result["message"])
        self.result = result


def parse_arguments(raw: str) -> Any:
    """Read a call's argument text; empty text is an empty object.

    Raises:
        BadArguments: it is not JSON (agent.md T3).
    """
    if not raw.strip():
        return {}
    try:
        return from_json(raw, allow_inf_nan=False)
    except ValueError as exc:
        message = f"The arguments are not valid JSON: {exc}. Send one JSON object."
        raise BadArguments(
            {"error": True, "message": message, "received": raw[:ECHO_LIMIT]}
        ) from exc


def validate_arguments(tool: Tool, arguments: Any) -> Any:
    """Check and convert arguments by the tool's schema, leniently (agent.md T5).

    Raises:
        BadArguments: with every path that is wrong (agent.md T4).
    """
    given = _lenient(arguments, tool.parameters)
    # A tool made by hand checks its own input.
    if tool.validator is None:
        return given
    try:
        return tool.validator.validate_python(given)
    except ValidationError as exc:
        raise BadArguments(_explain(tool, exc, arguments)) from exc


def json_safe(value: Any) -> Any:
    """Return the value as plain JSON data; what JSON cannot hold becomes its text (agent.md T7).

    Bytes become base64; half characters become U+FFFD, since no store could write them.
    """
    try:
        plain = to_jsonable_python(value, fallback=str, bytes_mode="base64")
    except ValueError:
        # It holds itself, or is nested too deeply.
        plain = str(value)
    return _whole(plain)


def _lenient(arguments: Any, schema: dict[str, Any]) -> Any:
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        return arguments
    properties = schema.get("properties", {})
    required = set(schema.get("required", ()))
    # A model that writes resume data into its arguments is not believed (agent.md A7).
    kept = {name: value for name, value in arguments.items() if name not in RESERVED}
    definitions = schema.get("$defs", {})
    return {
        name: _parsed(value, properties.get(name, {}), definitions)
        for name, value in kept.items()
        if value is not None or name in required
    }


def _parsed(value: Any, schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    wanted = _types(schema, definitions) - {"null"}
    if not wanted or wanted - {"array", "object"}:
        return value
    try:
        return from_json(value)
    except ValueError:
        return value


def _types(schema: dict[str, Any], definitions: dict[str, Any]) -> set[str]:
    """Return the JSON types that a schema lets through; `any` where it does not say."""
    if "$ref" in schema:
        return _types(definitions.get(schema["$ref"].rpartition("/")[2], {}), {})
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        return {name for branch in branches for name in _types(branch, definitions)}
    return {schema.get("type", "any")}


def _whole(plain: Any) -> Any:
    if isinstance(plain, str):
        return well_formed(plain)
    if isinstance(plain, float) and not math.isfinite(plain):
        return str(plain)
    if isinstance(plain, list):
        return [_whole(item) for item in plain]
    if isinstance(plain, dict):
        return {well_formed(name): _whole(item) for name, item in plain.items()}
    return plain


def _explain(tool: Tool, problem: ValidationError, arguments: Any) -> dict[str, Any]:
    fields = {
        ".".join(str(part) for part in error["loc"]) or "input": error["msg"]
        for error in problem.errors(include_url=False)
    }
    listed = "; ".join(f"{path}: {text}" for path, text in fields.items())
    return {
        "error": True,
        "message": f"The input of {tool.id} does not fit its schema: {listed}",
        "validationErrors": {"errors": list(fields.values()), "fields": fields},
        "received": json.dumps(arguments, default=str)[:ECHO_LIMIT],
    }
