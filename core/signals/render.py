"""Rendering: a signal as the model reads it: XML that nobody can break out of (signals.md 2.2)."""

import re

import structlog

from core.messages import ContentPart, FilePart, TextPart
from core.ports.model import PromptMessage
from core.signals.attributes import NAME, attribute_text
from core.signals.signal import RESERVED_TAGS, Signal

log = structlog.get_logger(__name__)

_RESERVED = re.compile(
    rf"<(\s*/?\s*(?:{'|'.join(sorted(RESERVED_TAGS, key=len, reverse=True))})(?![\w.-])[^<>]*)(>?)",
    re.IGNORECASE,
)
_KEPT_CONTROLS = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def render_signal(signal: Signal) -> PromptMessage:
    """Return the signal as a message of role user, whatever its type (X1).

    Plain text of a person without attributes passes untagged (X2), its reserved tags made harmless;
    everything else stands in one tag. Never raises: what cannot be shown is left out and logged.
    """
    options = signal.provider_options or {}
    if signal.type == "user" and not _meaningful(signal):
        return PromptMessage(role="user", content=_untagged(signal), provider_options=options)
    return PromptMessage(role="user", content=_tagged(signal), provider_options=options)


def escape_text(text: str) -> str:
    """Escape text for the inside of a tag: `&` first, then the angle brackets (X10)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_attribute(text: str) -> str:
    """Escape text for an attribute: quotes too; line ends and tabs as references, other controls dropped."""
    escaped = escape_text(text).replace('"', "&quot;")
    return "".join(
        _KEPT_CONTROLS.get(char, char)
        for char in escaped
        if char in _KEPT_CONTROLS or (char >= " " and char != "\x7f")
    )


def escape_reserved(text: str) -> str:
    """Make reserved tags in plain text harmless: that `<` and the next `>` become entities."""
    return _RESERVED.sub(lambda found: f"&lt;{found[1]}{'&gt;' if found[2] else ''}", text)


def _meaningful(signal: Signal) -> bool:
    return any(value is not None for value in signal.attributes.values())


def _untagged(signal: Signal) -> str | tuple[ContentPart, ...]:
    if isinstance(signal.contents, str):
        return escape_reserved(signal.contents)
    parts = tuple(
        part.model_copy(update={"text": escape_reserved(part.text)})
        if isinstance(part, TextPart)
        else part
        for part in signal.contents
    )
    only = parts[0] if len(parts) == 1 else None
    return only.text if isinstance(only, TextPart) and only.provider_options is None else parts


def _tagged(signal: Signal) -> str | tuple[ContentPart, ...]:
    opening = _opening(signal)
    if isinstance(signal.contents, str):
        return _element(signal.tag_name, opening, signal.contents)
    texts = [part for part in signal.contents if isinstance(part, TextPart)]
    plain = all(part.provider_options is None for part in texts)
    if len(texts) == len(signal.contents) and plain:
        joined = "\n".join(part.text for part in texts)
        return _element(signal.tag_name, opening, joined)
    return _mixed(signal, opening, has_text=bool(texts))


def _mixed(signal: Signal, opening: str, *, has_text: bool) -> tuple[ContentPart, ...]:
    # Every text part is wrapped and escaped: only the first would leave the later ones raw (5.2).
    wrapped = tuple(
        part.model_copy(update={"text": _element(signal.tag_name, opening, part.text)})
        if isinstance(part, TextPart)
        else part
        for part in signal.contents
        if isinstance(part, (TextPart, FilePart))
    )
    if has_text:
        return wrapped
    return (TextPart(text=f"<{opening} />"), *wrapped)


def _opening(signal: Signal) -> str:
    shown = [
        f' {name}="{escape_attribute(attribute_text(value))}"'
        for name, value in signal.attributes.items()
        if value is not None and _can_be_shown(signal, name)
    ]
    return f"{signal.tag_name}{''.join(shown)}"


def _can_be_shown(signal: Signal, name: str) -> bool:
    if NAME.fullmatch(name):
        return True
    log.warning("signal.attribute_dropped", signal=signal.id, name=name)
    return False


def _element(tag: str, opening: str, text: str) -> str:
    return f"<{opening}>{escape_text(text)}</{tag}>" if text else f"<{opening} />"
