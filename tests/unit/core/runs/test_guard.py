"""Guards: the first reason to interrupt a run stands, and work under way is cancelled."""

import asyncio

import pytest

from core.errors import LeaseLost
from core.runs.guard import Aborted, Guard, Leaving


async def forever(cancelled):
    try:
        await asyncio.Event().wait()
    finally:
        cancelled.append(1)


async def test_undisturbed_work_gives_its_result():
    assert await Guard().race(asyncio.sleep(0, "result")) == "result"


async def test_what_the_work_raises_is_raised():
    async def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        await Guard().race(fail())


@pytest.mark.parametrize("reason", [Aborted, LeaseLost])
async def test_an_interruption_cancels_the_work_and_is_raised(reason):
    guard, cancelled = Guard(), []
    racing = asyncio.create_task(guard.race(forever(cancelled)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    guard.abort() if reason is Aborted else guard.lose(LeaseLost("gone"))
    with pytest.raises(reason):
        await racing
    assert cancelled == [1]


async def test_the_first_reason_stands():
    guard = Guard()
    guard.lose(LeaseLost("gone"))
    guard.abort()
    guard.clear_abort()
    with pytest.raises(LeaseLost):
        guard.check()


async def test_an_abort_that_was_carried_out_is_forgotten():
    guard = Guard()
    guard.abort()
    guard.clear_abort()
    guard.check()
    assert await guard.race(asyncio.sleep(0, "next")) == "next"


async def test_a_process_that_leaves_lets_the_work_end_first():
    guard = Guard()
    guard.leave()
    assert await guard.race(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(Leaving):
        guard.check()


async def test_cancelling_the_caller_cancels_the_work():
    guard, cancelled = Guard(), []
    racing = asyncio.create_task(guard.race(forever(cancelled)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    racing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await racing
    assert cancelled == [1]
