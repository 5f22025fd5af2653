"""Verifier: Slack's signature over the raw bytes, before anything is parsed.

slack-bolt parses first and raises on hostile headers (reliability.md 0.2); this stands in front.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from multidict import CIMultiDictProxy

from adapters.shared.signatures import hmac_sha256_hex, same_digest

TOLERANCE = 300
"""Seconds our clock and the timestamp may differ, either way (reliability.md 1.1)."""

_TIMESTAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")


def signature_of(secret: bytes, timestamp: int, raw: bytes) -> str:
    """Return the header value Slack sends for these bytes."""
    return f"v0={hmac_sha256_hex(secret, b'v0:%d:' % timestamp + raw)}"


def timestamp_of(headers: CIMultiDictProxy[str], *, now: datetime) -> int | None:
    """Return the signed timestamp, or None when it is malformed or too far from now."""
    text = _only(headers.getall("X-Slack-Request-Timestamp", ()), _TIMESTAMP)
    if text is None or abs(now.timestamp() - int(text)) > TOLERANCE:
        return None
    # Slack signs the digits it sends; leading zeros would be somebody else's.
    return int(text) if str(int(text)) == text else None


def is_genuine(headers: CIMultiDictProxy[str], raw: bytes, *, secret: bytes, now: datetime) -> bool:
    """Say whether Slack signed these bytes within the last five minutes; never raises."""
    timestamp = timestamp_of(headers, now=now)
    signature = _only(headers.getall("X-Slack-Signature", ()), _SIGNATURE)
    if timestamp is None or signature is None or not secret:
        return False
    return same_digest(signature, signature_of(secret, timestamp, raw))


def _only(values: Sequence[str], shape: re.Pattern[str]) -> str | None:
    """Return the one value of a header when there is one and it has its shape."""
    # Two values of one header: a proxy and we might each believe a different one.
    return values[0] if len(values) == 1 and shape.fullmatch(values[0]) else None
