"""Every release of an experiment follows from one seed and from what the release is for."""

from __future__ import annotations

import numpy as np

from .._errors import InputError
from .._sample import Seeded


def seeded(*entropy: int) -> Seeded:
    """The randomness of one release; different numbers give different randomness."""
    return Seeded(int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]))


def check_seed(seed: object) -> None:
    """Refuse a seed that is not a whole number, 0 or more."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError("The seed is a whole number, 0 or more.")


def check_count(count: object, problem: str) -> None:
    """Refuse a count that is not a whole number, 1 or more."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(problem)
