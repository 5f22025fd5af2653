"""Sending: how the verbs of agents become accepted signals, and the futures they answer with."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_args

import structlog

from core.agent import Acceptance, SignalResult, Target
from core.clock import Clock
from core.errors import Conflict, InvalidInput, Unknown
from core.ids import ThreadKey, new_id, thread_key
from core.runs.chunks import Chunk
from core.runs.output import RunOutput
from core.signals.attributes import validate_branch_attributes
from core.signals.routing import ActiveBehavior, IdleBehavior, IfActive, IfIdle
from core.signals.signal import create_signal
from core.signals.storage import signal_chunk
from core.store import Store
from core.threads.dispatcher import Dispatcher
from core.threads.store import AcceptRequest
from core.threads.subscription import Broadcaster
from core.threads.thread import Accepted

log = structlog.get_logger(__name__)
T = TypeVar("T")
_STORED_OPTIONS = {
    "max_steps": "maxSteps",
    "request_context": "requestContext",
    "instructions": "instructions",
}
"""Options of a call that are kept with its run, by the names they are stored under."""


class Sending:
    """Takes signals from programs: validates at once, stores, wakes, and resolves the futures."""

    def __init__(
        self,
        *,
        store: Store,
        dispatcher: Dispatcher,
        broadcaster: Broadcaster[Chunk],
        clock: Clock,
    ) -> None:
        """Keep the collaborators and the tasks under way."""
        self._store = store
        self._dispatcher = dispatcher
        self._broadcaster = broadcaster
        self._clock = clock
        self._tasks: set[asyncio.Task[Any]] = set()

    def send(
        self, agent_id: str, spec: Mapping[str, Any], target: Target, *, own_turn: bool
    ) -> SignalResult:
        """Check and create the signal now, send it in a task of its own (signals.md S6).

        Raises:
            InvalidSignal: the signal breaks a rule.
            InvalidInput: a branch is malformed, or no thread and no run is named.
        """
        key = target.key()
        signal = create_signal(spec, now=self._clock.now(), new_id=lambda: new_id("sig"))
        request = AcceptRequest(
            key=key or thread_key("", ""),
            agent_id=agent_id,
            signal=signal,
            fresh_run_id=new_id("run"),
            own_turn=own_turn,
            if_active=read_if_active(target.if_active),
            if_idle=read_if_idle(target.if_idle),
            options=dict(target.if_idle.get("stream_options", {})),
        )
        accepted = self._task(self._accept(request, None if key else target.run_id))
        wants = {request.if_active.behavior, request.if_idle.behavior}
        persisted = self._task(_persisted(accepted)) if "persist" in wants else None
        return SignalResult(accepted=accepted, signal=signal, persisted=persisted)

    async def deliver(self, request: AcceptRequest) -> Accepted:
        """Accept a ready request, wake its thread, and show what was only persisted."""
        accepted = await self._dispatcher.send(request)
        if accepted.action == "persist" and not accepted.duplicate:
            self._show_persisted(request.key, accepted)
        return accepted

    async def start(self, agent_id: str, messages: Any, options: Mapping[str, Any]) -> RunOutput:
        """Send the messages as one user signal and return the stream of the run that answers it.

        Raises:
            InvalidInput: an option or a message is not understood; nothing was sent.
            Conflict: a run of the id that was asked for exists.
        """
        key = memory_key(options.get("memory"))
        spec = {"type": "user", "contents": _contents(messages)}
        signal = create_signal(spec, now=self._clock.now(), new_id=lambda: new_id("sig"))
        request = AcceptRequest(
            key=key,
            agent_id=agent_id,
            signal=signal,
            fresh_run_id=await self._run_id(options.get("run_id")),
            own_turn=True,
            options=_stored(options),
        )
        # Opened before the run can begin, so that its first chunk is not missed.
        subscription = self._broadcaster.subscribe(key)
        accepted = await self.deliver(request)
        return RunOutput(str(accepted.run_id), subscription)

    async def _run_id(self, wanted: str | None) -> str:
        if wanted is None:
            return new_id("run")
        try:
            await self._store.run(wanted)
        except Unknown:
            return wanted
        raise Conflict(f"run {wanted} exists already: choose another run_id, or leave it out")

    async def _accept(self, request: AcceptRequest, run_id: str | None) -> Acceptance:
        if run_id is not None:
            run = await self._store.run(run_id)
            request = _at(request, run.key)
        subscription = self._broadcaster.subscribe(request.key)
        accepted = await self.deliver(request)
        output = None
        if accepted.action == "wake" and accepted.run_id is not None:
            output = RunOutput(accepted.run_id, subscription)
        else:
            subscription.close()
        return Acceptance(
            action=accepted.action, signal=accepted.signal, run_id=accepted.run_id, output=output
        )

    def _show_persisted(self, key: ThreadKey, accepted: Accepted) -> None:
        # A small stream of its own: no model is called (signals.md S18).
        run_id = new_id("run")
        chunk_type, payload = signal_chunk(accepted.signal)
        for chunk in (
            Chunk(type="start", run_id=run_id),
            Chunk(type=chunk_type, run_id=run_id, payload=payload),
            Chunk(type="finish", run_id=run_id, payload={"stepResult": {"reason": "stop"}}),
        ):
            self._broadcaster.publish(key, chunk)

    def _task(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = asyncio.create_task(work, name="send")
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        # Reading the error here keeps an unobserved rejection from being reported as lost (S7).
        if not task.cancelled() and task.exception() is not None:
            log.warning("signal.not_accepted", error=str(task.exception()))


def read_if_active(branch: Mapping[str, Any]) -> IfActive:
    """Read an `ifActive` branch.

    Raises:
        InvalidInput: an unknown behaviour, or attributes that are not string, number or boolean.
    """
    behavior = branch.get("behavior") or "deliver"
    for known in get_args(ActiveBehavior):
        if behavior == known:
            return IfActive(behavior=known, attributes=_attributes(branch))
    raise _unknown_behavior("ifActive", behavior, get_args(ActiveBehavior))


def read_if_idle(branch: Mapping[str, Any]) -> IfIdle:
    """Read an `ifIdle` branch; see read_if_active."""
    behavior = branch.get("behavior") or "wake"
    for known in get_args(IdleBehavior):
        if behavior == known:
            return IfIdle(behavior=known, attributes=_attributes(branch))
    raise _unknown_behavior("ifIdle", behavior, get_args(IdleBehavior))


def memory_key(memory: Any) -> ThreadKey:
    """Return the thread that a `memory` option names; without one, a thread of its own.

    Raises:
        InvalidInput: only one of resource and thread is given (agent.md Y2).
    """
    if memory is None:
        return thread_key("run", new_id("thr"))
    resource, thread = memory.get("resource"), memory.get("thread")
    thread_id = thread.get("id") if isinstance(thread, Mapping) else thread
    if not resource or not thread_id:
        raise InvalidInput(
            "memory needs both `resource` and `thread`", fields={"memory": "incomplete"}
        )
    return thread_key(resource, thread_id)


async def _persisted(accepted: "asyncio.Task[Acceptance]") -> None:
    await asyncio.shield(accepted)


def _attributes(branch: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    return validate_branch_attributes(branch.get("attributes") or {})


def _unknown_behavior(branch: str, behavior: Any, known: tuple[str, ...]) -> InvalidInput:
    return InvalidInput(
        f"{branch}.behavior {behavior!r} is not one of {', '.join(known)}",
        fields={f"{branch}.behavior": "unknown"},
    )


def _stored(options: Mapping[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(options) - set(_STORED_OPTIONS) - {"memory", "run_id"})
    if unknown:
        raise InvalidInput(
            f"a run has no option {', '.join(unknown)}", fields=dict.fromkeys(unknown, "unknown")
        )
    return {
        stored: options[name]
        for name, stored in _STORED_OPTIONS.items()
        if options.get(name) is not None
    }


def _contents(messages: Any) -> Any:
    """Return text, a list of texts or a list of message objects as one signal's contents."""
    if not isinstance(messages, list):
        return messages
    parts = [part for item in messages for part in _parts(item)]
    if all(isinstance(part, str) for part in parts):
        return "\n".join(parts)
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]


def _parts(item: Any) -> list[Any]:
    if not isinstance(item, Mapping) or "role" not in item:
        return [item]
    if item["role"] != "user":
        raise InvalidInput(
            f"a message of role {item['role']!r} cannot be sent: the thread keeps its own history",
            fields={"messages": "only role user"},
        )
    content = item.get("content")
    return list(content) if isinstance(content, list) else [content]


def _at(request: AcceptRequest, key: ThreadKey) -> AcceptRequest:
    return replace(request, key=key)
