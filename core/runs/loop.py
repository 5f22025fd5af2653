"""The loop: takes one run from committed step to committed step, until it ends or pauses."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import structlog

from core.agent import Agent
from core.clock import Clock
from core.conversation import Notice
from core.errors import ModelError
from core.faults import point
from core.ids import new_id
from core.memory.prompt import compose_history, system_messages
from core.messages import Message
from core.ports.model import Model, ModelRequest, Usage
from core.runs.chunks import Chunk
from core.runs.guard import Guard
from core.runs.limits import Limits
from core.runs.run import Phase, Run, RunStatus
from core.runs.step import Gathered, ModelStep, compose_answer
from core.runs.store import Drained, Ending, RunStore, Step, Work
from core.runs.tooling import Tooling
from core.signals.render import render_signal
from core.signals.signal import Signal
from core.signals.storage import signal_chunk
from core.threads.lease import Lease
from core.threads.store import ThreadStore
from core.tools.tool import Folders
from core.tools.toolset import Toolset

log = structlog.get_logger(__name__)
Names = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
"""Looks up display names of person ids; those it cannot find are left out."""


class LoopStore(RunStore, ThreadStore, Protocol):
    """What the loop needs of the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """An agent made ready: its model found and its tools resolved."""

    agent: Agent
    model: Model
    toolset: Toolset


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopTools:
    """What every run of a process shares."""

    store: LoopStore
    clock: Clock
    limits: Limits
    folders: Folders
    names: Names
    publish: Callable[[Run, Chunk], None]
    committed: Callable[[Run], None]
    """Called after each commit that may have put something into the outbox."""


