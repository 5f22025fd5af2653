"""Markup: what the model wrote, as Slack may show it; pure.

`&`, `<` and `>` are Slack's only control characters, and only they are escaped: nothing a model
writes can ping anybody (cases PB-052), and nothing gets a backslash (PB-053).
"""

import re
from collections.abc import Callable, Iterator

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_BROKEN = re.compile("[\x00\ud800-\udfff]")
_QUOTE = re.compile(r"^ {0,3}(?:> ?)+")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^\s<>|]+)>")
_LINK = re.compile(r"(!?)\[([^\[\]\n]*)\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s[^()\n]*)?\)")
_SAFE_TARGET = re.compile(r"(?:https?://|mailto:)[^\s|]+", re.IGNORECASE)
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$")
_BULLET = re.compile(r"^(\s*)[-*+]\s+(?=\S)")
_BOLD = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_ITALIC = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_STRUCK = re.compile(r"~~(?=\S)([^~\n]+?)(?<=\S)~~")
_BOLD_MARK = "\x01"


def clean(text: str) -> str:
    """Replace what JSON or a store could not carry: NUL and halves of surrogate pairs."""
    return _BROKEN.sub("\ufffd", text)


def escape(text: str) -> str:
    """Return the text with Slack's three control characters as entities."""
    return clean(text).translate(_ESCAPES)


def escape_markdown(text: str) -> str:
    """Return markdown for a `markdown` block: a quote's leading `>` stays, all else is escaped.

    Only http, https and mailto targets stay links.
    """
    return "\n".join(_outside_code(clean(text), _escape_line, escape))


def to_mrkdwn(escaped: str) -> str:
    """Return escaped markdown in Slack's older mrkdwn, which sections show; never longer."""
    return "\n".join(_outside_code(escaped, _mrkdwn_line, _mrkdwn_code))


def _outside_code(
    text: str, prose: Callable[[str], str], code: Callable[[str], str]
) -> Iterator[str]:
    """Yield each line through `prose`, or through `code` where it belongs to a fence."""
    closer = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        # Inside a fence only its own kind of line, at least as long, ends it.
        if closer:
            yield code(line)
            ends = fence and line.strip() == fence[1] and fence[1].startswith(closer)
            closer = "" if ends else closer
        elif fence:
            yield code(line)
            closer = fence[1]
        else:
            yield prose(line)


def _escape_line(line: str) -> str:
    quote = _QUOTE.match(line)
    lead = quote[0] if quote else ""
    return lead + _around_code(line[len(lead) :], _escape_prose, escape)


def _around_code(line: str, prose: Callable[[str], str], code: Callable[[str], str]) -> str:
    done, end = [], 0
    for span in _CODE.finditer(line):
        done += [prose(line[end : span.start()]), code(span[0])]
        end = span.end()
    return "".join([*done, prose(line[end:])])


def _escape_prose(text: str) -> str:
    return escape(_LINK.sub(_only_safe, _AUTOLINK.sub(r"\1", text)))


def _only_safe(link: re.Match[str]) -> str:
    if _SAFE_TARGET.fullmatch(link[3]):
        return link[0]
    return f"{link[2]} ({link[3]})"


def _mrkdwn_code(line: str) -> str:
    # mrkdwn knows no info string: it would show as the first line of the code.
    fence = _FENCE.match(line)
    return "```" if fence else line


def _mrkdwn_line(line: str) -> str:
    heading = _HEADING.match(line)
    if heading:
        bare = heading[1].replace("**", "").strip("* ")
        return f"*{bare}*" if bare else ""
    return _around_code(_BULLET.sub(r"\1• ", line), _mrkdwn_prose, str)


def _mrkdwn_prose(text: str) -> str:
    # Bold is marked apart, or the single asterisks it becomes would be read as italics.
    text = _BOLD.sub(rf"{_BOLD_MARK}\1{_BOLD_MARK}", text)
    text = _STRUCK.sub(r"~\1~", _ITALIC.sub(r"_\1_", text))
    return _LINK.sub(_mrkdwn_link, text).replace(_BOLD_MARK, "*")


def _mrkdwn_link(link: re.Match[str]) -> str:
    if not _SAFE_TARGET.fullmatch(link[3]) or not link[2].strip():
        return link[0]
    return f"<{link[3]}|{link[2]}>"
