"""What the demo model says: short, plain answers to what people and events told it. Pure.

It never pretends to think: it quotes what it heard, tells what tools gave it, and proposes a step
that it can really take.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from adapters.models.demo_scene import Done, Event, Said, Scene

_TIME = re.compile(
    r"\b(?:what(?:'s| is)? the (?:time|date)|time is it|what time|which day|what day|clock)\b|何時",
    re.IGNORECASE,
)
_INBOX = re.compile(
    r"\b(?:inbox|notifications?|what (?:did i|have i|i) miss(?:ed)?|anything new)\b|通知",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|day|evening)|moin)\b.{0,24}$", re.IGNORECASE | re.DOTALL
)
_THANKS = re.compile(
    r"^\W*(?:thanks|thank you|thx|great|nice|ok|okay|cool|perfect)\b.{0,32}$",
    re.IGNORECASE | re.DOTALL,
)
_FAILED = re.compile(
    r"fail|error|broke|broken|down|firing|timeout|timed out|red\b|crash", re.IGNORECASE
)
_QUESTION_MARKS = ("?", "\uff1f")
_QUOTE = 280
_LISTED = 10

INTRODUCTION = (
    "_I am the demo model: I quote, plan and call tools, but I do not think. Set `INTERLOCK_MODEL`"
    " and a key for a real one._"
)
REMINDER = "_(demo model)_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call the demo model makes."""

    name: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer: what it says, and what it calls."""

    text: str
    calls: tuple[Call, ...] = ()


def wants_lookup(text: str) -> bool:
    """Whether a message asks for the time or the inbox."""
    return wants_time(text) or wants_inbox(text)


def wants_time(text: str) -> bool:
    """Whether a message asks what time or day it is."""
    return bool(_TIME.search(text))


def wants_inbox(text: str) -> bool:
    """Whether a message asks for the inbox."""
    return bool(_INBOX.search(text))


def is_small_talk(text: str) -> bool:
    """Whether a message only greets or thanks."""
    return bool(_GREETING.match(text) or _THANKS.match(text))


def answer_words(scene: Scene, *, plan: str | None) -> str:
    """Return the answer that ends a turn: it addresses everyone who spoke, and each event."""
    parts = [
        _address(said, place, scene, planned=plan is not None)
        for place, said in enumerate(scene.said)
    ]
    if plan is not None:
        parts.append(plan)
    parts += [event_words(event) for event in scene.events]
    if not parts:
        parts.append("There is nothing new for me to answer.")
    parts.append(INTRODUCTION if scene.first_turn else REMINDER)
    return "\n\n".join(parts)


def event_words(event: Event) -> str:
    """Return what an event means and what to do next."""
    if event.tag == "notification-summary":
        return (
            f"**{event.attributes.get('pending', 'Some')} notifications** are waiting"
            f" ({event.text}). Next step: ask me for the inbox and I will go through them."
        )
    kind = event.attributes.get("kind") or event.attributes.get("type") or event.tag
    head = f"**{event.attributes.get('source', event.tag)}** reports {kind}: {event.text}"
    return f"{head}\n\nNext step: {_next_step(f'{kind} {event.text}')}"


def clock_words(done: Done) -> str:
    """Return the time that the clock told, for people."""
    told = _first_text(done.value) or done.words
    try:
        instant = datetime.fromisoformat(told)
    except ValueError:
        return told
    return f"{instant:%H:%M} {instant.tzname() or ''}".strip() + f" on {instant:%A, %d %B %Y}"


def inbox_words(done: Done) -> str:
    """Return the inbox as a short list."""
    value = done.value
    items = value.get("notifications") if isinstance(value, Mapping) else value
    if done.is_error or not isinstance(items, list):
        return f"I could not read the inbox: {done.words}"
    if not items:
        return "Your inbox is empty."
    lines = [_inbox_line(item) for item in items[:_LISTED] if isinstance(item, Mapping)]
    more = len(items) - _LISTED
    if more > 0 or (isinstance(value, Mapping) and value.get("hasMore")):
        lines.append("- and more")
    count = "one notification" if len(items) == 1 else f"{len(items)} notifications"
    return f"Your inbox holds {count}:\n" + "\n".join(lines)


def names_of(said: list[Said]) -> str:
    """Return who spoke, each once, for a greeting."""
    names = list(dict.fromkeys(speech.name for speech in said if speech.name))
    if len(names) > 1:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return names[0] if names else "there"


# Every message of the turn gets its own paragraph: that is how a late one is seen to count.
def _address(said: Said, place: int, scene: Scene, *, planned: bool) -> str:
    name = said.name or "there"
    known = any(before.name == said.name for before in scene.said[:place])
    hello = name if known and said.name else f"Hi {name}"
    verb = "you added while I was working" if said.late else "you wrote"
    return f"{hello}, {verb}:\n{_quoted(said.text)}\n\n{_response(said, scene, planned=planned)}"


def _quoted(text: str) -> str:
    # Each line carries the mark, or the second one would leave the quotation.
    short = text if len(text) <= _QUOTE else f"{text[:_QUOTE].rstrip()} ..."
    return "\n".join(f"> {line}" for line in short.splitlines() or [""])


def _response(said: Said, scene: Scene, *, planned: bool) -> str:
    found = _looked_up(said.text, scene)
    if found:
        return "\n\n".join(found)
    if is_small_talk(said.text):
        return "Good to hear from you. Ask me for a plan, the time or your inbox."
    if planned:
        return "That is in the plan below."
    if said.late:
        return "I have taken that into account."
    if said.text.rstrip().endswith(_QUESTION_MARKS):
        return "That is a question for a real model; I can only show you how the work goes."
    return "Noted. Ask me for a plan and I will write one and wait for your approval."


def _looked_up(text: str, scene: Scene) -> list[str]:
    """Return the answers to what a message asked to know."""
    found = []
    if wants_time(text):
        clock = scene.last_result("clock")
        found.append(f"It is {clock_words(clock)}." if clock else "I have no clock here.")
    if wants_inbox(text):
        inbox = scene.last_result("notification_inbox")
        found.append(inbox_words(inbox) if inbox else "I have no tool to read the inbox with here.")
    return found


def _next_step(text: str) -> str:
    if _FAILED.search(text):
        return (
            "read the first error in the log, run it once more, and undo the newest change if it"
            " fails again. Say `plan the fix` and I will draft one for your approval."
        )
    if re.search(r"review|pull.?request|\bpr\b", text, re.IGNORECASE):
        return "somebody should look at it today. Say `plan the review` and I will draft one."
    return "nothing is urgent here; tell me if I should act on it."


def _inbox_line(item: Mapping[str, Any]) -> str:
    head = " ".join(str(item[key]) for key in ("priority", "source") if item.get(key))
    return f"- {head}: {item.get('summary', '')}".replace("- :", "-")


def _first_text(value: Any) -> str | None:
    """Return the time out of whatever form a clock tool answers in."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return None
    for key in ("now", "time", "iso", "utc", "local"):
        if isinstance(value.get(key), str):
            return str(value[key])
    return next((text for text in value.values() if isinstance(text, str)), None)
