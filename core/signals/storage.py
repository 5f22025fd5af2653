"""Storage: signals as rows of a thread's history and back, and as chunks (signals.md C7 to C10)."""

import copy
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from core.messages import ContentPart, FilePart, Message, TextPart
from core.signals.contents import read_legacy_contents, simplified
from core.signals.signal import DEFAULT_TAGS, LEGACY_TYPES, RESERVED_TAGS, Signal, SignalType


# Contents stand once, as parts; the envelope holds everything else.
def to_row(signal: Signal, *, run_id: str | None = None, step: int = 0, turn: int = 0) -> Message:
    """Return the row of a signal: contents as parts, everything else in `metadata.signal` (C7).

    The caller's metadata and the signal's provider options live in that envelope only.
    """
    return Message(
        id=signal.id,
        role="signal",
        type=signal.tag_name,
        content=_parts(signal),
        metadata={"signal": _envelope(signal)},
        created_at=signal.created_at,
        run_id=run_id,
        step=step,
        turn=turn,
    )


def from_row(row: Message) -> Signal:
    """Return the signal of a row, whatever shape its envelope has; never raises (C9).

    Without a known type the row's own decides, then `user-message`. Times come from the envelope
    or the row, never from the clock, so that a reload keeps the order (B23).
    """
    found = row.metadata.get("signal")
    envelope: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    kind = _known_type(envelope.get("type")) or _known_type(row.type) or "user"
    return Signal(
        id=_text(envelope.get("id")) or row.id,
        type=kind,
        tag_name=_tag(envelope, row, kind),
        contents=_contents(envelope, row),
        attributes=_object(envelope.get("attributes")) or {},
        metadata=_object(envelope.get("metadata")) or {},
        provider_options=_object(envelope.get("providerOptions")),
        created_at=_instant(envelope.get("createdAt")) or row.created_at,
        accepted_at=_instant(envelope.get("acceptedAt")),
        transient=envelope.get("transient") is True,
    )


def signal_chunk(signal: Signal) -> tuple[str, dict[str, Any]]:
    """Return the chunk type and payload that echo a signal to subscribers (C10).

    Such a chunk is itself transient: it is shown, the row is what is stored.
    """
    chunk_type = "data-user-message" if signal.type == "user" else "data-signal"
    optional = {"attributes", "metadata", "transient"}
    dumped = signal.model_dump(mode="json", exclude_none=True)
    return chunk_type, {
        name: value for name, value in dumped.items() if value or name not in optional
    }


def _envelope(signal: Signal) -> dict[str, Any]:
    always = {
        "id": signal.id,
        "type": signal.type,
        "tagName": signal.tag_name,
        "createdAt": signal.created_at.isoformat(),
    }
    optional = {
        "acceptedAt": signal.accepted_at and signal.accepted_at.isoformat(),
        "attributes": copy.deepcopy(signal.attributes) or None,
        "metadata": copy.deepcopy(signal.metadata) or None,
        "transient": signal.transient or None,
        "providerOptions": copy.deepcopy(signal.provider_options),
    }
    return always | {name: value for name, value in optional.items() if value is not None}


def _parts(signal: Signal) -> tuple[ContentPart, ...]:
    if isinstance(signal.contents, str):
        return (TextPart(text=signal.contents),)
    # A row always has a part: an empty list is stored as one empty text (C8).
    return signal.contents or (TextPart(text=""),)


def _contents(envelope: Mapping[str, Any], row: Message) -> str | tuple[ContentPart, ...]:
    # Old rows kept the contents in the envelope; today's never do (C7).
    legacy = read_legacy_contents(envelope["contents"]) if "contents" in envelope else None
    if legacy is not None:
        return simplified(legacy)
    return simplified(tuple(part for part in row.content if isinstance(part, (TextPart, FilePart))))


def _known_type(written: Any) -> SignalType | None:
    if not isinstance(written, str):
        return None
    if written in DEFAULT_TAGS:
        return cast("SignalType", written)
    return LEGACY_TYPES.get(written) or RESERVED_TAGS.get(written)


def _tag(envelope: Mapping[str, Any], row: Message, kind: SignalType) -> str:
    written = _text(envelope.get("tagName"))
    if written is not None:
        return written
    # The row's type is its tag, where it is one of ours.
    return row.type if RESERVED_TAGS.get(row.type) == kind else DEFAULT_TAGS[kind]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _object(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    return {str(name): copy.deepcopy(item) for name, item in value.items()}


def _instant(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
