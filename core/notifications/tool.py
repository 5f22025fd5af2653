"""The inbox tool: how an agent reads, searches and clears the notifications of its own thread."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator
from pydantic.alias_generators import to_camel

from core.errors import InterlockError, InvalidInput, Unknown
from core.ids import ThreadKey
from core.notifications.notification import Notification, NotificationStatus, Priority
from core.notifications.render import full_signal
from core.notifications.store import InboxFilter, NotificationStore
from core.notifications.telling import tell_fully
from core.tools.tool import Tool, ToolContext

PAGE = 20
LONGEST_PAGE = 100
_UNREAD = (NotificationStatus.PENDING, NotificationStatus.DELIVERED)
_MARKS = {
    "markSeen": NotificationStatus.SEEN,
    "dismiss": NotificationStatus.DISMISSED,
    "archive": NotificationStatus.ARCHIVED,
}
_HIDDEN = {"payload", "metadata", "last_delivery_error"}
"""What the model never sees of a row (signals.md IT3, X20, 5.14)."""

DESCRIPTION = (
    "Look after this thread's notifications of outside events. `list` shows the unread ones and "
    "marks them seen; `search` looks through all of them for `query`; `read` has the full text of "
    "one (`id`) or of all unread ones sent to you; `markSeen`, `dismiss` and `archive` clear one "
    "by its `id`."
)


class InboxRequest(BaseModel):
    """What the model asks of the inbox (signals.md 2.11)."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid")

    action: Literal["list", "read", "markSeen", "dismiss", "archive", "search"]
    id: str | None = Field(default=None, description="A notification's id")
    status: NotificationStatus | None = Field(default=None, description="Only with this status")
    priority: Priority | None = Field(default=None, description="Only with this priority")
    source: str | None = Field(default=None, description="Only from this source, such as github")
    query: str | None = Field(default=None, description="Words to search for")
    limit: int = Field(default=PAGE, ge=1, le=LONGEST_PAGE)
    thread_id: str | None = Field(
        default=None, description="Leave it out: the inbox is that of this thread"
    )

    @model_validator(mode="after")
    def _complete(self) -> "InboxRequest":
        if self.action == "search" and not (self.query or "").strip():
            raise ValueError("search needs a query")
        if self.action in _MARKS and not (self.id or "").strip():
            raise ValueError(f"{self.action} needs the id of a notification")
        return self


class InboxTool:
    """Answers the model's requests; bound to the thread of the run that asks."""

    def __init__(self, store: NotificationStore) -> None:
        """Keep the store."""
        self._store = store

    async def answer(self, request: InboxRequest, context: ToolContext) -> dict[str, Any]:
        """Do what was asked.

        Raises:
            InvalidInput: there is no thread, another thread was named, or a move is not legal.
            Unknown: the thread's inbox has no notification of that id.
        """
        key = _own_thread(request, context)
        match request.action:
            case "list" | "search":
                return await self._page(key, request)
            case "read":
                return await self._read(key, request, context)
            case "markSeen" | "dismiss" | "archive":
                return await self._mark(key, request)

    async def _page(self, key: ThreadKey, request: InboxRequest) -> dict[str, Any]:
        found = await self._store.inbox(key, _filter(request, extra=1))
        page = found[: request.limit]
        seen = await self._see(key, page)
        return {
            "notifications": [_shown(seen.get(row.id, row)) for row in page],
            "hasMore": len(found) > request.limit,
            "markedSeen": len(seen),
        }

    async def _see(self, key: ThreadKey, rows: list[Notification]) -> dict[str, Notification]:
        """Mark the unread rows seen in one step; a page is still shown when that fails (IT5)."""
        unread = tuple(row.id for row in rows if row.status in _UNREAD)
        if not unread:
            return {}
        try:
            seen = await self._store.mark(key, unread, NotificationStatus.SEEN)
        except InterlockError:
            return {}
        return {row.id: row for row in seen}

    async def _mark(self, key: ThreadKey, request: InboxRequest) -> dict[str, Any]:
        marked = await self._store.mark(key, (request.id or "",), _MARKS[request.action])
        if not marked:
            raise Unknown(f"notification {request.id} is not in the inbox of this thread")
        return {"notification": _shown(marked[0])}

    async def _read(
        self, key: ThreadKey, request: InboxRequest, context: ToolContext
    ) -> dict[str, Any]:
        """Have the full texts sent to the thread; what they say is not in the answer (IT7)."""
        if request.id is not None:
            rows = [await self._store.notification(key, request.id)]
        else:
            rows = await self._store.inbox(key, _filter(request))
        unread = [row for row in rows if row.status in _UNREAD]
        waiting = [row for row in unread if row.status is NotificationStatus.PENDING]
        sent = [row for row in waiting if await self._send(row, context.now or row.updated_at)]
        told = [row for row in unread if row not in waiting or row in sent]
        seen = await self._see(key, told)
        return {
            "message": _message(len(sent)),
            "delivered": len(sent),
            "markedSeen": len(seen),
            "unavailable": len(waiting) - len(sent),
            "alreadyRead": len(rows) - len(unread),
        }

    async def _send(self, row: Notification, now: datetime) -> bool:
        # The same key as the courier's: whoever is first tells it, the other finds nothing.
        accepted = await self._store.tell(tell_fully(row, full_signal(row, now)))
        return accepted is not None and accepted.action != "discard"


def inbox_tool(store: NotificationStore) -> Tool:
    """Return the tool `notification_inbox` over this store."""
    schema = InboxRequest.model_json_schema(by_alias=True)
    schema.pop("title", None)
    return Tool(
        id="notification_inbox",
        description=DESCRIPTION,
        parameters=schema,
        execute=InboxTool(store).answer,
        validator=TypeAdapter(InboxRequest),
        idempotent=True,
    )


def _own_thread(request: InboxRequest, context: ToolContext) -> ThreadKey:
    if context.thread is None:
        raise InvalidInput("there is no thread here, so there is no inbox")
    # The model names what it read somewhere: another thread is not its to open (IT1).
    if request.thread_id not in (None, "", context.thread.thread_id):
        raise InvalidInput("only the inbox of this thread can be read: leave threadId out")
    return context.thread


def _filter(request: InboxRequest, extra: int = 0) -> InboxFilter:
    """Return what to look for: the unread rows, or with a search those of every status (IT6)."""
    unread = () if request.action == "search" else _UNREAD
    return InboxFilter(
        statuses=unread if request.status is None else (request.status,),
        priorities=() if request.priority is None else (request.priority,),
        source=request.source,
        search=request.query if request.action == "search" else None,
        limit=request.limit + extra,
    )


def _shown(row: Notification) -> dict[str, Any]:
    return row.model_dump(mode="json", exclude=_HIDDEN, exclude_none=True)


def _message(count: int) -> str:
    if count == 0:
        return "Nothing unread needed to be delivered."
    noun = "notification" if count == 1 else "notifications"
    return f"{count} {noun} will be delivered to this thread."
