"""Rows for tests of tables: whole records of which a test names only what it is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from core.notifications.notification import Notification
from core.runs.run import Document
from core.threads.thread import Thread

NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def notification(name: str, **changes: Any) -> Notification:
    told = {
        "id": name,
        "thread_id": "t1",
        "resource_id": "r1",
        "agent_id": "a1",
        "source": "github",
        "kind": "push",
        "summary": "someone pushed",
        "created_at": NOON,
        "updated_at": NOON,
    }
    return Notification(**{**told, **changes})


def document(path: str, content: str = "text", *, thread_id: str = "t1") -> Document:
    return Document(
        thread_id=thread_id,
        path=path,
        kind="note",
        content=content,
        tool_call_id="call_1",
        created_at=NOON,
    )


def thread(name: str = "t1", **changes: Any) -> Thread:
    told = {
        "resource_id": "r1",
        "thread_id": name,
        "agent_id": "a1",
        "created_at": NOON,
        "updated_at": NOON,
    }
    return Thread(**{**told, **changes})
