"""The gate: the one door for every kind of ingress; policy first, then one durable step."""

from collections.abc import Mapping
from typing import Any

import structlog

from core.approvals.decide import Answering
from core.conversation import (
    Conversation,
    Inbound,
    InboundAbort,
    InboundDecision,
    InboundEvents,
    InboundMessage,
    InboundNotification,
    InboundResume,
    InboundSignal,
    InboundStop,
    Person,
)
from core.errors import AlreadyDecided, NotAllowed, ThreadBlocked, Unknown
from core.ids import ThreadKey, escape_part, new_id, thread_key
from core.notifications.inbox import Inbox
from core.ports.adapter import Admission, Gate
from core.runtime import Runtime
from core.sending import read_if_active, read_if_idle
from core.signals.signal import create_signal
from core.threads.store import AcceptRequest
from core.threads.thread import Accepted, Thread
from gateway.policy import Policy

log = structlog.get_logger(__name__)
WAITING = "A plan still waits for a decision here. I will read your message right after it."


class GatewayGate:
    """Admits what policy allows, and nothing else; errors are raised for the caller to word."""

    def __init__(self, *, runtime: Runtime, policy: Policy, inbox: Inbox) -> None:
        """Keep the runtime behind the door, the rules at it, and the inbox for outside events."""
        self._runtime = runtime
        self._policy = policy
        self._inbox = inbox

    async def admit(self, inbound: Inbound) -> Admission:
        """Check the sender, store what was said or decided, wake the thread.

        Raises:
            NotAllowed: policy refuses a decision.
            AlreadyDecided: a decision came second.
            Unknown: an id is not in the store.
            StoreUnavailable: nothing was stored; let the platform send it again.
        """
        match inbound:
            case InboundMessage():
                return await self._message(inbound)
            case InboundStop():
                return await self._stop(inbound)
            case InboundDecision():
                return await self._decision(inbound)
            case InboundSignal():
                return await self._signal(inbound)
            case InboundAbort():
                return await self._abort(inbound)
            case InboundResume():
                return await self._resume(inbound)
            case InboundEvents():
                return await self._events(inbound)
            case InboundNotification():
                return await self._notification(inbound)

    async def _message(self, inbound: InboundMessage) -> Admission:
        if not self._policy.may_talk(inbound.sender, inbound.conversation):
            return _refused(inbound.sender, "message")
        channel = self._policy.channel(inbound.conversation)
        agent = self._runtime.agent(channel.agent if channel else None)
        bound = await self._runtime.store.bind(
            inbound.conversation, _home(inbound.conversation, inbound), agent.id
        )
        spec = {
            "type": "user",
            "contents": inbound.contents,
            "attributes": inbound.attributes,
            "metadata": inbound.metadata,
        }
        request = AcceptRequest(
            key=bound.key,
            agent_id=agent.id,
            signal=create_signal(spec, now=self._runtime.clock.now(), new_id=_signal_id),
            fresh_run_id=new_id("run"),
            event_key=inbound.event_key,
            own_turn=inbound.lane == "queue",
            conversation=bound.conversation,
        )
        return _admitted(await self._runtime.sending.deliver(request))

    async def _stop(self, inbound: InboundStop) -> Admission:
        if not self._policy.may_talk(inbound.sender, inbound.conversation):
            return _refused(inbound.sender, "stop")
        binding = await self._runtime.store.binding(inbound.conversation.key)
        stopped = binding is not None and await self._runtime.abort(binding.key)
        answer = "Stopped." if stopped else "Nothing is running here."
        return Admission(outcome="accepted", answer=answer, detail={"aborted": stopped})

    async def _decision(self, inbound: InboundDecision) -> Admission:
        decided = await self._runtime.decider.decide(
            inbound.token, inbound.sender, inbound.action, inbound.feedback
        )
        return Admission(outcome="accepted", detail={"state": decided.state.value})

    async def _signal(self, inbound: InboundSignal) -> Admission:
        if not self._policy.may_talk(inbound.sender, None):
            return _refused(inbound.sender, "signal")
        key = await self._target(inbound)
        thread = await self._thread(key)
        wanted = inbound.agent_id or (thread.agent_id if thread else None)
        agent = self._runtime.agent(wanted)
        options = inbound.if_idle.get("streamOptions") or {}
        request = AcceptRequest(
            key=key,
            agent_id=agent.id,
            signal=create_signal(inbound.spec, now=self._runtime.clock.now(), new_id=_signal_id),
            fresh_run_id=new_id("run"),
            event_key=inbound.event_key,
            own_turn=inbound.own_turn,
            if_active=read_if_active(inbound.if_active),
            if_idle=read_if_idle(inbound.if_idle),
            options=dict(options),
        )
        return _admitted(await self._runtime.sending.deliver(request))

    async def _abort(self, inbound: InboundAbort) -> Admission:
        if not self._policy.may_talk(inbound.sender, None):
            return _refused(inbound.sender, "abort")
        aborted = await self._runtime.abort(thread_key(inbound.resource_id, inbound.thread_id))
        return Admission(outcome="accepted", detail={"aborted": aborted})

    async def _resume(self, inbound: InboundResume) -> Admission:
        decider = self._runtime.decider
        await self._runtime.store.run(inbound.run_id)
        waiting = await decider.waiting(inbound.run_id, inbound.tool_call_id)
        resolved = await decider.answer(
            Answering(
                suspension=waiting,
                actor=inbound.sender,
                data=inbound.data,
                ends_run=_without_reason(inbound.data),
            )
        )
        return Admission(outcome="accepted", detail={"state": resolved.state.value})

    async def _events(self, inbound: InboundEvents) -> Admission:
        received = await self._inbox.receive(inbound)
        outcome = "duplicate" if received.duplicate else "accepted"
        return Admission(outcome=outcome, detail={"threads": received.threads})

    async def _notification(self, inbound: InboundNotification) -> Admission:
        if not self._policy.may_talk(inbound.sender, None):
            return _refused(inbound.sender, "notification")
        raise NotImplementedError

    async def _target(self, inbound: InboundSignal) -> ThreadKey:
        return thread_key(inbound.resource_id, inbound.thread_id)

    async def _thread(self, key: ThreadKey) -> Thread | None:
        try:
            return await self._runtime.store.thread(key)
        except Unknown:
            known = await self._runtime.store.bindings(key.thread_id)
            if known:
                raise
            return None


