"""An answer on the wire: the chunks of a stream, or one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.loopback.model.script import Call, Say

Chunk = dict[str, Any]


def deltas(say: Say) -> Iterator[Chunk]:
    """Yield the deltas of an answer: role, reasoning, text, then each call in pieces."""
    yield {"role": "assistant", "content": ""}
    if say.reasoning:
        yield {"reasoning_content": say.reasoning}
    for piece in pieces_of_text(say.text):
        yield {"content": piece}
    for position, call in enumerate(say.calls):
        yield from _call_deltas(call, position)


def pieces_of_text(text: str | list[str]) -> list[str]:
    """Return the chunks of a text: as given, or word by word with its space."""
    return text if isinstance(text, list) else re.findall(r"\S+\s*|\s+", text)


def _call_deltas(call: Call, position: int) -> Iterator[Chunk]:
    index = position if call.index is None else call.index
    function = {"name": call.name, "arguments": ""}
    head = {"index": index, "type": "function", "function": function, **identity(call, position)}
    yield {"tool_calls": [head]}
    for piece in _split(call.text(), call.pieces):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def identity(call: Call, position: int) -> dict[str, str]:
    """Return the call's id, where it has one."""
    if call.id is None:
        return {}
    return {"id": f"call_loop_{position}" if call.id == "auto" else call.id}


def _split(text: str, pieces: int) -> list[str]:
    size = max(1, -(-len(text) // pieces))
    return [text[start : start + size] for start in range(0, len(text), size)]


def finish_of(say: Say) -> str:
    """Return why the answer ends."""
    return say.finish or ("tool_calls" if say.calls else "stop")


def usage_of(say: Say) -> dict[str, int]:
    """Return the token counts."""
    prompt, completion = say.usage
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def chunk(answer_id: str, model: str, **fields: Any) -> Chunk:
    """Return one event of a stream."""
    head = {"id": answer_id, "object": "chat.completion.chunk", "created": 1_700_000_000}
    return {**head, "model": model, **fields}


def document(answer_id: str, model: str, say: Say) -> Chunk:
    """Return the whole answer as one document."""
    message: Chunk = {"role": "assistant", "content": "".join(pieces_of_text(say.text)) or None}
    if say.calls:
        message["tool_calls"] = [
            {
                "type": "function",
                "function": {"name": call.name, "arguments": call.text()},
                **identity(call, position),
            }
            for position, call in enumerate(say.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": finish_of(say)}
    head = {"id": answer_id, "object": "chat.completion", "created": 1_700_000_000}
    return {**head, "model": model, "choices": [choice], "usage": usage_of(say)}
