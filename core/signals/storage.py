"""Storage: signals as rows of a thread's history and back, and as chunks (signals.md C7 to C10)."""

from collections.abc import Mapping
from typing import Any, cast

from core.messages import ContentPart, FilePart, Message, TextPart
from core.signals.signal import DEFAULT_TAGS, LEGACY_TYPES, RESERVED_TAGS, Signal, SignalType


def to_row(signal: Signal, *, run_id: str | None = None, step: int = 0, turn: int = 0) -> Message:
    """Return the row of a signal: contents as parts, everything else in `metadata.signal` (C7)."""
    envelope: dict[str, Any] = {
        "id": signal.id,
        "type": signal.type,
        "tagName": signal.tag_name,
        "createdAt": signal.created_at.isoformat(),
    }
    if signal.accepted_at is not None:
        envelope["acceptedAt"] = signal.accepted_at.isoformat()
    if signal.attributes:
        envelope["attributes"] = signal.attributes
    if signal.metadata:
        envelope["metadata"] = signal.metadata
    if signal.transient:
        envelope["transient"] = True
    if signal.provider_options is not None:
        envelope["providerOptions"] = signal.provider_options
    return Message(
        id=signal.id,
        role="signal",
        type=signal.tag_name,
        content=_parts(signal),
        metadata={"signal": envelope},
        created_at=signal.created_at,
        run_id=run_id,
        step=step,
        turn=turn,
    )


def from_row(row: Message) -> Signal:
    """Return the signal of a row; one without a known envelope is read by its row type (C9)."""
    envelope = row.metadata.get("signal")
    known: Mapping[str, Any] = envelope if isinstance(envelope, Mapping) else {}
    written = str(known.get("type") or row.type or "user-message")
    kind = _type(written)
    return Signal(
        id=str(known.get("id") or row.id),
        type=kind,
        tag_name=str(known.get("tagName") or DEFAULT_TAGS[kind]),
        contents=_contents(row),
        attributes=dict(known.get("attributes") or {}),
        metadata=dict(known.get("metadata") or {}),
        provider_options=known.get("providerOptions"),
        created_at=known.get("createdAt") or row.created_at,
        accepted_at=known.get("acceptedAt"),
        transient=bool(known.get("transient", False)),
    )


def signal_chunk(signal: Signal) -> tuple[str, dict[str, Any]]:
    """Return the chunk type and payload that echo a signal to subscribers (C10)."""
    chunk_type = "data-user-message" if signal.type == "user" else "data-signal"
    payload = signal.model_dump(mode="json", exclude_none=True)
    for name in ("attributes", "metadata", "transient"):
        if not payload.get(name):
            payload.pop(name, None)
    return chunk_type, payload


def _parts(signal: Signal) -> tuple[ContentPart, ...]:
    if isinstance(signal.contents, str):
        return (TextPart(text=signal.contents),)
    # A row always has a part: an empty list is stored as one empty text (C8).
    return signal.contents or (TextPart(text=""),)


def _contents(row: Message) -> str | tuple[ContentPart, ...]:
    parts = tuple(part for part in row.content if isinstance(part, (TextPart, FilePart)))
    only = parts[0] if len(parts) == 1 else None
    if isinstance(only, TextPart) and only.provider_options is None:
        return only.text
    return parts


def _type(written: str) -> SignalType:
    if written in LEGACY_TYPES:
        return LEGACY_TYPES[written]
    if written in DEFAULT_TAGS:
        return cast("SignalType", written)
    return cast("SignalType", RESERVED_TAGS.get(written, "user"))
