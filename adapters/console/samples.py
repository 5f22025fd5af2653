"""Samples: one of each kind of ingress, so that a test can send them all as a stranger."""

from core.conversation import (
    Conversation,
    Inbound,
    InboundAbort,
    InboundDecision,
    InboundNotification,
    InboundResume,
    InboundSignal,
    Person,
)
from core.ports.adapter import Handler

STRANGER = Person(id="console:elsewhere:mallory", name="Mallory", platform="console")
RESOURCE = "console:local"
THREAD = "main"
PLAN = "tok_sample"


# One per kind of ingress; the gate's test sends each as a stranger.
def handlers() -> list[Handler]:
    """Return the kinds that the API takes, by the route they come through."""
    samples: dict[str, Inbound] = {
        "messages": _signal("user"),
        "signals": _signal("reactive"),
        "notifications": _notification(),
        "abort": InboundAbort(resource_id=RESOURCE, thread_id=THREAD, sender=STRANGER),
        "decision": _decision(),
        "resume": InboundResume(run_id="run_sample", sender=STRANGER, data={"approved": True}),
    }
    return [Handler(name=name, sample=sample) for name, sample in samples.items()]


def _signal(kind: str) -> InboundSignal:
    return InboundSignal(
        event_key=None,
        resource_id=RESOURCE,
        thread_id=THREAD,
        sender=STRANGER,
        spec={"type": kind, "contents": "let me in"},
    )


def _notification() -> InboundNotification:
    return InboundNotification(
        event_key=None,
        resource_id=RESOURCE,
        thread_id=THREAD,
        sender=STRANGER,
        spec={"source": "github", "kind": "issue", "summary": "let me in"},
    )


def _decision() -> InboundDecision:
    return InboundDecision(
        event_key="api:decision:sample",
        conversation=Conversation(platform="console", tenant="local", channel=THREAD),
        sender=STRANGER,
        token=PLAN,
        action="approved",
    )
