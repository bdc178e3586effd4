"""An upper bound on the mean positive part of a compound sum, to many digits and for any number of records.

``S = X_1 + ... + X_M``, M binomial(n, gamma), the X_i independent with law (x, p). With ``F(w) = 1 - gamma + gamma E e^(wX)``
the moment generating function of S is F(w)^n, and for every t > 0

    E[(S + y)_+] = (1 / 2 pi) * integral of F(w)^n e^(wy) / w^2 over w = t + i theta.

Three steps, each of which can only increase the result:

1. *Smoothing.* Adding an independent normal variable of standard deviation tau to S cannot lower the mean of a convex
   function. It multiplies the integrand by e^(tau^2 w^2 / 2), so that few frequencies matter.
2. *Sum for integral.* By Poisson's formula the sum over theta = 2 pi k / L, divided by L, is ``sum over all integers j of
   e^(-tjL) E[(S + jL)_+]``: the wanted value (j = 0) and other terms that are not negative. Nothing wraps around unseen.
3. *Cutting off* at |k| = K. As ``|F(w)| <= F(t)``, what is left out is at most
   ``F(t)^n e^(tau^2 t^2 / 2) e^(-tau^2 theta_K^2 / 2) L / (2 pi^2 K)``, which is added.

Everything is relative to F(t)^n, and t is chosen near the minimum of F(t)^n / t (Chernoff's bound), so that rounding errors
are relative to a number of the order of the result. They are bounded and added (:func:`_rounding`). M = 0 makes S = 0
exactly, and what smoothing did to that atom is known and taken off again.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_CUT = 4.5
"""tau theta_K: the first frequency left out is damped by e^(-4.5^2 / 2) = 4e-5, and divided by K."""
_WORK = 2**20
"""Sines and cosines per bound; some ten milliseconds."""
_ROUGH, _FEWEST, _MOST = 2**7, 2**10, 2**13
"""Frequencies; 2^7 are enough for 1% of delta when the sum is near normal."""
_TINY = 1e-300
"""A positive number that underflows is reported as this."""


def positive_part(x: Vector, p: Vector, size: Vector, gamma: float, records: int, enough: float = 0.0) -> float:
    """A number not below E[S_+]; if it is no more than ``enough``, perhaps a rough one.

    ``size``: the magnitude of the numbers whose difference each x is.
    """
    top, n = float(x.max()), float(records)
    if top <= 0:  # so is S, unless x was rounded to 0
        blur = 2.0**-50 * float(size.max())
        return n * gamma * blur if top > -blur else 0.0
    t = _saddle(x, p, gamma, n, top)
    log_f = _log_f(t, x, p, gamma, n)
    rounding = _rounding(p * np.exp(t * x), size, gamma / (1 + gamma * float(p @ np.expm1(t * x))), n)
    # (sum x)_+ <= sum x_+, and s_+ <= e^(ts) / (et)
    best = n * gamma * float(p @ np.maximum(x, 0)) * (1 + 1e-12)
    best = min(best, max(math.exp(max(log_f + rounding * t, -690.0)) / (math.e * t) * (1 + 1e-9), _TINY))
    if log_f < -650:
        return best
    period = _period(t, log_f, x, p, gamma, n, top)
    for count in (_ROUGH, int(min(max(_WORK // len(x), _FEWEST), _MOST))):
        if best > enough:
            best = min(best, _fourier(x, p, gamma, n, t, log_f, rounding, period, count))
    return best


def _fourier(
    x: Vector, p: Vector, gamma: float, n: float, t: float, log_f: float, rounding: float, period: float, count: int
) -> float:
    """The sum over ``count`` frequencies on each side of 0, and what it may be short of."""
    tilted = p * np.exp(t * x)
    scale = gamma / (1 + gamma * float(p @ np.expm1(t * x)))
    tau = _CUT * period / (2 * math.pi * count)
    total, error = 0.0, 0.0
    step = max(1, 2**17 // len(x))  # arrays that stay in the cache
    for start in range(0, count + 1, step):
        theta = 2 * math.pi / period * np.arange(start, min(start + step, count + 1))
        half = np.multiply.outer(theta / 2, x)
        sine = np.sin(half)
        # F(w) / F(t) - 1, its real part a sum of terms of one sign
        real = -2 * scale * (np.square(sine) @ tilted)
        imaginary = 2 * scale * ((sine * np.cos(half)) @ tilted)
        exponent = n / 2 * np.log1p(np.maximum(real * (2 + real) + imaginary**2, -1 + 1e-16))
        exponent += tau**2 / 2 * (t**2 - theta**2) - np.log(t**2 + theta**2)
        angle = n * np.arctan2(imaginary, 1 + real) + tau**2 * t * theta - 2 * np.arctan2(theta, t)
        weight = np.where(theta > 0, 2.0, 1.0) * np.exp(exponent)
        total += float(weight @ np.cos(angle))
        # 1e-11: the sum of up to 2^13 weights itself
        error += float(weight @ (np.expm1(np.minimum(rounding * np.hypot(t, theta), 50.0)) + 1e-11))
    left_out = math.exp((tau**2 * t**2 - _CUT**2) / 2) * period / (2 * math.pi**2 * count)
    # rounding errors of F(t)^n itself are those of a frequency 0
    whole = math.exp(log_f + rounding * t) * ((max(total, 0.0) + error) / period + left_out)
    nothing = math.exp(n * math.log1p(-gamma)) * tau / math.sqrt(2 * math.pi) if gamma < 1 else 0.0
    return max(whole * (1 + 1e-9) - nothing * (1 - 1e-9), _TINY)


def _log_f(t: float, x: Vector, p: Vector, gamma: float, n: float) -> float:
    """n log F(t)."""
    return n * math.log1p(gamma * float(p @ np.expm1(t * x)))


def _saddle(x: Vector, p: Vector, gamma: float, n: float, top: float) -> float:
    """The t that makes F(t)^n / t smallest: the only root of n F'/F - 1/t. Any other t is valid too."""
    low, high = -45.0, 0.0  # log of t, relative to 200 / top
    for _ in range(30):
        middle = (low + high) / 2
        t = 200 / top * math.exp(middle)
        tilted = p * np.exp(t * x)
        slope = n * gamma * float(tilted @ x) / (1 - gamma + gamma * float(tilted.sum()))
        low, high = (middle, high) if slope * t < 1 else (low, middle)
    return 200 / top * math.exp(low)


def _period(t: float, log_f: float, x: Vector, p: Vector, gamma: float, n: float, top: float) -> float:
    """L so long that the terms j other than 0 are small; how small decides tightness only."""
    above = 18 - log_f  # j >= 1 adds about L e^(-tL)
    # j <= -1 adds at most F(t)^n / (et) times the chance of S > L after tilting by t; Chernoff's bound at rt
    choices = [
        (14 + _log_f(r * t, x, p, gamma, n) - log_f) / (r - 1) for r in (1.1, 1.25, 1.5, 2.0, 3.0) if r * t * top < 600
    ]
    return float(min(max(above, min(choices, default=above)), 2000.0)) / t


def _rounding(tilted: Vector, size: Vector, scale: float, n: float) -> float:
    """How far rounding moves n log F(w), per unit of |w|.

    x is off by a few units in the last place of ``size``, p and the exponentials by a few of their own, which moves
    E e^(wX) - 1 no more than the same error of x would; a dot product is off by at most a unit for each of its terms.
    """
    return (64 + len(size)) * 2.0**-53 * n * scale * float(tilted @ size)
