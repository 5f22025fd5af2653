"""When a digest is due on the wall clocks of the world, and what its card says."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.notifications.digest import (
    DigestWindow,
    compose,
    next_opening,
    opening_at,
    present_opening,
    slot_instant,
)
from tests.unit.core.notifications.rows import NOW, a_row

ZONES = [
    "Africa/Casablanca",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Europe/Berlin",
    "Pacific/Apia",
    "Pacific/Chatham",
    "UTC",
]


@pytest.mark.parametrize(
    ("zone", "day", "slot", "instant"),
    [
        ("Europe/Berlin", date(2026, 7, 1), time(9), "2026-07-01T07:00"),
        ("Europe/Berlin", date(2026, 12, 1), time(9), "2026-12-01T08:00"),
        # Fall back: 02:30 comes twice and the first one counts.
        ("Europe/Berlin", date(2026, 10, 25), time(2, 30), "2026-10-25T00:30"),
        ("America/New_York", date(2026, 11, 1), time(1, 30), "2026-11-01T05:30"),
        # Spring forward: 02:30 does not exist; 03:00 is the first minute that does.
        ("America/New_York", date(2026, 3, 8), time(2, 30), "2026-03-08T07:00"),
        ("Europe/Berlin", date(2026, 3, 29), time(2, 0), "2026-03-29T01:00"),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 15), "2026-10-03T15:30"),
        ("Asia/Kathmandu", date(2026, 1, 1), time(9), "2026-01-01T03:15"),
        # Samoa had no 30 December 2011 at all.
        ("Pacific/Apia", date(2011, 12, 30), time(9), "2011-12-30T10:00"),
    ],
)
def test_a_slot_is_one_instant_on_the_wall_clock(zone, day, slot, instant):
    due = slot_instant(day, slot, ZoneInfo(zone))
    assert due == datetime.fromisoformat(instant).replace(tzinfo=UTC)


@given(
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2000, 1, 2), date(2037, 12, 30)),
    slot=st.times().map(lambda one: one.replace(second=0, microsecond=0)),
)
def test_a_slot_is_never_early_and_at_most_a_gap_late(zone, day, slot):
    place = ZoneInfo(zone)
    local = slot_instant(day, slot, place).astimezone(place).replace(tzinfo=None)
    wanted = datetime.combine(day, slot)
    assert wanted <= local <= wanted + timedelta(days=1)


@given(
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2000, 1, 2), date(2037, 12, 30)),
    slots=st.lists(st.times(), min_size=2, max_size=2).map(sorted),
)
def test_slots_of_a_day_come_due_in_their_order(zone, day, slots):
    first, second = (slot_instant(day, one, ZoneInfo(zone)) for one in slots)
    # Of a repeated hour the first pass counts, so only what it hides may change places.
    assert first <= second + timedelta(hours=1)


@given(zone=st.sampled_from(ZONES), day=st.dates(date(2000, 1, 2), date(2037, 12, 30)))
def test_the_same_slot_of_two_days_is_never_one_instant(zone, day):
    place = ZoneInfo(zone)
    first = slot_instant(day, time(12), place)
    second = slot_instant(day + timedelta(days=1), time(12), place)
    if zone != "Pacific/Apia":
        assert timedelta(hours=22) <= second - first <= timedelta(hours=26)


class Daily:
    """Opens at nine o'clock UTC, every day."""

    def after(self, instant):
        due = instant.replace(hour=9, minute=0, second=0, microsecond=0)
        return due if due > instant else due + timedelta(days=1)


WINDOWS = [DigestWindow(schedule=Daily(), zone="Asia/Tokyo")]


def test_an_opening_is_named_by_the_day_and_hour_of_its_people():
    opening = next_opening(WINDOWS, NOW)
    assert (opening.local_date, opening.slot) == ("2026-12-01", "18:00")
    assert opening.at == datetime(2026, 12, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hour", "minute", "is_open"), [(8, 59, False), (9, 0, True), (10, 0, True), (10, 1, False)]
)
def test_an_opening_may_be_kept_up_to_an_hour_late(hour, minute, is_open):
    opening = present_opening(WINDOWS, NOW.replace(hour=hour, minute=minute))
    assert (opening is not None) is is_open


def test_an_opening_is_found_by_its_instant_only():
    nine = NOW.replace(hour=9)
    assert opening_at(WINDOWS, nine).at == nine
    assert opening_at(WINDOWS, nine + timedelta(seconds=1)) is None
    assert next_opening([], NOW) is None


def test_a_card_has_one_line_per_object_with_the_newest_text_and_its_count():
    rows = [
        a_row(id="1", coalesce_key="k", summary="old", coalesced_count=2),
        a_row(id="2", coalesce_key="k", summary="new", updated_at=NOW + timedelta(minutes=1)),
        a_row(id="3", summary="alone", attributes={"url": "https://github.com/a/b"}),
    ]
    card = compose(rows)
    assert card.lines == ("github: new (×3)", "github: alone https://github.com/a/b")
    assert card.title == "3 notifications"


def test_the_most_urgent_source_and_object_come_first():
    rows = [
        a_row(id="1", source="slack", summary="low", priority="low"),
        a_row(id="2", source="email", summary="medium"),
        a_row(id="3", source="slack", summary="urgent", priority="urgent"),
    ]
    assert compose(rows).lines == ("slack: urgent", "slack: low", "email: medium")


def test_a_long_digest_ends_with_how_many_more_there_are():
    card = compose([a_row(id=str(number), summary=str(number)) for number in range(25)])
    assert (len(card.lines), card.more) == (20, 5)


def test_two_values_of_one_key_are_never_one_line():
    """PB-077."""
    rows = [a_row(id=key, coalesce_key=key, summary=key) for key in ("val1", "val2")]
    assert len(compose(rows).lines) == 2


@pytest.mark.parametrize(
    ("missed", "title"),
    [
        (0, "1 notification"),
        (1, "1 notification (one digest before this was missed)"),
        (3, "1 notification (3 digests before this were missed)"),
    ],
)
def test_a_digest_says_when_one_before_it_was_missed(missed, title):
    assert compose([a_row()], missed=missed).title == title


def test_text_of_strangers_stays_on_its_line():
    row = a_row(summary="a\nb\u202ec\x00" + "x" * 500, attributes={"url": "javascript:alert(1)"})
    (line,) = compose([row]).lines
    assert line.startswith("github: a bcx")
    assert line.endswith("x…")
    assert len(line) <= 210
