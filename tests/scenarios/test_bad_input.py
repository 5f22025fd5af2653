"""Bad input: a clear word for each, and nothing half done."""

import asyncio
import io
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.loopback.model.client import LoopbackModel
from tests.scenarios.gateway import AGENT, POLICY, GatewayProcess
from tests.support import eventually

THREAD = "/api/v1/threads/team/t1"
HELLO = {"contents": "hello", "attributes": {"name": "Ada", "from": "api"}}


async def ended(folder: Path, environment: dict[str, str], config: str = AGENT + POLICY) -> str:
    """Start a gateway that cannot start; return what it said, after exit code 1."""
    gateway = GatewayProcess(folder, environment=environment, config=config)
    await gateway.start(ready=False)
    assert await gateway.finished() == 1
    said = gateway.log.read_text()
    assert "Traceback" not in said
    return said


@pytest.fixture
async def gateway(tmp_path: Path, model: LoopbackModel) -> Any:
    async with GatewayProcess(tmp_path, environment=model.environment()) as running:
        yield running


async def raw(gateway: GatewayProcess, body: bytes, token: str | None = None) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    url = f"{gateway.url}{THREAD}/messages"
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, await answer.json(content_type=None)


async def test_without_the_right_token_nothing_is_stored(gateway: GatewayProcess) -> None:
    for token in (None, "wrong", "token-of-this-tesT", "tökén"):
        status, answer = await raw(gateway, b'{"contents": "hi"}', token)
        assert (status, answer["error"]["code"]) == (401, "unauthorized")
    assert (await gateway.get(THREAD))[0] == 404


async def test_broken_json_is_told_and_not_stored(gateway: GatewayProcess) -> None:
    for body in (b"{", b"[1]", b'{"contents": NaN}', b"\xff", b'{"contents": "\\ud800"}'):
        status, answer = await raw(gateway, body, gateway.token)
        assert status == 400
        assert answer["error"]["message"]
    assert (await gateway.get(THREAD))[0] == 404


async def test_a_message_of_ten_megabytes_is_too_large(gateway: GatewayProcess) -> None:
    body = b'{"contents": "' + b"x" * 10_000_000 + b'"}'
    status, answer = await raw(gateway, body, gateway.token)
    assert (status, answer["error"]["code"]) == (413, "too_large")
    assert (await gateway.get(THREAD))[0] == 404


async def test_an_unknown_thread_is_not_found(gateway: GatewayProcess) -> None:
    for path in (THREAD, f"{THREAD}/messages", f"{THREAD}/inbox"):
        assert (await gateway.get(path))[0] == 404
    assert (await gateway.post(f"{THREAD}/abort", {}))[0] == 404


async def test_a_thread_of_another_resource_is_not_found(
    gateway: GatewayProcess, model: LoopbackModel
) -> None:
    await model.script("Hello.")
    assert (await gateway.post(f"{THREAD}/messages", HELLO))[0] == 202
    other = "/api/v1/threads/others/t1"
    assert (await gateway.get(f"{other}/messages"))[0] == 404
    assert (await gateway.post(f"{other}/messages", HELLO))[0] == 404


async def test_a_bad_attribute_is_refused_by_name(gateway: GatewayProcess) -> None:
    body = {"contents": "hi", "attributes": {"a b": 1}}
    status, answer = await gateway.post(f"{THREAD}/messages", body)
    assert status == 400
    assert "a b" in answer["error"]["message"]
    assert (await gateway.get(THREAD))[0] == 404


async def test_malformed_settings_name_line_and_key(tmp_path: Path, model: LoopbackModel) -> None:
    said = await ended(tmp_path, model.environment(), AGENT + "[policy]\ntalk = [oops\n")
    assert "interlock.toml, line 8" in said
    assert "'talk'" in said


async def test_a_misspelt_key_names_the_nearest_known_one(
    tmp_path: Path, model: LoopbackModel
) -> None:
    said = await ended(tmp_path, model.environment(), AGENT + '[policy]\ntlak = ["api:token"]\n')
    assert "interlock.toml, line 8" in said
    assert "did you mean 'talk'" in said


async def test_a_name_in_place_of_an_id_is_refused(tmp_path: Path, model: LoopbackModel) -> None:
    said = await ended(tmp_path, model.environment(), AGENT + '[policy]\ntalk = ["@ada"]\n')
    assert "'@ada' is not an id" in said


async def test_an_agent_without_a_model_is_named(tmp_path: Path) -> None:
    said = await ended(tmp_path, {})
    assert "agent helper has no model" in said


async def test_a_model_without_its_key_names_the_variable(tmp_path: Path) -> None:
    said = await ended(tmp_path, {"INTERLOCK_MODEL": "openai/gpt-5-mini"})
    assert "OPENAI_API_KEY" in said


async def test_a_port_in_use_is_named(tmp_path: Path, model: LoopbackModel) -> None:
    gateway = GatewayProcess(tmp_path, environment=model.environment())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", gateway.port))
        taken.listen()
        await gateway.start(ready=False)
        assert await gateway.finished() == 1
    assert f"port {gateway.port} on 127.0.0.1 is in use" in gateway.log.read_text()


async def test_a_second_process_is_kept_off_the_file(
    gateway: GatewayProcess, tmp_path: Path, model: LoopbackModel
) -> None:
    second = tmp_path / "second"
    second.mkdir()
    url = f"sqlite:///{tmp_path}/.interlock/interlock.db"
    said = await ended(second, {**model.environment(), "INTERLOCK_STORE_URL": url})
    assert "interlock.db" in said
    assert "stop it, or give this one another file" in said


async def test_an_open_host_needs_a_token(tmp_path: Path, model: LoopbackModel) -> None:
    environment = {**model.environment(), "INTERLOCK_HOST": "0.0.0.0", "INTERLOCK_API_TOKEN": ""}
    assert "INTERLOCK_API_TOKEN" in await ended(tmp_path, environment)


async def test_a_short_webhook_secret_is_refused_by_name(
    tmp_path: Path, model: LoopbackModel
) -> None:
    environment = {**model.environment(), "GITHUB_WEBHOOK_SECRET": "short"}
    assert "GITHUB_WEBHOOK_SECRET" in await ended(tmp_path, environment)


async def test_a_full_disk_refuses_and_recovers(
    gateway: GatewayProcess, model: LoopbackModel
) -> None:
    await model.script(*["Hello."] * 40)
    assert (await gateway.post(f"{THREAD}/messages", HELLO))[0] == 202
    await eventually(lambda: len(model.requests()) == 1, within=10)
    # No file of the process may grow any more: to SQLite that is a disk without space.
    gateway.limit_files(bytes_at_most=4096)
    refused = await fill(gateway)
    assert refused["error"]["code"] == "store_unavailable"
    gateway.limit_files(bytes_at_most=None)

    async def taken() -> bool:
        return (await gateway.post(f"{THREAD}/messages", HELLO))[0] == 202

    await eventually(taken, within=10)


async def fill(gateway: GatewayProcess) -> Any:
    for _ in range(30):
        status, answer = await gateway.post(f"{THREAD}/messages", HELLO)
        if status == 503:
            return answer
        await asyncio.sleep(0)
    raise AssertionError("the disk was never full")