class PoliteGate:
    """The gate as a chat platform needs it: what a person did too late or may not do is worded."""

    def __init__(self, gate: Gate) -> None:
        """Wrap the gate that decides."""
        self._gate = gate

    async def admit(self, inbound: Inbound) -> Admission:
        """Admit; refusals come back as an answer for the person alone."""
        try:
            return await self._gate.admit(inbound)
        except (NotAllowed, Unknown, ThreadBlocked) as exc:
            return Admission(outcome="refused", answer=str(exc))
        except AlreadyDecided as exc:
            return Admission(outcome="duplicate", answer=str(exc))


def _home(conversation: Conversation, inbound: InboundMessage) -> ThreadKey:
    """Return the thread of a new conversation: a person owns their DMs, a group its own (3.3)."""
    if inbound.direct:
        return thread_key(inbound.sender.id, conversation.key)
    parts = (conversation.platform, conversation.tenant, conversation.channel)
    return thread_key(":".join(escape_part(part) for part in parts), conversation.key)


def _admitted(accepted: Accepted) -> Admission:
    return Admission(
        outcome="duplicate" if accepted.duplicate else "accepted",
        answer=WAITING if accepted.waiting and not accepted.duplicate else None,
        detail={
            "action": accepted.action,
            "runId": accepted.run_id,
            "signalId": accepted.signal.id,
        },
    )


def _refused(sender: Person, what: str) -> Admission:
    log.info("gate.refused", actor=sender.id, what=what)
    return Admission(outcome="refused")


def _without_reason(data: Any) -> bool:
    if not isinstance(data, Mapping) or data.get("action") != "rejected":
        return False
    return not str(data.get("feedback") or "").strip()


def _signal_id() -> str:
    return new_id("sig")
