"""An upper bound on the mean positive part of a compound sum, to many digits and for any number of records.

``S = X_1 + ... + X_M``, M binomial(n, gamma), the X_i independent with one law. With ``F(w) = 1 - gamma + gamma E e^(wX)``
the moment generating function of S is F(w)^n, and for every t > 0

    E[(S + y)_+] = (1 / 2 pi) * integral of F(w)^n e^(wy) / w^2 over w = t + i theta.

Three steps, each of which can only increase the result:

1. *Smoothing.* Adding an independent normal variable of standard deviation tau to S cannot lower the mean of a convex
   function. It multiplies the integrand by e^(tau^2 w^2 / 2), so that few frequencies matter.
2. *Sum for integral.* By Poisson's formula the sum over theta = 2 pi k / L, divided by L, is ``sum over all integers j of
   e^(-tjL) E[(S + jL)_+]``: the wanted value (j = 0) and other terms that are not negative. Nothing wraps around unseen.
3. *Cutting off* at |k| = K. As ``|F(w)| <= F(t)``, what is left out is at most
   ``F(t)^n e^(tau^2 t^2 / 2) e^(-tau^2 theta_K^2 / 2) L / (2 pi^2 K)``, which is added.

Most frequencies only show that there is nothing: ``|F(t + i theta)|`` moves by no more than ``gamma E |X| e^(tX)`` per unit of theta, so
that one of them bounds a group, which is added whole.

Everything is relative to F(t)^n, and t is chosen near the minimum of F(t)^n / t (Chernoff's bound), so that rounding errors
are relative to a number of the order of the result. They are bounded and added. M = 0 makes S = 0 exactly, and what
smoothing did to that atom is known and taken off again.

Several laws are bounded at once (:class:`Summands`), with the t and the L of the one that is likely to be the worst: every t
and every L give a bound. K grows only as long as that helps, and only for the worst laws and those that are nearly as bad.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_CUT = 4.5
"""tau theta_K: the first frequency left out is damped by e^(-4.5^2 / 2) = 4e-5, and divided by K."""
_FIRST, _ROUGH, _TIMES, _MOST = 2**5, 2**7, 4, 2**13
"""Frequencies: 2^5 tell which laws may be the worst, 2^7 are enough for 1% of delta when the sum is near normal; each further
step takes four times as many."""
_SPARE = {_FIRST: 0.25}
"""The share by which a law may be below the worst one and be looked at further; later it is ``_HELPS``."""
_CHEAP, _WORK = 2**15, 2**21
"""Sines and cosines of the second step, at least, and of the last one; some twenty milliseconds."""
_GROUP, _FAINT = 16, -25.0
"""Neighbouring frequencies that are bounded together where all of them are damped by e^-25."""
_FAR, _DISTANT = 3.0, 30.0
"""A bound is far from what is sought if it is so many times as large: one from many frequencies, which is some percent too high, and one
from the first few, which was up to 12 times too high. A step that takes four times the frequencies gains less than the one before."""
_HELPS = 1.6e-2
"""More frequencies are tried as long as the last step lowered the bound by more than this share."""
_ALIKE = 1e-5
"""A law that is worse than the first one by less than this share need not be looked at more closely."""
_TINY = 1e-300
"""A positive number that underflows is reported as this."""


class Summands(Protocol):
    """The laws of one summand X, one law for each column."""

    @property
    def gamma(self) -> float:
        """The chance that a summand is there."""

    @property
    def width(self) -> int:
        """How many numbers a frequency takes."""

    @property
    def reach(self) -> float:
        """e^(t reach) must be a float."""

    def positive(self) -> Vector:
        """Numbers not below E[X_+]."""

    def grown(self, t: float) -> Vector:
        """E e^(tX) - 1."""

    def turned(self, t: float, theta: Vector, columns: NDArray[np.intp]) -> tuple[Vector, Vector]:
        """E e^((t + i theta) X) - E e^(tX), real and imaginary, a row for each theta."""

    def steepness(self, t: float) -> Vector:
        """Numbers not below E ``|X|`` e^(tX): E e^((t + i theta) X) moves by no more, per unit of theta."""

    def rounding(self, t: float) -> float | Vector:
        """How far rounding may move E e^((t + i theta) X), per unit of ``|t + i theta|``."""


@dataclass(frozen=True)
class Atoms:
    """One law, by its values and their probabilities; ``size`` is the magnitude of the numbers whose difference each x is."""

    x: Vector
    p: Vector
    size: Vector
    gamma: float

    @property
    def width(self) -> int:
        return len(self.x)

    @property
    def reach(self) -> float:
        return float(self.x.max())

    def positive(self) -> Vector:
        return np.array([self.p @ np.maximum(self.x, 0)])

    def grown(self, t: float) -> Vector:
        return np.array([self.p @ np.expm1(t * self.x)])

    def turned(self, t: float, theta: Vector, columns: NDArray[np.intp]) -> tuple[Vector, Vector]:
        tilted = self.p * np.exp(t * self.x)
        half = np.multiply.outer(theta / 2, self.x)
        sine = np.sin(half)
        # the real part is a sum of terms of one sign
        return -2 * (np.square(sine) @ tilted)[:, None], 2 * ((sine * np.cos(half)) @ tilted)[:, None]

    def steepness(self, t: float) -> Vector:
        return np.array([(self.p * np.exp(t * self.x)) @ np.abs(self.x) * (1 + 1e-9)])

    def rounding(self, t: float) -> float:
        """x is off by a few units in the last place of ``size``, p and the exponentials by a few of their own.

        The latter moves E e^(wX) - 1 no more than the same error of x would; a dot product is off by at most a unit for
        each of its terms.
        """
        return (64 + len(self.x)) * 2.0**-53 * float((self.p * np.exp(t * self.x)) @ self.size)


def positive_part(
    summands: Summands, records: int, enough: float = 0.0, *, rough: bool = False, sought: float = math.inf
) -> float:
    """A number not below E[S_+] for any of the laws; if it is no more than ``enough``, or if asked for, perhaps a rough one.

    So is one that is many times what is ``sought`` and hardly falls; a rough one far above it is made of the first few frequencies.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not a number is no bound, and there is always another
        return _positive_part(summands, float(records), enough, rough, sought)


