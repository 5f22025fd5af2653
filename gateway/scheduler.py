"""The scheduler: cron expressions as schedules, and the ticks that drive the gateway's chores.

APScheduler only ticks; what is due is decided by the store (architecture.md 9).
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.errors import InvalidConfig
from core.notifications.digest import slot_instant

_NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAY_FORM = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?")
_MOMENT = timedelta(microseconds=1)
_MOST_PAST = 24 * 60
"""Slots in a row that may be past already, before a schedule counts as ended: a day of minutes."""


class CronSchedule:
    """A cron expression of five fields in an IANA time zone; Monday is 1, Sunday is 0 or 7.

    Where hours are named, the wall clock rules: each slot once per local day, the first of two at
    fall-back, the first valid instant after the gap at spring-forward. Where they are not
    (`*/15 * * * *`), the gaps stay even through both nights (PB-032).
    """

    def __init__(self, expression: str, zone: str = "UTC") -> None:
        """Read the expression.

        Raises:
            InvalidConfig: the expression or the zone is unknown; the text names it.
        """
        self.expression = expression
        self.zone = zone
        self._zone = _zone(zone)
        fields = _fields(expression)
        self._by_hour = not fields[1].startswith("*")
        counted_in = UTC if self._by_hour else self._zone
        self._triggers = [_trigger(one, expression, counted_in) for one in _either_day(fields)]

    def after(self, instant: datetime) -> datetime | None:
        """Return the first due instant strictly later than this one, in UTC."""
        find = self._slot_after if self._by_hour else self._even_after
        found = [due for trigger in self._triggers if (due := find(trigger, instant)) is not None]
        return min(found, default=None)

    def _even_after(self, trigger: Any, instant: datetime) -> datetime | None:
        # APScheduler steps back to "now" before it looks, so it is asked a moment later.
        fire = trigger.get_next_fire_time(None, (instant + _MOMENT).astimezone(self._zone))
        return None if fire is None else fire.astimezone(UTC)

    def _offset(self, instant: datetime) -> timedelta:
        return instant.astimezone(self._zone).utcoffset() or timedelta()

    def _slot_after(self, trigger: Any, instant: datetime) -> datetime | None:
        """Walk the local wall clock, told to the trigger as if it were UTC: that never jumps."""
        # A slot inside a gap comes due at its end, so the walk begins before a gap of today.
        gap = self._offset(instant) - self._offset(instant - timedelta(days=1))
        local = instant.astimezone(self._zone).replace(tzinfo=UTC) - max(gap, timedelta())
        for _ in range(_MOST_PAST):
            fire = trigger.get_next_fire_time(None, local)
            if fire is None:
                return None
            due = slot_instant(fire.date(), fire.time(), self._zone)
            if due > instant:
                return due
            local = fire + _MOMENT
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chore:
    """Something that is done again and again: its name, how often, and what."""

    name: str
    every: timedelta
    work: Callable[[], Awaitable[object]]


class Scheduler:
    """Ticks: does each chore at its interval, never twice at once, from enter to exit."""

    def __init__(self, chores: Sequence[Chore]) -> None:
        """Take the chores; nothing runs before the block is entered."""
        self._chores = tuple(chores)
        self._ticker: Any = None

    async def __aenter__(self) -> "Scheduler":
        """Start ticking; each chore is done once at once, since a restart may have left work."""
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        self._ticker = AsyncIOScheduler(timezone=UTC)
        for chore in self._chores:
            self._ticker.add_job(
                chore.work,
                "interval",
                seconds=chore.every.total_seconds(),
                id=chore.name,
                name=chore.name,
                coalesce=True,
                max_instances=1,
                # A late tick is a tick: by default one that is a second late is dropped.
                misfire_grace_time=None,
            )
        self._ticker.start()
        for job in self._ticker.get_jobs():
            job.modify(next_run_time=job.next_run_time - job.trigger.interval)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop ticking; a chore that is being done is left to finish."""
        self._ticker.shutdown(wait=False)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise InvalidConfig(f"{name!r} is no time zone; write one such as Europe/Berlin") from error


def _fields(expression: str) -> list[str]:
    fields = _NICKNAMES.get(expression.strip().lower(), expression).split()
    if len(fields) != 5:
        raise InvalidConfig(
            f"{expression!r} is no cron expression; write five fields such as `0 9 * * mon-fri`"
        )
    return fields


def _either_day(fields: list[str]) -> list[list[str]]:
    """Return what must be matched: where both days are named, cron means either of them."""
    minute, hour, day, month, weekday = fields
    if day.startswith("*") or weekday.startswith("*"):
        return [fields]
    return [[minute, hour, day, month, "*"], [minute, hour, "*", month, weekday]]


def _trigger(fields: list[str], expression: str, zone: Any) -> Any:
    from apscheduler.triggers.cron import CronTrigger

    minute, hour, day, month, weekday = fields
    try:
        return CronTrigger(
            minute=minute,
            hour=hour,
            day=day,
            month=month,
            day_of_week=_weekdays(weekday),
            timezone=zone,
        )
    except ValueError as error:
        raise InvalidConfig(f"{expression!r} is no cron expression: {error}") from error


def _weekdays(field: str) -> str:
    """Translate cron's weekdays to names: APScheduler calls Monday 0, cron calls it 1."""
    if field == "*":
        return field
    days = [day for part in field.lower().split(",") for day in _days(part)]
    return ",".join(dict.fromkeys(days))


def _days(part: str) -> list[str]:
    found = _DAY_FORM.fullmatch(part)
    if found is None:
        raise ValueError(f"{part!r} is no weekday")
    first, last, step = found.groups()
    begin = 0 if first is None else _day_number(first)
    end = 6 if first is None or (step and last is None) else _day_number(last or first)
    if end < begin:
        # `fri-mon` and `6-0` go on over the end of the week.
        end += 7
    return [_WEEKDAYS[number % 7] for number in range(begin, end + 1, int(step or 1))]


def _day_number(word: str) -> int:
    if word.isdecimal() and int(word) <= 7:
        return int(word)
    return _WEEKDAYS.index(word[:3])
