"""`submit_plan`: a plan is handed in, seen, and approved or sent back (seed 000)."""

import asyncio

import pytest

from core import submit_plan
from core.approvals.submit_plan import APPROVED, read_decision
from core.errors import AlreadyDecided, InvalidInput, NotAllowed
from core.runtime import Runtime, RuntimeOptions
from core.testing import Say
from core.tools.execution import execute
from core.tools.tool import Folders, ToolContext
from tests.unit.core.runs.office import ADA, KEY, MEMORY, opened

SUBMIT = Say(calls=(("submit_plan", {"path": ".interlock/plans/dark.md"}),))
TEXT = "# Dark mode\n\n1. Add a switch."


@pytest.fixture
def folders(tmp_path):
    home = tmp_path / ".interlock/plans"
    home.mkdir(parents=True)
    (home / "dark.md").write_text(TEXT)
    return Folders(root=tmp_path)


async def test_the_documents_first_example_works_as_written(folders):
    async with opened(SUBMIT, Say(text="On it."), tools=[submit_plan], folders=folders) as office:
        agent, said = office.agent, []
        stream = await agent.stream("Refactor the auth module")
        async for chunk in stream.full_stream:
            if chunk.type == "tool-call-suspended" and chunk.payload["toolName"] == "submit_plan":
                path = chunk.payload["suspendPayload"]["path"]
                said.append((folders.root / path).read_text())
                resumed = await agent.resume_stream({"action": "approved"}, run_id=stream.run_id)
                said += [text async for text in resumed.text_stream]
        assert said == [TEXT, "On it."]


async def test_the_documents_second_example_sends_the_plan_back(folders):
    script = [SUBMIT, SUBMIT]
    async with opened(*script, tools=[submit_plan], folders=folders) as office:
        agent = office.agent
        stream = await agent.stream("Refactor the auth module")
        first = await stream.consume_stream()
        resumed = await agent.resume_stream(
            {"action": "rejected", "feedback": "Add error handling steps"},
            run_id=stream.run_id,
        )
        second = await resumed.consume_stream()
        assert second.finish_reason == "suspended"
        assert first.suspend_payload["toolCallId"] != second.suspend_payload["toolCallId"]


async def test_the_first_call_pauses_once_with_the_path_and_the_text(folders):
    async with opened(SUBMIT, tools=[submit_plan], folders=folders) as office:
        result = await office.agent.generate("go", memory=MEMORY)
        assert result.finish_reason == "suspended"
        assert result.suspend_payload == {
            "path": ".interlock/plans/dark.md",
            "title": "Dark mode",
            "plan": "1. Add a switch.",
            "toolCallId": result.tool_calls[0]["toolCallId"],
        }
        assert result.resume_schema["properties"]["action"]["enum"] == ["approved", "rejected"]
        assert result.tool_results == ()


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ({"action": "approved"}, APPROVED),
        ({"action": "approved", "feedback": "fine"}, APPROVED),
        (
            {"action": "rejected", "feedback": "Add a test & <b>"},
            "The plan was not approved. The reviewer asks for this:\n\nAdd a test & <b>\n\n"
            "Revise the plan accordingly, then submit it again with submit_plan.",
        ),
        (
            {"action": "rejected"},
            "The plan was not approved. Stop here and wait for the user's next message before you "
            "revise it.",
        ),
        (
            {"action": "rejected", "feedback": "  "},
            "The plan was not approved. Stop here and wait for the user's next message before you "
            "revise it.",
        ),
    ],
    ids=["approved", "approved with words", "rejected with words", "rejected", "rejected blankly"],
)
async def test_the_model_reads_what_was_decided_in_words(folders, answer, content):
    async with opened(SUBMIT, Say(text="ok"), tools=[submit_plan], folders=folders) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        resumed = await office.agent.resume_generate(answer, run_id=paused.run_id)
        assert office.model.requests[1].messages[-1].tool_result.result == content
        stored = resumed.tool_results[0]["result"]
        assert (stored["content"], stored["isError"]) == (content, False)
        assert stored["feedback"] == answer.get("feedback")
        assert stored["submittedPlan"] == {
            "title": "Dark mode",
            "path": ".interlock/plans/dark.md",
            "plan": "1. Add a switch.",
        }


