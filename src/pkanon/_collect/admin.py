"""The token of whoever runs a survey: random, kept as a hash, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from .._errors import InputError, RefusedError

LEAST_CHARACTERS = 20


@dataclass(frozen=True)
class AdminToken:
    """What a service knows of its token: the SHA-256."""

    digest: bytes

    @classmethod
    def of(cls, token: str) -> AdminToken:
        """What is kept of a token."""
        return cls(hashlib.sha256(token.encode()).digest())

    def fits(self, token: str) -> bool:
        """Whether somebody has given this token; takes the same time for every wrong one."""
        return hmac.compare_digest(hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest(), self.digest)


def new_token() -> str:
    """A token of 256 bits."""
    return secrets.token_urlsafe(32)


def read_token(path: str | Path) -> str:
    """The token in a file that only its owner can read."""
    try:
        mode = os.stat(path).st_mode
        token = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"Cannot read the admin token in {path}.") from None
    if stat.S_IMODE(mode) & 0o077:
        raise RefusedError(f"{path} can be read by others; make it private first: chmod 600 {path}")
    if len(token) < LEAST_CHARACTERS or not token.isascii() or len(token.split()) != 1:
        raise InputError(
            f"The admin token in {path} must be one word of at least {LEAST_CHARACTERS} ASCII characters; make one with "
            "openssl rand -hex 32."
        )
    return token