@dataclass(slots=True, kw_only=True)
class RunLoop:
    """One run under one lease."""

    shared: LoopTools
    lease: Lease
    guard: Guard
    equipment: Equipment
    run: Run
    _usage: Usage = field(default_factory=Usage)
    """What the open step's answer cost."""

    async def proceed(self, work: Work) -> Run:
        """Go on until the run ends or pauses; returns it as it then stands.

        Raises:
            ModelError: the model failed for good.
            Aborted: somebody asked for the run's end.
            LeaseLost: another owner has the thread.
        """
        self._show("start")
        await self._tooling().recover(self.lease, work.calls, self.equipment.toolset)
        while self.run.status is RunStatus.RUNNING:
            # Each round goes by the phase that the last commit left: a crash goes on from there.
            self.guard.check()
            match self.run.phase:
                case Phase.INPUT:
                    await self._take_input()
                case Phase.MODEL:
                    await self._ask_model()
                case Phase.TOOLS:
                    await self._use_tools()
        return self.run

    async def _take_input(self) -> None:
        drained = await self._drain()
        # Whoever writes after this look starts the next run, under the same lease.
        if not drained and self.run.step > 0:
            await self._end("stop")
            return
        await self._close(drained)

    async def _ask_model(self) -> None:
        # Before the model is paid for, and never in the middle of a step.
        if self.run.steps_left <= 0 or self.run.step > self.shared.limits.steps:
            await self._end("max_steps")
            return
        self._show("step-start", step=self.run.step)
        request = await self._request()
        gathered = await self.guard.race(self._ask_patiently(request))
        answer = compose_answer(self.run, gathered, self._row())
        self.run = await self.shared.store.commit_answer(self.lease, answer)
        self.shared.committed(self.run)
        for call in answer.calls:
            self._show(
                "tool-call", toolCallId=call.tool_call_id, toolName=call.tool_name, args=call.args
            )
        self._usage = Usage(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)
        if not answer.calls:
            self._finish_step("stop")

    async def _use_tools(self) -> None:
        store = self.shared.store
        calls = await store.calls(self.run.run_id, self.run.step)
        settling = self._tooling().settle(self.lease, self.run, calls, self.equipment.toolset)
        await self.guard.race(settling)
        calls = await store.calls(self.run.run_id, self.run.step)
        # Read anew: a decision may have come for a call of this very step meanwhile.
        waiting = any(not call.settled for call in calls)
        if any(call.ends_run for call in calls) and not waiting:
            await self._end("rejected")
            return
        resumed = any(call.resumed for call in calls)
        await self._close([] if waiting else await self._drain(), fresh=resumed)

    async def _drain(self) -> list[Drained]:
        mail = await self.shared.store.mail(self.lease, self.run.run_id)
        signals = [entry.signal for entry in mail if entry.signal is not None]
        if not self._may_answer(signals):
            return []
        # Asked here, once, and stored with the step: no prompt waits for a platform again.
        names = await self._look_up(signals)
        return [
            Drained(sequence=entry.sequence, signal=_named(entry.signal, names))
            for entry in mail
            if entry.signal is not None
        ]

    def _may_answer(self, signals: Sequence[Signal]) -> bool:
        """Say whether this run has a step left for these; else the next run takes them (R14)."""
        if self.run.step >= self.shared.limits.steps:
            return False
        heard = any(signal.type == "user" for signal in signals)
        return heard or self.run.step == 0 or self.run.steps_left > 0

    async def _close(self, drained: Sequence[Drained], *, fresh: bool = False) -> None:
        # Only people and decisions give new steps: a busy webhook must not keep a run going.
        heard = any(item.signal.type == "user" for item in drained)
        allowance = self._allowance() if fresh or heard or self.run.step == 0 else None
        was = self.run
        self.run = await self.shared.store.close_step(
            self.lease,
            Step(run_id=was.run_id, drained=tuple(drained), fresh_allowance=allowance),
        )
        self.shared.committed(self.run)
        if self.run.step != was.step:
            if was.phase is Phase.TOOLS:
                self._finish_step("tool-calls")
            for item in drained:
                chunk_type, payload = signal_chunk(item.signal)
                self._show(chunk_type, **payload)

    async def _ask_patiently(self, request: ModelRequest) -> Gathered:
        limits = self.shared.limits
        for attempt in range(1, limits.model_attempts + 1):
            step = ModelStep(run=self.run, model=self.equipment.model, publish=self._publish)
            try:
                point("model.before_call")
                gathered = await step.ask(request)
                point("model.after_call")
            except ModelError as exc:
                # What was seen of a failed try is taken back before the next one begins.
                if step.gathered.shown:
                    self._show("step-discarded", step=self.run.step)
                if not exc.retryable or attempt == limits.model_attempts:
                    raise
                log.warning("model.retry", run=self.run.run_id, attempt=attempt, error=str(exc))
                grown = limits.first_backoff.total_seconds() * 2 ** (attempt - 1)
                pause = min(exc.retry_after or grown, limits.longest_backoff.total_seconds())
                await self.shared.clock.sleep(pause)
            else:
                return gathered
        raise ModelError("the model was not asked: model_attempts is below 1")

    async def _request(self) -> ModelRequest:
        limits = self.shared.limits
        rows = await self.shared.store.newest(self.run.key, limits.history_rows)
        agent = self.equipment.agent
        history = compose_history(
            [row.message for row in rows], self.equipment.toolset, agent.memory
        )
        passing = [render_signal(signal) for signal in self.run.passing]
        instructions = self.run.options.get("instructions") or agent.instructions
        return ModelRequest(
            messages=(*system_messages(instructions), *history, *passing),
            tools=self.equipment.toolset.specs(),
            settings=dict(agent.default_options.settings),
            deadlines=limits.deadlines,
            caps=limits.caps,
        )

    async def _look_up(self, signals: Sequence[Signal]) -> Mapping[str, str]:
        nameless = {
            str(signal.attributes["id"])
            for signal in signals
            if "name" in signal.attributes
            and signal.attributes["name"] is None
            and signal.attributes.get("id")
        }
        return await self.shared.names(sorted(nameless)) if nameless else {}

    async def _end(self, reason: str) -> None:
        ending = Ending(run_id=self.run.run_id, status=RunStatus.DONE, finish_reason=reason)
        if reason == "max_steps":
            ending = replace(ending, notice=_limit_notice(self._allowance()))
        self.run = await self.shared.store.end_run(self.lease, ending)
        self.shared.committed(self.run)
        self._show("finish", stepResult={"reason": reason})

    def _allowance(self) -> int:
        # The call that started the run knows best; then the agent.
        own = self.run.options.get("maxSteps")
        return int(own) if own else self.equipment.agent.default_options.max_steps

    def _tooling(self) -> Tooling:
        return Tooling(
            store=self.shared.store,
            clock=self.shared.clock,
            limits=self.shared.limits,
            folders=self.shared.folders,
            publish=self._publish,
            request_context=self.run.options.get("requestContext", {}),
        )

    def _row(self) -> Message:
        return Message(
            id=new_id("msg"),
            role="assistant",
            content=(),
            created_at=self.shared.clock.now(),
            run_id=self.run.run_id,
            step=self.run.step,
            turn=self.run.turn,
        )

    def _finish_step(self, reason: str) -> None:
        used, self._usage = self._usage, Usage()
        usage = {"inputTokens": used.input_tokens, "outputTokens": used.output_tokens}
        self._show(
            "step-finish",
            stepResult={"reason": reason, "isContinued": reason != "stop"},
            output={"usage": usage},
        )

    def _show(self, chunk_type: str, **payload: Any) -> None:
        self._publish(Chunk(type=chunk_type, run_id=self.run.run_id, payload=payload))

    def _publish(self, chunk: Chunk) -> None:
        self.shared.publish(self.run, chunk)


def _named(signal: Signal, names: Mapping[str, str]) -> Signal:
    attributes = signal.attributes
    if "name" not in attributes or attributes["name"] is not None:
        return signal
    person = str(attributes.get("id") or "")
    # A person whose name nobody knows is called by the id, which is at least unmistakable.
    name = names.get(person) or person or None
    return signal.model_copy(update={"attributes": {**attributes, "name": name}})


def _limit_notice(steps: int) -> Notice:
    return Notice(
        text=f"I stopped after {steps} steps without finishing. Write to me to let me go on."
    )