def test_the_sentence_of_an_approval_is_the_documents_own():
    assert APPROVED == "Plan approved. Proceed with implementation following the approved plan."


async def test_outside_a_run_the_plan_is_named_in_words():
    outcome = await execute(submit_plan, {"path": "a/plan.md"}, ToolContext())
    assert "a/plan.md" in outcome.result["content"]
    assert (outcome.result["isError"], outcome.is_error) == (False, False)


async def test_without_a_library_the_file_is_read(folders):
    path = ".interlock/plans/dark.md"
    outcome = await execute(submit_plan, {"path": path}, ToolContext(run_id="r", folders=folders))
    assert outcome.suspension.details.content == TEXT


async def test_a_plan_nobody_could_read_is_shown_by_its_path_and_cannot_be_approved(folders):
    elsewhere = Say(calls=(("submit_plan", {"path": "../secret.md"}),))
    async with opened(elsewhere, Say(text="ok"), tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        assert waiting.payload == {"path": "../secret.md"}
        assert await office.posted() == ["[waiting] A plan that could not be read"]
        assert [button.action for button in office.adapter.sent[0].payload.buttons] == ["reject"]
        with pytest.raises(InvalidInput, match="nobody has seen it"):
            await office.runtime.decider.decide(waiting.token, ADA, "approved", None)
        assert len(await office.waiting()) == 1


async def test_a_host_may_supply_the_text_that_was_not_readable(folders):
    elsewhere = Say(calls=(("submit_plan", {"path": "../secret.md"}),))
    async with opened(elsewhere, Say(text="ok"), tools=[submit_plan], folders=folders) as office:
        paused = await office.agent.generate("go")
        answer = {"action": "approved", "plan": "1. Do it.", "title": "It"}
        resumed = await office.agent.resume_generate(answer, run_id=paused.run_id)
        submitted = resumed.tool_results[0]["result"]["submittedPlan"]
        assert submitted == {"title": "It", "path": "../secret.md", "plan": "1. Do it."}


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ({"action": "maybe"}, "action"),
        ({}, "action"),
        ({"action": "approved", "feedbak": "x"}, "feedbak"),
        ("approved", "data"),
        (None, "data"),
    ],
)
async def test_an_answer_with_a_slip_keeps_the_plan_waiting(folders, answer, field):
    async with opened(SUBMIT, Say(text="ok"), tools=[submit_plan], folders=folders) as office:
        paused = await office.agent.generate("go", memory=MEMORY)
        with pytest.raises(InvalidInput) as caught:
            await office.agent.resume_stream(answer, run_id=paused.run_id)
        assert field in caught.value.fields
        assert len(await office.waiting()) == 1


def test_a_decision_reads_as_it_was_written():
    assert read_decision({"action": "rejected", "feedback": "no"}).feedback == "no"


