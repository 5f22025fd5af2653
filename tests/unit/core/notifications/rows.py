"""Rows: notifications as tests need them, with everything said that a test does not care about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from core.ids import ThreadKey, thread_key
from core.notifications.notification import Notification

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEY = thread_key("team", "thread-1")


class HandClock:
    """A clock that a test moves by hand."""

    def __init__(self, now: datetime = NOW) -> None:
        self.at = now

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.forward(seconds=seconds)

    def forward(self, **by: float) -> datetime:
        self.at += timedelta(**by)
        return self.at


def a_row(key: ThreadKey = KEY, **fields: Any) -> Notification:
    given: dict[str, Any] = {
        "id": "n1",
        "thread_id": key.thread_id,
        "resource_id": key.resource_id,
        "agent_id": "helper",
        "source": "github",
        "kind": "ci-status",
        "summary": "CI failed on main",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Notification.model_validate(given | fields)
