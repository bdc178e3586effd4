"""Flags: what must be said beside a number. Every output has these words, or a mark that its notes explain.

near zero        the interval of a count reaches zero or below: perhaps nobody is there
predicted error  the error could not be estimated from so few rows; it is the one that the plan predicted
small group      the size of the group, or another divisor, is not certain enough to divide by it (uncertainty.py)
model differs    the model of all attributes is further from the unbiased estimate than noise explains
impossible       a combination that the schema forbids: exactly zero
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NEAR_ZERO, PREDICTED, SMALL, BEYOND = "near zero", "predicted error", "small group", "out of range"
IMPOSSIBLE = "impossible"
DIFFERS = "model differs"

MEANING = {
    NEAR_ZERO: "the interval of the count reaches zero: perhaps nobody is there",
    PREDICTED: "the error could not be estimated from so few rows; it is the one that the plan predicted",
    SMALL: "the size of the group is uncertain: its interval reaches zero or twice the size, so nothing is known of "
    "a share or a mean of the group",
    BEYOND: "the whole interval lay outside what is possible, by chance; the number is cut to the nearest possible one",
    DIFFERS: "the model of all attributes and the unbiased estimate of the cell are further apart than noise explains",
    IMPOSSIBLE: "a combination that the schema forbids: exactly zero",
}
"""What each flag means, for people."""

Truths = NDArray[np.bool_]


class Flags(NamedTuple):
    """Which flags some numbers have, one entry per number."""

    near_zero: Truths
    predicted: Truths
    small: Truths
    beyond: Truths
    impossible: Truths
    differs: Truths

    @classmethod
    def none(cls, numbers: int) -> Flags:
        """No flags yet."""
        return cls(*(np.zeros(numbers, bool) for _ in range(6)))

    def texts(self) -> list[str | None]:
        """The flags of each number in words, None where there are none; one that cannot be has no others."""
        number, texts = self.numbered()
        return [texts[i] for i in number.tolist()]

    def numbered(self) -> tuple[NDArray[np.uint8], list[str | None]]:
        """The place of each number's flags in a list of all combinations in words, each of which is made once."""
        words = (NEAR_ZERO, PREDICTED, SMALL, BEYOND, DIFFERS)
        number = np.zeros(len(self.near_zero), np.uint8)
        for bit, flag in enumerate((self.near_zero, self.predicted, self.small, self.beyond, self.differs)):
            number |= flag.view(np.uint8) << bit
        number[self.impossible] = 2 ** len(words)
        texts = [", ".join(w for bit, w in enumerate(words) if i >> bit & 1) or None for i in range(2 ** len(words))]
        texts.append(IMPOSSIBLE)
        return number, texts
