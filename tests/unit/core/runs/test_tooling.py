"""Tools in a run: whatever a call does, it has one result, in call order, and the run goes on."""

import asyncio
from datetime import timedelta

import pytest

from core import ToolContext, submit_plan, tool
from core.approvals.ask_user import ask_user
from core.errors import NotAllowed
from core.runs.limits import Limits
from core.testing import Say
from tests.support import eventually
from tests.unit.core.runs.office import KEY, MEMORY, opened


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_a_tool_nobody_has_is_answered_with_those_there_are():
    async with opened(Say(calls=(("fly", {}),)), Say(text="ok"), tools=[add, "clock"]) as office:
        assert await office.told("fly!") == ["ok"]
        assert _results(office) == [
            {"error": True, "message": "There is no tool 'fly'. Available: add, clock."}
        ]
        assert "tool-error" in office.kinds()


async def test_arguments_that_are_no_json_are_sent_back(monkeypatch):
    async with opened(Say(calls=(("add", {}),)), Say(text="ok"), tools=[add]) as office:
        monkeypatch.setattr("core.testing.json.dumps", lambda _: '{"a": 1,')
        await office.told("add")
        [result] = _results(office)
        assert result["message"].startswith("The arguments are not valid JSON")
        assert result["received"] == '{"a": 1,'
        assert (await office.store.calls((await office.runs())[0].run_id))[0].args is None


async def test_wrong_arguments_are_explained_path_by_path():
    async with opened(
        Say(calls=(("add", {"a": "x", "b": 1, "c": 2}),)), Say(text="ok"), tools=[add]
    ) as office:
        await office.told("add")
        [result] = _results(office)
        assert set(result["validationErrors"]["fields"]) == {"a", "c"}
        assert len(result["validationErrors"]["errors"]) == 2


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ValueError("no such file"), "ValueError: no such file"),
        (TimeoutError("the server is slow"), "TimeoutError: the server is slow"),
        (RuntimeError("half \ud83d"), "RuntimeError: half \ufffd"),
    ],
    ids=["its own", "a timeout of its own", "with half a character"],
)
async def test_what_a_tool_raises_is_told_to_the_model(raised, told):
    @tool
    async def fail() -> None:
        """Fail."""
        raise raised

    async with opened(Say(calls=(("fail", {}),)), Say(text="ok"), tools=[fail]) as office:
        assert await office.told("go") == ["ok"]
        assert _results(office) == [{"error": True, "message": told}]


async def test_a_denied_authorisation_ends_the_run():
    @tool
    async def open_safe() -> None:
        """Open the safe."""
        raise NotAllowed("the safe is not yours")

    both = (("add", {"a": 1, "b": 2}), ("open_safe", {}))
    async with opened(Say(calls=both), tools=[add, open_safe]) as office:
        assert "the safe is not yours" in (await office.told("open"))[0]
        assert await office.endings() == [("failed", "error")]
        assert len([row for row in await office.history() if row.startswith("result")]) == 2


async def test_a_tool_that_hangs_is_given_up_and_told():
    @tool(timeout=timedelta(milliseconds=10))
    async def hang() -> None:
        """Hang."""
        await asyncio.Event().wait()

    async with opened(Say(calls=(("hang", {}),)), Say(text="ok"), tools=[hang]) as office:
        assert await office.told("go") == ["ok"]
        assert _results(office)[0]["message"] == "hang did not finish within 0.01 s"


async def test_what_json_cannot_hold_is_made_to_fit():
    circle: list = [1]
    circle.append(circle)

    class Unspeakable:
        def __str__(self):
            raise RuntimeError("no words")

    @tool
    async def give(what: str) -> object:
        """Give something."""
        return {
            "bytes": b"\xff",
            "half": ["\ud83d"],
            "nan": float("nan"),
            "object": {object: timedelta(1)},
            "circle": circle,
            "bad": Unspeakable(),
        }[what]

    kinds = ["bytes", "half", "nan", "object", "circle", "bad"]
    calls = tuple(("give", {"what": kind}) for kind in kinds)
    async with opened(Say(calls=calls), Say(text="ok"), tools=[give]) as office:
        assert await office.told("go") == ["ok"]
        found = dict(zip(kinds, _results(office), strict=True))
        assert (found["bytes"], found["half"], found["nan"]) == ("_w==", ["\ufffd"], "nan")
        assert found["object"] == {"<class 'object'>": "P1D"}
        assert found["circle"] == "[1, [...]]"
        assert found["bad"]["error"]


