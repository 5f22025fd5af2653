"""Names: what people are called, asked of the platform they are on."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta

import structlog

from core.ports.adapter import Adapter

log = structlog.get_logger(__name__)
NAME_BUDGET = timedelta(seconds=2)
"""How long a step waits for names; then people are called by their id (architecture.md 6.7)."""


class NameBook:
    """Looks up display names by person id, each at its own platform."""

    def __init__(self, adapters: Mapping[str, Adapter]) -> None:
        """Keep the adapters by platform; the map may grow later."""
        self._adapters = adapters

    async def names(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the names that could be found in time, by id."""
        # The first part of an id is its platform, and the adapter's name.
        platforms = {person.partition(":")[0] for person in ids}
        asked = [
            self._ask(platform, [person for person in ids if person.startswith(f"{platform}:")])
            for platform in sorted(platforms)
            if platform in self._adapters
        ]
        answers = await asyncio.gather(*asked)
        return {person: name for answer in answers for person, name in answer.items()}

    async def _ask(self, platform: str, ids: list[str]) -> Mapping[str, str]:
        try:
            async with asyncio.timeout(NAME_BUDGET.total_seconds()):
                return await self._adapters[platform].names(ids)
        except TimeoutError:
            log.warning("names.slow", platform=platform, count=len(ids))
        # A name is a courtesy: whatever a platform does wrong, the run goes on with the id.
        except Exception:
            log.exception("names.failed", platform=platform)
        return {}
