"""Parsing: requests of the API become what the gate admits; pure."""

import unicodedata
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from adapters.console.bodies import (
    Body,
    DecisionBody,
    MessageBody,
    NotificationBody,
    ResumeBody,
    SignalBody,
)
from core.conversation import (
    Conversation,
    InboundDecision,
    InboundNotification,
    InboundResume,
    InboundSignal,
    Person,
)
from core.errors import InvalidInput
from core.ids import ThreadKey, escape_part, new_id, thread_key

B = TypeVar("B", bound=Body)
ID_MAX = 255
FIELDS_TOLD = 20
"""How many wrong fields one answer names."""
UNION_BRANCHES = frozenset({"str", "int", "float", "bool"})
ROUTING = ("id", "if_active", "if_idle", "agent_id", "run_id", "queue")
"""Fields of a body that say where a signal goes, not what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: the person whom policy judges; `at_console` when by a console session."""

    person: Person
    at_console: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One write to a thread: whose thread, by whom, and under which idempotency key."""

    key: ThreadKey
    caller: Caller
    idempotency: str | None = None


def parse_body(model: type[B], read: dict[str, Any]) -> B:
    """Read a body's fields.

    Raises:
        InvalidInput: a field is missing, wrong or unknown; `fields` names each.
    """
    try:
        return model.model_validate(read)
    except ValidationError as problem:
        raise InvalidInput("The body is not as expected.", fields=_fields(problem)) from problem


def parse_id(name: str, text: str) -> str:
    """Check an id from a path: 1 to 255 characters, none of them a control character.

    Raises:
        InvalidInput: it is not such an id.
    """
    if not 0 < len(text) <= ID_MAX:
        raise InvalidInput(f"{name} must have 1 to {ID_MAX} characters.", fields={name: "length"})
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in text):
        raise InvalidInput(f"{name} holds a control character.", fields={name: "characters"})
    return text


def parse_key(resource_id: str, thread_id: str) -> ThreadKey:
    """Check both ids of a thread's path and join them."""
    return thread_key(parse_id("resourceId", resource_id), parse_id("threadId", thread_id))


def parse_number(name: str, text: str | None, *, default: int, most: int) -> int:
    """Read a count from a query: 0 to `most`; larger ones are cut to it.

    Raises:
        InvalidInput: it is not a plain number.
    """
    if text is None:
        return default
    # isdecimal alone would take Arabic digits, and int() a thousand of them.
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise InvalidInput(f"{name} must be a number.", fields={name: "not a number"})
    return min(int(text), most)


def parse_message(body: MessageBody, ask: Ask) -> InboundSignal:
    """Build a user message; type and tag are forced, whatever was sent (signals.md M1)."""
    # A transient message would be answered and then be gone from the history.
    spec = body.spec("type", "tag_name", "transient", *ROUTING) | {
        "type": "user",
        "tagName": "user",
    }
    return _signal(body, ask, spec, own_turn=body.queue)


def parse_signal(body: SignalBody, ask: Ask) -> InboundSignal:
    """Build a signal of any type; which types there are is core's to say (signals.md C3).

    Raises:
        InvalidInput: no type.
    """
    if body.type is None:
        raise InvalidInput("A signal needs a type.", fields={"type": "Field required"})
    return _signal(body, ask, body.spec(*ROUTING))


def parse_notification(body: NotificationBody, ask: Ask) -> InboundNotification:
    """Build a notification; its ingress key never meets a signal's."""
    spec = body.spec("agent_id")
    return InboundNotification(
        event_key=event_key(ask, body.id, "notifications"),
        resource_id=ask.key.resource_id,
        thread_id=ask.key.thread_id,
        sender=ask.caller.person,
        spec=signed(spec, ask.caller) if "attributes" in spec else spec,
        agent_id=body.agent_id,
    )


def parse_decision(body: DecisionBody, token: str, ask: Ask) -> InboundDecision:
    """Build the decision on a plan; the conversation is the thread's place at the console."""
    channel = ask.key.thread_id
    return InboundDecision(
        event_key=event_key(ask, body.id, "decisions", token) or f"api:decision:{new_id('req')}",
        conversation=Conversation(platform="console", tenant="local", channel=channel),
        sender=ask.caller.person,
        token=token,
        action=body.action,
        feedback=(body.feedback or "").strip() or None,
    )


def parse_resume(body: ResumeBody, run_id: str, caller: Caller) -> InboundResume:
    """Build the answer to a paused call."""
    return InboundResume(
        run_id=run_id, tool_call_id=body.tool_call_id, sender=caller.person, data=body.data
    )


def event_key(ask: Ask, body_id: str | None, *kind: str) -> str | None:
    """Return the key that names this request for ever, or None when the caller gave none.

    Raises:
        InvalidInput: the header's key is no id.
    """
    given = body_id if ask.idempotency is None else parse_id("Idempotency-Key", ask.idempotency)
    if given is None:
        return None
    # Escaped, so that no two lists of ids join to the same text (PB-049).
    parts = (ask.key.resource_id, ask.key.thread_id, *kind, given)
    return ":".join(("api", *(escape_part(part) for part in parts)))


def signed(spec: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """Return the spec under the caller's own name.

    At the console `name`, `from` and `id` are ours to say (gateway.md, Routes).
    """
    if not caller.at_console:
        return spec
    return spec | {"attributes": _signature(caller.person) | _unsigned(spec.get("attributes"))}


def _signal(
    body: SignalBody, ask: Ask, spec: dict[str, Any], *, own_turn: bool = False
) -> InboundSignal:
    identity = {"id": body.id} if body.id else {}
    return InboundSignal(
        event_key=event_key(ask, body.id),
        resource_id=ask.key.resource_id,
        thread_id=ask.key.thread_id,
        sender=ask.caller.person,
        spec=signed(identity | spec, ask.caller),
        own_turn=own_turn,
        if_active=_branch(body.if_active, ask.caller),
        if_idle=_branch(body.if_idle, ask.caller),
        agent_id=body.agent_id,
        run_id=body.run_id,
    )


def _branch(body: Body | None, caller: Caller) -> dict[str, Any]:
    branch = body.spec() if body else {}
    # A branch's attributes win over the signal's own, so a signature could be undone here.
    if caller.at_console and "attributes" in branch:
        return branch | {"attributes": _unsigned(branch["attributes"])}
    return branch


def _signature(person: Person) -> dict[str, Any]:
    return {"name": person.name or person.id, "from": "console", "id": person.id}


def _unsigned(attributes: dict[str, Any] | None) -> dict[str, Any]:
    ours = {"name", "from", "id"}
    return {name: value for name, value in (attributes or {}).items() if name not in ours}


def _fields(problem: ValidationError) -> dict[str, str]:
    fields: dict[str, str] = {}
    for one in problem.errors(include_url=False, include_context=False, include_input=False):
        fields.setdefault(_path(one["loc"]), one["msg"])
    return dict(list(fields.items())[:FIELDS_TOLD])


def _path(location: tuple[int | str, ...]) -> str:
    # Which branch of a union was tried is our business, not the caller's.
    steps = [str(step) for step in location]
    return ".".join(step for step in steps if step not in UNION_BRANCHES and "[" not in step)
