"""Fallbacks: the next model answers when one fails before anything was shown (L17)."""

from collections.abc import AsyncGenerator

import pytest

from core.agent import Agent
from core.errors import ModelAuthError, ModelError
from core.ports.model import ModelEvent, ModelRequest, TextDelta
from core.runs.fallback import FallbackModel
from core.runtime import Runtime
from core.testing import Say, ScriptedModel

REQUEST = ModelRequest(messages=())


class BreakingModel:
    """Says one word and breaks."""

    async def stream(self, _: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield one piece, then fail."""
        yield TextDelta(text="Half")
        raise ModelError("broke off")


async def read(model: FallbackModel) -> str:
    texts = [event.text async for event in model.stream(REQUEST) if isinstance(event, TextDelta)]
    return "".join(texts)


async def test_the_first_that_answers_is_heard() -> None:
    second = ScriptedModel([Say(text="second")])
    model = FallbackModel([ScriptedModel([Say(text="first")]), second])
    assert await read(model) == "first"
    assert second.requests == []


async def test_the_next_one_answers_when_one_fails() -> None:
    broken = ScriptedModel([Say(error=ModelAuthError("no key"))])
    assert await read(FallbackModel([broken, ScriptedModel([Say(text="second")])])) == "second"


async def test_the_last_error_stands_when_all_fail() -> None:
    broken = [ScriptedModel([Say(error=ModelError(word))]) for word in ("first", "last")]
    with pytest.raises(ModelError, match="last"):
        await read(FallbackModel(broken))


async def test_nobody_goes_on_in_the_middle_of_another_ones_sentence() -> None:
    second = ScriptedModel([Say(text="second")])
    with pytest.raises(ModelError, match="broke off"):
        await read(FallbackModel([BreakingModel(), second]))
    assert second.requests == []


async def test_an_agent_takes_a_list_of_models() -> None:
    broken = ScriptedModel([Say(error=ModelError("down"))])
    agent = Agent(id="helper", model=[broken, ScriptedModel([Say(text="Here.")])])
    async with Runtime():
        assert (await agent.generate("hi")).text == "Here."
