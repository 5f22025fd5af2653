"""Signals: typed input for a thread: what one is, and how it is created and checked."""

import copy
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import Field, TypeAdapter, ValidationError

from core.errors import InvalidSignal
from core.messages import ContentPart, FilePart, TextPart
from core.records import Record
from core.signals.attributes import check_attributes, check_name, validate_branch_attributes

SignalType = Literal["user", "state", "reactive", "notification"]
DEFAULT_TAGS: Mapping[str, str] = {
    "user": "user",
    "state": "state",
    "notification": "notification",
    "reactive": "system-reminder",
}
LEGACY_TYPES: Mapping[str, SignalType] = {"user-message": "user", "system-reminder": "reactive"}
RESERVED_TAGS: Mapping[str, str] = {
    "user": "user",
    "state": "state",
    "notification": "notification",
    "notification-summary": "notification",
    "system-reminder": "reactive",
    "current-objective": "state",
}
"""Tags that mean something to the model, and the one type that may use each (signals.md 5.2)."""
CONTENT_LIMIT = 1_000_000
"""Characters of a signal's contents, files included."""
_PARTS = TypeAdapter(tuple[Annotated[TextPart | FilePart, Field(discriminator="type")], ...])
_ALIASES = {
    "tagName": "tag_name",
    "providerOptions": "provider_options",
    "createdAt": "created_at",
    "acceptedAt": "accepted_at",
}
_KNOWN = frozenset(
    {
        "id",
        "type",
        "tag_name",
        "contents",
        "attributes",
        "metadata",
        "provider_options",
        "created_at",
        "accepted_at",
        "transient",
    }
)


class Signal(Record):
    """One typed piece of input (signals.md 1).

    `contents` is plain text, or text and file parts. `attributes` are shown to the model in their
    order, `metadata` never is. A `transient` signal is delivered now and never stored.
    """

    id: str
    type: SignalType
    tag_name: str
    contents: str | tuple[ContentPart, ...]
    attributes: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    provider_options: dict[str, Any] | None = None
    created_at: datetime
    accepted_at: datetime | None = None
    transient: bool = False


def create_signal(
    spec: Mapping[str, Any] | Signal, *, now: datetime, new_id: Callable[[], str]
) -> Signal:
    """Create a signal, checking every rule before anything is routed or stored (C1 to C6, 5.1).

    `spec` has the fields of Signal in snake_case or camelCase; a Signal keeps its id (C6). Legacy
    types are translated (C2).

    Raises:
        InvalidSignal: names what is wrong; nothing was done.
    """
    if isinstance(spec, Signal):
        return spec.model_copy(deep=True)
    fields = _fields(spec)
    kind = _type(fields.get("type"))
    if kind == "state" and "transient" in fields:
        raise InvalidSignal(
            "a state signal cannot be transient", fields={"transient": "not allowed"}
        )
    attributes = check_attributes(fields.get("attributes"))
    if kind == "state":
        validate_branch_attributes(attributes)
    return Signal(
        id=str(fields.get("id") or new_id()),
        type=kind,
        tag_name=_tag(kind, fields.get("tag_name"), fields.get("type")),
        contents=_contents(fields.get("contents")),
        attributes=attributes,
        metadata=copy.deepcopy(dict(fields.get("metadata") or {})),
        provider_options=copy.deepcopy(fields.get("provider_options")),
        created_at=_instant(fields.get("created_at"), now),
        transient=bool(fields.get("transient", False)),
    )


def merge_attributes(signal: Signal, branch: Mapping[str, Any]) -> Signal:
    """Return the signal with a branch's attributes: an overridden key keeps its place (X6)."""
    if not branch:
        return signal
    return signal.model_copy(update={"attributes": {**signal.attributes, **branch}})


def _fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    fields = {_ALIASES.get(name, name): value for name, value in spec.items()}
    unknown = sorted(set(fields) - _KNOWN)
    if unknown:
        raise InvalidSignal(
            f"a signal has no field {', '.join(unknown)}",
            fields=dict.fromkeys(unknown, "unknown"),
        )
    return fields


def _type(given: Any) -> SignalType:
    if isinstance(given, str) and given in LEGACY_TYPES:
        return LEGACY_TYPES[given]
    if given in get_args(SignalType):
        return cast("SignalType", given)
    raise InvalidSignal(
        f"signal type {given!r} is not known: use user, state, reactive or notification, and "
        "tagName for a tag of your own",
        fields={"type": "unknown"},
    )


def _tag(kind: SignalType, given: Any, written_type: Any) -> str:
    if kind == "user" and given in (None, ""):
        return "user"
    tag = DEFAULT_TAGS[kind] if given is None else check_name(given, "tag name")
    owner = RESERVED_TAGS.get(tag.lower())
    if owner is not None and owner != kind:
        raise InvalidSignal(
            f"tag name {tag!r} is reserved for {owner} signals, this one is {written_type!r}",
            fields={"tagName": "reserved"},
        )
    return tag


def _contents(given: Any) -> str | tuple[ContentPart, ...]:
    if isinstance(given, str):
        parts: str | tuple[ContentPart, ...] = given
        size = len(given)
    else:
        parts = _parse_parts(given)
        size = sum(len(part.text if isinstance(part, TextPart) else part.data) for part in parts)
    if size > CONTENT_LIMIT:
        raise InvalidSignal(
            f"the contents are {size} characters long; {CONTENT_LIMIT} are allowed",
            fields={"contents": "too long"},
        )
    return parts


def _parse_parts(given: Any) -> tuple[ContentPart, ...]:
    if not isinstance(given, (list, tuple)):
        raise InvalidSignal(
            "contents must be text, or a list of text and file parts",
            fields={"contents": "missing or malformed"},
        )
    texts = [{"type": "text", "text": item} if isinstance(item, str) else item for item in given]
    try:
        return _PARTS.validate_python(texts)
    except ValidationError as exc:
        listed = {
            ".".join(("contents", *map(str, error["loc"]))): error["msg"] for error in exc.errors()
        }
        raise InvalidSignal(
            f"the contents do not fit: {'; '.join(listed.values())}", fields=listed
        ) from exc


def _instant(given: Any, now: datetime) -> datetime:
    if given is None:
        return now
    try:
        moment = given if isinstance(given, datetime) else datetime.fromisoformat(str(given))
    except ValueError as exc:
        raise InvalidSignal(
            f"createdAt {given!r} is no date", fields={"createdAt": "malformed"}
        ) from exc
    if moment.tzinfo is None:
        raise InvalidSignal("createdAt needs a time zone", fields={"createdAt": "without zone"})
    return moment.astimezone(UTC)
