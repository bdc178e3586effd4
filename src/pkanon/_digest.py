"""One canonical text for a JSON value, so that a digest means the same everywhere.

Sorted keys, no spaces, UTF-8, no floats: exact numbers travel as strings, because JavaScript and R
read JSON numbers as doubles.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical(value: Any) -> bytes:
    """The UTF-8 JSON text of ``value`` with sorted keys and no spaces."""
    _refuse_floats(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value: Any) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise TypeError("a canonical JSON value holds no floats; write the number as a string")
    if isinstance(value, dict):
        for item in value.values():
            _refuse_floats(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_floats(item)
