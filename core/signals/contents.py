"""Contents: text, or text and file parts, in every shape they come in (signals.md C8, C9)."""

import base64
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from core.errors import InvalidSignal
from core.messages import ContentPart, FilePart, TextPart
from core.signals.values import check_json, well_formed

CONTENT_LIMIT = 1_000_000
"""Characters of a signal's contents, base64 of files included."""
PARTS_LIMIT = 1_000
Contents = str | tuple[ContentPart, ...]
_PARTS = TypeAdapter(tuple[Annotated[TextPart | FilePart, Field(discriminator="type")], ...])
_OLD_NAMES = {"mimeType": "mediaType", "mime_type": "mediaType", "image": "data", "url": "data"}


def read_contents(given: Any) -> Contents:
    """Return contents checked and copied: a string, or parts whose files are URLs or base64 (X18).

    Takes text, lists of text and parts, and the older part shapes: `image`, `mimeType`, bytes.

    Raises:
        InvalidSignal: missing, malformed, or longer than the limit.
    """
    contents = well_formed(given) if isinstance(given, str) else _read_parts(given)
    size = len(contents) if isinstance(contents, str) else sum(map(_size, contents))
    if size > CONTENT_LIMIT:
        raise InvalidSignal(
            f"the contents are {size} characters long; {CONTENT_LIMIT} are allowed",
            fields={"contents": "too long"},
        )
    return contents


def read_legacy_contents(given: Any) -> Contents | None:
    """Return contents as old rows kept them, `{role: user, content}` too; None: not readable."""
    inner = given.get("content") if isinstance(given, Mapping) else given
    try:
        return read_contents(inner)
    except InvalidSignal:
        return None


def simplified(contents: Contents) -> Contents:
    """Return one plain text part as a string and no parts as an empty one, as a row reads (C8)."""
    if isinstance(contents, str):
        return contents
    if not contents:
        return ""
    only = contents[0]
    if len(contents) == 1 and isinstance(only, TextPart) and not only.provider_options:
        return only.text
    return contents


def _size(part: ContentPart) -> int:
    return len(part.text if isinstance(part, TextPart) else part.data)


def _read_parts(given: Any) -> tuple[ContentPart, ...]:
    if not isinstance(given, (list, tuple)):
        raise InvalidSignal(
            "contents must be text, or a list of text and file parts",
            fields={"contents": "missing or malformed"},
        )
    if len(given) > PARTS_LIMIT:
        raise InvalidSignal(
            f"{len(given)} parts are too many: {PARTS_LIMIT} are allowed",
            fields={"contents": "too many parts"},
        )
    shaped = [_shape(f"contents.{index}", item) for index, item in enumerate(given)]
    try:
        return _PARTS.validate_python(shaped)
    except ValidationError as exc:
        listed = {
            ".".join(("contents", *map(str, error["loc"]))): error["msg"] for error in exc.errors()
        }
        raise InvalidSignal(
            f"the contents do not fit: {'; '.join(listed.values())}", fields=listed
        ) from exc


def _shape(where: str, item: Any) -> Any:
    if isinstance(item, str):
        return {"type": "text", "text": well_formed(item)}
    # An instance is taken apart and checked like any other: its dicts are the caller's.
    fields = item.model_dump() if isinstance(item, (TextPart, FilePart)) else item
    if not isinstance(fields, Mapping):
        raise InvalidSignal(f"{where} must be a text or a file part", fields={where: "malformed"})
    named = {_OLD_NAMES.get(name, name): value for name, value in fields.items()}
    # Images were a type of their own before files had media types (C9).
    if named.get("type") == "image":
        named = {"mediaType": "image/*", **named, "type": "file"}
    if isinstance(named.get("data"), (bytes, bytearray)):
        named["data"] = base64.b64encode(named["data"]).decode("ascii")
    return check_json(where, named)
