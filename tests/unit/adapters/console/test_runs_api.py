from core.testing import Say
from tests.unit.adapters.console.desk import PLAN_SCRIPT, Setup, open_desk

DONE = Say(text="Done.")


async def paused(desk):
    await desk.say("plan it")
    return (await desk.call("GET", "/api/v1/runs?threadId=main&status=suspended")).body["runs"][0]


async def test_a_run_is_shown_with_its_calls_and_cost():
    script = [Say(calls=(("clock", {}),)), DONE]
    async with open_desk(Setup(script=script)) as desk:
        run_id = (await desk.say()).body["accepted"]["runId"]
        run = (await desk.call("GET", f"/api/v1/runs/{run_id}")).body
        assert (run["id"], run["status"], run["agentId"]) == (run_id, "done", "helper")
        assert run["usage"] == {"inputTokens": 2, "outputTokens": 2}
        assert [(call["toolName"], call["state"]) for call in run["calls"]] == [("clock", "done")]


async def test_runs_are_listed_by_thread_and_status():
    async with open_desk(Setup(script=[DONE])) as desk:
        await desk.say()
        for query, found in (("threadId=main", 1), ("status=done", 1), ("status=failed", 0)):
            runs = (await desk.call("GET", f"/api/v1/runs?{query}")).body["runs"]
            assert len(runs) == found, query
        assert (await desk.call("GET", "/api/v1/runs?status=odd")).status == 400


async def test_a_program_resumes_a_paused_run(tmp_path):
    async with open_desk(Setup(script=[*PLAN_SCRIPT, DONE], plans=tmp_path)) as desk:
        run = await paused(desk)
        answer = await desk.call(
            "POST", f"/api/v1/runs/{run['id']}/resume", {"data": {"action": "approved"}}
        )
        assert answer.status == 200, answer.text
        assert (answer.body["resumed"], answer.body["runId"]) == (True, run["id"])
        await desk.runtime.idle()
        assert (await desk.call("GET", f"/api/v1/runs/{run['id']}")).body["status"] == "done"


async def test_a_run_that_does_not_wait_cannot_be_resumed():
    async with open_desk(Setup(script=[DONE])) as desk:
        run_id = (await desk.say()).body["accepted"]["runId"]
        answer = await desk.call("POST", f"/api/v1/runs/{run_id}/resume", {"data": True})
        assert (answer.status, answer.error["code"]) == (409, "not_suspended")


async def test_an_unknown_run_is_404():
    async with open_desk() as desk:
        assert (await desk.call("GET", "/api/v1/runs/run_none")).status == 404
        body = {"data": True}
        assert (await desk.call("POST", "/api/v1/runs/run_none/resume", body)).status == 404


async def test_a_resume_without_data_is_400(tmp_path):
    async with open_desk(Setup(script=PLAN_SCRIPT, plans=tmp_path)) as desk:
        run = await paused(desk)
        answer = await desk.call("POST", f"/api/v1/runs/{run['id']}/resume", {})
        assert (answer.status, answer.error["fields"]) == (400, {"data": "Field required"})
