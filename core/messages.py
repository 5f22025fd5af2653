"""Messages: what a thread remembers, row by row, and the parts a row is made of."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from core.records import Record

JsonObject = dict[str, Any]


class TextPart(Record):
    """A piece of text."""

    type: Literal["text"] = "text"
    text: str
    provider_options: JsonObject | None = None


class FilePart(Record):
    """A file: a URL, or its bytes in base64, with its media type."""

    type: Literal["file"] = "file"
    data: str
    """A URL, or base64 of the bytes (signals.md X18)."""
    media_type: str
    filename: str | None = None
    provider_options: JsonObject | None = None


class ToolCallPart(Record):
    """The model asks for a tool."""

    type: Literal["tool-call"] = "tool-call"
    tool_call_id: str
    tool_name: str
    args: Any = None


class ToolResultPart(Record):
    """What a tool gave back; matched to its call by `tool_call_id` (agent.md T12)."""

    type: Literal["tool-result"] = "tool-result"
    tool_call_id: str
    tool_name: str
    result: Any = None
    is_error: bool = False


ContentPart = TextPart | FilePart
Part = Annotated[TextPart | FilePart | ToolCallPart | ToolResultPart, Field(discriminator="type")]
# `system` is not stored: instructions belong to the agent of the day.
Role = Literal["signal", "assistant", "tool"]


class Message(Record):
    """One row of a thread's history.

    A signal is stored with role `signal`, `type` its tag and `metadata.signal` its envelope
    (signals.md C7); an answer with role `assistant`; the results of its calls with role `tool`
    (agent.md D7). `run_id`, `step` and `turn` say where the row came from, so that windows count
    turns and not rows.
    """

    id: str
    role: Role
    type: str = "text"
    content: tuple[Part, ...]
    metadata: JsonObject = Field(default_factory=dict)
    created_at: datetime
    run_id: str | None = None
    step: int = 0
    turn: int = 0


def text_of(message: Message) -> str:
    """Return the text parts of a row, joined by newlines."""
    return "\n".join(part.text for part in message.content if isinstance(part, TextPart))


def calls_of(message: Message) -> tuple[ToolCallPart, ...]:
    """Return the tool calls that an assistant row holds, in call order."""
    return tuple(part for part in message.content if isinstance(part, ToolCallPart))
