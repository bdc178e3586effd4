"""Central (eps, delta) of a shuffled release: the privacy of the whole table (docs/why/theory.md 9).

whole.py     what a plan states
upper.py     the bound from above that is claimed: the privacy blanket
pairs.py     which pairs of records can be the worst, and the law of their ratio;  positive.py  its mean positive part
normal.py    where searches begin;  sets.py  all pairs at once, where rows are told apart by the units in which they agree
lower.py     what two real neighbouring tables give away: a bound from below
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._doors import lazy

if TYPE_CHECKING:
    from .normal import normal_noise
    from .upper import (
        LARGEST_UNITS,
        central_bound,
        central_delta,
        central_epsilon,
        central_lower,
        check_units,
    )
    from .whole import Central, central, checked_delta, default_delta

lazy(
    __name__,
    {
        "normal": "normal_noise",
        "upper": "LARGEST_UNITS, central_bound, central_delta, central_epsilon, central_lower, check_units",
        "whole": "Central, central, checked_delta, default_delta",
    },
)

__all__ = [
    "LARGEST_UNITS",
    "Central",
    "central",
    "central_bound",
    "central_delta",
    "central_epsilon",
    "central_lower",
    "check_units",
    "checked_delta",
    "default_delta",
    "normal_noise",
]
