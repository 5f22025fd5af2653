"""A store of each kind, with everything that moves it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contracts.store_world import KINDS, World, opened


@pytest.fixture(params=KINDS)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    opened_world = await opened(request.param, tmp_path)
    yield opened_world
    await opened_world.store.aclose()
