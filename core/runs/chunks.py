"""Chunks: what subscribers see of a run while it goes (agent.md 2.2)."""

from typing import Any, Literal

from pydantic import Field

from core.records import Record


class Chunk(Record):
    """One piece of a run's stream.

    `type` is a word of agent.md 2.2, such as `text-delta` or `tool-call-suspended`; `payload`
    holds that word's fields in camelCase. Signals that enter the thread are echoed as
    `data-user-message` and `data-signal` (signals.md C10).
    """

    type: str
    run_id: str | None = None
    origin: Literal["AGENT", "USER", "SYSTEM", "WORKFLOW", "NETWORK"] = Field(
        default="AGENT", alias="from"
    )
    payload: dict[str, Any] = Field(default_factory=dict)
