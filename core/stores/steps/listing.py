"""Listing: the reads that show threads, runs, histories and texts."""

from core.ids import ThreadKey
from core.runs.run import Call, Document, Run
from core.runs.store import RunFilter
from core.stores.steps.heads import get_thread
from core.stores.tables import Cell, Query, Tables
from core.threads.store import ThreadFilter
from core.threads.thread import Binding, HistoryRow, Thread


def threads(tables: Tables, wanted: ThreadFilter) -> list[Thread]:
    """Return threads, the most recently used first."""
    named: dict[str, Cell] = {"resource_id": wanted.resource_id, "agent_id": wanted.agent_id}
    return tables.threads.find(
        Query(equals=_given(named), order=("-updated_at",), limit=wanted.limit)
    )


def history(tables: Tables, key: ThreadKey, after: int, limit: int) -> list[HistoryRow]:
    """Return rows above a sequence, in order; the owner is checked first (agent.md 4.13)."""
    # The owner is checked first: a thread id alone opens nothing (agent.md 4.13).
    get_thread(tables, key)
    query = Query(
        equals={"thread_id": key.thread_id},
        above={"sequence": after},
        order=("sequence",),
        limit=limit,
    )
    return tables.history.find(query)


def newest(tables: Tables, key: ThreadKey, limit: int) -> list[HistoryRow]:
    """Return the newest rows, in order."""
    get_thread(tables, key)
    query = Query(equals={"thread_id": key.thread_id}, order=("-sequence",), limit=limit)
    return tables.history.find(query)[::-1]


def bindings(tables: Tables, thread_id: str) -> list[Binding]:
    """Return a thread's conversations, oldest first."""
    return tables.bindings.find(Query(equals={"thread_id": thread_id}, order=("created_at",)))


def runs(tables: Tables, wanted: RunFilter) -> list[Run]:
    """Return runs, the newest first."""
    named: dict[str, Cell] = {
        "thread_id": wanted.thread_id,
        "status": wanted.status.value if wanted.status else None,
        "agent_id": wanted.agent_id,
    }
    return tables.runs.find(Query(equals=_given(named), order=("-created_at",), limit=wanted.limit))


def calls(tables: Tables, run_id: str, step: int | None) -> list[Call]:
    """Return the calls of a run, or of one step, in order."""
    equals = _given({"run_id": run_id, "step": step})
    return tables.calls.find(Query(equals=equals, order=("step", "position")))


def document(tables: Tables, key: ThreadKey, path: str) -> Document | None:
    """Return a text that a tool wrote on this thread."""
    get_thread(tables, key)
    return tables.documents.get(key.thread_id, path)


def documents(tables: Tables, key: ThreadKey, kind: str | None) -> list[Document]:
    """Return the thread's texts, oldest first."""
    get_thread(tables, key)
    equals = _given({"thread_id": key.thread_id, "kind": kind})
    return tables.documents.find(Query(equals=equals, order=("created_at",)))


def _given(named: dict[str, Cell]) -> dict[str, Cell | tuple[Cell, ...]]:
    return {name: value for name, value in named.items() if value is not None}
