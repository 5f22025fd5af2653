"""The run store: the committed steps of a run; every write is fenced by the thread's lease."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from core.approvals.suspension import Suspension
from core.conversation import Outgoing
from core.ids import ThreadKey
from core.messages import Message
from core.runs.run import Call, CallState, Document, Run, RunStatus
from core.signals.signal import Signal
from core.threads.lease import Lease
from core.threads.thread import Mail


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model said in one step.

    The message, its calls in order (each an intent), and what it cost.
    """

    run_id: str
    message: Message
    text: str
    calls: tuple[Call, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one call; a suspended one brings its suspension."""

    run_id: str
    tool_call_id: str
    state: CallState
    result: Any = None
    is_error: bool = False
    suspension: Suspension | None = None
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """A signal that the run takes from the mailbox now, with the sender's name filled in."""

    sequence: int
    signal: Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ends; `notice` is what the people of the thread are told, if anything."""

    run_id: str
    status: RunStatus
    finish_reason: str
    error: str | None = None
    error_id: str | None = None
    notice: Outgoing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The end of a step: what is drained into the next one."""

    run_id: str
    drained: tuple[Drained, ...] = ()
    fresh_allowance: int | None = None
    """Set when a user signal or a decision gives the run a new allowance of steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Which runs a list shows; None means any."""

    thread_id: str | None = None
    status: RunStatus | None = None
    agent_id: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What an owner does next: the run, its calls of the open step, and the row texts it needs."""

    run: Run
    calls: tuple[Call, ...] = field(default_factory=tuple)


# Every method that writes takes the lease: there is no way to forget the fence.
class RunStore(Protocol):
    """Runs, their calls, and the steps that move them."""

    async def next_run(self, lease: Lease, fresh_run_id: str) -> Work | None:
        """Say what to do on this thread, and mark it begun.

        A decided suspension, a run that a crash left, mail, or nothing.

        A run that starts takes its promised id, or `fresh_run_id` when that one has ended
        meanwhile (signals.md R6).
        """

    async def mail(self, lease: Lease, run_id: str) -> list[Mail]:
        """Return the signals that wait for this run, in order."""

    async def commit_answer(self, lease: Lease, answer: Answer) -> Run:
        """Store the message and one intent per call.

        Without calls the step closes and the turn's reply enters the outbox.
        """

    async def settle_call(self, lease: Lease, outcome: Outcome) -> Call:
        """Store one call's outcome by itself.

        A suspension is stored with it, in the same transaction.
        """

    async def close_step(self, lease: Lease, step: Step) -> Run:
        """Store the results in call order, move drained signals to the history, go on; or pause.

        While a call of the step is suspended the run is suspended, its cards enter the outbox and
        the lease is dropped, all in this transaction, whatever mail waits.
        """

    async def end_run(self, lease: Lease, ending: Ending) -> Run:
        """End the run and free its thread.

        Calls without a result get one, so that every call is answered (agent.md T17).
        """

    async def run(self, run_id: str) -> Run:
        """Return a run.

        Raises:
            Unknown: no such run.
        """

    async def runs(self, wanted: RunFilter) -> list[Run]:
        """Return runs, the newest first."""

    async def calls(self, run_id: str, step: int | None = None) -> list[Call]:
        """Return the calls of a run, or of one of its steps, in order."""

    async def document(self, key: ThreadKey, path: str) -> Document | None:
        """Return a text that a tool wrote on this thread, by its path."""

    async def documents(self, key: ThreadKey, kind: str | None = None) -> list[Document]:
        """Return the thread's texts, oldest first."""

    async def abort_requested(self, lease: Lease, run_id: str) -> bool:
        """Say whether somebody asked for this run's end."""

    async def postpone(self, lease: Lease, seconds: float) -> None:
        """Give the thread a pause and drop the lease; the count of attempts stays."""