def _positive_part(summands: Summands, n: float, enough: float, rough: bool, sought: float) -> float:
    gamma = summands.gamma
    t = _saddle(summands, n)
    grown = summands.grown(t)
    log_f = n * np.log1p(gamma * grown)
    scale = gamma / (1 + gamma * grown)
    rounding = n * scale * summands.rounding(t)
    # (sum x)_+ <= sum x_+, and s_+ <= e^(ts) / (et)
    chernoff = np.exp(np.maximum(log_f + rounding * t, -690.0)) / (math.e * t) * (1 + 1e-9)
    best = np.fmin(n * gamma * summands.positive() * (1 + 1e-12), np.maximum(chernoff, _TINY))
    fine = int(min(max(_CHEAP // summands.width, _TIMES * _ROUGH), _MOST))
    counts = [_FIRST, _ROUGH, fine]
    while counts[-1] * _TIMES <= min(_WORK // summands.width, _MOST):
        counts.append(counts[-1] * _TIMES)
    lead = int(np.argmax(best))
    period = _period(summands, n, t, float(log_f[lead]), lead)
    seen = log_f < -650
    # first the laws that may be the worst, then those that are not below what was found for these
    last = _ROUGH if rough else counts[-1]
    for spare in _SPARE, dict.fromkeys(counts, 1.0):
        sums = _Sums(summands, n, t, period, scale, log_f, rounding, np.flatnonzero(~seen & (best > enough)))
        for count in counts:
            if not len(sums.columns) or count > last:
                break
            before = best[sums.columns]
            now = np.fmin(before, sums.bound(count))
            best[sums.columns] = now
            if rough and now.max() > _DISTANT * sought:
                last = _FIRST
            elif count >= _ROUGH and now.max() > _FAR * sought and now.max() > before.max() / 2:
                last = _ROUGH
            near = now >= now.max() * (1 - spare.get(count, _HELPS))
            seen[sums.columns] = near
            sums.only(near & (now > enough) & ((now < before * (1 - _HELPS)) | (count <= _ROUGH)))
        enough = max(enough, float(best[seen].max(initial=0.0)) * (1 + _ALIKE))  # the others matter if they are worse
    return float(best.max())


class _Sums:
    """The sums over frequencies of some columns; each call takes more of them, and none is computed twice."""

    def __init__(
        self,
        summands: Summands,
        n: float,
        t: float,
        period: float,
        scale: Vector,
        log_f: Vector,
        rounding: Vector,
        columns: NDArray[np.intp],
    ) -> None:
        self.summands, self.n, self.t, self.period = summands, n, t, period
        self.scale, self.log_f, self.rounding, self.columns = scale, log_f, rounding, columns
        self.exponent, self.angle = np.zeros((0, len(columns))), np.zeros((0, len(columns)))
        self.faint = np.zeros(0, bool)
        self.steepness = summands.steepness(t) * scale

    def only(self, keep: NDArray[np.bool_]) -> None:
        """Go on with some of the columns."""
        self.columns = self.columns[keep]
        self.exponent, self.angle = self.exponent[:, keep], self.angle[:, keep]

    def bound(self, count: int) -> Vector:
        """The sum over ``count`` frequencies on each side of 0, and what it may be short of."""
        self._extend(count + 1)
        t, period, tau = self.t, self.period, _CUT * self.period / (2 * math.pi * count)
        theta = self._theta(np.arange(count + 1))
        damped = np.where(theta > 0, 2.0, 1.0) / (t**2 + theta**2) * np.exp(tau**2 / 2 * (t**2 - theta**2))
        turn = tau**2 * t * theta - 2 * np.arctan2(theta, t)
        power = np.exp(self.exponent)
        wave = np.where(self.faint[:, None], 1.0, np.cos(self.angle + turn[:, None]))
        total = (damped[:, None] * power * wave).sum(axis=0)
        rounding, log_f = self.rounding[self.columns], self.log_f[self.columns]
        # an error e of F(w) moves its nth power by (|F(w)| + e)^n - |F(w)|^n at most, and |F(w)| is never above F(t)
        moved = np.multiply.outer(np.hypot(t, theta), rounding) / np.exp(self.exponent / self.n)
        error = np.where(moved < 300, power * np.expm1(np.minimum(moved, 300)), np.inf)
        error = np.minimum(error, power + np.exp(rounding * t))
        # 1e-11: the sum of up to 2^13 terms itself
        error = (damped[:, None] * (error + 1e-11 * power)).sum(axis=0)
        left_out = math.exp((tau**2 * t**2 - _CUT**2) / 2) * period / (2 * math.pi**2 * count)
        # rounding errors of F(t)^n itself are those of a frequency 0
        whole = np.exp(log_f + rounding * t) * ((np.maximum(total, 0.0) + error) / period + left_out)
        gamma = self.summands.gamma
        nothing = math.exp(self.n * math.log1p(-gamma)) * tau / math.sqrt(2 * math.pi) if gamma < 1 else 0.0
        return np.asarray(np.maximum(whole * (1 + 1e-9) - nothing * (1 - 1e-9), _TINY), float)

    def _theta(self, places: NDArray[np.intp]) -> Vector:
        return np.asarray(2 * math.pi / self.period * places, float)

    def _extend(self, count: int) -> None:
        """log F(w)^n / F(t)^n, its real and imaginary part, for the first ``count`` frequencies.

        Of a group in which it is ``faint``, as it is in the middle and as far as it can change from there, a bound on the real part.
        """
        start = len(self.exponent)
        groups = np.arange(start, count) // _GROUP if start else np.zeros(0, int)
        exponent, angle = np.zeros((count - start, len(self.columns))), np.zeros((count - start, len(self.columns)))
        faint = np.zeros(count - start, bool)
        if start:
            first, last = start // _GROUP, (count - 1) // _GROUP
            middle = np.arange(first, last + 1) * _GROUP + _GROUP // 2
            away = self.steepness[self.columns] * self._theta(np.array(_GROUP // 2))
            away = away + np.multiply.outer(np.hypot(self.t, self._theta(middle)), self.rounding[self.columns]) / self.n
            most = self.n * np.log(np.exp(self._logarithms(middle)[0] / self.n) + away)
            faint = (most.max(axis=1) < _FAINT)[groups - first]
            exponent[faint] = most[groups - first][faint]
        exponent[~faint], angle[~faint] = self._logarithms(np.arange(start, count)[~faint])
        self.exponent, self.angle = np.concatenate([self.exponent, exponent]), np.concatenate([self.angle, angle])
        self.faint = np.concatenate([self.faint, faint])

    def _logarithms(self, places: NDArray[np.intp]) -> tuple[Vector, Vector]:
        """That for some frequencies."""
        exponents, angles = [np.zeros((0, len(self.columns)))], [np.zeros((0, len(self.columns)))]
        step = max(1, 2**17 // max(self.summands.width, len(self.columns)))  # arrays that stay in the cache
        for start in range(0, len(places), step):
            real, imaginary = self.summands.turned(self.t, self._theta(places[start : start + step]), self.columns)
            scale = self.scale[self.columns]
            real, imaginary = real * scale, imaginary * scale  # F(w) / F(t) - 1
            exponents.append(self.n / 2 * np.log1p(np.maximum(real * (2 + real) + imaginary**2, -1 + 1e-16)))
            angles.append(self.n * np.arctan2(imaginary, 1 + real))
        return np.concatenate(exponents), np.concatenate(angles)


def _saddle(summands: Summands, n: float) -> float:
    """A t near the one that makes the largest F(t)^n / t smallest. Any other t is valid too."""

    def height(log_t: float) -> float:
        return float(n * np.log1p(summands.gamma * summands.grown(math.exp(log_t))).max()) - log_t

    # n log F is convex, the largest of convex functions too, and so is -log t: there is one valley
    high = math.log(200 / summands.reach)
    low = high - 45.0
    golden = (math.sqrt(5) - 1) / 2
    right, left = low + golden * (high - low), high - golden * (high - low)
    at_left, at_right = height(left), height(right)
    while high - low > 0.02:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = height(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = height(right)
    return math.exp((low + high) / 2)


def _period(summands: Summands, n: float, t: float, log_f: float, lead: int) -> float:
    """L so long that the terms j other than 0 are small for the law ``lead``; how small decides tightness only."""
    above = 18 - log_f  # j >= 1 adds about L e^(-tL)
    # j <= -1 adds at most F(t)^n / (et) times the chance of S > L after tilting by t; Chernoff's bound at rt
    choices = [
        (14 + n * math.log1p(summands.gamma * float(summands.grown(r * t)[lead])) - log_f) / (r - 1)
        for r in (1.1, 1.25, 1.5, 2.0, 3.0)
        if r * t * summands.reach < 600
    ]
    return float(min(max(above, min(choices, default=above)), 2000.0)) / t
