"""The runner: owns a thread under its lease, run after run, until nothing is left to do there."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog
from structlog.contextvars import bound_contextvars

from core.approvals.store import ApprovalStore, SuspensionFilter
from core.approvals.suspension import SuspensionState
from core.conversation import Notice
from core.errors import InterlockError, LeaseLost, StoreUnavailable
from core.ids import ThreadKey, new_id
from core.redaction import redact_text
from core.runs.chunks import Chunk
from core.runs.guard import Aborted, Guard, Leaving
from core.runs.loop import Equipment, LoopStore, LoopTools, RunLoop
from core.runs.run import Run, RunStatus
from core.runs.store import Ending, Work
from core.threads.lease import LEASE_TTL, Lease

log = structlog.get_logger(__name__)
UNEXPECTED = "something went wrong inside me"
"""All that people are told of an error nobody foresaw: its own text may hold anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a run failed, under an id that links the line people see to the log."""

    error_id: str
    message: str


class Runner:
    """Runs threads; one call of `own` per lease."""

    def __init__(
        self,
        *,
        shared: LoopTools,
        approvals: ApprovalStore,
        equip: Callable[[str], Equipment],
        ttl: timedelta = LEASE_TTL,
    ) -> None:
        """Keep what every run shares, and `equip`, which makes an agent ready by its id."""
        self._shared = shared
        self._store: LoopStore = shared.store
        self._approvals = approvals
        self._equip = equip
        self._ttl = ttl
        self._guards: dict[ThreadKey, Guard] = {}

    async def own(self, lease: Lease) -> None:
        """Run the thread until it is drained or paused, keeping the lease alive meanwhile."""
        # Registered before anything is read, so that no abort falls in between.
        guard = self._guards[lease.key] = Guard()
        keeping = asyncio.create_task(self._keep(lease, guard), name=f"renew {lease.key}")
        try:
            await self._work(lease, guard)
        except LeaseLost as exc:
            log.warning("lease.lost", thread=str(lease.key), epoch=lease.epoch, error=str(exc))
        except Leaving:
            await self._store.postpone(lease, 0)
        except asyncio.CancelledError:
            # The process stops in mid-step: the next owner need not wait for the lease to run out.
            with contextlib.suppress(InterlockError):
                await self._store.postpone(lease, 0)
            raise
        finally:
            del self._guards[lease.key]
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    def abort(self, key: ThreadKey, run_id: str) -> bool:
        """Interrupt this run of the thread if it goes on in this process.

        Its end is stored by its owner.
        """
        guard = self._guards.get(key)
        if guard is None or guard.run_id != run_id:
            return False
        guard.abort()
        return True

    def leave(self) -> None:
        """Let every run of this process stop at its next step boundary (architecture.md 9)."""
        for guard in self._guards.values():
            guard.leave()

    async def _work(self, lease: Lease, guard: Guard) -> None:
        while True:
            guard.check()
            work = await self._store.next_run(lease, new_id("run"))
            if work is not None:
                if await self._one(lease, guard, work) is RunStatus.SUSPENDED:
                    return
            elif await self._store.release_if_drained(lease):
                return

    async def _one(self, lease: Lease, guard: Guard, work: Work) -> RunStatus:
        run = work.run
        guard.run_id = run.run_id
        with bound_contextvars(thread=run.thread_id, run=run.run_id, agent=run.agent_id):
            # Asked for before the run began, or by another process: the row knows.
            if await self._store.abort_requested(lease, run.run_id):
                guard.abort()
            status = await self._guarded(lease, guard, work)
            guard.run_id = None
            # It was meant for this run; what waits behind it is answered.
            guard.clear_abort()
            log.info("run.left", status=status.value)
        return status

    async def _guarded(self, lease: Lease, guard: Guard, work: Work) -> RunStatus:
        try:
            loop = RunLoop(
                shared=self._shared,
                lease=lease,
                guard=guard,
                equipment=self._equip(work.run.agent_id),
                run=work.run,
            )
            run = await loop.proceed(work)
        except Aborted:
            return await self._aborted(lease, work.run)
        except (LeaseLost, Leaving):
            raise
        except StoreUnavailable:
            # Nothing can be recorded now: the reaper takes the run up again.
            raise
        except InterlockError as exc:
            return await self._failed(lease, work.run, exc, str(exc))
        # A fault of ours or of a model's client ends this run, and its people hear of it at once.
        except Exception as exc:
            log.exception("run.broke")
            return await self._failed(lease, work.run, exc, UNEXPECTED)
        if run.status is RunStatus.SUSPENDED:
            await self._announce(run)
        return run.status

    async def _aborted(self, lease: Lease, run: Run) -> RunStatus:
        ending = Ending(run_id=run.run_id, status=RunStatus.ABORTED, finish_reason="aborted")
        await self._store.end_run(lease, ending)
        self._shared.committed(run)
        self._show(run, "abort")
        return RunStatus.ABORTED

    async def _failed(self, lease: Lease, run: Run, problem: Exception, why: str) -> RunStatus:
        # People get the id, the log gets the rest.
        error_id = new_id("e")[:10]
        log.error("run.failed", error_id=error_id, exc_info=problem)
        reason = redact_text(why)
        text = f"I could not finish this: {reason} (error {error_id}). Write again to retry."
        ending = Ending(
            run_id=run.run_id,
            status=RunStatus.FAILED,
            finish_reason="error",
            error=reason,
            error_id=error_id,
            notice=Notice(text=text),
        )
        await self._store.end_run(lease, ending)
        self._shared.committed(run)
        self._show(run, "error", error=reason, errorId=error_id)
        return RunStatus.FAILED

    async def _announce(self, run: Run) -> None:
        waiting = await self._approvals.suspensions(
            SuspensionFilter(run_id=run.run_id, state=SuspensionState.WAITING)
        )
        for left, suspension in reversed(list(enumerate(waiting))):
            self._show(
                run,
                "tool-call-suspended",
                toolCallId=suspension.tool_call_id,
                toolName=suspension.tool_name,
                suspendPayload=suspension.payload,
                args=suspension.args,
                resumeSchema=suspension.resume_schema,
                token=suspension.token,
                more=left > 0,
            )

    async def _keep(self, lease: Lease, guard: Guard) -> None:
        # Two renewals may fail before the lease is lost.
        pause = self._ttl.total_seconds() / 3
        deadline = self._shared.clock.monotonic() + self._ttl.total_seconds()
        while True:
            await self._shared.clock.sleep(pause)
            try:
                await self._store.renew(lease, self._ttl)
                await self._hear_abort(lease, guard)
                deadline = self._shared.clock.monotonic() + self._ttl.total_seconds()
            except LeaseLost as exc:
                guard.lose(exc)
                return
            except InterlockError as exc:
                log.warning("lease.not_renewed", thread=str(lease.key), error=str(exc))
                # By now another process may own the thread: what we still wrote would be refused.
                if self._shared.clock.monotonic() >= deadline:
                    guard.lose(LeaseLost(f"the lease of {lease.key} could not be renewed in time"))
                    return

    async def _hear_abort(self, lease: Lease, guard: Guard) -> None:
        # Another process may have been asked to stop this run.
        run_id = guard.run_id
        if run_id is None or not await self._store.abort_requested(lease, run_id):
            return
        if guard.run_id == run_id:
            guard.abort()

    def _show(self, run: Run, chunk_type: str, **payload: object) -> None:
        self._shared.publish(run, Chunk(type=chunk_type, run_id=run.run_id, payload=payload))
