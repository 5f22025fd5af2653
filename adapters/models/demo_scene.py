"""What the demo model sees: a prompt's present turn, read back from its messages. Pure."""

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.messages import TextPart
from core.ports.model import PromptMessage

_ELEMENT = re.compile(
    r"<(?P<tag>[A-Za-z][\w.-]*)(?P<attributes>(?:\s+[\w.:-]+=\"[^\"]*\")*)\s*"
    r"(?:/>|>(?P<text>.*?)</(?P=tag)>)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r'([\w.:-]+)="([^"]*)"')
_UNSPOKEN = {"state", "system-reminder", "current-objective"}
"""What surrounds the conversation and is no part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A person said something; `late` when the model had already begun to work on the turn."""

    name: str | None
    """None where nobody looked it up yet."""
    text: str
    """Unescaped, as the person wrote it."""
    late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something happened outside: a notification, or a summary of several."""

    tag: str
    """`notification`, `notification-summary`, or a source's own such as `github-review`."""
    attributes: dict[str, str]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A tool was called and gave this back."""

    tool: str
    args: dict[str, Any]
    """What it was asked for; empty where the call is not in the prompt any more."""
    result: Any
    is_error: bool = False

    @property
    def words(self) -> str:
        """The result as text."""
        if isinstance(self.result, dict) and isinstance(self.result.get("content"), str):
            return str(self.result["content"])
        return self.result if isinstance(self.result, str) else json.dumps(self.result, default=str)

    @property
    def value(self) -> Any:
        """The result as data, where it is data or JSON of it."""
        if not isinstance(self.result, str):
            return self.result
        try:
            return json.loads(self.result)
        except ValueError:
            return self.result


Beat = Said | Event | Done


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The present turn in order, and whether anything was answered before it."""

    beats: tuple[Beat, ...]
    first_turn: bool = True

    @property
    def said(self) -> list[Said]:
        """What people said, oldest first."""
        return [beat for beat in self.beats if isinstance(beat, Said)]

    @property
    def events(self) -> list[Event]:
        """What happened outside, oldest first."""
        return [beat for beat in self.beats if isinstance(beat, Event)]

    @property
    def done(self) -> list[Done]:
        """What tools gave back, oldest first."""
        return [beat for beat in self.beats if isinstance(beat, Done)]

    def last_result(self, tool: str) -> Done | None:
        """Return what a tool gave back most recently in this turn."""
        return next((done for done in reversed(self.done) if done.tool == tool), None)


def read_scene(messages: Sequence[PromptMessage]) -> Scene:
    """Return the turn that the next answer belongs to: all since the last answer without calls."""
    # A step with calls is in the middle of a turn, whichever run it was made in: after a pause
    # or a crash the turn goes on where it stood.
    start = 0
    for place, message in enumerate(messages):
        if message.role == "assistant" and not message.tool_calls:
            start = place + 1
    reader = _Reader()
    beats = [beat for message in messages[start:] for beat in reader.read(message)]
    return Scene(beats=tuple(beats), first_turn=start == 0)


@dataclass(slots=True)
class _Reader:
    """Reads messages in order, pairing each result with its call."""

    calls: dict[str, dict[str, Any]] = field(default_factory=dict)

    def read(self, message: PromptMessage) -> Iterator[Beat]:
        """Yield what one message adds to the turn."""
        for call in message.tool_calls:
            self.calls[call.tool_call_id] = _object(call.args)
        if message.role == "user":
            yield from read_text(_text(message), late=bool(self.calls))
        result = message.tool_result
        if result is not None:
            yield Done(
                tool=result.tool_name,
                args=self.calls.get(result.tool_call_id, {}),
                result=result.result,
                is_error=result.is_error,
            )


def read_text(text: str, *, late: bool = False) -> Iterator[Beat]:
    """Yield what a user message holds: the elements of signals.md 2.2, and text between them."""
    place = 0
    for match in _ELEMENT.finditer(text):
        yield from _plain(text[place : match.start()], late=late)
        place = match.end()
        attributes = {key: html.unescape(value) for key, value in _attributes(match)}
        # What people wrote was escaped on its way in (signals.md X4): read it as they meant it.
        inner = html.unescape(match["text"] or "").strip()
        if match["tag"] == "user":
            yield Said(name=attributes.get("name") or None, text=inner, late=late)
        elif match["tag"] not in _UNSPOKEN:
            yield Event(tag=match["tag"], attributes=attributes, text=inner)
    yield from _plain(text[place:], late=late)


def _plain(text: str, *, late: bool) -> Iterator[Said]:
    # A message without attributes has no element around it (signals.md 2.2).
    if text.strip():
        yield Said(name=None, text=text.strip(), late=late)


def _attributes(match: re.Match[str]) -> list[tuple[str, str]]:
    return _ATTRIBUTE.findall(match["attributes"])


def _text(message: PromptMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content if isinstance(part, TextPart))


def _object(args: Any) -> dict[str, Any]:
    """Return a call's arguments as an object, empty where they were broken."""
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            return {}
    return args if isinstance(args, dict) else {}
