"""The gate: the one door for every kind of ingress; policy first, then one durable step."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from pydantic import ValidationError
from typing_extensions import override

from core.agent import Agent
from core.approvals.decide import Answering
from core.approvals.store import SuspensionFilter
from core.approvals.suspension import Suspension, SuspensionState
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
from core.errors import AlreadyDecided, Conflict, InvalidInput, NotAllowed, Unknown
from core.ids import ThreadKey, new_id, thread_key
from core.notifications.inbox import Inbox, home_of
from core.notifications.ingress import NotificationInput, NotificationResult, NotifyOptions
from core.ports.adapter import Admission, Gate
from core.runtime import Runtime
from core.sending import read_if_active, read_if_idle
from core.signals.signal import Signal, create_signal
from core.threads.store import AcceptRequest
from core.threads.thread import Accepted, Thread
from gateway.policy import Policy

log = structlog.get_logger(__name__)
WAITING = "A plan still waits for a decision here. I will read your message right after it."
RECENT = 200
"""Rows of a thread in which the redelivery of a message is looked for while a question waits."""


class GatewayGate(Gate):
    """Admits what policy allows, and nothing else; errors are raised for the caller to word."""

    def __init__(self, *, runtime: Runtime, policy: Policy, inbox: Inbox) -> None:
        """Keep the runtime behind the door, the rules at it, and the inbox for outside events."""
        self._runtime = runtime
        self._policy = policy
        self._inbox = inbox
        self._ways: Mapping[type, Callable[[Any], Awaitable[Admission]]] = {
            InboundAbort: self._abort,
            InboundDecision: self._decision,
            InboundEvents: self._events,
            InboundMessage: self._message,
            InboundNotification: self._notification,
            InboundResume: self._resume,
            InboundSignal: self._signal,
            InboundStop: self._stop,
        }

    @override
    async def admit(self, inbound: Inbound) -> Admission:
        """Check the sender, store what was said or decided, wake the thread.

        Raises:
            NotAllowed: policy refuses a decision.
            AlreadyDecided: a decision came second.
            Unknown: an id is not in the store.
            StoreUnavailable: nothing was stored; let the platform send it again.
        """
        return await self._ways[type(inbound)](inbound)

    async def _message(self, inbound: InboundMessage) -> Admission:
        if not self._policy.may_talk(inbound.sender, inbound.conversation):
            return _refused(inbound.sender, "message")
        channel = self._policy.channel(inbound.conversation)
        agent = self._runtime.agent(channel.agent if channel else None)
        # Created before anything is stored: a message that is refused binds no conversation.
        signal = self._heard(inbound)
        bound = await self._runtime.store.bind(
            inbound.conversation, _home(inbound.conversation, inbound), agent.id
        )
        answered = await self._answer_question(bound.key, inbound, signal.id)
        if answered is not None:
            return answered
        request = AcceptRequest(
            key=bound.key,
            agent_id=agent.id,
            signal=signal,
            fresh_run_id=new_id("run"),
            event_key=inbound.event_key,
            own_turn=inbound.lane == "queue",
            conversation=bound.conversation,
        )
        return _admitted(await self._runtime.sending.deliver(request))

    def _heard(self, inbound: InboundMessage) -> Signal:
        spec = {
            "type": "user",
            "contents": inbound.contents,
            "attributes": inbound.attributes,
            "metadata": inbound.metadata,
        }
        digest = hashlib.sha256(inbound.event_key.encode()).hexdigest()
        # The same event has the same id, so that the history tells a redelivery from an answer.
        return create_signal(spec, now=self._runtime.clock.now(), new_id=lambda: f"sig_{digest}")

    async def _answer_question(
        self, key: ThreadKey, inbound: InboundMessage, signal_id: str
    ) -> Admission | None:
        """Take a plain message as the answer to the one question that waits here, if one does."""
        asked = await self._runtime.store.suspensions(
            SuspensionFilter(thread_id=key.thread_id, kind="question", limit=20)
        )
        keys = [one.decision.event_key for one in asked if one.decision is not None]
        if inbound.event_key in keys:
            return Admission(outcome="duplicate")
        waiting = [one for one in asked if one.state is SuspensionState.WAITING]
        plain = isinstance(inbound.contents, str) and inbound.lane == "deliver"
        if len(waiting) != 1 or not plain:
            return None
        if signal_id in [row.message_id for row in await self._runtime.store.newest(key, RECENT)]:
            # What led to the question, sent again by the platform, does not answer it.
            return Admission(outcome="duplicate")
        return await self._answer(waiting[0], inbound)

    async def _answer(self, question: Suspension, inbound: InboundMessage) -> Admission | None:
        answering = Answering(
            suspension=question,
            actor=inbound.sender,
            data=inbound.contents,
            event_key=inbound.event_key,
        )
        try:
            await self._runtime.decider.answer(answering)
        except (AlreadyDecided, NotAllowed):
            # Somebody answered meanwhile, or it was asked where this person may not talk: then
            # this is a message like any other.
            return None
        return Admission(outcome="accepted", detail={"answered": question.token})

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
        key = thread_key(inbound.resource_id, inbound.thread_id)
        agent = await self._agent_of(key, inbound.agent_id)
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
        return Admission(
            outcome="duplicate" if received.duplicate else "accepted",
            detail={"threads": received.threads},
        )

    async def _notification(self, inbound: InboundNotification) -> Admission:
        if not self._policy.may_talk(inbound.sender, None):
            return _refused(inbound.sender, "notification")
        key = thread_key(inbound.resource_id, inbound.thread_id)
        agent = await self._agent_of(key, inbound.agent_id)
        result = await self._inbox.notify(
            key,
            [read_notification(inbound.spec)],
            NotifyOptions(agent_id=agent.id, ingress_key=inbound.event_key),
        )
        return Admission(outcome="accepted", detail=_told(result[0]))

    async def _agent_of(self, key: ThreadKey, wanted: str | None) -> Agent:
        thread = await self._thread(key)
        return self._runtime.agent(wanted or (thread.agent_id if thread else None))

    async def _thread(self, key: ThreadKey) -> Thread | None:
        # The first signal makes the thread; whose it is, if it is there, is checked by `accept`.
        try:
            return await self._runtime.store.thread(key)
        except Unknown:
            return None


class PoliteGate(Gate):
    """The gate as a chat platform needs it: what a person did too late or may not do is worded."""

    def __init__(self, gate: Gate) -> None:
        """Wrap the gate that decides."""
        self._gate = gate

    @override
    async def admit(self, inbound: Inbound) -> Admission:
        """Admit; refusals come back as an answer for the person alone."""
        try:
            return await self._gate.admit(inbound)
        except AlreadyDecided as exc:
            return Admission(outcome="duplicate", answer=str(exc))
        # Sent again, it would be refused again: the platform must not try for a day.
        except (NotAllowed, Unknown, Conflict, InvalidInput) as exc:
            return Admission(outcome="refused", answer=str(exc))


def _home(conversation: Conversation, inbound: InboundMessage) -> ThreadKey:
    """Return the thread of a new conversation: a person owns their DMs, a group its own (3.3)."""
    if inbound.direct:
        return thread_key(inbound.sender.id, conversation.key)
    return home_of(conversation)


def read_notification(spec: Mapping[str, Any]) -> NotificationInput:
    """Read a program's event.

    Raises:
        InvalidInput: names each field that does not fit.
    """
    try:
        return NotificationInput.model_validate(spec)
    except ValidationError as exc:
        fields = {".".join(map(str, item["loc"])): item["msg"] for item in exc.errors()}
        raise InvalidInput(f"the notification does not fit: {fields}", fields=fields) from exc


def _told(result: NotificationResult) -> dict[str, Any]:
    told: dict[str, Any] = {
        "record": result.record.model_dump(mode="json"),
        "decision": result.decision.model_dump(mode="json"),
    }
    if result.accepted is not None:
        told |= {
            "accepted": {"action": result.accepted.action, "runId": result.run_id},
            "signal": {"id": result.accepted.signal.id},
            "runId": result.run_id,
        }
    return told


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
