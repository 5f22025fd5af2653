"""Routing: where a signal goes, given what its thread is doing (the table of signals.md 2.5)."""

from dataclasses import dataclass, field
from typing import Literal

ActiveBehavior = Literal["deliver", "persist", "discard"]
IdleBehavior = Literal["wake", "persist", "discard"]
Cell = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IfActive:
    """What to do, and which attributes to add, when the thread has a run."""

    behavior: ActiveBehavior = "deliver"
    attributes: dict[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class IfIdle:
    """What to do, and which attributes to add, when the thread has no run."""

    behavior: IdleBehavior = "wake"
    attributes: dict[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the thread is doing: its blocking or reserved run, if any, and whose it is.

    `waiting`: no run yet, but mail that the next one will take.
    """

    run_id: str | None = None
    run_agent_id: str | None = None
    waiting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the sender asked for."""

    agent_id: str
    own_turn: bool = False
    """queueMessage: never steer what runs, take the next turn."""
    transient: bool = False
    if_active: IfActive = field(default_factory=IfActive)
    if_idle: IfIdle = field(default_factory=IfIdle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The decision.

    `lane` is None where nothing enters the mailbox. `run_id` is the run that takes it; None with a
    lane means a fresh one. `attributes` are those of the branch that won.
    """

    action: Literal["wake", "deliver", "persist", "discard"]
    lane: Literal["pending", "queued"] | None = None
    run_id: str | None = None
    attributes: dict[str, Cell] = field(default_factory=dict)


def route(situation: Situation, request: Request) -> Route:
    """Decide where a signal goes; pure, so every store decides alike.

    Rows and rulings of signals.md 2.4 and 2.5: any blocking or reserved run makes the thread
    active for attributes (M4); queued messages honour `ifActive` discard and persist and never
    fold into a starting run (Q2, Q5); another agent's run makes a wake its own turn; transient
    with persist is a discard (S9).
    """
    # Idle comes first: then nobody else's run can matter.
    if situation.run_id is None:
        chosen = _idle(request, waiting=situation.waiting)
    elif request.own_turn:
        chosen = _own_turn(request)
    elif situation.run_agent_id == request.agent_id:
        chosen = _same_agent(situation.run_id, request)
    else:
        chosen = _other_agent(request)
    if chosen.action == "persist" and request.transient:
        return Route(action="discard")
    return chosen


def _idle(request: Request, *, waiting: bool) -> Route:
    if request.own_turn and waiting:
        # Beside that mail it would be folded into the run that mail starts (Q2, Q5).
        return Route(action="deliver", lane="queued", attributes=request.if_idle.attributes)
    # A queued message asks for a turn: on an idle thread that is now.
    behavior = "wake" if request.own_turn else request.if_idle.behavior
    if behavior == "wake":
        return Route(action="wake", lane="pending", attributes=request.if_idle.attributes)
    return Route(action=behavior, attributes=request.if_idle.attributes)


def _own_turn(request: Request) -> Route:
    if request.if_active.behavior == "deliver":
        return Route(action="deliver", lane="queued", attributes=request.if_idle.attributes)
    return Route(action=request.if_active.behavior, attributes=request.if_active.attributes)


def _same_agent(run_id: str, request: Request) -> Route:
    attributes = request.if_active.attributes
    if request.if_active.behavior == "deliver":
        return Route(action="deliver", lane="pending", run_id=run_id, attributes=attributes)
    return Route(action=request.if_active.behavior, attributes=attributes)


def _other_agent(request: Request) -> Route:
    attributes = request.if_active.attributes
    if request.if_idle.behavior == "wake":
        return Route(action="deliver", lane="queued", attributes=attributes)
    return Route(action=request.if_idle.behavior, attributes=attributes)
