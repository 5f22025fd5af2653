"""Signatures: what a sender computes over the raw bytes of a request, compared in constant time."""

import hashlib
import hmac


def hmac_sha256_hex(secret: bytes, message: bytes) -> str:
    """Return the lower-case hex HMAC-SHA256 of the message under the secret."""
    return hmac.new(secret, message, hashlib.sha256).hexdigest()


def same_digest(a: str, b: str) -> bool:
    """Say whether two digests are equal, in a time that tells nothing about where they differ.

    Either side may be any text a stranger sent: non-ASCII characters are compared as bytes, since
    `hmac.compare_digest` raises on them.
    """
    return hmac.compare_digest(a.encode("utf-8", "replace"), b.encode("utf-8", "replace"))
