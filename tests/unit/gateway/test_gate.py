"""The gate: what people and programs send is stored, answered and routed as the spec says."""

import asyncio

import pytest

from core.agent import Agent
from core.conversation import (
    InboundAbort,
    InboundDecision,
    InboundEvents,
    InboundNotification,
    InboundResume,
    InboundStop,
    OutsideEvent,
)
from core.errors import (
    AlreadyDecided,
    InvalidInput,
    InvalidSignal,
    NotAllowed,
    NotSuspended,
    Unknown,
)
from core.ids import thread_key
from core.testing import Say, ScriptedModel
from gateway.config import ChannelSection, PolicySection
from gateway.gate import WAITING, read_notification
from tests.support import eventually
from tests.unit.gateway.door import (
    ADA,
    BOB,
    CHANNEL,
    PLAN_SCRIPT,
    PROGRAM,
    RULES,
    message,
    open_door,
    signal,
)

QUESTION = Say(calls=(("ask_user", {"question": "Which branch?"}),))
DIRECT = CHANNEL.model_copy(update={"channel": "D1", "root": "-"})


def decision(token, action="approved", **more):
    fields = {"event_key": "click", "conversation": CHANNEL, "sender": ADA, "token": token}
    return InboundDecision(**{**fields, "action": action, **more})


def stop(**more):
    return InboundStop(**{"event_key": "stop", "conversation": CHANNEL, "sender": ADA, **more})


def resume(run_id, data=None, **more):
    return InboundResume(**{"run_id": run_id, "sender": PROGRAM, "data": data, **more})


def notification(**spec):
    fields = {"source": "github", "kind": "issue", "summary": "It broke", "priority": "high"}
    return InboundNotification(
        event_key="n1", resource_id="team", thread_id="t1", sender=PROGRAM, spec={**fields, **spec}
    )


async def test_a_message_is_answered_where_it_was_said():
    async with open_door(Say(text="Hello Ada.")) as door:
        said = await door.say()
        assert (said.outcome, said.detail["action"]) == ("accepted", "wake")
        await eventually(lambda: door.slack.sent)
        assert door.slack.sent[0].conversation == CHANNEL
        assert door.slack.sent[0].payload.text == "Hello Ada."


async def test_the_same_message_twice_is_one_message():
    async with open_door(Say(text="Once.")) as door:
        first, again = await door.say(), await door.say()
        assert (first.outcome, again.outcome) == ("accepted", "duplicate")
        assert again.detail["runId"] == first.detail["runId"]
        assert len(door.model.requests) == 1


async def test_a_group_owns_its_thread_and_a_person_their_own():
    async with open_door(Say(text="one"), Say(text="two")) as door:
        await door.say("here")
        await door.say("to you", conversation=DIRECT, direct=True)
        channel = await door.runtime.store.binding(CHANNEL.key)
        direct = await door.runtime.store.binding(DIRECT.key)
        assert channel.key == thread_key(CHANNEL.key, CHANNEL.key)
        assert direct.key == thread_key(ADA.id, DIRECT.key)


async def test_a_channel_may_have_an_agent_of_its_own():
    other = ScriptedModel(script=[Say(text="The other one.")])
    channels = (ChannelSection(id="slack:T1:C1", agent="other"),)
    rules = RULES.model_copy(update={"channels": channels})
    async with open_door(rules=rules, agents=[Agent(id="other", model=other)]) as door:
        await door.say()
        assert len(other.requests) == 1
        assert not door.model.requests


async def test_a_message_that_breaks_a_rule_leaves_nothing_behind():
    async with open_door() as door:
        before = await door.stored()
        with pytest.raises(InvalidSignal):
            await door.say(attributes={"not a name": 1})
        assert await door.stored() == before


async def test_a_queued_message_gets_a_turn_of_its_own():
    gate = asyncio.Event()
    async with open_door(Say(text="one", gate=gate), Say(text="two")) as door:
        await door.gate.admit(message("first"))
        queued = await door.gate.admit(message("second", lane="queue"))
        gate.set()
        await door.runtime.idle()
        assert queued.detail["action"] == "deliver"
        assert len(door.model.requests) == 2
        assert "second" not in door.model.prompts()[0]


async def test_who_writes_while_a_plan_waits_is_told_so():
    async with open_door(*PLAN_SCRIPT) as door:
        await door.say("make a plan")
        assert len(await door.waiting()) == 1
        said = await door.say("and another thing")
        assert (said.outcome, said.answer) == ("accepted", WAITING)
        assert (await door.say("and another thing")).answer is None


