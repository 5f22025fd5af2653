import pytest

from core.testing import Say
from tests.unit.adapters.console.desk import MAIN, PLAN, PLAN_SCRIPT, Setup, open_desk

DONE = Say(text="Done.")


async def test_a_waiting_plan_is_shown_with_its_text(tmp_path):
    async with open_desk(Setup(script=PLAN_SCRIPT, plans=tmp_path)) as desk:
        await desk.say("plan it")
        plan = await desk.pending_plan()
        assert (plan["title"], plan["status"], plan["kind"]) == ("Move the docs", "pending", "plan")
        assert plan["body"] == "1. Copy them\n2. Tell the team"
        assert plan["document"] == PLAN
        assert plan["decision"] is None
        assert (await desk.call("GET", f"/api/v1/plans/{plan['id']}")).body == plan


async def test_a_person_approves_and_the_run_goes_on(tmp_path):
    async with open_desk(Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)) as desk:
        await desk.say("plan it")
        plan = await desk.pending_plan()
        await desk.visit()
        answer = await desk.write(f"/api/v1/plans/{plan['id']}/decision", {"action": "approved"})
        assert answer.status == 200, answer.text
        assert answer.body["status"] == "approved"
        assert answer.body["decision"]["by"] == {"id": "console:local:ada", "name": "Ada"}
        await desk.runtime.idle()
        rows = (await desk.call("GET", f"{MAIN}/messages")).body["messages"]
        assert rows[-1]["content"][0]["text"] == "Done."


async def test_a_reason_reaches_the_agent(tmp_path):
    async with open_desk(Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)) as desk:
        await desk.say("plan it")
        plan = await desk.pending_plan()
        body = {"action": "rejected", "feedback": "Add a rollback."}
        answer = await desk.call("POST", f"/api/v1/plans/{plan['id']}/decision", body)
        assert answer.body["decision"]["feedback"] == "Add a rollback."
        await desk.runtime.idle()
        told = [repr(message) for message in desk.model.requests[-1].messages]
        assert any("Add a rollback." in text for text in told)


async def test_the_second_to_decide_is_told_who_was_first(tmp_path):
    async with open_desk(Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)) as desk:
        await desk.say("plan it")
        plan = await desk.pending_plan()
        path = f"/api/v1/plans/{plan['id']}/decision"
        await desk.visit()
        await desk.write(path, {"action": "approved"})
        second = await desk.call("POST", path, {"action": "rejected"})
        assert (second.status, second.error["code"]) == (409, "already_decided")
        assert "ada" in second.error["decidedBy"].lower()
        assert second.error["outcome"] == "approved"
        assert second.error["decidedAt"]
        await desk.runtime.idle()


async def test_a_person_who_may_not_decide_is_403(tmp_path):
    setup = Setup(script=PLAN_SCRIPT, plans=tmp_path, approve=("console:local:bob",))
    async with open_desk(setup) as desk:
        await desk.say("plan it")
        plan = await desk.pending_plan()
        await desk.visit()
        answer = await desk.write(f"/api/v1/plans/{plan['id']}/decision", {"action": "approved"})
        assert answer.status == 403
        assert (await desk.pending_plan())["status"] == "pending"


@pytest.mark.parametrize("body", [{}, {"action": "maybe"}, {"action": "approved", "by": "Root"}])
async def test_a_crooked_decision_is_400(body, tmp_path):
    async with open_desk(Setup(script=PLAN_SCRIPT, plans=tmp_path)) as desk:
        await desk.say("plan it")
        plan = await desk.pending_plan()
        answer = await desk.call("POST", f"/api/v1/plans/{plan['id']}/decision", body)
        assert answer.status == 400


async def test_an_unknown_plan_is_404():
    async with open_desk() as desk:
        assert (await desk.call("GET", "/api/v1/plans/none")).status == 404
        body = {"action": "approved"}
        assert (await desk.call("POST", "/api/v1/plans/none/decision", body)).status == 404


async def test_plans_are_listed_by_status_thread_and_kind(tmp_path):
    async with open_desk(Setup(script=PLAN_SCRIPT, plans=tmp_path)) as desk:
        await desk.say("plan it")
        for query, found in (
            ("", 1),
            ("status=waiting", 1),
            ("status=approved", 0),
            ("threadId=main&kind=any", 1),
            ("threadId=other", 0),
            ("kind=question", 0),
        ):
            plans = (await desk.call("GET", f"/api/v1/plans?{query}")).body["plans"]
            assert len(plans) == found, query


@pytest.mark.parametrize("query", ["status=open", "kind=secret", "limit=x"])
async def test_a_crooked_list_is_400(query):
    async with open_desk() as desk:
        assert (await desk.call("GET", f"/api/v1/plans?{query}")).status == 400


async def test_the_same_decision_sent_again_gets_the_first_outcome(tmp_path):
    async with open_desk(Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)) as desk:
        await desk.say("plan it")
        path = f"/api/v1/plans/{(await desk.pending_plan())['id']}/decision"
        body = {"action": "approved"}
        first = await desk.call("POST", path, body, Idempotency_Key="once")
        await desk.runtime.idle()
        again = await desk.call("POST", path, body, Idempotency_Key="once")
        assert (first.status, again.status) == (200, 200)
        assert first.body == again.body
        named = {"Idempotency_Key": "once", "X_Interlock_Actor": "console:local:bob"}
        assert (await desk.call("POST", path, body, **named)).status == 409
