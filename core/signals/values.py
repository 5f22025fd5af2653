"""Values: JSON checked at the door, and the text JavaScript would make of it (signals.md X7)."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from core.errors import InvalidSignal

DEPTH_LIMIT = 32
"""How deep lists and objects may be nested."""
_LARGEST = 2**1024
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def check_json(where: str, value: Any, *, depth: int = DEPTH_LIMIT) -> Any:
    """Return a deep copy of a JSON value; `where` is its path in the input.

    Tuples become lists; half characters become U+FFFD, since no store could write them.

    Raises:
        InvalidSignal: NaN, Infinity, what JSON has no form for, or nesting past `depth`.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        # A platform may cut a name or a text between the two halves of an emoji.
        return well_formed(value)
    if isinstance(value, (int, float)):
        return _check_number(where, value)
    if depth <= 0:
        raise _refused(where, f"is nested deeper than {DEPTH_LIMIT}")
    if isinstance(value, (list, tuple)):
        return [
            check_json(f"{where}.{index}", item, depth=depth - 1)
            for index, item in enumerate(value)
        ]
    if isinstance(value, Mapping):
        return _check_object(where, value, depth)
    raise _refused(where, f"cannot hold {type(value).__name__}: use JSON values")


def check_json_object(where: str, value: Any, limit: int) -> dict[str, Any]:
    """Return a deep copy of a JSON object of at most `limit` characters; None is an empty one.

    Raises:
        InvalidSignal: it is no object, too long, or holds what JSON cannot.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _refused(where, f"must be an object, not {type(value).__name__}")
    checked: dict[str, Any] = check_json(where, value)
    size = len(json.dumps(checked, ensure_ascii=False))
    if size > limit:
        raise _refused(where, f"is {size} characters long; {limit} are allowed")
    return checked


def well_formed(text: str) -> str:
    """Return the text as a plain str in which lone surrogates are U+FFFD, as in `toWellFormed`."""
    return _LONE_SURROGATE.sub("\ufffd", str.__str__(text))


def value_text(value: Any) -> str:
    """Return a checked value as a tag shows it: text bare, lists and objects as compact JSON."""
    return value if isinstance(value, str) else _json_text(value)


def number_text(value: float) -> str:
    """Return a finite number as JavaScript's String() does: `2`, `1e+21`, `1e-7`; `-0.0` is `0`.

    Whole numbers under 1e21 keep every digit, so that long ids stay true.
    """
    if value == 0:
        return "0"
    if isinstance(value, int) and abs(value) < 10**21:
        return str(int(value))
    # Python and JavaScript both choose the shortest digits that read back as the same number.
    shortest = repr(float(value))
    sign = "-" if shortest.startswith("-") else ""
    return sign + _placed(*_digits(shortest.lstrip("-")))


def _check_number(where: str, value: float) -> float:
    if isinstance(value, int):
        if abs(value) >= _LARGEST:
            raise _refused(where, "is a number too large for JSON")
        return int(value)
    if not math.isfinite(value):
        raise _refused(where, f"cannot hold {value}: a number must be finite")
    return float(value)


def _check_object(where: str, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    checked: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _refused(where, f"has the key {key!r}: keys are text")
        checked[well_formed(key)] = check_json(f"{where}.{key}", item, depth=depth - 1)
    return checked


def _refused(where: str, problem: str) -> InvalidSignal:
    # Keys are the sender's: a path may be as long as the whole input.
    path = where if len(where) <= 200 else f"{where[:200]}..."
    return InvalidSignal(f"{path} {problem}", fields={path: problem})


def _json_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_json_text, value))}]"
    if isinstance(value, Mapping):
        members = (f"{_json_text(key)}:{_json_text(item)}" for key, item in value.items())
        return f"{{{','.join(members)}}}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def _digits(shortest: str) -> tuple[str, int]:
    """Return the significant digits, and where the decimal point stands from their start."""
    mantissa, _, exponent = shortest.partition("e")
    whole, _, fraction = mantissa.partition(".")
    written = whole + fraction
    significant = written.lstrip("0")
    point = len(whole) - (len(written) - len(significant)) + int(exponent or 0)
    return significant.rstrip("0"), point


def _placed(digits: str, point: int) -> str:
    if 0 < point <= 21:
        whole, fraction = digits[:point].ljust(point, "0"), digits[point:]
        return f"{whole}.{fraction}" if fraction else whole
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    shown = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{shown}e{point - 1:+d}"
