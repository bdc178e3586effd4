"""Families of responses, each with its usual link: the mean as a function of the linear predictor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._blocks import Counts

FARTHEST = 15.0
"""From the logarithm of the odds, or of the rate, of everybody: exp(-15) is 3 in 10 million. A fit that gets there runs to infinity."""


@dataclass(frozen=True)
class Family:
    """A family: ``mean`` of the linear predictor, its ``slope``, its ``integral``, and the ``link`` back from a mean."""

    name: str
    title: str
    ratio: str | None
    mean: Callable[[Counts], Counts]
    slope: Callable[[Counts], Counts]
    integral: Callable[[Counts], Counts]
    link: Callable[[float], float]


def _expit(eta: Counts) -> Counts:
    return np.asarray(0.5 * (1 + np.tanh(eta / 2)))


def _logit(mean: float) -> float:
    inside = min(max(mean, 1e-6), 1 - 1e-6)
    return float(np.log(inside / (1 - inside)))


LINEAR = Family(
    "linear", "Linear", None, lambda eta: eta, lambda eta: np.ones_like(eta), lambda eta: eta**2 / 2, lambda mean: mean
)
LOGISTIC = Family(
    "logistic",
    "Logistic",
    "odds ratio",
    _expit,
    lambda eta: _expit(eta) * _expit(-eta),
    lambda eta: np.logaddexp(0.0, eta),
    _logit,
)
POISSON = Family(
    "poisson",
    "Poisson",
    "rate ratio",
    lambda eta: np.exp(np.minimum(eta, 700.0)),
    lambda eta: np.exp(np.minimum(eta, 700.0)),
    lambda eta: np.exp(np.minimum(eta, 700.0)),
    lambda mean: float(np.log(max(mean, 1e-6))),
)
FAMILIES = {family.name: family for family in (LINEAR, LOGISTIC, POISSON)}
