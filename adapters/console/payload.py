"""Payloads: JSON from outside, read strictly and within bounds (reliability.md, stage 1)."""

import math
from collections import deque
from typing import Any

from pydantic_core import from_json

from core.errors import InvalidInput

VALUES_MAX = 20_000
"""Values one body may hold, keys included; the largest honest body is a few hundred."""
INTEGER_MAX = 2**63


def parse_object(body: bytes) -> dict[str, Any]:
    """Read a JSON object; pure.

    NaN, infinity, depth over 200, lone surrogates, NUL and more than `VALUES_MAX` values are
    refused.

    Raises:
        InvalidInput: the body is not such an object.
    """
    try:
        read = from_json(body or b"{}", allow_inf_nan=False)
    except ValueError as problem:
        raise InvalidInput(f"The body is not valid JSON: {_short(problem)}") from problem
    if not isinstance(read, dict):
        raise InvalidInput("The body must be a JSON object.")
    _check_values(read)
    return read


def _short(problem: ValueError) -> str:
    return str(problem)[:120]


def _check_values(read: dict[str, Any]) -> None:
    # A list of our own instead of recursion: the depth is the sender's to choose.
    waiting: deque[Any] = deque([read])
    count = 0
    while waiting:
        value = waiting.pop()
        count += 1
        if count > VALUES_MAX:
            raise InvalidInput(f"The body holds more than {VALUES_MAX} values.")
        _check_scalar(value)
        if isinstance(value, dict):
            waiting.extend((*value.keys(), *value.values()))
        elif isinstance(value, list):
            waiting.extend(value)


def _check_scalar(value: Any) -> None:
    # NUL ends a text early in C libraries and is refused by some databases.
    if isinstance(value, str) and "\0" in value:
        raise InvalidInput("The body holds a NUL character.")
    # 1e999 is well-formed JSON and reads as infinity.
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput("The body holds a number that is not finite.")
    if isinstance(value, int) and not -INTEGER_MAX <= value < INTEGER_MAX:
        raise InvalidInput("The body holds an integer beyond 64 bits.")
