"""What scenarios share: a model server per test module, and gateways on folders of their own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.loopback.model.client import LoopbackModel, running_model
from tests.loopback.process import LoopbackProcess
from tests.loopback.slack.client import LoopbackSlack, slack_process
from tests.scenarios.gateway import GatewayProcess


@pytest.fixture(scope="module")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackModel]:
    """One model server for the tests of a module."""
    folder: Path = tmp_path_factory.mktemp("model")
    with running_model(folder) as model:
        yield model


@pytest.fixture
async def model(model_server: LoopbackModel) -> LoopbackModel:
    """The model server, with an empty script."""
    await model_server.reset()
    return model_server


@pytest.fixture(scope="module")
def slack_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackProcess]:
    """One Slack process for the tests of a module; its world begins anew with each test."""
    with slack_process(tmp_path_factory.mktemp("slack")) as process:
        yield process


@pytest.fixture
async def slack(slack_server: LoopbackProcess, tmp_path: Path) -> AsyncIterator[LoopbackSlack]:
    """A fresh Slack whose retries come after a second, not after a minute."""
    async with LoopbackSlack(tmp_path, process=slack_server, time_scale=0.02) as running:
        yield running


@pytest.fixture
async def gateway(
    tmp_path: Path, slack: LoopbackSlack, model: LoopbackModel
) -> AsyncIterator[GatewayProcess]:
    """A gateway that knows this Slack and this model; the test starts it."""
    environment = {**slack.environment(), **model.environment()}
    process = GatewayProcess(tmp_path, environment=environment)
    await slack.set_target(f"{process.url}/slack/events")
    yield process
    await process.stop()
