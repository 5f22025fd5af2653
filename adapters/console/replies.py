"""Replies: the first outcome of a request, kept so that the same request again does nothing."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any
from weakref import WeakValueDictionary

KEPT = 10_000
"""Outcomes remembered; a week of busy scripts."""

Json = dict[str, Any]


class Replies:
    """Remembers outcomes by idempotency key, for the requests whose key no store row claims.

    It lives as long as the process. After a restart such a request is tried again, and finds its
    own work done: a plan is decided once, a run stopped or resumed once, whoever asks.
    """

    def __init__(self) -> None:
        self._outcomes: OrderedDict[str, Json] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def once(self, key: str | None, work: Callable[[], Awaitable[Json]]) -> Json:
        """Return the outcome known under the key, else do the work; a failure is not remembered."""
        if key is None:
            return await work()
        # Two at the same time: the second waits and gets what the first got.
        async with self._lock(key):
            if key not in self._outcomes:
                self._keep(key, await work())
            return self._outcomes[key]

    def _lock(self, key: str) -> asyncio.Lock:
        lock = self._locks.get(key)
        if lock is None:
            lock = self._locks[key] = asyncio.Lock()
        return lock

    def _keep(self, key: str, outcome: Json) -> None:
        self._outcomes[key] = outcome
        while len(self._outcomes) > KEPT:
            self._outcomes.popitem(last=False)
