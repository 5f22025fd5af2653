import asyncio

import pytest

from adapters.console.replies import KEPT, Replies


class Work:
    """Counts how often it is done; fails as often as told."""

    def __init__(self, failures=0):
        self.done = 0
        self.failures = failures

    async def __call__(self):
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise ValueError("not yet")
        self.done += 1
        return {"done": self.done}


async def test_the_same_key_does_the_work_once():
    replies, work = Replies(), Work()
    answers = await asyncio.gather(*(replies.once("k", work) for _ in range(5)))
    assert answers == [{"done": 1}] * 5


async def test_without_a_key_each_request_counts():
    replies, work = Replies(), Work()
    assert [await replies.once(None, work) for _ in range(2)] == [{"done": 1}, {"done": 2}]


async def test_what_failed_may_be_tried_again_under_its_key():
    replies, work = Replies(), Work(failures=1)
    with pytest.raises(ValueError, match="not yet"):
        await replies.once("k", work)
    assert await replies.once("k", work) == {"done": 1}


async def test_outcomes_are_kept_within_bounds():
    replies, work = Replies(), Work()
    for number in range(KEPT + 1):
        await replies.once(str(number), work)
    assert await replies.once("0", work) == {"done": KEPT + 2}