async def test_a_click_approves_and_the_card_says_who(folders):
    async with opened(SUBMIT, Say(text="On it."), tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        assert [button.label for button in _card(office).buttons] == ["Approve", "Reject"]
        await office.runtime.decider.decide(waiting.token, ADA, "approved", None)
        await office.posted()
        edit = next(d for d in office.adapter.sent if d.receipt is not None)
        assert (edit.payload.state, edit.payload.note) == ("approved", "Approved by Ada.")
        assert edit.payload.buttons == ()
        assert (await office.posted())[-1] == "On it."


async def test_a_rejection_with_a_reason_has_the_agent_revise_and_submit_again(folders):
    script = [SUBMIT, SUBMIT, Say(text="Built.")]
    async with opened(*script, tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        [first] = await office.waiting()
        await office.runtime.decider.decide(first.token, ADA, "rejected", "Smaller, please")
        [second] = await office.waiting()
        assert (first.plan.version, second.plan.version) == (1, 2)
        assert second.tool_call_id != first.tool_call_id
        await office.runtime.decider.decide(second.token, ADA, "approved", None)
        assert (await office.posted())[-1] == "Built."
        assert len(await office.runs()) == 1


async def test_a_rejection_without_a_reason_waits_for_the_persons_next_message(folders):
    script = [SUBMIT, Say(text="I see.")]
    async with opened(*script, tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        await office.runtime.decider.decide(waiting.token, ADA, "rejected", " ")
        await office.posted()
        assert len(office.model.requests) == 1
        assert await office.endings() == [("done", "rejected")]
        assert (await office.told("Make it smaller"))[-1] == "I see."
        result, message = office.model.requests[1].messages[-2:]
        assert "Stop here and wait" in result.tool_result.result
        assert message.content == "Make it smaller"


async def test_of_two_clicks_one_decides_and_the_other_learns_by_whom(folders):
    async with opened(SUBMIT, Say(text="ok"), tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        clicks = [
            office.runtime.decider.decide(waiting.token, ADA, action, "why")
            for action in ("approved", "rejected")
        ]
        first, second = await asyncio.gather(*clicks, return_exceptions=True)
        assert first.state == "approved"
        assert isinstance(second, AlreadyDecided)
        assert (second.by, second.outcome) == ("Ada", "approved")


async def test_who_may_not_decide_changes_nothing(folders):
    async with opened(SUBMIT, tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        strict = Runtime(
            store=office.store,
            clock=office.clock,
            options=RuntimeOptions(may_decide=lambda person, _: person.id == "test:boss"),
        )
        with pytest.raises(NotAllowed, match="Ada may not decide"):
            await strict.decider.decide(waiting.token, ADA, "approved", None)
        assert len(await office.waiting()) == 1


async def test_a_plan_nobody_decides_expires_as_a_rejection(folders):
    async with opened(SUBMIT, tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        await office.waiting()
        await office.clock.advance(office.runtime.options.limits.suspension)
        await office.runtime.tick()
        await office.runtime.idle()
        assert await office.endings() == [("done", "rejected")]
        result = (await office.store.history(KEY))[-1].message.content[0]
        assert not result.is_error
        assert "Stop here and wait" in result.result["content"]


async def test_a_plan_that_the_agent_wrote_is_found_by_either_name(tmp_path):
    write = Say(calls=(("write_plan", {"path": "dark.md", "content": TEXT}),))
    submit = Say(calls=(("submit_plan", {"path": "dark.md"}),))
    tools = ["write_plan", submit_plan]
    async with opened(write, submit, tools=tools, folders=Folders(root=tmp_path)) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        assert (waiting.plan.title, waiting.plan.content) == ("Dark mode", TEXT)
        told = office.model.requests[1].messages[-1].tool_result.result["path"]
        assert told == ".interlock/plans/thr--dark.md"
        assert (tmp_path / told).read_text() == TEXT
        assert (await office.store.document(KEY, told)).content == TEXT


async def test_two_plans_of_one_step_are_decided_one_by_one(folders):
    calls = (("clock", {}), *SUBMIT.calls, *SUBMIT.calls)
    script, tools = [Say(calls=calls), Say(text="ok")], ["clock", submit_plan]
    async with opened(*script, tools=tools, folders=folders) as office:
        await office.say("go")
        first, second = await office.waiting()
        await office.runtime.decider.decide(second.token, ADA, "rejected", "not this one")
        assert await office.waiting() == [first]
        assert len(office.model.requests) == 1
        await office.runtime.decider.decide(first.token, ADA, "approved", None)
        assert (await office.posted())[-1] == "ok"
        assert len([row for row in await office.history() if row.startswith("result")]) == 3


async def test_messages_wait_while_a_plan_does_and_are_read_after_it(folders):
    async with opened(SUBMIT, Say(text="ok"), tools=[submit_plan], folders=folders) as office:
        await office.say("go")
        [waiting] = await office.waiting()
        accepted = await office.say("and hurry")
        assert (accepted.action, accepted.waiting) == ("deliver", waiting.token)
        await office.runtime.idle()
        assert len(office.model.requests) == 1
        await office.runtime.decider.decide(waiting.token, ADA, "approved", None)
        await office.posted()
        assert [m.role for m in office.model.requests[1].messages[-2:]] == ["tool", "user"]


def _card(office):
    return office.adapter.sent[0].payload
