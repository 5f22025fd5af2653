"""Ids: the types that keep a thread's id from being passed where a run's is meant."""

import uuid
from dataclasses import dataclass
from typing import NewType

from typing_extensions import override

AgentId = NewType("AgentId", str)
ThreadId = NewType("ThreadId", str)
ResourceId = NewType("ResourceId", str)
RunId = NewType("RunId", str)
SignalId = NewType("SignalId", str)
ToolCallId = NewType("ToolCallId", str)
Token = NewType("Token", str)
"""Opaque name of a suspension; the only thing a button carries."""


@dataclass(frozen=True, slots=True, order=True)
class ThreadKey:
    """Names a thread together with its owner, as every store query does (agent.md Y4, Y5).

    `resource_id` owns the thread for ever; `thread_id` is unique in the whole store.
    """

    resource_id: ResourceId
    thread_id: ThreadId

    @override
    def __str__(self) -> str:
        """Show the key as people read it in logs: `resource/thread`."""
        return f"{self.resource_id}/{self.thread_id}"


def thread_key(resource_id: str, thread_id: str) -> ThreadKey:
    """Build a ThreadKey from plain strings, at the seams where ids arrive untyped."""
    return ThreadKey(ResourceId(resource_id), ThreadId(thread_id))


def new_id(prefix: str) -> str:
    """Return a fresh, unguessable id such as `run_4f2a...`: the prefix and 128 random bits."""
    return f"{prefix}_{uuid.uuid4().hex}"


def escape_part(part: str) -> str:
    """Percent-escape the characters that join parts of an id, so that no two lists of parts meet.

    `%`, `:` and `/` are escaped; all else stays readable (cases PB-049).
    """
    # `%` first, or the escapes would be escaped again.
    return part.replace("%", "%25").replace(":", "%3A").replace("/", "%2F")
