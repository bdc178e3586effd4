"""One answer as it arrives: bytes in, a key and a record out, or a refusal.

Everything is checked before anything is stored: the form to the last key, the survey, the domain of every code, and the
combinations that the schema forbids. Refusals have a code that clients translate; messages never quote what was sent.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import _files
from .._plan import Plan
from .store import KEY_BYTES, NO_KEY, Layout

MOST_BYTES = 16_384
TOKEN_BYTES = 32
STATUS = {
    "malformed": 400,
    "token": 403,
    "not_found": 404,
    "method": 405,
    "slow": 408,
    "conflict": 409,
    "closed": 410,
    "too_large": 413,
    "media_type": 415,
    "other_survey": 422,
    "out_of_domain": 422,
    "forbidden_combination": 422,
    "too_many": 429,
    "failed": 500,
    "busy": 503,
    "paused": 503,
    "unauthorised": 401,
}
"""Every code of a refusal, and its HTTP status."""
RETRYABLE = {"slow", "too_many", "busy", "paused", "failed"}


class Refusal(Exception):
    """A request that is not served: a code of STATUS and a sentence."""

    def __init__(self, code: str, message: str, *, wait: int | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.wait = code, message, wait

    @property
    def status(self) -> int:
        return STATUS[self.code]

    def to_json(self) -> dict[str, Any]:
        """The one shape of every error."""
        return {"error": {"code": self.code, "message": self.message, "retry": self.code in RETRYABLE}}


@dataclass(frozen=True)
class Answer:
    """A valid answer."""

    key: bytes
    record: bytes


class Reader:
    """Reads answers to one survey; ``verify`` says whether a signature fits a token, where invitations are needed."""

    def __init__(self, plan: Plan, digest: str, verify: Callable[[bytes, bytes], bool] | None = None) -> None:
        self._layout, self._digest, self._verify = Layout.of(plan), digest, verify
        self._fields = {"survey", "record", *(("key",) if verify is None else ("token", "signature"))}
        names = [attribute.name for attribute in plan.schema.randomised]
        self._rules = [
            ([names.index(name) for name in unit.attributes], unit.allowed) for unit in plan.units if unit.forbid
        ]

    def read(self, body: bytes) -> Answer:
        """The answer in a body."""
        data = read_object(body, self._fields)
        if data["survey"] != self._digest:
            raise Refusal("other_survey", "The answer belongs to another survey, or to another version of this one.")
        key = self._key(data) if self._verify is None else self._token_key(data)
        return Answer(key, self._record(data["record"]))

    def _key(self, data: dict[str, Any]) -> bytes:
        text = data["key"]
        if not isinstance(text, str) or len(text) != 2 * KEY_BYTES or not set(text) <= set("0123456789abcdef"):
            raise Refusal("malformed", "The key must be 32 hexadecimal digits in lower case.")
        key = bytes.fromhex(text)
        if key == NO_KEY:
            raise Refusal("malformed", "The key must be drawn at random; this one is all zeros.")
        return key

    def _token_key(self, data: dict[str, Any]) -> bytes:
        token, signature = read_base64url(data["token"], "token"), read_base64url(data["signature"], "signature")
        if len(token) != TOKEN_BYTES:
            raise Refusal("malformed", f"The token must have {TOKEN_BYTES} bytes.")
        assert self._verify is not None
        if not self._verify(token, signature):
            raise Refusal(
                "token", "The signature does not fit the token; an answer needs an invitation to this survey."
            )
        return hashlib.sha256(token).digest()[:KEY_BYTES]

    def _record(self, codes: object) -> bytes:
        sizes = self._layout.sizes
        if not isinstance(codes, list) or len(codes) != len(sizes) or any(type(code) is not int for code in codes):
            raise Refusal("malformed", f"The record must be a list of {len(sizes)} whole numbers, one per attribute.")
        if any(not 0 <= code < size for code, size in zip(codes, sizes)):
            raise Refusal("out_of_domain", "A code of the record is not one of its attribute's values.")
        for places, allowed in self._rules:
            if not allowed[tuple(codes[place] for place in places)]:
                raise Refusal(
                    "forbidden_combination", "The record holds a combination of values that the survey rules out."
                )
        return self._layout.pack(codes)


def read_object(body: bytes, fields: set[str]) -> dict[str, Any]:
    """The JSON object in a body, with just these fields."""
    try:
        data = _files.parse_json(body.decode("utf-8"))
    except ValueError:
        data = None
    if not isinstance(data, dict) or set(data) != fields:
        raise Refusal(
            "malformed", f"The body must be a JSON object with the fields {', '.join(sorted(fields))}, each once."
        )
    return data


def read_base64url(text: object, name: str) -> bytes:
    """Bytes in base64url without padding."""
    if isinstance(text, str) and text.isascii() and "=" not in text:
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            data = None
        if data is not None and base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text:
            return data
    raise Refusal("malformed", f"The {name} must be base64url without padding.")
