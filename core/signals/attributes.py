"""Attributes and names: what may stand in a tag, checked at the door (signals.md X7 to X9, 5.1)."""

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from core.errors import InvalidSignal

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
"""Grammar of tag and attribute names; used with a full match, since `$` lets a newline pass."""
NAME_LIMIT = 128
COUNT_LIMIT = 64
VALUE_LIMIT = 16_384
"""Characters of one attribute value as it is shown."""
DISPLAY_NAME_LIMIT = 80
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


def check_name(name: Any, what: str) -> str:
    """Return a tag or attribute name if it may stand in a tag; `what` is named in the error.

    Raises:
        InvalidSignal: it breaks the grammar of signals.md X8.
    """
    if isinstance(name, str) and len(name) <= NAME_LIMIT and NAME.fullmatch(name):
        return name
    raise InvalidSignal(
        f"{what} {name!r} is not allowed: a letter or `_`, then letters, digits, `_`, `.`, `-`",
        fields={what: "malformed"},
    )


def check_attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of a signal's attributes, each name and value checked, in the given order.

    Values are strings, numbers, booleans, None, or lists and objects of these.

    Raises:
        InvalidSignal: names the attribute.
    """
    given = dict(attributes or {})
    if len(given) > COUNT_LIMIT:
        raise InvalidSignal(f"{len(given)} attributes are too many: {COUNT_LIMIT} are allowed")
    return {
        check_name(name, "attribute name"): _check(name, value) for name, value in given.items()
    }


def validate_branch_attributes(
    attributes: Mapping[str, Any],
) -> dict[str, str | int | float | bool]:
    """Return attributes of an `ifActive` or `ifIdle` branch, or of a state: plain values only (X7).

    Raises:
        InvalidSignal: a value is not a string, number or boolean.
    """
    checked = check_attributes(attributes)
    for name, value in checked.items():
        if not isinstance(value, (str, int, float, bool)):
            raise InvalidSignal(
                f"attribute {name} must be a string, a number or a boolean here",
                fields={name: "not a plain value"},
            )
    return checked


def attribute_text(value: Any) -> str:
    """Return a value as text: booleans in lower case, numbers as JavaScript writes them (X7)."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def number_text(value: float) -> str:
    """Return a number as JavaScript's String() does: `2.0` is `2`, `1e21` is `1e+21`, `-0.0` is `0`."""
    if value == 0:
        return "0"
    if isinstance(value, int) and abs(value) < 10**21:
        return str(value)
    shortest = repr(float(value))
    sign = "-" if shortest.startswith("-") else ""
    digits, exponent = _digits(shortest.lstrip("-"))
    return sign + _placed(digits, exponent)


def clean_name(name: str) -> str:
    """Return a display name fit to be shown: one line, nothing invisible, at most 80 characters.

    Control, bidirectional and zero-width characters are dropped (reliability.md T11, PB-050).
    """
    spaced = re.sub(r"\s+", " ", name)
    visible = "".join(char for char in spaced if unicodedata.category(char) not in _INVISIBLE)
    return visible.strip()[:DISPLAY_NAME_LIMIT].strip()


def _check(name: str, value: Any) -> Any:
    copied = _plain(name, value)
    if len(attribute_text(copied)) > VALUE_LIMIT:
        raise InvalidSignal(
            f"attribute {name} is longer than {VALUE_LIMIT} characters", fields={name: "too long"}
        )
    return copied


def _plain(name: str, value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(name, item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(name, item) for key, item in value.items()}
    raise InvalidSignal(
        f"attribute {name} cannot hold {type(value).__name__} {value!r}: use text, a finite number, "
        "a boolean, or lists and objects of these",
        fields={name: "not a JSON value"},
    )


def _digits(shortest: str) -> tuple[str, int]:
    """Return the significant digits, and where the decimal point stands from their start."""
    mantissa, _, exponent = shortest.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    joined = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len((whole + fraction).lstrip("0"))
    point = len(whole) - leading + int(exponent or 0)
    return joined.rstrip("0"), point


def _placed(digits: str, point: int) -> str:
    if 0 < point <= 21:
        whole = digits[:point].ljust(point, "0")
        fraction = digits[point:]
        return f"{whole}.{fraction}" if fraction else whole
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = point - 1
    shown = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{shown}e{'+' if exponent >= 0 else '-'}{abs(exponent)}"
