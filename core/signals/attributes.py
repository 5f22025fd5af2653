"""Attributes and names: what may stand in a tag, checked at the door (signals.md X7 to X9, 5.1)."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from core.errors import InvalidSignal
from core.signals.values import check_json, value_text

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
"""Grammar of tag and attribute names; used with a full match, since `$` lets a newline pass."""
NAME_LIMIT = 128
COUNT_LIMIT = 64
VALUE_LIMIT = 16_384
"""Characters of one attribute value as it is shown."""
DISPLAY_NAME_LIMIT = 80
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Characters that show nothing although their category says letter, mark or symbol."""


def check_name(name: Any, what: str, where: str) -> str:
    """Return a tag or attribute name if it may stand in a tag.

    `what` ("tag name", "attribute name") is named in the error, `where` is the path in the input.

    Raises:
        InvalidSignal: it breaks the grammar of signals.md X8, or is longer than 128 characters.
    """
    if isinstance(name, str) and len(name) <= NAME_LIMIT and NAME.fullmatch(name):
        return str.__str__(name)
    raise InvalidSignal(
        f"{what} {str(name)[:NAME_LIMIT]!r} is not allowed: a letter or `_`, then letters, digits, "
        f"`_`, `.`, `-`, at most {NAME_LIMIT}",
        fields={where: "malformed name"},
    )


def check_attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a deep copy of a signal's attributes, each name and value checked, in the given order.

    Values are strings, finite numbers, booleans, None, or lists and objects of these. Names of
    attributes that are None are checked too (X9).

    Raises:
        InvalidSignal: names the attribute.
    """
    if attributes is None:
        return {}
    if not isinstance(attributes, Mapping):
        raise InvalidSignal("attributes must be an object", fields={"attributes": "not an object"})
    if len(attributes) > COUNT_LIMIT:
        raise InvalidSignal(
            f"{len(attributes)} attributes are too many: {COUNT_LIMIT} are allowed",
            fields={"attributes": "too many"},
        )
    return {
        check_name(name, "attribute name", "attributes"): _check(name, value)
        for name, value in attributes.items()
    }


def validate_branch_attributes(
    attributes: Mapping[str, Any] | None,
) -> dict[str, str | int | float | bool]:
    """Return attributes of an `ifActive` or `ifIdle` branch, or of a state: plain values only (X7).

    Raises:
        InvalidSignal: a value is not a string, a finite number or a boolean.
    """
    checked = check_attributes(attributes)
    for name, value in checked.items():
        if not isinstance(value, (str, int, float, bool)):
            raise InvalidSignal(
                f"attribute {name} must be a string, a number or a boolean here",
                fields={f"attributes.{name}": "not a plain value"},
            )
    return checked


def clean_name(name: str) -> str:
    """Return a display name fit to be shown: one line, nothing invisible, at most 80 characters.

    Control, bidirectional and zero-width characters are dropped (reliability.md T11, PB-050); what
    is left may be empty. A name proves nothing: show the platform's id beside it.
    """
    # Line ends are both space and control: they part words, so they are kept until the split.
    visible = "".join(" " if char.isspace() else char for char in name if _is_shown(char))
    return " ".join(visible.split())[:DISPLAY_NAME_LIMIT].strip()


def _is_shown(char: str) -> bool:
    if char.isspace():
        return True
    return char not in _BLANK and unicodedata.category(char) not in _INVISIBLE


def _check(name: str, value: Any) -> Any:
    where = f"attributes.{name}"
    checked = check_json(where, value)
    if len(value_text(checked)) > VALUE_LIMIT:
        raise InvalidSignal(
            f"attribute {name} is longer than {VALUE_LIMIT} characters", fields={where: "too long"}
        )
    return checked
