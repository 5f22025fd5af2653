"""Tooling: settling the calls of one step, in call order, with pauses and crashes accounted for."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.approvals.suspension import PlanText, Suspension, SuspensionKind
from core.clock import Clock
from core.faults import point
from core.ids import ThreadKey, new_id
from core.runs.chunks import Chunk
from core.runs.limits import Limits
from core.runs.run import Call, CallState, Document, Run
from core.runs.store import Outcome, RunStore
from core.threads.lease import Lease
from core.tools.arguments import BadArguments, parse_arguments
from core.tools.execution import ToolOutcome, execute
from core.tools.tool import Folders, SuspendRequest, ToolContext
from core.tools.toolset import Toolset

PAUSING = frozenset({"submit_plan", "ask_user"})
"""Tools that may still be opened in a step whose plan waits (agent.md T11)."""
NOT_RUN = {"error": True, "message": "not run: a plan of this step awaits a decision"}
INTERRUPTED = {
    "error": True,
    "message": "This call was interrupted: the process stopped while it ran. Whether it took "
    "effect is not known. Check before you do it again.",
}


class ThreadLibrary:
    """The texts of one thread, read from the store."""

    def __init__(self, *, store: RunStore, key: ThreadKey) -> None:
        """Keep the store and the thread whose texts are meant."""
        self._store = store
        self._key = key

    async def read(self, path: str) -> str | None:
        """Return the text under this path, or None."""
        document = await self._store.document(self._key, path)
        return None if document is None else document.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Tooling:
    """Runs the calls of a step and stores each outcome by itself."""

    store: RunStore
    clock: Clock
    limits: Limits
    folders: Folders
    publish: Callable[[Chunk], None]
    request_context: dict[str, Any] = field(default_factory=dict)

    async def settle(self, lease: Lease, run: Run, calls: Sequence[Call], toolset: Toolset) -> None:
        """Settle every call that is not: start them in call order, ten at a time at most.

        A step with a pausing call goes one by one, so that what follows a waiting plan can be held
        back.
        """
        work = _Settling(tooling=self, lease=lease, run=run, toolset=toolset)
        # One by one, so that what stands behind a waiting plan can still be held back.
        if any(call.tool_name in PAUSING for call in calls):
            await work.in_turn(calls)
        else:
            await work.together(calls)

    async def recover(self, lease: Lease, calls: Iterable[Call], toolset: Toolset) -> None:
        """Settle what a crash left.

        Intents of tools that are not idempotent are told as interrupted.
        """
        for call in calls:
            tool = toolset.find(call.tool_name)
            # Nobody knows whether it took effect: only what bears a second time gets one.
            if call.state is not CallState.INTENT or (tool is not None and tool.idempotent):
                continue
            settled = await self.store.settle_call(
                lease, _outcome(call, CallState.INTERRUPTED, INTERRUPTED, is_error=True)
            )
            self.publish(result_chunk(settled))


@dataclass(slots=True, kw_only=True)
class _Settling:
    tooling: Tooling
    lease: Lease
    run: Run
    toolset: Toolset
    plan_waits: bool = False

    async def in_turn(self, calls: Sequence[Call]) -> None:
        for call in calls:
            if call.state is CallState.SUSPENDED:
                self.plan_waits = self.plan_waits or call.tool_name == "submit_plan"
            elif not call.settled:
                await self._one(call)

    async def together(self, calls: Sequence[Call]) -> None:
        # Started in call order, ended in any: results are matched by id (agent.md T12).
        slots = asyncio.Semaphore(max(self.tooling.limits.tool_concurrency, 1))

        async def run_in_slot(call: Call) -> None:
            async with slots:
                await self._one(call)

        open_calls = [
            call for call in calls if not call.settled and call.state is not CallState.SUSPENDED
        ]
        try:
            async with asyncio.TaskGroup() as group:
                for call in open_calls:
                    group.create_task(run_in_slot(call), name=f"tool {call.tool_call_id}")
        except BaseExceptionGroup as failures:
            # One reason ends the step; the group has cancelled the other calls.
            raise failures.exceptions[0] from failures

    async def _one(self, call: Call) -> None:
        # What the plan asks leave for must not happen beside it (agent.md T11).
        if self.plan_waits and call.tool_name not in PAUSING:
            await self._store(_outcome(call, CallState.FAILED, NOT_RUN, is_error=True))
            return
        await self._enter_again(call)
        point("tool.before_run")
        context = self._context(call)
        outcome = await self._execute(call, context)
        point("tool.after_run")
        if outcome.suspension is not None:
            await self._suspend(call, outcome)
            return
        state = CallState.FAILED if outcome.is_error else CallState.DONE
        await self._store(
            Outcome(
                run_id=call.run_id,
                tool_call_id=call.tool_call_id,
                state=state,
                result=outcome.result,
                is_error=outcome.is_error,
                documents=self._documents(call, outcome),
            ),
        )

    async def _enter_again(self, call: Call) -> None:
        """Make a resumed call an intent once more, unless it may run twice.

        Else a crash after its effect would have it run again (architecture.md 2.2).
        """
        tool = self.toolset.find(call.tool_name)
        if call.state is CallState.RESUMED and tool is not None and not tool.idempotent:
            intent = _outcome(call, CallState.INTENT, None, is_error=False)
            await self.tooling.store.settle_call(self.lease, intent)

    async def _execute(self, call: Call, context: ToolContext) -> ToolOutcome:
        tool = self.toolset.find(call.tool_name)
        if tool is None:
            return ToolOutcome(result=self.toolset.unknown(call.tool_name), is_error=True)
        try:
            # They were not JSON when they came and will not be now; the words for it are the same.
            raw = call.raw_arguments
            arguments = call.args if raw is None else parse_arguments(raw)
        except BadArguments as exc:
            return ToolOutcome(result=exc.result, is_error=True)
        return await execute(tool, arguments, context)

    def _context(self, call: Call) -> ToolContext:
        return ToolContext(
            agent_id=self.run.agent_id,
            run_id=self.run.run_id,
            tool_call_id=call.tool_call_id,
            thread=self.run.key,
            now=self.tooling.clock.now(),
            resumed=call.resumed,
            resume_data=call.resume_data,
            library=ThreadLibrary(store=self.tooling.store, key=self.run.key),
            folders=self.tooling.folders,
            request_context=self.tooling.request_context,
        )

    async def _suspend(self, call: Call, outcome: ToolOutcome) -> None:
        request = outcome.suspension
        assert request is not None  # noqa: S101 - narrows the type, the caller has checked
        self.plan_waits = self.plan_waits or call.tool_name == "submit_plan"
        suspension = self._suspension(call, request)
        await self.tooling.store.settle_call(
            self.lease,
            Outcome(
                run_id=call.run_id,
                tool_call_id=call.tool_call_id,
                state=CallState.SUSPENDED,
                suspension=suspension,
                documents=self._documents(call, outcome),
            ),
        )

    def _suspension(self, call: Call, request: SuspendRequest) -> Suspension:
        now = self.tooling.clock.now()
        kinds: dict[str, SuspensionKind] = {"plan": "plan", "question": "question"}
        return Suspension(
            token=new_id("s"),
            kind=kinds.get(request.kind, "tool"),
            run_id=call.run_id,
            tool_call_id=call.tool_call_id,
            tool_name=call.tool_name,
            thread_id=call.thread_id,
            resource_id=self.run.resource_id,
            agent_id=self.run.agent_id,
            args=call.args,
            payload=request.payload,
            plan=request.details if isinstance(request.details, PlanText) else None,
            resume_schema=request.resume_schema,
            conversation=self.run.reply_to,
            created_at=now,
            expires_at=now + (request.lifetime or self.tooling.limits.suspension),
        )

    async def _store(self, outcome: Outcome) -> None:
        settled = await self.tooling.store.settle_call(self.lease, outcome)
        self.tooling.publish(result_chunk(settled))

    def _documents(self, call: Call, outcome: ToolOutcome) -> tuple[Document, ...]:
        return tuple(
            Document(
                thread_id=call.thread_id,
                path=written.path,
                kind=written.kind,
                content=written.content,
                tool_call_id=call.tool_call_id,
                created_at=self.tooling.clock.now(),
            )
            for written in outcome.documents
        )


def result_chunk(call: Call) -> Chunk:
    """Return the chunk that tells a settled call: `tool-result` or `tool-error`."""
    payload = {"toolCallId": call.tool_call_id, "toolName": call.tool_name, "args": call.args}
    if call.is_error:
        return Chunk(
            type="tool-error", run_id=call.run_id, payload={**payload, "error": call.result}
        )
    return Chunk(type="tool-result", run_id=call.run_id, payload={**payload, "result": call.result})


def _outcome(call: Call, state: CallState, result: Any, *, is_error: bool) -> Outcome:
    return Outcome(
        run_id=call.run_id,
        tool_call_id=call.tool_call_id,
        state=state,
        result=result,
        is_error=is_error,
    )
