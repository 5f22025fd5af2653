"""Steps: one call of the model, streamed to subscribers and gathered into an answer."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from core.errors import ModelOutputError
from core.messages import Message, TextPart, ToolCallPart
from core.ports.model import (
    Finish,
    Model,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallDone,
    ToolCallStart,
)
from core.runs.chunks import Chunk
from core.runs.run import Call, Run
from core.runs.store import Answer
from core.signals.values import well_formed
from core.tools.arguments import BadArguments, parse_arguments

Publish = Callable[[Chunk], None]


@dataclass(slots=True)
class Gathered:
    """What has come of an answer so far."""

    text: list[str] = field(default_factory=list)
    calls: list[ToolCallDone] = field(default_factory=list)
    finish: Finish | None = None
    shown: bool = False
    """Whether a subscriber has seen any of it."""


class ModelStep:
    """Asks the model once and gathers its answer, publishing each piece as it comes."""

    def __init__(self, *, run: Run, model: Model, publish: Publish) -> None:
        """Keep the run that asks, the model, and where chunks go."""
        self._run = run
        self._model = model
        self._publish = publish
        self._text_id = f"{run.run_id}:{run.step}"
        self.gathered = Gathered()

    async def ask(self, request: ModelRequest) -> Gathered:
        """Stream one answer.

        Raises:
            ModelError: the model failed, or its answer has neither text nor calls.
        """
        events = self._model.stream(request)
        async with aclosing(_closable(events)) as stream:
            async for event in stream:
                self._take(event)
        self._end_text()
        # A connection that closes politely half-way looks like an end and is none.
        if self.gathered.finish is None:
            raise ModelOutputError("the model's answer broke off before its end", retryable=True)
        # An empty answer would end the turn without a word to anybody.
        if not self.gathered.calls and not "".join(self.gathered.text).strip():
            raise ModelOutputError("the model gave an empty answer", retryable=True)
        return self.gathered

    def _take(self, event: ModelEvent) -> None:
        match event:
            case TextDelta(text=text):
                self._take_text(text)
            case ReasoningDelta(text=text):
                self._show("reasoning-delta", id=self._text_id, text=text)
            case ToolCallStart(tool_call_id=call_id, tool_name=name):
                self._show("tool-call-input-streaming-start", toolCallId=call_id, toolName=name)
            case ToolCallDelta(tool_call_id=call_id, text=text):
                self._show("tool-call-delta", toolCallId=call_id, argsTextDelta=text)
            case ToolCallDone():
                self.gathered.calls.append(event)
            case Finish():
                self.gathered.finish = event

    def _take_text(self, text: str) -> None:
        text = well_formed(text)
        if not self.gathered.text:
            self._show("text-start", id=self._text_id)
        self.gathered.text.append(text)
        self._show("text-delta", id=self._text_id, text=text)

    def _end_text(self) -> None:
        if self.gathered.text:
            self._show("text-end", id=self._text_id)

    def _show(self, chunk_type: str, **payload: Any) -> None:
        self.gathered.shown = True
        self._publish(Chunk(type=chunk_type, run_id=self._run.run_id, payload=payload))


def compose_answer(run: Run, gathered: Gathered, message: Message) -> Answer:
    """Return what is committed of an answer: its row and one intent per call."""
    text = "".join(gathered.text)
    calls = tuple(_call(run, position, done) for position, done in enumerate(gathered.calls))
    parts = (
        *((TextPart(text=text),) if text else ()),
        *(
            ToolCallPart(tool_call_id=call.tool_call_id, tool_name=call.tool_name, args=call.args)
            for call in calls
        ),
    )
    usage = gathered.finish.usage if gathered.finish else None
    return Answer(
        run_id=run.run_id,
        message=message.model_copy(update={"content": parts}),
        text=text,
        calls=calls,
        input_tokens=usage.input_tokens if usage else 0,
        output_tokens=usage.output_tokens if usage else 0,
    )


def _call(run: Run, position: int, done: ToolCallDone) -> Call:
    # Broken arguments are kept as they came: the model is told, and the history is not lost.
    try:
        args, raw = parse_arguments(done.arguments), None
    except BadArguments:
        args, raw = None, done.arguments
    return Call(
        run_id=run.run_id,
        tool_call_id=done.tool_call_id,
        thread_id=run.thread_id,
        step=run.step,
        position=position,
        tool_name=done.tool_name,
        args=args,
        raw_arguments=raw,
    )


async def _closable(events: AsyncIterator[ModelEvent]) -> AsyncGenerator[ModelEvent, None]:
    # Closing our own generator closes the model's: that is how a request is ended.
    try:
        async for event in events:
            yield event
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()
