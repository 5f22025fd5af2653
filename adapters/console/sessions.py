"""Sessions: who sits at the console, remembered by this process alone."""

import re
import secrets
import unicodedata
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from adapters.console.settings import LOCAL_PREFIX
from core.clock import Clock
from core.conversation import Person
from core.errors import InvalidInput

SESSIONS_KEPT = 1_000
GUESTS_KEPT = 1_000
SESSION_SECONDS = 7 * 24 * 3600.0
"""How long an unused session lives."""
NAME_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One browser: the person picked there, and when it was last used (monotonic seconds)."""

    id: str
    person: Person
    used_at: float


class Sessions:
    """A bounded table of sessions; the one unused for longest goes first."""

    def __init__(self, *, clock: Clock, first: Person) -> None:
        self._clock = clock
        self._first = first
        self._open: OrderedDict[str, Session] = OrderedDict()

    def open(self) -> Session:
        """Start a session as the first of the people."""
        session = Session(
            id=secrets.token_urlsafe(32), person=self._first, used_at=self._clock.monotonic()
        )
        self._keep(session)
        return session

    def find(self, session_id: str | None) -> Session | None:
        """Return a live session and count it as used."""
        session = self._open.get(session_id or "")
        if session is None:
            return None
        now = self._clock.monotonic()
        if now - session.used_at > SESSION_SECONDS:
            del self._open[session.id]
            return None
        return self._keep(replace(session, used_at=now))

    def pick(self, session: Session, person: Person) -> Session:
        """Let a session speak for another person from now on."""
        return self._keep(replace(session, person=person))

    def close(self, session: Session) -> None:
        """Forget a session."""
        self._open.pop(session.id, None)

    def _keep(self, session: Session) -> Session:
        self._open[session.id] = session
        self._open.move_to_end(session.id)
        while len(self._open) > SESSIONS_KEPT:
            self._open.popitem(last=False)
        return session


class People:
    """Those who may be picked: the configured ones, and guests who gave a name."""

    def __init__(self, configured: Sequence[Person]) -> None:
        self._configured = {person.id: person for person in configured}
        self._guests: OrderedDict[str, Person] = OrderedDict()

    def everyone(self) -> list[Person]:
        """Return the configured people, then the guests in the order they came."""
        return [*self._configured.values(), *self._guests.values()]

    def find(self, person_id: str) -> Person | None:
        """Return somebody known by id."""
        return self._configured.get(person_id) or self._guests.get(person_id)

    def meet(self, text: str) -> Person:
        """Return the person of a known id, or of a name; a new name makes a guest.

        Raises:
            InvalidInput: an id nobody has, or a name without a letter or digit.
        """
        known = self.find(text)
        if known is not None:
            return known
        # An id that is not known may not be taken by writing it down as a name.
        if ":" in text:
            raise InvalidInput("Nobody here has that id.", fields={"person": "unknown"})
        guest = guest_named(text)
        return self.find(guest.id) or self._welcome(guest)

    def _welcome(self, guest: Person) -> Person:
        self._guests[guest.id] = guest
        while len(self._guests) > GUESTS_KEPT:
            self._guests.popitem(last=False)
        return guest


def guest_named(text: str) -> Person:
    """Make a person of a name as typed; pure.

    Raises:
        InvalidInput: nothing readable is left of it.
    """
    name = clean_name(text)
    slug = re.sub(r"[\W_]+", "-", name.casefold()).strip("-")
    if not slug:
        raise InvalidInput("A name needs a letter or a digit.", fields={"person": "unreadable"})
    if len(slug.encode()) > NAME_MAX:
        slug = sha256(slug.encode()).hexdigest()[:16]
    return Person(id=f"{LOCAL_PREFIX}{slug}", name=name, platform="console")


def clean_name(text: str) -> str:
    """Return a name without control, format and bidi characters, at most `NAME_MAX` long."""
    # Look-alike forms fold into one, so that two names that look the same are the same.
    normal = unicodedata.normalize("NFKC", text)
    shown = (
        " " if unicodedata.category(character) in {"Cc", "Zl", "Zp"} else character
        for character in normal
        if unicodedata.category(character) not in {"Cf", "Cs", "Co", "Cn"}
    )
    return " ".join("".join(shown).split())[:NAME_MAX].strip()
