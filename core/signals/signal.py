"""Signals: typed input for a thread: what one is, and how it is created and checked."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, cast, get_args

from pydantic import Field

from core.errors import InvalidSignal
from core.messages import ContentPart
from core.records import Record
from core.signals.attributes import check_attributes, check_name, validate_branch_attributes
from core.signals.contents import read_contents
from core.signals.values import check_json_object, well_formed

SignalType = Literal["user", "state", "reactive", "notification"]
SignalInput = Mapping[str, Any]
"""The fields of Signal in snake_case or camelCase; only `type` and `contents` must be there."""
DEFAULT_TAGS: Mapping[str, str] = {
    "user": "user",
    "state": "state",
    "notification": "notification",
    "reactive": "system-reminder",
}
LEGACY_TYPES: Mapping[str, SignalType] = {"user-message": "user", "system-reminder": "reactive"}
RESERVED_TAGS: Mapping[str, SignalType] = {
    "user": "user",
    "state": "state",
    "notification": "notification",
    "notification-summary": "notification",
    "system-reminder": "reactive",
    "current-objective": "state",
}
"""Tags that mean something to the model, and the one type that may use each (signals.md 5.2)."""
ID_LIMIT = 256
METADATA_LIMIT = 1_000_000
"""Characters of metadata, and of provider options, as JSON."""
_ALIASES = {
    "tagName": "tag_name",
    "providerOptions": "provider_options",
    "createdAt": "created_at",
    "acceptedAt": "accepted_at",
}


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


_KNOWN = frozenset(Signal.model_fields)


def create_signal(
    spec: SignalInput | Signal, *, now: datetime, new_id: Callable[[], str]
) -> Signal:
    """Create a signal, checking every rule before anything is routed or stored (C1 to C6, 5.1).

    A Signal is checked again and keeps its id (C6). Legacy types are translated (C2). `acceptedAt`
    is kept if given; whoever accepts the signal overwrites it (C4). Nothing is shared with `spec`.

    Raises:
        InvalidSignal: names what is wrong; nothing was done.
    """
    fields = _fields(spec)
    kind = _type(fields.get("type"))
    attributes = check_attributes(fields.get("attributes"))
    if kind == "state":
        validate_branch_attributes(attributes)
    return Signal(
        id=_id(fields.get("id")) or new_id(),
        type=kind,
        tag_name=_tag(kind, fields.get("tag_name")),
        contents=read_contents(fields.get("contents")),
        attributes=attributes,
        metadata=check_json_object("metadata", fields.get("metadata"), METADATA_LIMIT),
        provider_options=_options(fields.get("provider_options")),
        created_at=_instant("createdAt", fields.get("created_at")) or now,
        accepted_at=_instant("acceptedAt", fields.get("accepted_at")),
        transient=_transient(kind, fields),
    )


def message_input(message: Any) -> dict[str, Any]:
    """Return the fields of a person's message, for create_signal (signals.md M1).

    `message` is text, a list of parts, or an object of `contents`, `attributes`, `metadata` and
    `providerOptions`. Type and tag are `user` whatever it says.
    """
    fields: Mapping[str, Any] = message if isinstance(message, Mapping) else {"contents": message}
    forced = {"type", "tagName", "tag_name"}
    return {"type": "user"} | {name: fields[name] for name in fields if name not in forced}


def merge_attributes(signal: Signal, branch: Mapping[str, Any]) -> Signal:
    """Return the signal with a branch's attributes: an overridden key keeps its place (X6).

    `branch` went through validate_branch_attributes when it was given.
    """
    if not branch:
        return signal
    return signal.model_copy(update={"attributes": {**signal.attributes, **branch}})


def _fields(spec: SignalInput | Signal) -> dict[str, Any]:
    if isinstance(spec, Signal):
        # Every Signal has the field; only a true one was asked for (C5).
        given: dict[str, Any] = {name: getattr(spec, name) for name in _KNOWN}
        return given if spec.transient else {**given, "transient": None}
    if not isinstance(spec, Mapping):
        raise InvalidSignal("a signal must be an object", fields={"signal": "not an object"})
    fields = {_ALIASES.get(name, name): value for name, value in spec.items()}
    unknown = sorted(str(name)[:80] for name in fields if name not in _KNOWN)
    if unknown:
        raise InvalidSignal(
            f"a signal has no field {', '.join(unknown)}",
            fields=dict.fromkeys(unknown, "unknown"),
        )
    return fields


def _type(given: Any) -> SignalType:
    if isinstance(given, str) and given in LEGACY_TYPES:
        return LEGACY_TYPES[given]
    if isinstance(given, str) and given in get_args(SignalType):
        return cast("SignalType", given)
    raise InvalidSignal(
        f"signal type {str(given)[:80]!r} is not known: use user, state, reactive or notification, "
        "and tagName for a tag of your own",
        fields={"type": "unknown"},
    )


def _tag(kind: SignalType, given: Any) -> str:
    tag = DEFAULT_TAGS[kind] if given is None else check_name(given, "tag name", "tagName")
    owner = RESERVED_TAGS.get(tag.lower(), kind)
    if owner != kind:
        raise InvalidSignal(
            f"tag name {tag!r} is reserved for {owner} signals, this one is {kind}",
            fields={"tagName": "reserved"},
        )
    return tag


def _id(given: Any) -> str | None:
    if given is None or given == "":
        return None
    if isinstance(given, str) and len(given) <= ID_LIMIT and given.isprintable():
        return well_formed(given)
    raise InvalidSignal(
        f"a signal's id is text of at most {ID_LIMIT} printable characters",
        fields={"id": "malformed"},
    )


def _transient(kind: SignalType, fields: Mapping[str, Any]) -> bool:
    given = fields.get("transient")
    if given is None:
        return False
    if kind == "state":
        raise InvalidSignal(
            "a state signal cannot be transient", fields={"transient": "not allowed"}
        )
    if not isinstance(given, bool):
        raise InvalidSignal("transient is true or false", fields={"transient": "not a boolean"})
    return given


def _options(given: Any) -> dict[str, Any] | None:
    return None if given is None else check_json_object("providerOptions", given, METADATA_LIMIT)


def _instant(field: str, given: Any) -> datetime | None:
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given) if isinstance(given, str) else given
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError) as exc:
        raise InvalidSignal(
            f"{field} {str(given)[:80]!r} is no date", fields={field: "malformed"}
        ) from exc
    raise InvalidSignal(
        f"{field} must be an ISO date with a time zone", fields={field: "without zone"}
    )