async def test_results_stand_in_call_order_whatever_order_they_came_in():
    first_may_end = asyncio.Event()

    @tool
    async def work(number: int) -> int:
        """Work."""
        if number == 1:
            await first_may_end.wait()
        first_may_end.set()
        return number

    calls = (("work", {"number": 1}), ("work", {"number": 2}))
    async with opened(Say(calls=calls), Say(text="ok"), tools=[work]) as office:
        await office.told("go")
        results = [chunk for chunk in office.chunks if chunk.type == "tool-result"]
        assert [chunk.payload["result"] for chunk in results] == [2, 1]
        assert [row for row in await office.history() if row.startswith("result")] == [
            "result work: 1",
            "result work: 2",
        ]


@pytest.mark.parametrize(("limit", "most"), [(2, 2), (10, 5), (0, 1)])
async def test_only_so_many_tools_run_at_once_and_start_in_call_order(limit, most):
    started, together, gate = [], [], asyncio.Event()

    @tool
    async def work(number: int) -> None:
        """Work."""
        started.append(number)
        together.append(number)
        await gate.wait()
        together.remove(number)

    calls = tuple(("work", {"number": number}) for number in range(5))
    limits = Limits(tool_concurrency=limit)
    async with opened(Say(calls=calls), Say(text="ok"), tools=[work], limits=limits) as office:
        await office.say("go")
        await eventually(lambda: len(together) == most)
        gate.set()
        await office.posted()
        assert started == [0, 1, 2, 3, 4]


async def test_behind_a_plan_nothing_runs_but_further_questions():
    ran = []

    @tool
    async def deploy() -> None:
        """Deploy."""
        ran.append("deploy")

    names = ["add", "submit_plan", "deploy", "ask_user", "submit_plan"]
    arguments = {
        "add": {"a": 1, "b": 2},
        "submit_plan": {"path": "a.md"},
        "ask_user": {"question": "Which?"},
    }
    calls = tuple((name, arguments.get(name, {})) for name in names)
    tools = [add, submit_plan, deploy, ask_user]
    async with opened(Say(calls=calls), tools=tools) as office:
        await office.say("go")
        waiting = sorted(one.tool_name for one in await office.waiting())
        assert waiting == ["ask_user", "submit_plan", "submit_plan"]
        calls = await office.store.calls((await office.runs())[0].run_id)
        assert calls[0].result == 3
        assert calls[2].result["message"] == "not run: a plan of this step awaits a decision"
        assert ran == []


async def test_resume_data_that_the_model_wrote_is_not_consent():
    @tool
    async def transfer(amount: int, context: ToolContext) -> str:
        """Transfer money."""
        if context.resumed:
            return f"sent {amount}"
        await context.suspend({"amount": amount})
        return "ignored"

    given = {"amount": 5, "resumeData": {"approved": True}, "_background": True}
    async with opened(Say(calls=(("transfer", given),)), tools=[transfer]) as office:
        await office.say("pay")
        [waiting] = await office.waiting()
        assert waiting.payload == {"amount": 5}


async def test_a_request_context_and_the_call_reach_the_tool():
    seen = []

    @tool
    async def look(context: ToolContext) -> None:
        """Look."""
        seen.append((context.agent_id, context.request_context, context.thread))

    async with opened(Say(calls=(("look", {}),)), Say(text="ok"), tools=[look]) as office:
        await office.agent.generate("go", memory=MEMORY, request_context={"tier": "gold"})
        assert seen == [("helper", {"tier": "gold"}, KEY)]


def _results(office):
    return [
        message.tool_result.result
        for message in office.model.requests[-1].messages
        if message.role == "tool"
    ]
