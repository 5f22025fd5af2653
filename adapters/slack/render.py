"""Render: replies, notices and cards as Slack messages, whatever their length; pure.

Lengths are those of channels.md 2.1, counted in UTF-16 units of the escaped text, so that no way
of counting finds them too long.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.shared.splitting import byte_size, cut, split_markdown, utf16_size
from adapters.slack.interactions import Verb, action_id
from adapters.slack.markup import escape, escape_markdown, to_mrkdwn
from core.conversation import Button, Card, DigestCard, Notice, Outgoing, Reply

Json = dict[str, Any]

REPLY_PIECE = 11_500
"""Of a `markdown` block, which takes 12,000; one a message, so the whole stays under 13,000."""
FALLBACK_BYTES = 3_500
"""Of the plain text beside the blocks: `chat.update` refuses 4,000 bytes."""
SECTION = 3_000
MOST_SECTIONS = 45
HEADER = 150
CONTEXT = 2_000
BUTTON = 75
WAITING = "waiting"

_VERBS: dict[str, Verb] = {"approve": "approve", "reject": "reject", "stop": "stop"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One Slack message: its blocks, and the text that notifications and old clients show."""

    text: str
    blocks: tuple[Json, ...] = ()


def render(payload: Outgoing) -> tuple[Part, ...]:
    """Return the messages of a payload, at least one; only a reply may need several."""
    match payload:
        case Reply():
            return render_reply(payload)
        case Notice():
            return (Part(text=_fallback(payload.text)),)
        case Card():
            return (render_card(payload),)
        case DigestCard():
            return (render_digest(payload),)


def render_reply(reply: Reply) -> tuple[Part, ...]:
    """Return a reply as `markdown` blocks, one a message, cut between paragraphs where possible."""
    pieces = split_markdown(escape_markdown(reply.text), REPLY_PIECE, size=utf16_size)
    if not pieces:
        return (Part(text="(an empty reply)"),)
    return tuple(
        Part(text=_cut_escaped(piece), blocks=({"type": "markdown", "text": piece},))
        for piece in pieces
    )


def render_card(card: Card) -> Part:
    """Return a plan or question with its state; it has buttons only while it waits."""
    title = _line(card.title) or "A plan"
    body = split_markdown(escape_markdown(card.body), SECTION, size=utf16_size)
    # Fifty blocks are the limit of a message; header, note and buttons need the rest.
    shown, hidden = body[:MOST_SECTIONS], body[MOST_SECTIONS:]
    blocks = [_header(title), *map(_section, shown)]
    if hidden:
        blocks.append(_context(f"… and {_line_count(hidden)} more lines that do not fit here."))
    blocks += [*_state(card), *_actions(card)]
    summary = f"{title}\n{card.note or card.body}"
    return Part(text=_fallback(summary), blocks=tuple(blocks))


def render_digest(digest: DigestCard) -> Part:
    """Return a digest: one bullet for each object, and how many more there are."""
    title = _line(digest.title) or "Digest"
    lines = [_bullet(line) for line in digest.lines]
    sections = list(_packed(lines))
    shown = sections[:MOST_SECTIONS]
    more = digest.more + sum(map(len, sections[MOST_SECTIONS:]))
    blocks = [_header(title), *(_mrkdwn_section("\n".join(group)) for group in shown)]
    if more:
        blocks.append(_context(f"… and {more} more."))
    summary = "\n".join([title, *digest.lines])
    return Part(text=_fallback(summary), blocks=tuple(blocks))


def _fallback(text: str) -> str:
    return _cut_escaped(escape(text)) or "…"


def _cut_escaped(escaped: str) -> str:
    return cut(escaped, FALLBACK_BYTES, size=byte_size)


def _header(title: str) -> Json:
    text = cut(escape(title), HEADER, size=utf16_size)
    return {"type": "header", "text": {"type": "plain_text", "text": text}}


def _section(piece: str) -> Json:
    return _mrkdwn_section(to_mrkdwn(piece))


def _mrkdwn_section(text: str) -> Json:
    # Slack refuses an empty text, and a piece may have been nothing but a mark.
    return {"type": "section", "text": {"type": "mrkdwn", "text": text.strip("\n") or "…"}}


def _context(text: str) -> Json:
    # Cut after escaping: an entity is five characters to Slack.
    short = cut(escape(text), CONTEXT, size=utf16_size)
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": short}]}


def _state(card: Card) -> Iterator[Json]:
    line = _line(card.note or "")
    if not line and card.state != WAITING:
        line = card.state.replace("_", " ").capitalize()
    if card.version > 1:
        line = f"Version {card.version}. {line}".strip()
    if line:
        yield _context(line)


def _actions(card: Card) -> Iterator[Json]:
    if card.state == WAITING and card.buttons:
        elements = [_button(card.token, button) for button in card.buttons]
        yield {"type": "actions", "elements": elements}


def _button(token: str, button: Button) -> Json:
    text = cut(escape(_line(button.label)) or button.action, BUTTON, size=utf16_size)
    element: Json = {
        "type": "button",
        "action_id": action_id(token, _VERBS[button.action]),
        "value": token,
        "text": {"type": "plain_text", "text": text},
    }
    return element if button.style == "default" else {**element, "style": button.style}


def _bullet(line: str) -> str:
    return f"• {to_mrkdwn(cut(escape_markdown(_line(line)), 2_900, size=utf16_size))}"


def _packed(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines in groups that fit one section each."""
    group: list[str] = []
    for line in lines:
        if group and utf16_size("\n".join([*group, line])) > SECTION:
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _line_count(pieces: Sequence[str]) -> int:
    return sum(piece.count("\n") + 1 for piece in pieces)


def _line(text: str) -> str:
    return " ".join(text.split())
