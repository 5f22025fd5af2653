"""Cron as people write it, on the wall clocks of the world; and ticks that keep ticking."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidConfig
from gateway.scheduler import Chore, CronSchedule, Scheduler
from tests.support import eventually

NEW_YORK = "America/New_York"


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def following(expression, zone, start, count):
    schedule, found, instant = CronSchedule(expression, zone), [], at(start)
    for _ in range(count):
        instant = schedule.after(instant)
        found.append(instant)
    return found


def written(instants):
    return [f"{instant:%d %H:%M}" for instant in instants]


@pytest.mark.parametrize(
    ("weekdays", "days"),
    [
        ("1", "mon"),
        ("0", "sun"),
        ("7", "sun"),
        ("mon-fri", "mon tue wed thu fri"),
        ("1-5", "mon tue wed thu fri"),
        ("5-7", "fri sat sun"),
        ("fri-mon", "fri sat sun mon"),
        ("6,0", "sat sun"),
        ("*/2", "sun tue thu sat"),
        ("1/2", "mon wed fri"),
        ("MON,Thursday", "mon thu"),
    ],
)
def test_monday_is_one_and_sunday_is_zero_or_seven(weekdays, days):
    fires = following(f"0 9 * * {weekdays}", "UTC", "2026-11-29T00:00", 7)
    assert {f"{instant:%a}".lower() for instant in fires} == set(days.split())


def test_a_schedule_counts_in_its_own_zone_and_answers_in_utc():
    schedule = CronSchedule("0 9 * * mon-fri", "Europe/Berlin")
    assert schedule.after(at("2026-11-27T12:00")) == at("2026-11-30T08:00")
    assert schedule.after(at("2026-11-30T08:00")) == at("2026-12-01T08:00")
    assert schedule.after(at("2026-11-30T07:59:59")).tzinfo is UTC


@pytest.mark.parametrize(
    ("expression", "start", "fires"),
    [
        ("30 1 * * *", "2026-10-31T12:00", ["01 05:30", "02 06:30"]),
        ("30 2 * * *", "2026-10-31T12:00", ["01 07:30", "02 07:30"]),
        ("30 1 * * *", "2026-03-07T12:00", ["08 06:30", "09 05:30"]),
        ("30 2 * * *", "2026-03-07T12:00", ["08 07:00", "09 06:30"]),
    ],
)
def test_a_daily_hour_comes_once_in_both_nights_of_the_year(expression, start, fires):
    """PB-032."""
    assert written(following(expression, NEW_YORK, start, 2)) == fires


@pytest.mark.parametrize("start", ["2026-11-01T04:30", "2026-03-08T05:30"])
@pytest.mark.parametrize(("expression", "gap"), [("*/15 * * * *", 15), ("0 * * * *", 60)])
def test_what_names_no_hour_keeps_even_gaps_in_both_nights(expression, gap, start):
    """PB-032."""
    fires = following(expression, NEW_YORK, start, 16)
    gaps = {later - earlier for earlier, later in pairwise(fires)}
    assert gaps == {timedelta(minutes=gap)}


def test_a_day_of_the_month_or_of_the_week_is_enough():
    fires = following("0 9 13 * fri", "UTC", "2026-11-01T00:00", 4)
    assert written(fires) == ["06 09:00", "13 09:00", "20 09:00", "27 09:00"]
    assert written(following("0 9 1 * 1", "UTC", "2026-11-28T00:00", 2)) == [
        "30 09:00",
        "01 09:00",
    ]


@pytest.mark.parametrize(
    ("nickname", "fire"), [("@daily", "30 00:00"), ("@hourly", "29 13:00"), ("@weekly", "06 00:00")]
)
def test_nicknames_stand_for_what_they_say(nickname, fire):
    assert written(following(nickname, "UTC", "2026-11-29T12:00", 1)) == [fire]


def test_a_day_that_never_comes_has_no_next_time():
    assert CronSchedule("0 9 30 2 *").after(at("2026-11-29T12:00")) is None


@settings(max_examples=50)
@given(
    start=st.datetimes(
        at("2020-01-01").replace(tzinfo=None), at("2035-01-01").replace(tzinfo=None)
    ),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
    zone=st.sampled_from([NEW_YORK, "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"]),
)
def test_each_local_day_has_one_slot_and_no_instant_comes_twice(start, hour, minute, zone):
    schedule, instant, days = CronSchedule(f"{minute} {hour} * * *", zone), None, []
    instant = start.replace(tzinfo=UTC)
    for _ in range(4):
        later = schedule.after(instant)
        assert instant < later <= instant + timedelta(hours=26)
        instant = later
        days.append(later.astimezone(ZoneInfo(zone)).date())
    assert [day - days[0] for day in days] == [timedelta(days=number) for number in range(4)]


@pytest.mark.parametrize(
    ("expression", "zone", "said"),
    [
        ("0 9 * *", "UTC", "five fields"),
        ("0 9 * * 8", "UTC", "0 9"),
        ("0 9 * * noday", "UTC", "noday"),
        ("61 9 * * *", "UTC", "61"),
        ("0 9 * * *", "Mars/Olympus", "Mars/Olympus"),
        ("0 9 * * *", "../etc", "no time zone"),
    ],
)
def test_a_mistake_is_named_when_the_gateway_starts(expression, zone, said):
    with pytest.raises(InvalidConfig, match=said):
        CronSchedule(expression, zone)


async def test_a_chore_is_done_at_once_and_again_and_again():
    done = []

    async def work():
        done.append(1)

    chore = Chore(name="count", every=timedelta(milliseconds=30), work=work)
    async with Scheduler([chore]):
        await eventually(lambda: len(done) >= 3)
    stopped = len(done)
    await asyncio.sleep(0)
    assert len(done) == stopped


async def test_a_chore_that_takes_long_is_not_done_twice_at_once():
    started, release = [], asyncio.Event()

    async def slow():
        started.append(1)
        await release.wait()

    async def quick():
        quick_done.append(1)

    quick_done = []
    every = timedelta(milliseconds=20)
    chores = [
        Chore(name="slow", every=every, work=slow),
        Chore(name="quick", every=every, work=quick),
    ]
    async with Scheduler(chores):
        await eventually(lambda: len(quick_done) >= 5)
        assert len(started) == 1
        release.set()


async def test_a_chore_that_fails_is_done_again():
    tries = []

    async def fails():
        tries.append(1)
        raise RuntimeError("not this time")

    chore = Chore(name="fails", every=timedelta(milliseconds=20), work=fails)
    async with Scheduler([chore]):
        await eventually(lambda: len(tries) >= 2)
