"""Keys of dishonest issuers: every e-th root exists, but n has factors that tokens share, and a request shows them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pkanon._collect.tokens import EXPONENT, ROOTS, _challenge, encode, to_text


def primes_from(first: int) -> Iterator[int]:
    """All primes from ``first`` on; good up to 2^64, where twelve bases are enough."""
    return filter(_is_prime, itertools.count(first))


def _is_prime(number: int) -> bool:
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    twos = ((number - 1) & (1 - number)).bit_length() - 1
    for base in bases:
        power = pow(base, (number - 1) >> twos, number)
        if power == 1:
            continue
        for _ in range(twos):
            if power == number - 1:
                break
            power = power * power % number
        else:
            return False
    return True


@dataclass(frozen=True)
class FactoredKey:
    """A key of which all factors are known, each once; every root of its proof is right."""

    factors: tuple[int, ...]

    @cached_property
    def n(self) -> int:
        """The modulus."""
        return math.prod(self.factors)

    @cached_property
    def size(self) -> int:
        """Of the modulus, in bytes."""
        return (self.n.bit_length() + 7) // 8

    @cached_property
    def proof(self) -> tuple[int, ...]:
        """As :func:`pkanon._collect.tokens.prove` makes it; also of numbers that share a factor with n."""
        d = pow(EXPONENT, -1, math.lcm(*(prime - 1 for prime in self.factors)))
        return tuple(pow(_challenge(self.n, i), d, self.n) for i in range(ROOTS))

    def to_json(self) -> dict[str, Any]:
        """As survey.json holds a key."""
        numbers = [to_text(number.to_bytes(self.size, "big")) for number in (self.n, *self.proof)]
        return {"n": numbers[0], "e": to_text(EXPONENT.to_bytes(3, "big")), "proof": numbers[1:]}

    def marked(self, salt: bytes) -> bytes:
        """A token that shares a factor with n."""
        tokens = (i.to_bytes(32, "big") for i in itertools.count())
        bits = self.n.bit_length() - 1
        return next(token for token in tokens if math.gcd(encode(token, bits, salt), self.n) != 1)


def marking_key(first: int, *, proved_by_units: bool = True) -> FactoredKey:
    """A key of 2048 bits: all primes from ``first`` on for which there is room, and one more that fills it.

    If it is not to be proved by units, the last prime is chosen so that a number of the proof shares a factor with n.
    """
    factors: list[int] = []
    n = 1
    for prime in primes_from(first):
        if n.bit_length() > 1990:
            break
        if (prime - 1) % EXPONENT:
            factors.append(prime)
            n *= prime
    keys = (FactoredKey((*factors, last)) for last in primes_from((3 << 2046) // n) if (last - 1) % EXPONENT)
    return next(key for key in keys if _has_units(key.n) == proved_by_units)


def _has_units(n: int) -> bool:
    return all(math.gcd(_challenge(n, i), n) == 1 for i in range(ROOTS))
