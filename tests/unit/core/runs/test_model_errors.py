"""A failing model: asked again where that may help, and told plainly where it does not."""

import asyncio
import re
from dataclasses import replace

import pytest

from core.errors import ModelAuthError, ModelError, ModelRateLimited
from core.ports.model import TextDelta
from core.runs.limits import Limits
from core.runs.output import RunFailed
from core.testing import Say
from tests.unit.core.runs.office import MEMORY, opened

BUSY = ModelError("the server is busy", retryable=True)


async def test_a_passing_failure_is_tried_again_after_a_growing_pause():
    async with opened(Say(error=BUSY), Say(error=BUSY), Say(text="ok")) as office:
        began = office.clock.monotonic()
        await office.say("Hi")
        await office.passes(0.5, lambda: len(office.model.requests) == 2)
        assert office.clock.monotonic() - began == pytest.approx(1, abs=0.5)
        again = office.clock.monotonic()
        await office.passes(0.5, lambda: len(office.model.requests) == 3)
        assert office.clock.monotonic() - again == pytest.approx(2, abs=0.5)
        assert await office.posted() == ["ok"]


async def test_words_of_a_failed_try_are_taken_back():
    async with opened(Say(text="Hel", error=BUSY), Say(text="Hello")) as office:
        waiting = asyncio.create_task(office.agent.generate("Hi", memory=MEMORY))
        await office.passes(1, waiting.done)
        assert (await waiting).text == "Hello"
        assert "step-discarded" in office.kinds()
        assert await office.posted() == ["Hello"]


async def test_a_provider_may_ask_for_a_pause_but_not_for_a_day():
    crowded = ModelRateLimited("wait", retryable=True, retry_after=86_400)
    async with opened(Say(error=crowded), Say(text="ok")) as office:
        await office.say("Hi")
        await office.passes(10, lambda: len(office.model.requests) == 2)
        assert office.clock.monotonic() <= 80
        assert await office.posted() == ["ok"]


async def test_a_failure_that_will_not_pass_is_told_at_once_with_an_id():
    refused = ModelAuthError("the provider refused the key sk-abcdefghijklmnop1234")
    async with opened(Say(error=refused), Say(text="back")) as office:
        [notice] = await office.told("Hi")
        assert re.fullmatch(r"I could not finish this: .*\(error e_\w+\)\. Write again .*", notice)
        assert "sk-abc" not in notice
        run = (await office.runs())[0]
        assert (run.status, run.error_id) == ("failed", re.search(r"e_\w+", notice).group())
        assert "sk-abc" not in run.error
        assert (await office.told("Again"))[-1] == "back"


async def test_after_the_last_try_the_failure_stands():
    limits = Limits(model_attempts=2)
    async with opened(Say(error=BUSY), Say(error=BUSY), limits=limits) as office:
        await office.say("Hi")
        await office.passes(1, lambda: "error" in office.kinds())
        assert await office.endings() == [("failed", "error")]
        assert len(office.model.requests) == 2


async def test_who_waits_for_a_failed_run_gets_the_error_and_its_id():
    async with opened(Say(error=ModelError("no"))) as office:
        with pytest.raises(RunFailed, match="no") as caught:
            await office.agent.generate("Hi", memory=MEMORY)
        assert caught.value.error_id.startswith("e_")


async def test_queued_work_is_answered_after_a_failure():
    gate = asyncio.Event()
    async with opened(Say(error=ModelError("no"), gate=gate), Say(text="second")) as office:
        await office.say("first")
        await office.asked(1)
        await office.say("later", queue=True)
        gate.set()
        assert (await office.posted())[1:] == ["second"]


@pytest.mark.parametrize("empty", ["", "  \n"])
async def test_an_empty_answer_is_asked_for_again(empty):
    async with opened(Say(text=empty), Say(text="ok")) as office:
        await office.say("Hi")
        await office.passes(1, lambda: len(office.model.requests) == 2)
        assert await office.posted() == ["ok"]


async def test_an_answer_that_breaks_off_is_asked_for_again():
    class Breaking:
        tries = 0

        async def stream(self, request):
            Breaking.tries += 1
            yield TextDelta(text="Hal")

    async with opened(limits=Limits(model_attempts=2)) as office:
        office.runtime.register(_with_model(office.agent, Breaking()))
        await office.say("Hi")
        await office.passes(1, lambda: "error" in office.kinds())
        assert Breaking.tries == 2
        assert "broke off" in (await office.posted())[0]


async def test_a_fault_nobody_foresaw_ends_the_run_without_its_own_words():
    class Broken:
        async def stream(self, request):
            raise KeyError("sk-secret-secret-secret")
            yield

    async with opened() as office:
        office.runtime.register(_with_model(office.agent, Broken()))
        [notice] = await office.told("Hi")
        assert "something went wrong inside me" in notice
        assert await office.endings() == [("failed", "error")]


async def test_a_model_is_not_asked_where_no_attempt_is_allowed():
    async with opened(Say(text="no"), limits=Limits(model_attempts=0)) as office:
        assert "was not asked" in (await office.told("Hi"))[0]
        assert office.model.requests == []


async def test_half_a_character_does_not_break_the_thread():
    async with opened(Say(text="smile \ud83d")) as office:
        assert await office.told("Hi") == ["smile \ufffd"]


def _with_model(agent, model):
    return replace(agent, model=model)
