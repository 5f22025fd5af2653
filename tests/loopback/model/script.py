"""What the model will say: answers, and the rules that choose one for a prompt."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Fault = Literal[
    "endless", "huge", "broken_json", "not_streamed", "error_in_stream", "cut", "silent", "no_usage"
]
"""What goes wrong with one answer.

`endless` repeats its text for ever; `huge` sends a single line of 8 MB; `broken_json` breaks one
event; `not_streamed` answers one JSON document although a stream was asked for; `error_in_stream`
answers 200 and then an error object; `cut` resets the connection after the last chunk and before
the end; `silent` sends `[DONE]` and nothing else; `no_usage` leaves the token counts out.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call in an answer; its argument text is sent in so many pieces."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    """A string is sent as it is, broken or not."""
    id: str | None = "auto"
    """`auto` gives each its own; None leaves it out, as some servers do."""
    pieces: int = 3
    index: int | None = None
    """The index on the wire, where it shall not be the position in the list."""

    def text(self) -> str:
        """Return the argument text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """One answer. Without `status` it is a good one, apart from its `fault`."""

    text: str | list[str] = ""
    """A list is sent chunk by chunk; a string word by word."""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    """By default `tool_calls` when there are calls, else `stop`."""
    usage: tuple[int, int] = (11, 7)
    """Tokens of the prompt and of the answer."""
    stall_first: float = 0.0
    """Seconds of silence before the first chunk."""
    stall_between: float = 0.0
    """Seconds of silence before every further chunk."""
    fault: Fault | None = None
    status: int | None = None
    """An HTTP error instead of an answer."""
    retry_after: str | None = None
    error: dict[str, Any] = field(default_factory=dict)
    """Overrides `message`, `type`, `param`, `code` of the error object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Answers for prompts whose last user message matches.

    The n-th answer is given while n assistant messages follow that user message, the last one ever
    after: so a tool call is followed by the text about its result, whatever was restarted.
    """

    when: str
    """A regular expression, searched in the last user message without regard to case."""
    say: list[Say]
    result: str = ""
    """Where set, the last tool message must match this too."""

    def matches(self, messages: list[dict[str, Any]]) -> bool:
        """Return whether the prompt is one this rule answers."""
        return _found(self.when, last_text(messages, "user")) and _found(
            self.result, last_text(messages, "tool")
        )

    def answer(self, messages: list[dict[str, Any]]) -> Say:
        """Return the answer for how far the conversation has come."""
        since = 0
        for message in reversed(messages):
            if message.get("role") == "user":
                break
            since += message.get("role") == "assistant"
        return self.say[min(since, len(self.say) - 1)]


class Book:
    """The answers to come: first the queue, then the rules, then the answer by default."""

    def __init__(self, rules: list[Rule]) -> None:
        """Begin with the rules of the start file."""
        self._first = list(rules)
        self.reset()

    def reset(self) -> None:
        """Forget what was scripted since the start."""
        self.queue: list[Say] = []
        self.rules = list(self._first)
        self.default = Say(text="Understood.")

    def next(self, messages: list[dict[str, Any]]) -> Say:
        """Return what to say to this prompt."""
        if self.queue:
            return self.queue.pop(0)
        # The newest rule first: a test may narrow what its fixture set.
        for rule in reversed(self.rules):
            if rule.matches(messages):
                return rule.answer(messages)
        return self.default


def last_text(messages: list[dict[str, Any]], role: str) -> str:
    """Return the text of the last message of a role, or nothing."""
    for message in reversed(messages):
        if message.get("role") == role:
            return text_of(message.get("content"))
    return ""


def text_of(content: Any) -> str:
    """Return the text of a message's content, its parts joined by newlines."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def to_json(value: Say | Rule) -> dict[str, Any]:
    """Write an answer or a rule for the control routes and the start file."""
    return asdict(value)


def say_from(data: dict[str, Any]) -> Say:
    """Read an answer back."""
    calls = [Call(**call) for call in data.get("calls", [])]
    usage = tuple(data.get("usage", (11, 7)))
    return Say(**{**data, "calls": calls, "usage": usage})


def rule_from(data: dict[str, Any]) -> Rule:
    """Read a rule back; `say` may be one answer."""
    say = data["say"] if isinstance(data["say"], list) else [data["say"]]
    return Rule(**{**data, "say": [say_from(answer) for answer in say]})


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.DOTALL) is not None
