"""Outputs: a run as its caller watches it, from its first chunk to its end or pause."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from core.errors import InterlockError
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


@dataclass(slots=True)
class _Gathering:
    text: list[str] = field(default_factory=list)
    step_text: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    reason: str = "stop"
    suspended: dict[str, Any] | None = None


class RunOutput:
    """The stream of one run; it may be read once, whole or as text."""

    def __init__(self, run_id: str, subscription: Subscription[Chunk]) -> None:
        """Keep the subscription, which was opened before the run could begin."""
        self.run_id = run_id
        self._subscription = subscription

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

        Raises:
            RunFailed: the run ended with an error.
        """
        gathering = _Gathering()
        async for chunk in self._chunks():
            _gather(gathering, chunk)
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
        )

    async def _chunks(self) -> AsyncIterator[Chunk]:
        async with aclosing(self._subscription.items()) as items:
            async for streamed in items:
                chunk = streamed.chunk
                # The subscription is the thread's: what other runs say there is not ours.
                if chunk.run_id != self.run_id:
                    continue
                yield chunk
                if chunk.type in ENDS or chunk.type == "tool-call-suspended":
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
        case "tool-call":
            gathering.calls.append(chunk.payload)
        case "tool-result" | "tool-error":
            gathering.results.append(chunk.payload)
        case _:
            _gather_end(gathering, chunk)


def _gather_end(gathering: _Gathering, chunk: Chunk) -> None:
    match chunk.type:
        case "tool-call-suspended":
            gathering.reason, gathering.suspended = "suspended", chunk.payload
        case "finish":
            gathering.reason = str(chunk.payload["stepResult"]["reason"])
        case "abort":
            gathering.reason = "aborted"
        case "error":
            raise RunFailed(str(chunk.payload["error"]), error_id=chunk.payload.get("errorId"))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"payload": value}
