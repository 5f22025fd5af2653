"""What scenarios share: a model server per test module, and gateways on folders of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loopback.model.client import LoopbackModel, running_model


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
