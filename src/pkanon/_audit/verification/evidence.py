"""Evidence against honesty: a number whose mean is at most 1 for every honest release.

Such a number is large by chance only rarely: an honest release shows 1/a or more with probability at most a (Markov's
inequality), for every private table and every number of rows, without any approximation. Averages of such numbers are
such numbers again, so that many tests become one with a single false-alarm rate, however the tests depend on each
other. All evidence is kept as its natural logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

FALSE_ALARMS = 1e-6
"""An honest release is called broken by a statistical check with at most this probability."""
NONE = 0.0
"""The logarithm of evidence 1: nothing speaks against honesty."""

Names = tuple[str, ...]
WHOLE_ROWS: Names = ()
"""A test of whole rows instead of some columns."""


@dataclass(frozen=True)
class Evidence:
    """Evidence of several tests, as logarithms, and each one's share in their average.

    A test is known by the columns that it looks at.
    """

    tests: Mapping[Names, float]
    shares: Mapping[Names, float]

    @property
    def total(self) -> float:
        """The logarithm of the average."""
        return weighted([(value, self.shares[names]) for names, value in self.tests.items()])

    @property
    def p_value(self) -> float:
        """Honest releases show as much with at most this probability."""
        return math.exp(-max(self.total, 0.0))

    @property
    def alarming(self) -> bool:
        """Whether honest releases show as much with a probability of at most FALSE_ALARMS."""
        return self.total >= -math.log(FALSE_ALARMS)

    @property
    def culprits(self) -> list[Names]:
        """Which tests raise the alarm, strongest first: each of them would do it alone, with its share."""
        alone = {names: value + math.log(self.shares[names]) for names, value in self.tests.items()}
        found = [names for names, value in alone.items() if value >= -math.log(FALSE_ALARMS)]
        return sorted(found, key=lambda names: -alone[names]) or [max(alone, key=lambda names: alone[names])]


def average(logs: Sequence[float]) -> float:
    """The logarithm of the average of numbers given by their logarithms; of none, it is that of 1."""
    return weighted([(value, 1 / len(logs)) for value in logs])


def weighted(parts: Sequence[tuple[float, float]]) -> float:
    """The logarithm of a weighted sum of numbers given by (logarithm, weight).

    What is not a number is an ArithmeticError: no verdict may rest on it, least of all a good one.
    """
    if any(math.isnan(value) for value, _ in parts):
        raise ArithmeticError("A piece of evidence is not a number.")
    top = max((value for value, _ in parts), default=NONE)
    if math.isinf(top):
        return top
    return top + math.log(sum(weight * math.exp(value - top) for value, weight in parts)) if parts else NONE
