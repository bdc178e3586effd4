"""Rate limits that remember nobody: in memory only, by a keyed hash of the address whose key changes every hour.

The key is drawn at random, is never written anywhere, and every change of it forgets all counts. An IPv6 address counts as
its network of 64 bits, which is what one household gets.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import time
from collections.abc import Callable

HOUR = 3_600.0
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
