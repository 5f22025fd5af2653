"""Redaction: secrets taken out of any text by their shape, whatever words stand around them."""

import re

SHAPES = re.compile(
    r"xox[abeprs]-[\w-]{8,}|xapp-[\w-]{8,}|gh[pousr]_\w{16,}|github_pat_\w{16,}"
    r"|(?<![\w-])sk-[\w-]{12,}|AIza[\w-]{20,}|[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}"
    r"|https://hooks\.slack(?:-gov)?\.com/\S+"
    r"|https://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/webhooks/\S+"
)
HIDDEN = "[secret]"


def redact_text(text: str) -> str:
    """Return the text with every known token shape replaced by `[secret]` (PB-040, PB-089)."""
    # The whole match goes: a secret with its end cut off is still a secret.
    return SHAPES.sub(HIDDEN, text)
