"""Outputs: a run as its caller watches it, from its first chunk to its end or pause."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from core.errors import InterlockError
from core.ports.model import Usage
from core.runs.chunks import Chunk
from core.threads.subscription import Subscription

ENDS = frozenset({"finish", "error", "abort"})


class RunFailed(InterlockError):
    """The run ended with an error; `error_id` finds it in the log."""

    code = "run_failed"

    def __init__(self, message: str, *, error_id: str | None) -> None:
        """Keep the id under which the log tells more."""
        super().__init__(message)
        self.error_id = error_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run came to.

    `finish_reason` is `stop`, `max_steps`, `suspended`, `aborted` or another word of the run's
    end. While suspended, `suspend_payload` holds the pause's payload with its `toolCallId`, and
    `resume_schema` what an answer must look like.
    """

    run_id: str
    text: str = ""
    finish_reason: str = "stop"
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_results: tuple[dict[str, Any], ...] = ()
    suspend_payload: dict[str, Any] | None = None
    resume_schema: dict[str, Any] | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(slots=True)
class _Gathering:
    text: list[str] = field(default_factory=list)
    step_text: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    reason: str = "stop"
    suspended: dict[str, Any] | None = None
    failure: RunFailed | None = None
    usage: Usage = field(default_factory=Usage)


class RunOutput:
    """The stream of one run; it is read once, whole or as text, and then tells its result."""

    def __init__(
        self, run_id: str, subscription: Subscription[Chunk], before: Sequence[str] = ()
    ) -> None:
        """Keep the subscription, which was opened before the run could begin.

        `before` is what a paused run had said: the result's text begins with it (agent.md R25).
        """
        self.run_id = run_id
        self._subscription = subscription
        self._gathering = _Gathering(text=list(before))
        self._read = False

    @property
    def full_stream(self) -> AsyncIterator[Chunk]:
        """Yield every chunk of this run until it ends or pauses."""
        return self._chunks()

    @property
    def text_stream(self) -> AsyncIterator[str]:
        """Yield the pieces of the answer's text."""
        return self._texts()

    async def consume_stream(self) -> RunResult:
        """Watch the run to its end or pause and return what it came to.

        What was read before by full_stream or text_stream counts too.

        Raises:
            RunFailed: the run ended with an error.
        """
        if not self._read:
            async for _ in self._chunks():
                pass
        gathering = self._gathering
        if gathering.failure is not None:
            raise gathering.failure
        suspended = gathering.suspended
        payload = suspended and {
            **_mapping(suspended.get("suspendPayload")),
            "toolCallId": suspended["toolCallId"],
        }
        return RunResult(
            run_id=self.run_id,
            text="".join(gathering.text + gathering.step_text),
            finish_reason=gathering.reason,
            tool_calls=tuple(gathering.calls),
            tool_results=tuple(gathering.results),
            suspend_payload=payload,
            resume_schema=suspended.get("resumeSchema") if suspended else None,
            usage=gathering.usage,
        )

    async def _chunks(self) -> AsyncIterator[Chunk]:
        async with aclosing(self._subscription.items()) as items:
            async for streamed in items:
                chunk = streamed.chunk
                # The subscription is the thread's: what other runs say there is not ours.
                if chunk.run_id != self.run_id:
                    continue
                _gather(self._gathering, chunk)
                # Known before it is shown: the reader may ask for the result on seeing it.
                self._read = _is_last(chunk)
                yield chunk
                if self._read:
                    return

    async def _texts(self) -> AsyncIterator[str]:
        async for chunk in self._chunks():
            if chunk.type == "text-delta":
                yield str(chunk.payload["text"])


def _gather(gathering: _Gathering, chunk: Chunk) -> None:
    match chunk.type:
        case "text-delta":
            gathering.step_text.append(str(chunk.payload["text"]))
        case "step-discarded":
            # That try is void: its words are not part of the answer.
            gathering.step_text.clear()
        case "step-finish":
            gathering.text += gathering.step_text
            gathering.step_text.clear()
            gathering.usage = _added(gathering.usage, chunk.payload["output"]["usage"])
        case "tool-call":
            gathering.calls.append(chunk.payload)
        case "tool-result" | "tool-error":
            gathering.results.append(chunk.payload)
        case _:
            _gather_end(gathering, chunk)


def _gather_end(gathering: _Gathering, chunk: Chunk) -> None:
    match chunk.type:
        case "tool-call-suspended":
            gathering.reason = "suspended"
            # Of several that wait, the first is the one a resume is asked for first.
            gathering.suspended = gathering.suspended or chunk.payload
        case "finish":
            gathering.reason = str(chunk.payload["stepResult"]["reason"])
        case "abort":
            gathering.reason = "aborted"
        case "error":
            error, error_id = str(chunk.payload["error"]), chunk.payload.get("errorId")
            gathering.failure = RunFailed(error, error_id=error_id)


def _is_last(chunk: Chunk) -> bool:
    if chunk.type == "tool-call-suspended":
        return not chunk.payload.get("more")
    return chunk.type in ENDS


def _added(usage: Usage, step: dict[str, int]) -> Usage:
    return Usage(
        input_tokens=usage.input_tokens + step["inputTokens"],
        output_tokens=usage.output_tokens + step["outputTokens"],
    )


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"payload": value}