async def test_a_plan_is_approved_once_and_the_second_click_is_told_who_did():
    async with open_door(*PLAN_SCRIPT, Say(text="Done.")) as door:
        await door.say("make a plan")
        [plan] = await door.waiting()
        decided = await door.admit(decision(plan.token))
        assert decided.detail == {"state": "approved"}
        assert len(door.model.requests) == 3
        with pytest.raises(AlreadyDecided, match="Ada"):
            await door.admit(decision(plan.token, "rejected"))


@pytest.mark.parametrize(("feedback", "requests"), [("shorter, please", 3), ("  ", 2), (None, 2)])
async def test_a_rejection_goes_on_only_with_a_reason(feedback, requests):
    async with open_door(*PLAN_SCRIPT, Say(text="I see.")) as door:
        await door.say("make a plan")
        [plan] = await door.waiting()
        await door.admit(decision(plan.token, "rejected", feedback=feedback))
        assert len(door.model.requests) == requests
        assert await door.waiting() == []


async def test_only_an_approver_decides():
    async with open_door(*PLAN_SCRIPT) as door:
        await door.say("make a plan")
        [plan] = await door.waiting()
        before = await door.stored()
        with pytest.raises(NotAllowed, match="Bob may not decide this"):
            await door.admit(decision(plan.token, sender=BOB))
        with pytest.raises(NotAllowed):
            await door.admit(resume(plan.run_id, {"action": "approved"}, sender=BOB))
        assert await door.stored() == before


async def test_a_question_is_answered_by_the_next_message_in_its_thread():
    async with open_door(QUESTION, Say(text="Taking main.")) as door:
        await door.say("release it")
        [question] = await door.waiting()
        answered = await door.say("main", sender=BOB)
        assert answered.detail == {"answered": question.token}
        assert (await door.say("main", sender=BOB)).outcome == "duplicate"
        assert len(door.model.requests) == 2
        assert door.model.requests[1].messages[-1].tool_result.result == {"answer": "main"}


async def test_the_message_that_led_to_a_question_sent_again_is_not_its_answer():
    async with open_door(QUESTION) as door:
        await door.say("release it")
        assert (await door.say("release it")).outcome == "duplicate"
        assert len(await door.waiting()) == 1


@pytest.mark.parametrize("later", [{"lane": "queue"}, {"contents": ()}], ids=["queued", "parts"])
async def test_what_is_no_plain_text_answers_no_question(later):
    async with open_door(QUESTION) as door:
        await door.say("release it")
        with_text = (
            {"contents": ({"type": "text", "text": "look"},)} if "contents" in later else later
        )
        said = await door.say("later", **with_text)
        assert said.detail["action"] == "deliver"
        assert len(await door.waiting()) == 1


async def test_a_question_from_elsewhere_is_left_to_those_who_may_talk_there():
    rules = PolicySection(talk=("slack:T1:C1", BOB.id))
    async with open_door(QUESTION, rules=rules) as door:
        await door.say("release it", sender=BOB, conversation=DIRECT)
        [question] = await door.waiting()
        binding = await door.runtime.store.binding(DIRECT.key)
        await door.runtime.store.bind(CHANNEL, binding.key, "helper")
        said = await door.say("main", sender=ADA)
        assert said.detail["action"] == "deliver"
        assert await door.waiting() == [question]


async def test_stop_ends_what_runs_and_says_so():
    gate = asyncio.Event()
    async with open_door(Say(text="never", gate=gate)) as door:
        await door.gate.admit(message())
        await eventually(lambda: door.model.requests)
        stopped = await door.gate.admit(stop())
        assert (stopped.answer, stopped.detail) == ("Stopped.", {"aborted": True})
        await door.runtime.idle()
        again = await door.gate.admit(stop())
        assert (again.answer, again.detail) == ("Nothing is running here.", {"aborted": False})


async def test_stop_where_nobody_ever_spoke_makes_no_thread():
    async with open_door() as door:
        before = await door.stored()
        assert (await door.gate.admit(stop())).answer == "Nothing is running here."
        assert await door.stored() == before


async def test_a_program_puts_a_signal_into_the_thread_it_names():
    async with open_door(Say(text="Hello.")) as door:
        sent = await door.admit(signal(event_key="k1"))
        assert (sent.outcome, sent.detail["action"]) == ("accepted", "wake")
        assert (await door.admit(signal(event_key="k1"))).outcome == "duplicate"
        kept = await door.admit(signal("reactive", if_idle={"behavior": "persist"}))
        assert kept.detail["action"] == "persist"


