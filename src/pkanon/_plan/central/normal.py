"""What central eps would be if sums were normal: where searches begin. Nothing is promised by it."""

from __future__ import annotations

import math


def normal_epsilon(noise: float, delta: float) -> float:
    """The eps of a sum whose standard deviation is n ``noise``, at this delta."""
    low, high = 0.0, 40.0
    for _ in range(40):
        z = (low + high) / 2
        low, high = (z, high) if noise * _mean_beyond(z) > delta else (low, z)
    return math.log1p(noise * high)


def normal_noise(epsilon: float, delta: float) -> float:
    """The ``noise`` with which a normal sum has this eps and this delta."""
    most = math.expm1(epsilon)
    low, high = 1e-9, 40.0
    for _ in range(50):
        z = (low + high) / 2
        low, high = (z, high) if most / z * _mean_beyond(z) > delta else (low, z)
    return most / high


def _mean_beyond(z: float) -> float:
    """E[(Z - z)_+], Z standard normal."""
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * math.erfc(z / math.sqrt(2)) / 2
