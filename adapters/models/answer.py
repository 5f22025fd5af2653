"""Answers: the chunks of the OpenAI protocol put together into the events of our port. Pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ModelError, ModelOutputError
from core.ids import new_id
from core.ports.model import (
    Finish,
    FinishReason,
    ModelEvent,
    ModelRequest,
    OutputCaps,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
    Usage,
)

_REASONS: dict[str, FinishReason] = {
    "stop": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "length": "length",
    "content_filter": "content-filter",
}

Chunk = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class _Call:
    """A tool call while it is being written."""

    id: str
    sent_id: str
    """The id on the wire, empty where the server gave none."""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces) or "{}"


class Answer:
    """One answer while it grows.

    Ids that are missing, or used before in the answer or its prompt, are replaced by fresh ones: a
    call is found by its id for as long as the thread lives (agent.md T12).
    """

    def __init__(self, request: ModelRequest) -> None:
        """Take the request for its caps and for the ids its prompt already uses."""
        self._caps: OutputCaps = request.caps
        self._taken = {
            call.tool_call_id for message in request.messages for call in message.tool_calls
        }
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._characters = 0
        self._usage = Usage()
        self._reason: str | None = None
        self._spoke = False

    @property
    def complete(self) -> bool:
        """Whether the server said why the answer ended; only the token counts may be missing."""
        return self._reason is not None

    def take(self, chunk: Chunk) -> list[ModelEvent]:
        """Return the events that a chunk adds; none for a chunk without content.

        Raises:
            ModelOutputError: it is not a chunk of this protocol, or the caps are passed.
        """
        try:
            return list(self._events(chunk))
        except (AttributeError, TypeError, ValueError) as exc:
            raise ModelOutputError(
                "the model's server sent a chunk that is none of this protocol", retryable=True
            ) from exc

    def close(self) -> list[ModelEvent]:
        """Return the last events: each call done, in call order, and `Finish`.

        Raises:
            ModelError: the stream ended in the middle, or was empty.
            ModelOutputError: a call has no name.
        """
        if not self.complete:
            raise self._cut_off()
        if any(not call.name for call in self._calls):
            raise ModelOutputError("the model called a tool without naming it", retryable=True)
        done = [
            ToolCallDone(tool_call_id=call.id, tool_name=call.name, arguments=call.arguments)
            for call in self._calls
        ]
        return [*done, Finish(reason=self._finish(), usage=self._usage)]

    def _events(self, chunk: Chunk) -> Iterator[ModelEvent]:
        if chunk.get("usage"):
            self._usage = _usage(chunk["usage"])
        for choice in chunk.get("choices") or ():
            # We ask for one choice; a server that sends more is not asked which is better.
            if choice.get("index"):
                continue
            yield from self._delta(choice.get("delta") or {})
            self._reason = _string(choice.get("finish_reason")) or self._reason

    def _delta(self, delta: Chunk) -> Iterator[ModelEvent]:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            self._count(reasoning)
            yield ReasoningDelta(text=reasoning)
        for text in (_text(delta.get("content")), _text(delta.get("refusal"))):
            if text:
                self._count(text)
                yield TextDelta(text=text)
        for piece in delta.get("tool_calls") or ():
            yield from self._piece(piece)

    def _piece(self, piece: Chunk) -> Iterator[ModelEvent]:
        function = piece.get("function") or {}
        name = _string(function.get("name"))
        call = self._call_of(piece, name)
        # Some servers repeat the name with every piece: only the first one starts the call.
        if name and not call.name:
            call.name = name
            yield ToolCallStart(tool_call_id=call.id, tool_name=name)
            # Arguments may have come before the name; they follow their start.
            yield from (ToolCallDelta(tool_call_id=call.id, text=text) for text in call.pieces)
        text = _arguments(function.get("arguments"))
        if text:
            self._count(text)
            call.pieces.append(text)
            if call.name:
                yield ToolCallDelta(tool_call_id=call.id, text=text)

    def _call_of(self, piece: Chunk, name: str) -> _Call:
        """Return the call that a piece belongs to, opening a new one where it begins one.

        Some servers give every call the index 0, and some give none: see `_begins_another`.
        """
        index = piece.get("index")
        sent_id = _string(piece.get("id"))
        newest = self._calls[-1] if self._calls else None
        call = newest if index is None else self._by_index.get(index)
        if call is not None and not (name and _begins_another(call, sent_id, index)):
            return call
        call = self._open(sent_id)
        if index is not None:
            self._by_index[index] = call
        return call

    def _open(self, sent_id: str) -> _Call:
        """Begin another call."""
        if len(self._calls) == self._caps.tool_calls:
            raise ModelOutputError(
                f"the model made more than {self._caps.tool_calls} tool calls in one answer"
            )
        call = _Call(id=self._fresh(sent_id), sent_id=sent_id)
        self._calls.append(call)
        return call

    def _fresh(self, sent_id: str) -> str:
        """Return the id that was sent if nobody has it yet, else one of our own."""
        chosen = sent_id if sent_id and sent_id not in self._taken else new_id("call")
        self._taken.add(chosen)
        return chosen

    def _count(self, text: str) -> None:
        """Count what was written against the cap on characters."""
        self._spoke = True
        self._characters += len(text)
        if self._characters > self._caps.characters:
            raise ModelOutputError(
                f"the model's answer is longer than {self._caps.characters} characters"
            )

    def _finish(self) -> FinishReason:
        reason = _REASONS.get(self._reason or "", "other")
        # Some servers say `stop` after tool calls, or `tool_calls` without any.
        if reason in ("stop", "tool-calls"):
            return "tool-calls" if self._calls else "stop"
        return reason

    def _cut_off(self) -> ModelError:
        if self._spoke or self._calls:
            return ModelError("the model's answer was cut off before its end", retryable=True)
        return ModelOutputError("the model's server sent an empty answer", retryable=True)


def chunk_of_document(document: Chunk) -> Chunk:
    """Return a whole answer, as a server sends it that ignores `stream`, as a single chunk."""
    choices = document.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise ModelOutputError("the model's server sent no answer in its document", retryable=True)
    return {"choices": [_streamed(choice) for choice in choices], "usage": document.get("usage")}


def _streamed(choice: Chunk) -> Chunk:
    reason = choice.get("finish_reason") or "stop"
    return {**choice, "delta": choice.get("message"), "finish_reason": reason}


def _begins_another(call: _Call, sent_id: str, index: int | None) -> bool:
    """Whether a named piece begins another call than the one it seems to continue."""
    if sent_id:
        return sent_id != call.sent_id
    return index is None and bool(call.name)


def _string(value: Any) -> str:
    """Return a text, empty for null; anything else is none of this protocol."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value or ""


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(_string(part.get("text")) for part in content)
    return _string(content)


def _arguments(arguments: Any) -> str:
    """Return the argument text; some servers send the object itself, and all of it at once."""
    return json.dumps(arguments) if isinstance(arguments, dict) else _string(arguments)


def _usage(usage: Chunk) -> Usage:
    return Usage(
        input_tokens=int(usage.get("prompt_tokens") or 0),
        output_tokens=int(usage.get("completion_tokens") or 0),
    )
