"""Rows: notifications as tests need them, with everything said that a test does not care about."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from core.ids import ThreadKey, thread_key
from core.notifications.courier import Courier
from core.notifications.inbox import Inbox, no_windows
from core.notifications.ingress import NotificationInput, NotificationResult, NotifyOptions
from core.notifications.notification import Notification
from core.notifications.policy import DeliveryPolicy
from core.notifications.subscriptions import Subscriptions
from core.signals.signal import create_signal
from core.stores.memory import MemoryStore
from core.stores.steps.heads import change
from core.testing import FakeClock
from core.threads.store import AcceptRequest
from core.threads.thread import ThreadState

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEY = thread_key("team", "thread-1")


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


@dataclass
class House:
    """An inbox and its courier over a real store, with a clock that a test moves."""

    policy: DeliveryPolicy = field(default_factory=DeliveryPolicy)
    subscriptions: Subscriptions = field(default_factory=Subscriptions)
    windows: Any = no_windows

    def __post_init__(self) -> None:
        self.clock = FakeClock(NOW)
        self.store = MemoryStore(clock=self.clock)
        self.woken: list[ThreadKey] = []
        common: dict[str, Any] = {
            "store": self.store,
            "clock": self.clock,
            "policies": lambda _: self.policy,
            "wake": self.woken.append,
            "windows": self.windows,
        }
        self.inbox = Inbox(**common, subscriptions=self.subscriptions)
        self.courier = Courier(**common, inbox=self.inbox)

    async def notify(
        self, key: ThreadKey = KEY, *, ingress_key: str | None = None, **fields: Any
    ) -> NotificationResult:
        given = {"source": "github", "kind": "ci-status", "summary": "CI failed on main"}
        one = NotificationInput.model_validate(given | fields)
        options = NotifyOptions(agent_id="helper", ingress_key=ingress_key)
        (result,) = await self.inbox.notify(key, [one], options)
        return result

    async def busy(self, key: ThreadKey = KEY) -> None:
        """Let somebody talk to the thread, so that it has a run."""
        signal = create_signal(
            {"type": "user", "contents": "hello"}, now=self.clock.now(), new_id=lambda: "hello"
        )
        await self.store.accept(
            AcceptRequest(key=key, agent_id="helper", signal=signal, fresh_run_id="run-1")
        )

    async def idle(self, key: ThreadKey = KEY) -> None:
        """Let the thread's run end."""
        thread = await self.store.thread(key)
        rested = {"state": ThreadState.IDLE, "run_id": None, "run_agent_id": None, "mail": 0}
        await self.store._write("rest", lambda tables, now: change(tables, thread, now, **rested))

    async def row(self, row_id: str, key: ThreadKey = KEY) -> Notification:
        return await self.store.notification(key, row_id)

    async def pass_(self, **by: float) -> Any:
        """Let time pass, then let the courier look once."""
        await self.clock.advance(timedelta(**by))
        return await self.courier.dispatch_due()
