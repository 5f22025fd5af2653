"""Text: what a person wrote in Slack, as a model can read it; pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

Json = dict[str, Any]

_TOKEN = re.compile(r"<([^<>\n]+)>")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}
_BROKEN = re.compile("[\x00\ud800-\udfff]")
_GAP = re.compile(r"[ \t]{2,}")
_DEEPEST = 12
"""Nesting of blocks that is still read; Slack's own composer stays below six."""


def mentions(text: str, user: str) -> bool:
    """Say whether the raw text of a message mentions the user; typed `&lt;@U1&gt;` does not."""
    return f"<@{user}>" in text or f"<@{user}|" in text


def read_text(raw: str, *, bot_user: str) -> str:
    """Return Slack's markup as plain text: links and mentions readable, entities decoded once.

    The bot's own mention is left out; other people stay ids (`@U123`), which are what a model
    must write to reach them (cases PB-010).
    """
    # Tokens first: what a person typed as &lt;@U1&gt; must not become one by decoding.
    spelled = _TOKEN.sub(lambda token: _spell(token[1], bot_user), _clean(raw))
    return "\n".join(_decode(line).strip(" \t") for line in spelled.split("\n")).strip()


def read_message(event: Json, *, bot_user: str) -> str:
    """Return all that a message says: its text, else its blocks; what it forwards; its files."""
    text = read_text(str(event.get("text") or ""), bot_user=bot_user)
    parts = [text or read_text(_blocks_text(event), bot_user=bot_user)]
    for attachment in _dicts(event.get("attachments")):
        forwarded = attachment.get("is_share") or attachment.get("is_msg_unfurl")
        # Previews of links are attachments as well, and say nothing their author wrote.
        if forwarded or not text:
            parts.append(_read_attachment(attachment, bot_user))
    parts += [f"[file: {_clean(_file_name(file))}]" for file in _dicts(event.get("files"))]
    return "\n".join(part for part in parts if part)


def blocks_mention(event: Json, user: str) -> bool:
    """Say whether a message without text mentions the user in its blocks."""
    return mentions(_blocks_text(event), user)


def _clean(text: str) -> str:
    # A NUL or half a surrogate pair could be read but never stored (reliability.md, stage 1).
    return _BROKEN.sub("\ufffd", text)


def _spell(token: str, bot_user: str) -> str:
    target, _, label = token.partition("|")
    kind, name = target[:1], target[1:]
    # Every message to us would begin with it, and the model knows who it is.
    if target == f"@{bot_user}":
        return " "
    if kind == "@":
        return f"@{name}"
    if kind == "#":
        return f"#{label} ({name})" if label else f"#{name}"
    if kind == "!":
        return _spell_special(name, label)
    return _spell_link(target, label)


def _spell_special(name: str, label: str) -> str:
    if name.startswith("subteam^"):
        return f"@{name.removeprefix('subteam^')}"
    if name.startswith("date^"):
        return label
    return f"@{name}"


def _spell_link(target: str, label: str) -> str:
    address = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (target, address):
        return address
    return f"{label} ({target})"


def _decode(line: str) -> str:
    return _ENTITY.sub(lambda entity: _CHARACTERS[entity[1]], _GAP.sub(" ", line))


def _read_attachment(attachment: Json, bot_user: str) -> str:
    text = str(attachment.get("text") or "") or _blocks_text(attachment)
    body = read_text(text or str(attachment.get("fallback") or ""), bot_user=bot_user)
    author = read_text(str(attachment.get("author_name") or ""), bot_user=bot_user)
    return f"Forwarded from {author}: {body}" if author and body else body


def _file_name(file: Json) -> str:
    return str(file.get("name") or file.get("title") or file.get("id") or "without a name")


def _blocks_text(owner: Json) -> str:
    blocks = list(_dicts(owner.get("blocks")))
    for shared in _dicts(owner.get("message_blocks")):
        message = shared.get("message")
        blocks += _dicts(message.get("blocks")) if isinstance(message, dict) else []
    return "\n".join("".join(_pieces(block, 0)) for block in blocks).strip()


def _pieces(node: Json, depth: int) -> Iterator[str]:
    """Yield the readable pieces of a block in Slack's own markup, whatever its type."""
    if depth > _DEEPEST:
        return
    yield from _own_pieces(node)
    for name in ("text", "title"):
        if isinstance(node.get(name), dict):
            yield from _pieces(node[name], depth + 1)
    for name in ("elements", "fields"):
        for child in _dicts(node.get(name)):
            yield from _pieces(child, depth + 1)
            yield "\n" if _ends_line(child) else ""


def _own_pieces(node: Json) -> Iterator[str]:
    match node.get("type"):
        case "user" | "usergroup":
            yield f"<@{node.get('user_id') or node.get('usergroup_id')}>"
        case "channel":
            yield f"<#{node.get('channel_id')}>"
        case "broadcast":
            yield f"<!{node.get('range')}>"
        case "emoji":
            yield f":{node.get('name')}:"
        case "link":
            yield f"<{node.get('url')}|{node.get('text') or ''}>"
        case _ if isinstance(node.get("text"), str):
            yield str(node["text"])


def _ends_line(node: Json) -> bool:
    kind = str(node.get("type"))
    return kind.startswith("rich_text_") or kind in {"mrkdwn", "plain_text"}


def _dicts(value: object) -> Iterable[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
