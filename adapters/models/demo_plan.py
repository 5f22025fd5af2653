"""How the demo model plans: what a plan says, and which step of it comes next. Pure.

Nothing is remembered between steps: each prompt is read anew. The plan that is wanted follows from
the request, what people said after it and the reviewers' feedback; the plan that was written and
what became of it follow from the results of tools. The next step is the difference: write, submit,
write a note, or answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.models.demo_scene import Beat, Done, Event, Said, Scene
from adapters.models.demo_words import Call, Step, is_small_talk, wants_lookup

_ASKS = re.compile(
    r"\b(?:write|make|draft|create|prepare|propose|submit|need|want|give|show|work out"
    r"|come up with|do)\b[^.?!\n]{0,40}\bplan\b|\bplan (?:to|for|how|out|the|a|an|our|my|this)\b"
    r"|^\W*plan\b|計画",
    re.IGNORECASE,
)
_ASKS_ABOUT = re.compile(r"^\W*(?:what|how|where|when|why|is|was|did|does|has)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"^.*?\b(?:plan)\b(?:\s+(?:to|for|of|about|on|out|how to|that))?\b[\s:,-]*",
    re.IGNORECASE | re.DOTALL,
)
_TAIL = re.compile(
    r"[\s,.]*(?:\band\b|\bthen\b|,)?\s*(?:then\s+)?\bsubmit\b[^.\n]*[.\s]*$", re.IGNORECASE
)
_DROPS = re.compile(r"\b(?:never ?mind|forget|cancel|drop|stop)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\d+\.\s+(.+)$", re.MULTILINE)
_APPROVED = "plan approved"
_MOST_STEPS = 4
"""A plan is carried out in so many steps at most: five is the default limit of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the turn says about a plan: the one wanted, the one written, and how it stands."""

    path: str
    content: str
    items: tuple[str, ...]
    """What it consists of, in order."""
    written: str | None = None
    """The text that `write_plan` took last."""
    outcome: Done | None = None
    """What `submit_plan` gave back for what is written, if it did."""
    noted: int = 0
    """Notes written since the approval: one for each item."""
    failure: str | None = None
    """Why it could not be written."""

    @property
    def approved(self) -> bool:
        """Whether people let it go ahead."""
        return self.outcome is not None and self.outcome.words.lower().startswith(_APPROVED)


def plan_of(scene: Scene) -> Plan | None:
    """Return the plan this turn is about; None where nobody asked for one, or it was dropped."""
    start = _request_at(scene.beats)
    if start is None:
        return None
    request, *rest = scene.beats[start:]
    if not isinstance(request, Said):
        return None
    topic = topic_of(request.text)
    items = [*_first_items(topic)]
    for beat in _before_approval(rest):
        items += _extra_items(beat)
    return _progress(topic, items, rest)


def plan_step(plan: Plan, tools: frozenset[str]) -> Step | None:
    """Return the next step of the plan; None when there is nothing to do but to answer."""
    if plan.approved:
        return _carry_out(plan, tools)
    if plan.failure is not None or not {"write_plan", "submit_plan"} <= tools:
        return None
    # One comparison covers the first draft, feedback, and a message that came in between.
    if plan.written != plan.content:
        return _write(plan)
    if plan.outcome is None:
        return Step(
            text="The plan is written. I am submitting it for your decision.",
            calls=(Call(name="submit_plan", args={"path": plan.path}),),
        )
    return None


def plan_words(plan: Plan) -> str:
    """Return how the plan stands, for the answer that ends the turn."""
    if plan.approved:
        lines = "\n".join(f"{place}. {item}" for place, item in enumerate(plan.items, 1))
        made = "wrote a note for each item" if plan.noted else "have no tool to write notes with"
        return f"The plan was approved and I {made}:\n\n{lines}"
    if plan.failure is not None:
        return f"The plan could not be written: {plan.failure}"
    if plan.outcome is None:
        return f"Here is the plan; I was given no tools to submit it with.\n\n{plan.content}"
    if is_waiting(plan.outcome):
        return "The plan was not approved. I will wait for your next message before I revise it."
    return f"The plan could not be decided: {plan.outcome.words}"


def topic_of(text: str) -> str:
    """Return what a plan is asked for, on one short line."""
    rest = _LEAD.sub("", text, count=1) if re.search(r"\bplan\b", text, re.IGNORECASE) else text
    line = _TAIL.sub("", rest.strip().split("\n")[0]).strip(" .?!:")
    return line[:100] or "what we talked about"


def feedback_of(outcome: Done) -> str | None:
    """Return the feedback in what `submit_plan` gave back, None where there is none."""
    value = outcome.value
    if isinstance(value, dict) and value.get("feedback"):
        return str(value["feedback"])
    if "not approved" not in outcome.words.lower():
        return None
    # The sentence, the feedback, the order to revise: what stands between the outer two is theirs.
    feedback = outcome.words.strip().split("\n\n")[1:-1]
    return " ".join(" ".join(feedback).split()) or None


def is_waiting(outcome: Done) -> bool:
    """Whether the plan was rejected without a word, so that the next message decides (P4)."""
    return "not approved" in outcome.words.lower() and feedback_of(outcome) is None


def _request_at(beats: Sequence[Beat]) -> int | None:
    """Return where the newest plan was asked for; an open plan takes no second request."""
    start = None
    for place, beat in enumerate(beats):
        if isinstance(beat, Said) and start is None and _asks(beat.text):
            start = place
        elif isinstance(beat, Said) and start is not None and _drops(beat.text):
            start = None
        elif isinstance(beat, Said) and start is not None and _asks(beat.text):
            closed = any(_approves(done) for done in beats[start:place])
            start = place if closed else start
    return start


def _asks(text: str) -> bool:
    return bool(_ASKS.search(text)) and not _ASKS_ABOUT.match(text)


def _drops(text: str) -> bool:
    # Short ones only: "stop the old service first" is advice and no order to us.
    return bool(_DROPS.search(text)) and len(text.split()) < 8


def _approves(beat: Beat) -> bool:
    return (
        isinstance(beat, Done)
        and beat.tool == "submit_plan"
        and beat.words.lower().startswith(_APPROVED)
    )


def _before_approval(beats: Sequence[Beat]) -> list[Beat]:
    """Return the beats that still shape the plan: nothing changes what people approved."""
    end = next((place for place, beat in enumerate(beats) if _approves(beat)), len(beats))
    return list(beats[:end])


def _first_items(topic: str) -> tuple[str, ...]:
    """Return three items for any topic, so that there is something to approve and to do."""
    return (
        f"Look at how things stand today: {topic}",
        f"Do it in one small step that can be undone: {topic}",
        "Check the result and tell the team",
    )


def _extra_items(beat: Beat) -> list[str]:
    """Return what feedback, or a person who spoke later, adds to the plan."""
    match beat:
        case Done(tool="submit_plan"):
            feedback = feedback_of(beat)
            return [f"From the review: {feedback}"] if feedback else []
        case Said(text=text) if not (is_small_talk(text) or wants_lookup(text)):
            who = f"{beat.name} asked" if beat.name else "Asked later"
            return [f"{who}: {' '.join(text.split())}"]
        case Said() | Event() | Done():
            return []


def _progress(topic: str, items: list[str], beats: Sequence[Beat]) -> Plan:
    """Return the plan with how far tools and people have brought it."""
    written, outcome, failure, noted = None, None, None, 0
    for beat in beats:
        match beat:
            case Done(tool="write_plan", args=args, is_error=False):
                written, outcome, failure = str(args.get("content", "")), None, None
            case Done(tool="write_plan"):
                failure = beat.words
            case Done(tool="submit_plan"):
                outcome = beat
            case Done(tool="write_note"):
                noted += 1
    return Plan(
        path=f"{_slug(topic)}.md",
        content=_content(topic, items),
        items=tuple(items),
        written=written,
        outcome=outcome,
        noted=noted,
        failure=failure,
    )


def _content(topic: str, items: list[str]) -> str:
    lines = "\n".join(f"{place}. {item}" for place, item in enumerate(items, 1))
    return f"# {topic[0].upper()}{topic[1:]}\n\n{lines}\n"


def _slug(topic: str) -> str:
    # A bare name of plain letters is a file name everywhere; other scripts fall back to `plan`.
    words = re.findall(r"[a-z0-9]+", topic.lower())[:6]
    return "-".join(words)[:48] or "plan"


def _write(plan: Plan) -> Step:
    text = "I am writing the plan."
    if plan.outcome is not None or plan.written is not None:
        text = "I am working what you said into the plan."
    call = Call(name="write_plan", args={"path": plan.path, "content": plan.content})
    return Step(text=text, calls=(call,))


def _carry_out(plan: Plan, tools: frozenset[str]) -> Step | None:
    """Return the next notes to write, several at once where the plan is long."""
    # What was approved is what was submitted, not what this turn would write today.
    items = _ITEM.findall(plan.written or plan.content)
    left = items[plan.noted :]
    if not left or "write_note" not in tools:
        return None
    at_once = -(-len(items) // _MOST_STEPS)
    calls = tuple(
        Call(name="write_note", args={"name": f"step-{number}", "content": item})
        for number, item in enumerate(left[:at_once], plan.noted + 1)
    )
    return Step(text=f"Step {plan.noted + 1} of {len(items)}: {left[0]}.", calls=calls)
