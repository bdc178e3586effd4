"""The privacy target, as one exact budget (docs/why/theory.md 5).

For retention blocks AR = e^(-2 eps), so k and eps are one constraint on the product R of their
ratios e^eps_b: ``R^2 <= limit``. Blocks that are already fixed (matrices, hidden count) take their
share of the budget first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

from .._blocks import Block
from .._errors import TargetError
from .._plan import (
    LARGEST_RECORDS,
    Number,
    exact,
    exact_k,
    exp_below,
    hidden_count_ratio,
    log_above,
    round_down,
    round_up,
    total_anonymity_ratio,
    total_epsilon_ratio,
)


@dataclass(frozen=True)
class Target:
    """k and eps as they were asked for, and the number of records."""

    records: int
    k: Fraction | None
    epsilon: Fraction | None
    count_noise: Fraction | None = None

    @classmethod
    def of(cls, records: int, k: Number | None, epsilon: Number | None, count_noise: Fraction | None = None) -> Target:
        """The target; refuses one that nothing can meet."""
        check_records(records)
        records = int(records)
        exact_k = None if k is None else exact(k, "k", up=True)
        exact_epsilon = None if epsilon is None else exact(epsilon, "epsilon", up=False)
        if exact_k is not None:
            check_k(exact_k, records)
        if exact_epsilon is not None and exact_epsilon <= 0:
            raise TargetError(
                f"epsilon = {epsilon} cannot be met: it must be above 0. Smaller is more private; 1 to 5 is usual."
            )
        if exact_epsilon is None and exact_k is None:
            raise TargetError("Ask for k, for epsilon, or for a central epsilon; of several the tightest binds.")
        if exact_epsilon is None and exact_k == 1:
            raise TargetError("k = 1 alone asks for nothing; ask for a k above 1 or for an epsilon.")
        return cls(records, exact_k, exact_epsilon, count_noise)

    def limit(self, fixed: Sequence[Block] = ()) -> Fraction:
        """The largest R^2 that meets the target, R = e^eps of the blocks still to be designed."""
        limits = []
        if self.k is not None and self.k > 1:
            limits.append(total_anonymity_ratio(fixed) * (self.records - 1) / (self.k - 1))
        if self.epsilon is not None:
            spent = self._with_count(total_epsilon_ratio(fixed))
            if spent is None:
                raise TargetError("epsilon cannot be met: a given matrix has zeros that rule out values for certain.")
            limits.append((exp_below(self.epsilon) / spent) ** 2)
        limit = min(limits)
        if limit < 1 and not fixed and self.count_noise is None:
            raise TargetError(f"The target cannot be met: no mechanism is that private. {self.reached(fixed)}")
        if limit < 1:
            raise TargetError(
                "The target cannot be met: the given matrices (and the hidden record count) alone spend more than it allows. "
                f"{self.reached(fixed)}"
            )
        return limit

    def check(self, blocks: Sequence[Block]) -> None:
        """Raise unless the finished blocks, all of them, meet what was asked for: read off their integers once more.

        Whatever a design does on the way, nothing leaves here that promises less than was asked.
        """
        k = exact_k(total_anonymity_ratio(blocks), self.records)
        ratio = self._with_count(total_epsilon_ratio(blocks))
        missed_k = self.k is not None and k < self.k
        missed_epsilon = self.epsilon is not None and (ratio is None or ratio > exp_below(self.epsilon))
        if missed_k or missed_epsilon:
            raise TargetError(f"The plan that was made misses its target; please report it. {self.reached(blocks)}")

    def reached(self, blocks: Sequence[Block]) -> str:
        """What these blocks reach, as a sentence; on the safe side of what can be asked for."""
        k = exact_k(total_anonymity_ratio(blocks), self.records)
        epsilon = log_above(self._with_count(total_epsilon_ratio(blocks)))
        # near 1, k - 1 is what counts; beyond 30 digits nobody asks
        nought = next((n for n in range(25) if (k - 1) * 10**n >= 1), 24)
        digits = 6 + (nought if k > 1 else 0)
        return f"The nearest reachable is k = {round_down(k, digits)}, epsilon = {round_up(epsilon, 6)}."

    def _with_count(self, ratio: Fraction | None) -> Fraction | None:
        """e^eps with what hiding the record count adds to it."""
        if ratio is None or self.count_noise is None:
            return ratio
        return ratio * hidden_count_ratio(self.count_noise, self.records)


def check_records(records: object) -> None:
    """Refuse a number of records that is not a whole number from 1 to 2^53."""
    if isinstance(records, bool) or not isinstance(records, Integral) or not 1 <= int(records) <= LARGEST_RECORDS:
        raise TargetError(f"records = {records}: give the number of rows, a whole number from 1 to 2^53.")


def check_k(k: Fraction, records: int) -> None:
    """Refuse a k that no mechanism reaches."""
    if k < 1:
        raise TargetError(f"k = {_plain(k)} cannot be met: k is at least 1.")
    if k > records:
        raise TargetError(
            f"k = {_plain(k)} cannot be met: nobody hides among more than the {records:,} records there are."
        )


def _plain(value: Fraction) -> str:
    return f"{float(value):.12g}" if value.denominator != 1 else str(value.numerator)


def budget(limit: Fraction) -> float:
    """eps* = log(limit)/2 as a float, with full relative precision near 0."""
    excess = limit - 1
    if excess < Fraction(1, 2):
        return math.log1p(float(excess)) / 2
    shift = max(0, limit.numerator.bit_length() - limit.denominator.bit_length() - 60)
    return (math.log(float(limit / 2**shift)) + shift * math.log(2)) / 2
