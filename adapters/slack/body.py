"""Body: verified bytes as a bounded JSON object; pure.

`pydantic_core.from_json` refuses lone surrogates, huge numbers and deep nesting quickly; NaN is
switched off (reliability.md, stage 1).
"""

from typing import Any
from urllib.parse import parse_qsl

from pydantic_core import from_json

from core.errors import InvalidInput

Json = dict[str, Any]

MOST_FIELDS = 50
FORM = "application/x-www-form-urlencoded"


def read_body(content_type: str, raw: bytes) -> Json:
    """Return an event, an interaction's payload, or the fields of a slash command.

    Raises:
        InvalidInput: it is none of these; the text never quotes the body.
    """
    if content_type.lower() != FORM:
        return read_json(raw)
    form = _read_form(raw)
    return read_json(form["payload"].encode()) if "payload" in form else dict(form)


def read_json(raw: bytes) -> Json:
    """Return a JSON object.

    Raises:
        InvalidInput: it is no object, or not within the bounds.
    """
    try:
        value = from_json(raw, allow_inf_nan=False)
    except (ValueError, RecursionError):
        # Without its cause: the parser quotes what it stumbled over.
        raise InvalidInput("the body is not readable JSON") from None
    if not isinstance(value, dict):
        raise InvalidInput("the body is not a JSON object")
    return value


def _read_form(raw: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            raw.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise InvalidInput("the body is not a readable form") from None
    return dict(pairs)