async def test_a_thread_keeps_its_agent_unless_another_is_named():
    other = ScriptedModel(script=[Say(text="one"), Say(text="two")])
    async with open_door(Say(text="three"), agents=[Agent(id="other", model=other)]) as door:
        await door.admit(signal(agent_id="other"))
        await door.admit(signal())
        assert len(other.requests) == 2
        await door.admit(signal(agent_id="helper"))
        assert len(door.model.requests) == 1
        with pytest.raises(Unknown, match="no agent 'nobody'; known: helper, other"):
            await door.admit(signal(agent_id="nobody"))


async def test_an_abort_ends_the_run_of_the_thread_it_names():
    gate = asyncio.Event()
    abort = InboundAbort(resource_id="team", thread_id="t1", sender=PROGRAM)
    async with open_door(Say(text="never", gate=gate)) as door:
        with pytest.raises(Unknown):
            await door.gate.admit(abort)
        await door.gate.admit(signal())
        await eventually(lambda: door.model.requests)
        assert (await door.gate.admit(abort)).detail == {"aborted": True}
        await door.runtime.idle()
        assert (await door.gate.admit(abort)).detail == {"aborted": False}


async def test_a_program_resumes_a_run_by_its_id():
    async with open_door(*PLAN_SCRIPT, Say(text="Done.")) as door:
        await door.admit(signal())
        [plan] = await door.waiting()
        resumed = await door.admit(resume(plan.run_id, {"action": "approved"}))
        assert resumed.detail == {"state": "approved"}
        with pytest.raises(NotSuspended, match=plan.run_id):
            await door.admit(resume(plan.run_id, {"action": "approved"}))
        with pytest.raises(Unknown):
            await door.admit(resume("run_of_nobody"))


async def test_a_program_that_rejects_without_a_reason_ends_the_run():
    async with open_door(*PLAN_SCRIPT) as door:
        await door.admit(signal())
        [plan] = await door.waiting()
        await door.admit(resume(plan.run_id, {"action": "rejected", "feedback": " "}))
        assert len(door.model.requests) == 2
        assert await door.waiting() == []


async def test_of_two_calls_that_wait_one_must_be_named():
    asked = [("ask_user", {"question": "Which branch?"}), ("ask_user", {"question": "When?"})]
    async with open_door(Say(calls=tuple(asked)), Say(text="Thanks.")) as door:
        await door.admit(signal())
        second, first = await door.waiting()
        with pytest.raises(NotSuspended, match="name one of"):
            await door.admit(resume(first.run_id, "main"))
        for question in (first, second):
            named = resume(question.run_id, "main", tool_call_id=question.tool_call_id)
            assert (await door.admit(named)).detail == {"state": "answered"}
        assert len(door.model.requests) == 2


async def test_a_program_puts_an_event_into_the_inbox_and_hears_what_became_of_it():
    async with open_door(Say(text="I saw it.")) as door:
        taken = await door.admit(notification())
        assert taken.detail["record"]["summary"] == "It broke"
        assert taken.detail["decision"]["action"] == "deliver"
        assert taken.detail["accepted"]["action"] == "wake"
        later = await door.admit(notification(priority="low", summary="By the way"))
        assert later.outcome == "accepted"


async def test_what_can_wait_starts_no_run():
    async with open_door() as door:
        taken = await door.admit(notification(priority="low"))
        assert "accepted" not in taken.detail
        assert not door.model.requests


async def test_an_event_that_does_not_fit_names_its_fields_and_is_not_kept():
    async with open_door() as door:
        before = await door.stored()
        with pytest.raises(InvalidInput, match="does not fit") as refused:
            await door.admit(notification(source="", priority="soon", more=1))
        assert set(refused.value.fields) == {"source", "priority", "more"}
        assert await door.stored() == before


def test_an_event_needs_source_kind_and_summary():
    with pytest.raises(InvalidInput) as refused:
        read_notification({})
    assert set(refused.value.fields) == {"source", "kind", "summary"}


async def test_a_verified_delivery_that_nobody_subscribed_to_is_taken_and_forgotten():
    event = OutsideEvent(topic="github:acme/app", event_kind="push", summary="a push")
    delivery = InboundEvents(ingress_key="github:1", source="github", events=(event,))
    async with open_door() as door:
        before = await door.stored()
        assert (await door.gate.admit(delivery)).detail == {"threads": 0}
        assert await door.stored() == before
