"""Tools: what an agent can do, as the model sees it and as it is run."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter

from core.ids import ThreadKey
from core.ports.model import ToolSpec

# Long enough for a build, short enough that nobody waits for ever.
TOOL_TIMEOUT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspendRequest:
    """A tool asks to wait for an outside answer.

    `payload` is what people are shown; `kind` is `plan`, `question` or `tool`. `details` is for
    the kind's own record, such as a plan's text. Without `lifetime` the runtime's default applies.
    """

    payload: Any
    kind: str = "tool"
    details: Any = None
    resume_schema: dict[str, Any] | None = None
    lifetime: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDocument:
    """A text that a tool wrote; it is stored in the same transaction as the call's outcome."""

    path: str
    kind: str
    content: str


class Library(Protocol):
    """The texts of one thread, as its tools find them."""

    async def read(self, path: str) -> str | None:
        """Return the text under this path on the run's thread, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """Where relative paths lead (gateway.md `INTERLOCK_ROOT`, `INTERLOCK_PLANS`)."""

    root: Path = field(default_factory=Path)
    plans: Path = field(default_factory=lambda: Path(".interlock/plans"))


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """What a tool knows of the call it serves.

    `thread` is None outside a thread. `resumed` says that this is the second entry of a suspended
    call, with `resume_data`: falsy data is data too. The tool writes what it asks for into the
    context: a suspension, documents.
    """

    agent_id: str = ""
    run_id: str | None = None
    tool_call_id: str = ""
    thread: ThreadKey | None = None
    now: datetime | None = None
    resumed: bool = False
    resume_data: Any = None
    library: Library | None = None
    folders: Folders = field(default_factory=Folders)
    request_context: dict[str, Any] = field(default_factory=dict)
    suspension: SuspendRequest | None = None
    documents: list[WrittenDocument] = field(default_factory=list)

    @property
    def can_suspend(self) -> bool:
        """Say whether there is a run to pause.

        Outside one a tool answers in words (agent.md P5).
        """
        return self.run_id is not None

    async def suspend(self, payload: Any, **details: Any) -> None:
        """Pause the run until somebody answers.

        Return right after it, what the tool returns is ignored (agent.md R1).

        `details` are the other fields of SuspendRequest.

        Raises:
            RuntimeError: there is no run to pause.
        """
        # There is nothing to come back to: the tool has to answer in words.
        if not self.can_suspend:
            raise RuntimeError(
                f"tool call {self.tool_call_id} runs outside a run, nothing can be paused"
            )
        self.suspension = SuspendRequest(payload=payload, **details)

    def write(self, path: str, kind: str, content: str) -> None:
        """Keep a text with the call's outcome, to be found again by its path on this thread."""
        self.documents.append(WrittenDocument(path=path, kind=kind, content=content))


Execute = Callable[[Any, ToolContext], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    `parameters` is the JSON schema that the model sees; `validator` checks and converts its input,
    giving keyword arguments. `idempotent` tools are run again after a crash, others are told as
    interrupted (architecture.md 2.2). `to_model` says what of the result the model reads; by
    default all of it.
    """

    id: str
    description: str
    parameters: dict[str, Any]
    execute: Execute
    validator: TypeAdapter[Any] | None = None
    idempotent: bool = False
    timeout: timedelta = TOOL_TIMEOUT
    to_model: Callable[[Any], Any] | None = None

    def spec(self, name: str | None = None) -> ToolSpec:
        """Return the tool as the model sees it, under the key it is offered by."""
        return ToolSpec(
            name=name or self.id, description=self.description, parameters=self.parameters
        )
