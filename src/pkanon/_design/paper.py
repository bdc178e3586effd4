"""Algorithms 1-3 of the paper: one retention probability for all attributes (docs/why/theory.md 4).

With ``z = rho / (1 - rho)`` the ratio of one attribute is ``(1 + (V-1) rho)/(1 - rho) = 1 + V z``, so both
algorithms ask for the root of ``sum_a log(1 + V_a z) = eps*``. In ``u = log z`` the sum is convex and
increasing, and Newton's method started above the root comes down to it without ever leaving it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from numbers import Integral

from .._errors import TargetError
from .._plan import Number
from .target import Target, budget


def log_odds(epsilon: float, sizes: Sequence[int]) -> float:
    """u = log(rho / (1 - rho)) of the one rho that spends ``epsilon`` on attributes of these sizes."""
    groups = [(math.log(size), count) for size, count in Counter(sizes).items()]
    # One attribute alone spends at most everything: log(1 + V z) <= eps. That bounds z from above.
    log_expm1 = epsilon + math.log(-math.expm1(-epsilon))
    u = log_expm1 - max(log_size for log_size, _ in groups)
    for _ in range(200):
        spent = sum(count * _softplus(log_size + u) for log_size, count in groups)
        slope = sum(count * _expit(log_size + u) for log_size, count in groups)
        step = (spent - epsilon) / slope
        u -= step
        if abs(step) <= 1e-15 * max(1.0, abs(u)):
            break
    return u


def _softplus(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def rho_from_k(k: Number, records: int, sizes: Sequence[int]) -> float:
    """Algorithm 1: the largest rho for all attributes with Pk-anonymity for ``records`` records.

    Parameters
    ----------
    k
        The k to reach, from 1 to ``records``.
    records
        The number of rows.
    sizes
        How many values each attribute has.

    Examples
    --------
    >>> import pkanon as pk
    >>> round(pk.rho_from_k(100, records=100_000, sizes=[2, 18]), 4)
    0.4075
    """
    target = Target.of(records, k, epsilon=1.0)  # an epsilon, so that k = 1 is a question with an answer
    if target.k == 1:
        _check_sizes(sizes)
        return 1.0
    return _rho(Target(target.records, target.k, None), sizes)


def rho_from_epsilon(epsilon: Number, sizes: Sequence[int]) -> float:
    """Algorithm 2: the largest rho for all attributes with epsilon-differential privacy.

    Parameters
    ----------
    epsilon
        The epsilon to keep to.
    sizes
        How many values each attribute has.

    Examples
    --------
    >>> import pkanon as pk
    >>> round(pk.rho_from_epsilon(3.5, sizes=[2, 18]), 4)
    0.4141
    """
    return _rho(Target.of(1, None, epsilon), sizes)


def rho_from_both(k: Number, epsilon: Number, records: int, sizes: Sequence[int]) -> float:
    """Algorithm 3: the smaller rho of :func:`rho_from_k` and :func:`rho_from_epsilon`.

    Parameters
    ----------
    k
        The k to reach, from 1 to ``records``.
    epsilon
        The epsilon to keep to.
    records
        The number of rows.
    sizes
        How many values each attribute has.

    Examples
    --------
    >>> import pkanon as pk
    >>> round(pk.rho_from_both(100, 3.5, records=100_000, sizes=[2, 18]), 4)  # k is the stricter one here
    0.4075
    """
    return min(rho_from_k(k, records, sizes), rho_from_epsilon(epsilon, sizes))


def _rho(target: Target, sizes: Sequence[int]) -> float:
    _check_sizes(sizes)
    epsilon = budget(target.limit())
    return 0.0 if epsilon == 0 else _expit(log_odds(epsilon, sizes))


def _check_sizes(sizes: object) -> None:
    if (
        not isinstance(sizes, Collection)
        or len(sizes) == 0
        or not all(isinstance(n, Integral) and int(n) >= 2 for n in sizes)
    ):
        raise TargetError("Sizes must be a list of whole numbers from 2 on: how many values each attribute has.")
