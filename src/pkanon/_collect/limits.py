"""Limits on what one visitor may ask for.

Rate limits remember nobody: they live in memory, by a keyed hash of the address whose key changes every hour.
The key is drawn at random, is never written anywhere, and every change of it forgets all counts. An IPv6 address counts as
its network of 64 bits, which is what one household gets.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

HOUR = 3_600.0
PER_MINUTE = 120
"""Answers, or claims, a minute from one address: a school class behind one router, not a flood."""
BODY_PATIENCE = 15.0
"""Seconds in which a body must have arrived."""
REQUEST_PATIENCE = 15.0
"""Seconds in which a connection must have sent the head of a request."""
MOST_CONNECTIONS = 900
"""Connections at one time; a process may often open no more than 1,024 files."""
MOST_ADDRESSES = 200_000


class RateLimit:
    """At most ``per_minute`` requests a minute from one address, and as many at once; None for no limit."""

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = None if per_minute is None else per_minute / 60
        self._most = per_minute or 0
        self._clock = clock
        self._salt, self._since = os.urandom(16), clock()
        self._left: dict[bytes, tuple[float, float]] = {}

    def wait(self, address: str) -> int:
        """Count a request: 0 if it may pass, else how many seconds to wait."""
        if self._rate is None:
            return 0
        now = self._clock()
        if now - self._since >= HOUR or len(self._left) >= MOST_ADDRESSES:
            self._salt, self._since, self._left = os.urandom(16), now, {}
        name = hashlib.blake2b(network(address).encode(), digest_size=16, key=self._salt).digest()
        left, then = self._left.get(name, (float(self._most), now))
        left = min(float(self._most), left + (now - then) * self._rate)
        if left < 1:
            self._left[name] = (left, now)
            return max(1, int((1 - left) / self._rate) + 1)
        self._left[name] = (left - 1, now)
        return 0


def forwarded_address(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The address that the nearest proxy has added: the last one of the last X-Forwarded-For line; empty if there is none.

    What stands before it, in the same line or in another one, was sent by the visitor.
    """
    lines = [value for name, value in headers if name.lower() == b"x-forwarded-for"]
    return lines[-1].decode("latin-1").rpartition(",")[2].strip() if lines else ""


def visitor(scope: Mapping[str, Any], *, behind_proxy: bool) -> str:
    """The address that an ASGI request counts for."""
    forwarded = forwarded_address(scope["headers"]) if behind_proxy else ""
    client = scope.get("client")
    return forwarded or ("" if client is None else str(client[0]))


def network(address: str) -> str:
    """The address, or the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)
