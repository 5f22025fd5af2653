"""Clocks: the machine's own, and the one that tests move."""

import asyncio
from datetime import UTC, timedelta

from core.clock import Clock, SystemClock
from core.testing import NOON, FakeClock

SECOND = timedelta(seconds=1)


def test_both_clocks_can_stand_for_one_another():
    assert isinstance(SystemClock(), Clock)
    assert isinstance(FakeClock(), Clock)


async def test_the_system_clock_knows_its_zone_and_never_runs_back():
    clock = SystemClock()
    before, wall = clock.monotonic(), clock.now()
    await clock.sleep(0.001)
    assert clock.monotonic() - before >= 0.001
    assert wall.tzinfo is UTC
    assert clock.now() >= wall


async def test_a_fake_clock_moves_only_when_told():
    clock = FakeClock()
    assert (clock.now(), clock.monotonic()) == (NOON, 0.0)
    await clock.advance(SECOND * 90)
    assert (clock.now() - NOON, clock.monotonic()) == (SECOND * 90, 90.0)


async def test_a_sleeper_wakes_when_its_time_has_come_and_not_before():
    clock = FakeClock()
    sleeping = asyncio.create_task(clock.sleep(2))
    await asyncio.sleep(0)
    await clock.advance(SECOND)
    assert not sleeping.done()
    await clock.advance(SECOND)
    await asyncio.wait_for(sleeping, timeout=5)
