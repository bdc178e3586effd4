"""What central eps would be if sums were normal: where searches begin. Nothing is promised by it."""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST = 600.0
"""Its exponential is a float."""


@dataclass(frozen=True)
class Spread:
    """How widely a sum of X = a - e^eps b varies, for any eps: the means of (a - b)^2 and of b^2, both times gamma / n."""

    apart: float
    own: float

    def noise(self, epsilon: float) -> float:
        """The standard deviation at this eps, over n; a and b have the same law, or about the same."""
        return math.sqrt(math.exp(epsilon) * self.apart + math.expm1(epsilon) ** 2 * self.own)

    def epsilon(self, delta: float, high: float, base: float = 0.0, tilt: float = 0.0) -> float:
        """The eps, up to ``high``, at which a normal sum with e^(base + tilt eps) times this noise has this delta."""
        low = 0.0
        for _ in range(40):
            middle = (low + high) / 2
            noise = self.noise(middle) * math.exp(min(base + tilt * middle, LARGEST))
            missed = noise > 0 and noise * _mean_beyond(math.expm1(middle) / noise) > delta
            low, high = (middle, high) if missed else (low, middle)
        return high


def normal_noise(epsilon: float, delta: float) -> float:
    """The ``noise`` with which a normal sum has this eps and this delta."""
    most = math.expm1(epsilon)
    low, high = 1e-9, 40.0
    if most / low * _mean_beyond(low) <= delta:  # eps is next to nothing beside the noise
        return delta / _mean_beyond(0.0)
    for _ in range(50):
        z = (low + high) / 2
        low, high = (z, high) if most / z * _mean_beyond(z) > delta else (low, z)
    return most / high


def _mean_beyond(z: float) -> float:
    """E[(Z - z)_+], Z standard normal."""
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * math.erfc(z / math.sqrt(2)) / 2
