"""Rendering: a signal as the model reads it: XML that nobody can break out of (signals.md 2.2)."""

import re
from functools import partial
from typing import Any

import structlog

from core.errors import InvalidSignal
from core.messages import ContentPart, TextPart
from core.ports.model import PromptMessage
from core.signals.attributes import NAME
from core.signals.contents import simplified
from core.signals.signal import DEFAULT_TAGS, RESERVED_TAGS, Signal
from core.signals.values import check_json, value_text, well_formed

log = structlog.get_logger(__name__)

_UNSEEN = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""What a reader, or a model, may take for nothing at all."""
_NAMES = "|".join(
    f"[{_UNSEEN}]*".join(map(re.escape, tag)) for tag in sorted(RESERVED_TAGS, reverse=True)
)
# One class between `<` and the name: two with a choice between them would take quadratic time.
_RESERVED = re.compile(rf"<[\s/{_UNSEEN}]*(?:{_NAMES})(?![\w.-])", re.IGNORECASE)
_REFERENCES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;", "\u2028": "&#8232;", "\u2029": "&#8233;"}
_DROPPED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")


def render_signal(signal: Signal) -> PromptMessage:
    """Return the signal as a message of role user, whatever its type (X1).

    Plain text of a person without attributes passes untagged (X2), its reserved tags made harmless;
    everything else stands in one tag. Never raises: what cannot be shown is left out and logged.
    """
    attributes = _shown_attributes(signal)
    if signal.type == "user" and not attributes:
        content = _untagged(signal)
    else:
        content = _tagged(signal, attributes)
    return PromptMessage(
        role="user", content=content, provider_options=signal.provider_options or {}
    )


def escape_text(text: str) -> str:
    """Escape text for the inside of a tag: `&` first, then the angle brackets (X10)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(text: str) -> str:
    """Escape text for an attribute, so that it stays on its line and in its quotes.

    Line ends and tabs become references, other control characters are dropped (5.2).
    """
    escaped = _DROPPED.sub("", escape_text(text).replace('"', "&quot;"))
    for char, reference in _REFERENCES.items():
        escaped = escaped.replace(char, reference)
    return escaped


def escape_reserved(text: str) -> str:
    """Make reserved tags in plain text harmless: that `<` and the next `>` become entities.

    Slashes, spaces and invisible characters before or inside the name hide nothing.
    """
    entities: dict[int, str] = {}
    closing = 0
    for found in _RESERVED.finditer(text):
        entities[found.start()] = "&lt;"
        # Searched once only: many openings without an end would take quadratic time.
        if 0 <= closing < found.end():
            closing = text.find(">", found.end())
        if closing >= 0:
            entities[closing] = "&gt;"
    return _replaced(text, entities) if entities else text


def _replaced(text: str, entities: dict[int, str]) -> str:
    pieces: list[str] = []
    start = 0
    for at in sorted(entities):
        pieces += (text[start:at], entities[at])
        start = at + 1
    return "".join((*pieces, text[start:]))


def _untagged(signal: Signal) -> str | tuple[ContentPart, ...]:
    contents = simplified(signal.contents)
    if isinstance(contents, str):
        return escape_reserved(contents)
    return tuple(
        part.model_copy(update={"text": escape_reserved(part.text)})
        if isinstance(part, TextPart)
        else part
        for part in contents
    )


def _tagged(signal: Signal, attributes: str) -> str | tuple[ContentPart, ...]:
    tag = _tag(signal)
    wrap = partial(_element, tag, attributes)
    if isinstance(signal.contents, str):
        return wrap(signal.contents)
    texts = [part for part in signal.contents if isinstance(part, TextPart)]
    if len(texts) == len(signal.contents) and not any(part.provider_options for part in texts):
        return wrap("\n".join(part.text for part in texts))
    # Every text part is wrapped and escaped: only the first would leave the later ones raw (5.2).
    wrapped = tuple(
        part.model_copy(update={"text": wrap(part.text)}) if isinstance(part, TextPart) else part
        for part in signal.contents
    )
    return wrapped if texts else (TextPart(text=wrap("")), *wrapped)


def _tag(signal: Signal) -> str:
    tag = signal.tag_name
    if NAME.fullmatch(tag) and RESERVED_TAGS.get(tag.lower(), signal.type) == signal.type:
        return tag
    log.warning("signal.tag_replaced", signal=signal.id)
    return DEFAULT_TAGS[signal.type]


def _shown_attributes(signal: Signal) -> str:
    return "".join(
        f' {name}="{shown}"'
        for name, value in signal.attributes.items()
        if value is not None and (shown := _shown_value(signal, name, value)) is not None
    )


def _shown_value(signal: Signal, name: str, value: Any) -> str | None:
    try:
        if NAME.fullmatch(name):
            return escape_attribute(value_text(check_json(name, value)))
        problem = "malformed name"
    except InvalidSignal as exc:
        problem = "; ".join(exc.fields.values())
    log.warning("signal.attribute_dropped", signal=signal.id, problem=problem)
    return None


def _element(tag: str, attributes: str, text: str) -> str:
    if not text:
        return f"<{tag}{attributes} />"
    return f"<{tag}{attributes}>{escape_text(well_formed(text))}</{tag}>"
