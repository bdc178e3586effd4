"""Maximum likelihood: the table without negative cells that makes the released one most probable.

Each released row is a draw from ``A^T x / n``. The iterative Bayes of Agrawal, Srikant and Thomas
(2005) is the EM algorithm of that mixture, ``x <- x * A (y / A^T x)``; it converges, slowly. Here it
is accelerated by squared extrapolation (SQUAREM; Varadhan and Roland 2008): two steps give the
direction and its change, and one long step along them is kept if the likelihood does not fall.

Convergence is measured, not guessed. With ``g = A (y / A^T x)`` no table has a log-likelihood
more than ``n (max g - 1)`` above that of x, because the log-likelihood is concave and g its gradient.

If a single block keeps a cell or draws it anew (retention), the maximum has a closed form. Tables of very many cells without
one are refused by the method.
"""

from __future__ import annotations

import math

import numpy as np

from .._blocks import Counts
from .._errors import InputError
from .._progress import Progress, quiet
from .channel import Channel
from .method import Convergence, Made, Method
from .source import Source

TOLERANCE = 1.0
"""Log-likelihood that may be missing at the end, by a bound that overstates it. Data cannot tell such tables apart."""
MOST_STEPS = 10_000
LARGEST_CLIMB = 250_000
"""Cells of a table without a closed form; a thousand steps then take about ten seconds."""


def maximum_likelihood(
    channel: Channel,
    released: Counts,
    *,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
    accelerate: bool = True,
    progress: Progress = quiet,
) -> tuple[Counts, Convergence]:
    """The most likely table (extra axes included) and its convergence."""
    mixture = _mixture(channel) if accelerate else None
    if mixture is not None:
        people = _closed_form(*mixture, released)
        return people, Convergence(0.0, 0, True, _log_likelihood(channel.forward(people), released))
    return _Climb(channel, released, tolerance, most_steps, progress).run(accelerate)


def _mixture(channel: Channel) -> tuple[float, Counts] | None:
    """What a single block comes to that keeps a cell or draws it anew; None for all others."""
    return channel.blocks[0].mixture(list(channel.sizes)) if len(channel.blocks) == 1 else None


_TINY = 1e-10
"""A rho below it is rounded away beside shares of values."""


def _closed_form(rho: float, w: Counts, released: Counts) -> Counts:
    """One mixture: q = rho p + (1 - rho) w, and at the maximum q = max(y / t, (1 - rho) w).

    Cells are filled in the order of y / w, as long as their share of the released rows exceeds what
    replacement alone gives them; t makes q sum to 1.
    """
    floor = (1 - rho) * w.ravel()
    total, y = float(released.sum()), released.ravel()
    if total == 0:
        return np.zeros_like(released)
    possible = floor > 0
    if not possible.any():  # everything is kept
        return released.copy()
    ratio = np.where(possible, y / np.where(possible, floor, 1.0), -1.0)
    if rho < _TINY:  # the likelihood is linear in rho p: everybody is where y / w is largest
        best = ratio == ratio.max()
        return np.asarray((total * best / best.sum()).reshape(released.shape), float)
    order = np.argsort(-ratio, kind="stable")
    counted, freed = np.cumsum(y[order]), np.cumsum(floor[order])
    # with the first i cells above their floor: t = sum of their y / (1 - floors of the others)
    levels = counted / (1 - floor.sum() + freed)
    above = np.flatnonzero(ratio[order] > levels)
    if not len(above):  # rho is 0, or as good as 0: every table is equally likely
        return (total * w).reshape(released.shape)
    last = int(above[-1])
    shares = np.maximum(y / levels[last], floor) - floor
    return (total / rho * np.where(possible, shares, 0.0)).reshape(released.shape)


def _log_likelihood(expected: Counts, released: Counts) -> float:
    seen = released > 0
    total = float(released.sum())
    return float(released[seen] @ np.log(expected[seen] / total)) if total else 0.0


class _Climb:
    """The fixed-point iteration and its acceleration."""

    def __init__(
        self,
        channel: Channel,
        released: Counts,
        tolerance: float,
        most_steps: int,
        progress: Progress,
    ) -> None:
        self.channel, self.released = channel, released
        self.total = float(released.sum())
        self.tolerance, self.most_steps, self.progress = tolerance, most_steps, progress
        self.passes = 0
        self.seen = released > 0

    def run(self, accelerate: bool) -> tuple[Counts, Convergence]:
        x = self._start()
        step, gap, likelihood = self._step(x)
        first_gap = gap
        while gap > self.tolerance and self.passes < self.most_steps:
            if accelerate:
                x, step, gap, likelihood = self._squared(x, step, gap, likelihood)
            else:
                x = step
                step, gap, likelihood = self._step(x)
            if first_gap > self.tolerance > 0:
                # the gap falls by a factor per step, so its logarithm measures progress
                left = math.log(max(gap, self.tolerance) / self.tolerance) / math.log(first_gap / self.tolerance)
                self.progress("fitting", max(0.0, min(1.0, 1 - left)))
        return x, Convergence(gap, self.passes, gap <= self.tolerance, likelihood)

    def _start(self) -> Counts:
        # every possible cell equally: a cell that starts at zero would stay there
        possible = self.channel.possible_whole
        return np.where(possible, self.total / max(int(possible.sum()), 1), 0.0)

    def _step(self, x: Counts) -> tuple[Counts, float, float]:
        """(the EM step from x, the gap at x, the log-likelihood at x)."""
        self.passes += 1
        expected = self.channel.forward(x)
        ratio = np.zeros_like(expected)
        np.divide(self.released, expected, out=ratio, where=self.seen)
        gradient = self.channel.forward_transpose(ratio)
        gap = self.total * max(float(gradient.max()) - 1.0, 0.0)
        return x * gradient, gap, _log_likelihood(expected, self.released)

    def _squared(self, x: Counts, step: Counts, gap: float, likelihood: float) -> tuple[Counts, Counts, float, float]:
        second, gap_1, likelihood_1 = self._step(step)
        r = step - x
        v = second - step - r
        length = float(np.linalg.norm(v))
        if length == 0.0:
            return (step, second, gap_1, likelihood_1)
        a = -max(float(np.linalg.norm(r)) / length, 1.0)
        while True:
            far = x - 2 * a * r + a * a * v
            np.maximum(far, 0.1 * np.minimum(x, second), out=far)  # a cell at zero could never come back
            far *= self.total / float(far.sum())
            after, gap_2, likelihood_2 = self._step(far)
            if likelihood_2 >= likelihood_1 - 1e-9 * abs(likelihood_1):
                return far, after, gap_2, likelihood_2
            if a > -1.01:
                return (second, *self._step(second))
            a = (a - 1) / 2


def _fit(channel: Channel, released: Counts, source: Source, progress: Progress) -> Made:
    if released.size > LARGEST_CLIMB and _mixture(channel) is None:
        raise InputError(
            f"The most likely table of {released.size:,} cells is found step by step, which takes minutes to hours; ask for "
            f"a table of at most {LARGEST_CLIMB:,} cells, merge values, or take the method simplex or model."
        )
    people, convergence = maximum_likelihood(channel, released, progress=progress)
    return Made(channel.collapse(people), convergence)


EM = Method("em", "the most likely table", _fit)
