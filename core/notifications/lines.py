"""Lines: text of strangers made fit for one line of a card or a prompt."""

import re
import unicodedata

_HIDDEN = frozenset(
    "\u00ad\u061c\u200b\u200e\u200f\u2028\u2029\u2060\u2061\u2062\u2063\u2064\ufeff"
)
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_REFUSED = frozenset({"Cc", "Cs", "Cn", "Co"})
_SPACES = re.compile(r"\s+")


def one_line(text: str, limit: int = 200) -> str:
    """Return the text on one line of at most `limit` characters, without what cannot be seen.

    Control, bidirectional and zero-width characters go (reliability.md T11); joiners stay, since
    emoji and some scripts are written with them. Nothing is escaped: whoever renders does that.
    """
    # Cut first: the rest of a text of megabytes is not worth looking at.
    spaced = _SPACES.sub(" ", text[: 4 * limit])
    shown = "".join(character for character in spaced if _is_shown(character)).strip()
    return shown if len(shown) <= limit else f"{shown[: limit - 1].rstrip()}…"


def _is_shown(character: str) -> bool:
    if character in _HIDDEN or character in _BIDI:
        return False
    return unicodedata.category(character) not in _REFUSED
