"""The model port: what a run asks of a language model, and the events it answers with."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, Protocol

from core.messages import ContentPart, ToolCallPart, ToolResultPart

# Words of our own: every provider has others, and each client translates once.
FinishReason = Literal["stop", "tool-calls", "length", "content-filter", "error", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a model's prompt.

    `content` is a plain string, or parts where a file or options must be kept. An assistant
    message may hold `tool_calls`; a `tool` message holds one `tool_result`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str | tuple[ContentPart, ...] = ""
    tool_calls: tuple[ToolCallPart, ...] = ()
    tool_result: ToolResultPart | None = None
    provider_options: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Keyed by provider; options of another provider are ignored (agent.md 1.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it: its name, what it is for, and the JSON schema of its input."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Our own limits on one answer.

    A provider's timeouts are not relied upon (reliability.md 0.12).
    """

    first_token: timedelta = timedelta(seconds=60)
    between_chunks: timedelta = timedelta(seconds=30)
    total: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputCaps:
    """How much of an answer is taken in before it is refused as runaway."""

    characters: int = 400_000
    tool_calls: int = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One call of a model."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none", "required"] | str = "auto"
    """A tool's own name forces that tool."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Provider settings such as `temperature` and `max_tokens`, passed on as they are."""
    deadlines: Deadlines = field(default_factory=Deadlines)
    caps: OutputCaps = field(default_factory=OutputCaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that one answer cost."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """More of the model's reasoning; shown, never stored as the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStart:
    """The model began to write a tool call."""

    tool_call_id: str
    tool_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    """More of a call's argument text."""

    tool_call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDone:
    """A call is complete; `arguments` is the raw JSON text, which may be broken (agent.md T3)."""

    tool_call_id: str
    tool_name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The answer ended; always the last event, exactly once."""

    reason: FinishReason
    usage: Usage = field(default_factory=Usage)


ModelEvent = TextDelta | ReasoningDelta | ToolCallStart | ToolCallDelta | ToolCallDone | Finish


class Model(Protocol):
    """A language model behind any client."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask once and yield the events of the answer, the last of them `Finish`.

        Every `ToolCallDone` comes after its start and in call order; ids are unique in the answer.
        Closing the iterator, or cancelling the task that reads it, ends the request at the
        provider.

        Raises:
            ModelError: or a subclass; never an error of the vendor's library.
        """


# By name, so that settings can say which model, and tests can say none.
class Models(Protocol):
    """Finds the model behind a `provider/model` text."""

    def model(self, name: str) -> Model:
        """Return the model of that name.

        Raises:
            ModelError: when the name is not understood or its key is missing; names the
                variable to set.
        """
