"""Digests: when a window opens, and what several notifications say together; pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from core.conversation import Conversation, DigestCard
from core.notifications.lines import one_line
from core.notifications.notification import Notification, Window
from core.ports.schedule import Schedule

GRACE = timedelta(hours=1)
"""How late a digest may still be sent; later it counts as missed (digests.md)."""
MOST_LINES = 20
_MOMENT = timedelta(microseconds=1)
_DAY = timedelta(days=1)


def slot_instant(day: date, slot: time, zone: tzinfo) -> datetime:
    """Return the one instant, in UTC, at which a wall-clock slot of a local day comes due.

    At fall-back the first of the two counts; a slot that the clocks jump over comes due at the
    first valid instant after the gap (digests.md, PB-032).
    """
    local = datetime.combine(day, slot.replace(fold=0, tzinfo=None))
    before = (local - _utc_offset(local, zone)).replace(tzinfo=UTC)
    # A slot that does not exist comes back from UTC as another hour: it lies in a gap.
    if before.astimezone(zone).replace(tzinfo=None) == local:
        return before
    return _end_of_gap(before, zone)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestWindow:
    """When people want to hear of what waited: a schedule, counted in their zone.

    `conversation` is where their card goes; None means the thread's first one.
    """

    schedule: Schedule
    zone: str
    conversation: Conversation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """One opening of a window: its instant in UTC, and the local day and slot that name it."""

    at: datetime
    local_date: str
    slot: str
    conversation: Conversation | None = None

    def window(self, inbox: str, now: datetime, *, missed: bool = False) -> Window:
        """Return the row that closes this opening for a thread."""
        return Window(
            inbox=inbox,
            local_date=self.local_date,
            slot=self.slot,
            missed=missed,
            closed_at=now,
        )


def next_opening(windows: Sequence[DigestWindow], after: datetime) -> Opening | None:
    """Return the earliest opening of any window strictly later than the instant."""
    found = [_opening(window, due) for window in windows if (due := window.schedule.after(after))]
    return min(found, key=lambda opening: opening.at, default=None)


def present_opening(windows: Sequence[DigestWindow], now: datetime) -> Opening | None:
    """Return the latest opening that is not yet too late to keep, if there is one."""
    latest: Opening | None = None
    opening = next_opening(windows, now - GRACE - _MOMENT)
    while opening is not None and opening.at <= now:
        latest = opening
        opening = next_opening(windows, opening.at)
    return latest


def opening_at(windows: Sequence[DigestWindow], instant: datetime) -> Opening | None:
    """Return the opening at exactly this instant: None when no window opens then."""
    opening = next_opening(windows, instant - _MOMENT)
    return opening if opening is not None and opening.at == instant else None


def compose(rows: Sequence[Notification], *, missed: int = 0) -> DigestCard:
    """Return the card that people get: one line per object, at most 20 and then a count.

    Lines are grouped by source, the source and the object with the highest priority first.
    `missed` is how many openings before this one nobody was told at.
    """
    lines = [line for group in _by_source(rows) for line in _lines(group)]
    return DigestCard(
        title=_title(len(rows), missed),
        lines=tuple(lines[:MOST_LINES]),
        more=max(0, len(lines) - MOST_LINES),
    )


def _utc_offset(local: datetime, zone: tzinfo) -> timedelta:
    return local.replace(tzinfo=zone).utcoffset() or timedelta()


def _end_of_gap(before: datetime, zone: tzinfo) -> datetime:
    """Find, to the second, where the offset changes: the first instant after the gap.

    `before` was reckoned with the offset from before the gap, so it lies behind its end.
    """
    # A gap may be a whole day long: Samoa left one out in 2011.
    low, high = before - _DAY, before
    after = high.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        low, high = (
            (low, middle) if middle.astimezone(zone).utcoffset() == after else (middle, high)
        )
    return high.replace(microsecond=0)


def _opening(window: DigestWindow, due: datetime) -> Opening:
    local = due.astimezone(ZoneInfo(window.zone))
    return Opening(
        at=due.astimezone(UTC),
        local_date=local.date().isoformat(),
        slot=f"{local:%H:%M}",
        conversation=window.conversation,
    )


def _title(count: int, missed: int) -> str:
    noun = "notification" if count == 1 else "notifications"
    late = {0: "", 1: " (one digest before this was missed)"}
    return f"{count} {noun}{late.get(missed, f' ({missed} digests before this were missed)')}"


def _by_source(rows: Sequence[Notification]) -> list[list[Notification]]:
    groups: dict[str, list[Notification]] = {}
    for row in rows:
        groups.setdefault(row.source, []).append(row)
    return sorted(groups.values(), key=lambda group: (_urgency(group), group[0].source))


def _lines(rows: list[Notification]) -> list[str]:
    """Return a line per object of one source; an object's newest row speaks for it."""
    objects: dict[str, list[Notification]] = {}
    for row in rows:
        objects.setdefault(row.coalesce_key or row.dedupe_key or row.id, []).append(row)
    ranked = sorted(objects.values(), key=lambda group: (_urgency(group), _oldest(group)))
    return [_line(group) for group in ranked]


def _line(group: list[Notification]) -> str:
    newest = max(group, key=lambda row: (row.updated_at, row.created_at))
    count = sum(row.coalesced_count for row in group)
    times = f" (×{count})" if count > 1 else ""
    url = newest.attributes.get("url")
    link = f" {one_line(url, 500)}" if isinstance(url, str) and url.startswith("https://") else ""
    return f"{one_line(newest.source, 40)}: {one_line(newest.summary)}{times}{link}"


def _urgency(rows: Sequence[Notification]) -> int:
    return -max(row.priority.rank for row in rows)


def _oldest(rows: Sequence[Notification]) -> datetime:
    return min(row.created_at for row in rows)


def by_source(rows: Sequence[Notification]) -> dict[str, int]:
    """Return how many rows each source has, in the order of their names."""
    return dict(sorted(Counter(row.source for row in rows).items()))
