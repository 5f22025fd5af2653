"""Runs: one execution of the loop, its record, and the moves it may make."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import Field

from core.conversation import Conversation
from core.ids import ThreadKey, thread_key
from core.records import Record
from core.signals.signal import Signal


class RunStatus(StrEnum):
    """The states of a run."""

    RUNNING = "running"
    SUSPENDED = "suspended"
    DONE = "done"
    FAILED = "failed"
    ABORTED = "aborted"


# The three ends lead nowhere: a new message starts a new run.
LEGAL_MOVES: dict[RunStatus, frozenset[RunStatus]] = {
    RunStatus.RUNNING: frozenset(
        {RunStatus.SUSPENDED, RunStatus.DONE, RunStatus.FAILED, RunStatus.ABORTED}
    ),
    RunStatus.SUSPENDED: frozenset({RunStatus.RUNNING, RunStatus.FAILED, RunStatus.ABORTED}),
    RunStatus.DONE: frozenset(),
    RunStatus.FAILED: frozenset(),
    RunStatus.ABORTED: frozenset(),
}


class Phase(StrEnum):
    """What a running run does next; a crash continues from here."""

    INPUT = "input"
    """It takes what waits in the mailbox, or ends: the start, and after each turn."""
    MODEL = "model"
    TOOLS = "tools"


class Run(Record):
    """One execution of the loop on a thread.

    `step` counts model calls over the run's life, `steps_left` those still allowed before the next
    user signal or resume gives a fresh allowance (agent.md 1.2, `max_steps`). `turn` counts
    answers without tool calls; `texts` are the texts of the present turn's steps, in order.
    `reply_to` is where the present turn's reply goes.
    """

    run_id: str
    thread_id: str
    resource_id: str
    agent_id: str
    status: RunStatus = RunStatus.RUNNING
    phase: Phase = Phase.INPUT
    step: int = 0
    turn: int = 0
    steps_left: int = 0
    options: dict[str, Any] = Field(default_factory=dict)
    texts: tuple[str, ...] = ()
    reply_to: Conversation | None = None
    passing: tuple[Signal, ...] = ()
    """Transient signals for the next model call alone; they never enter the history."""
    finish_reason: str | None = None
    error: str | None = None
    error_id: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    created_at: datetime
    updated_at: datetime

    @property
    def key(self) -> ThreadKey:
        """Return the key of the run's thread."""
        return thread_key(self.resource_id, self.thread_id)


class CallState(StrEnum):
    """What became of one tool call: the effect row of architecture.md 2.2."""

    INTENT = "intent"
    """Stored before anything is done; after a crash nobody knows whether it was."""
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    """Decided; the tool is entered again with the resume data."""
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


# A failed call is settled too: the model gets its error as the result.
SETTLED = frozenset({CallState.DONE, CallState.FAILED, CallState.INTERRUPTED})


class Call(Record):
    """One tool call of a step; `position` is its place in call order."""

    run_id: str
    tool_call_id: str
    thread_id: str
    step: int
    position: int
    tool_name: str
    args: Any = None
    raw_arguments: str | None = None
    """The model's own text, kept where it was not valid JSON (agent.md T3)."""
    state: CallState = CallState.INTENT
    result: Any = None
    is_error: bool = False
    resume_data: Any = None
    resumed: bool = False
    """Whether `resume_data` counts: falsy data is data too (agent.md R12)."""
    ends_run: bool = False
    """Whether the decision behind it ends the run once its step is closed (agent.md M4)."""

    @property
    def settled(self) -> bool:
        """Say whether the call has its result."""
        return self.state in SETTLED


class Document(Record):
    """A text that a tool wrote for its thread: a plan or a note, found again by its path."""

    thread_id: str
    path: str
    kind: str
    content: str
    tool_call_id: str
    created_at: datetime
