import contextlib

import pytest

from adapters.console.page import FOLDER
from core.conversation import Conversation, Reply
from core.errors import NotAllowed, Unknown
from core.ports.adapter import Delivery
from tests.unit.adapters.console.desk import MAIN, Setup, open_desk

HERE = Conversation(platform="console", tenant="local", channel="main")


async def test_what_is_sent_counts_as_shown_at_once():
    async with open_desk() as desk:
        delivery = Delivery(entry_id="out_1", conversation=HERE, payload=Reply(text="hi"))
        assert (await desk.adapter.send(delivery)).message_id == "out_1"
        assert (await desk.adapter.find(delivery)).message_id == "out_1"


async def test_names_are_those_of_the_people_here():
    async with open_desk() as desk:
        names = await desk.adapter.names(["console:local:ada", "console:local:nobody"])
        assert names == {"console:local:ada": "Ada"}


async def test_every_kind_of_ingress_of_a_stranger_stores_nothing():
    async with open_desk(Setup(talk=(), approve=())) as desk:
        for handler in desk.adapter.handlers():
            with contextlib.suppress(NotAllowed, Unknown):
                admission = await desk.gate.admit(handler.sample)
                assert admission.outcome == "refused", handler.name
        assert (await desk.call("GET", "/api/v1/threads")).body == {"threads": []}


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", MAIN, "GET,HEAD,PUT"),
        ("GET", f"{MAIN}/abort", "POST"),
        ("PUT", "/api/v1/plans", "GET,HEAD"),
        ("POST", "/api/v1/runs", "GET,HEAD"),
    ],
)
async def test_a_wrong_method_is_405_and_says_which_there_are(method, path, allowed):
    async with open_desk() as desk:
        answer = await desk.call(method, path)
        assert (answer.status, answer.error["code"]) == (405, "method_not_allowed")
        assert answer.headers["Allow"].replace(" ", "") == allowed


@pytest.mark.parametrize(
    "path",
    ["/api", "/api/v1/none", "/api/v2/threads", f"{MAIN}/state", "/api/v1/agents/a/overrides"],
)
async def test_a_route_that_is_not_there_is_404_in_json(path):
    async with open_desk() as desk:
        answer = await desk.call("POST", path, {})
        assert (answer.status, answer.error["code"]) == (404, "not_found")


async def test_the_page_and_its_files_are_served():
    async with open_desk() as desk:
        page = await desk.ask("GET", "/")
        assert "<main>" in page.text
        for path in (FOLDER / "static").iterdir():
            answer = await desk.ask("GET", f"/static/{path.name}")
            assert answer.text == path.read_text()
            again = {"If-None-Match": answer.headers["ETag"]}
            assert (await desk.ask("GET", f"/static/{path.name}", headers=again)).status == 304


@pytest.mark.parametrize("name", ["none.js", "..%2Fpage.py", "%2e%2e%2f__init__.py", "app.js%00"])
async def test_no_other_file_is_served(name):
    async with open_desk() as desk:
        assert (await desk.ask("GET", f"/static/{name}")).status == 404


def test_the_page_carries_no_script_or_style_of_its_own():
    for template in (FOLDER / "templates").iterdir():
        text = template.read_text()
        assert "style=" not in text
        assert "<style" not in text
        assert " onclick" not in text
        assert "http" not in text


def test_no_script_turns_data_into_markup():
    for script in (FOLDER / "static").glob("*.js"):
        text = script.read_text()
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert word not in text, script.name
