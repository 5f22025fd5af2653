"""The fakes that ship with the product do as they are told."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from core.clock import Clock
from core.conversation import Receipt, Reply
from core.errors import DeliveryError, ModelError
from core.ports.adapter import Delivery
from core.ports.model import ModelRequest, PromptMessage, TextDelta
from core.testing import NOON, FakeClock, RecordingAdapter, Say, ScriptedModel
from tests.unit.core.runs.office import PLACE

REQUEST = ModelRequest(messages=(PromptMessage(role="user", content="Hi"),))
DELIVERY = Delivery(entry_id="out_1", conversation=PLACE, payload=Reply(text="Hi"))


async def test_time_passes_only_when_told():
    clock = FakeClock()
    sleeper = asyncio.create_task(clock.sleep(10))
    await clock.advance(timedelta(0))
    await clock.advance(timedelta(seconds=9))
    assert not sleeper.done()
    await clock.advance(timedelta(seconds=1))
    await sleeper
    assert clock.now() == NOON + timedelta(seconds=10)
    assert clock.monotonic() == 10
    assert isinstance(clock, Clock)


async def test_a_model_gives_its_answers_in_order_and_keeps_the_requests():
    model = ScriptedModel([Say(text="one\ntwo"), Say(calls=(("add", {"a": 1}),))])
    events = [event async for event in model.stream(REQUEST)]
    assert events[:2] == [TextDelta(text="one\n"), TextDelta(text="two")]
    _, done, finish = [event async for event in model.stream(REQUEST)]
    assert (done.tool_name, done.arguments) == ("add", '{"a": 1}')
    assert finish.reason == "tool-calls"
    assert model.prompts() == ["Hi", "Hi"]


async def test_a_used_up_script_says_so():
    with pytest.raises(ModelError, match="used up"):
        await anext(ScriptedModel().stream(REQUEST))


async def test_an_error_comes_after_the_text_before_it():
    answer = ScriptedModel([Say(text="Hel", error=ModelError("cut"))]).stream(REQUEST)
    assert await anext(answer) == TextDelta(text="Hel")
    with pytest.raises(ModelError, match="cut"):
        await anext(answer)


async def test_an_adapter_keeps_what_it_is_given_and_finds_it_again():
    adapter = RecordingAdapter(problems=[DeliveryError("busy")])
    with pytest.raises(DeliveryError):
        await adapter.send(DELIVERY)
    assert await adapter.find(DELIVERY) is None
    assert await adapter.send(DELIVERY) == Receipt(message_id="m1")
    assert await adapter.find(DELIVERY) == Receipt(message_id="m1")


async def test_an_edit_keeps_the_receipt_of_what_it_edits():
    edited = replace(DELIVERY, receipt=Receipt(message_id="m7"))
    assert await RecordingAdapter().send(edited) == Receipt(message_id="m7")


async def test_an_adapter_knows_only_the_people_it_was_told_of():
    adapter = RecordingAdapter(people={"test:u1": "Ada"})
    assert await adapter.names(["test:u1", "test:u2"]) == {"test:u1": "Ada"}
