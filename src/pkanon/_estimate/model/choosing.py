"""How many classes, how strong a ridge: chosen by the known noise and by rows that were kept apart.

Fits with ridges from weak to strong, and independence, are stacked: their shares predict rows kept apart best. What the stack says
beyond independence is then shrunk, so that nothing of it is left where it could be chance. Then classes are doubled
until the misfit is what noise alone explains, ``chi^2 <= D + 2 sqrt(2 D)``, D coordinates. Several starts are averaged; one that got
stuck far above the best is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..._blocks import Counts
from ..._progress import Progress
from .components import Components
from .mixture import Mixture, fit, independence, mean

CLASSES = {8: 200, 16: 300, 32: 1_000, 64: 1_000}
"""Classes that are tried, and the steps that each may take."""
STARTS = 3
"""Starts of a fit; two for each ridge where several are stacked."""
TRIED_STEPS = 80
"""Steps of a fit to rows of which others were kept apart."""
RIDGE = 5.0
"""The strongest ridge where more classes are needed: rows then say much of each class."""
RIDGES = (0.15, 0.5, 1.5, 5.0, 15.0, 50.0, 150.0, math.inf)
"""Ridges that are tried; an infinite one is independence."""
WORK = 5_000_000_000
FEWEST_STEPS = 20
"""A fit takes fewer steps if they would multiply more numbers than that: its time is bounded, whatever the number of values."""
CLOSE = 0.1
WEAK = 1.5
"""A ridge below it must predict rows kept apart better by ``CLOSE`` times their chance deviation: by chance, tables are far off."""
NOTHING, ALL = 3.0, 9.0
"""Chance deviations from which something is taken of what rows seem to show, and from which all of it is."""
LEAST = 0.05
"""A fit with a smaller share is left out."""
FOLDS = 3
SEED = 20_061_115
"""The starts are drawn from it: equal rows give equal models on one kind of processor."""


@dataclass(frozen=True)
class ModelReport:
    """How the search for the model of a release ended.

    Attributes
    ----------
    classes
        In how many classes the model puts people; 1 if it takes all attributes as independent.
    ridges
        Fits that were averaged, by rows kept apart: pairs of a ridge and its share. A ridge is how many people who are like
        everybody each class was given; an infinite one is independence.
    starts
        How many fits from different starts are averaged.
    steps
        How many steps all of them took.
    converged
        Whether nothing more was to be gained in any of them; they are stopped after enough steps all the same.
    misfit
        chi^2: the squared distance from the released rows in units of their noise.
    freedom
        Its degrees of freedom.
    tried
        The numbers of classes that were tried, each with its misfit.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500, "rooms": [1, 2, 2, 3, 4] * 200})
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> release = pk.release(people, pk.plan(schema, records=1_000, k=5), randomness=pk.Seeded(7))
    >>> report = release.model()
    >>> report.freedom, report.explained
    (9, True)
    """

    classes: int
    ridges: tuple[tuple[float, float], ...]
    starts: int
    steps: int
    converged: bool
    misfit: float
    freedom: int
    tried: tuple[tuple[int, float], ...]

    @property
    def limit(self) -> float:
        """The misfit that noise explains."""
        return _limit(self.freedom)

    @property
    def independent(self) -> float:
        """The share of independence; 1 if rows show no relation beyond chance."""
        return sum(share for ridge, share in self.ridges if math.isinf(ridge))

    @property
    def explained(self) -> bool:
        """Whether noise alone explains how far the model is from the released rows."""
        return self.misfit <= self.limit

    def to_json(self) -> dict[str, Any]:
        """The same by name; the ridge of independence is null."""
        ridges = [{"ridge": None if math.isinf(ridge) else ridge, "share": share} for ridge, share in self.ridges]
        tried = [{"classes": classes, "misfit": misfit} for classes, misfit in self.tried]
        more = {"independent": self.independent, "limit": self.limit, "explained": self.explained}
        return asdict(self) | {"ridges": ridges, "tried": tried} | more


def _limit(freedom: int) -> float:
    return freedom + 2 * math.sqrt(2 * freedom)


def choose(
    seen: Components,
    folds: Callable[[], list[tuple[Components, Components]]],
    progress: Progress,
) -> tuple[list[Mixture], ModelReport]:
    """The models that are averaged, and how they were found; ``folds`` gives rows to fit to and rows kept apart."""
    rng = np.random.default_rng(SEED)
    freedom = seen.layout.freedom
    near = 2 * math.sqrt(2 * freedom)
    tried: list[tuple[int, float]] = []
    shares = stacked(_held_out(folds(), rng, progress), math.sqrt(2 * FOLDS * freedom))
    best = [independence(seen)]
    least = math.inf
    if set(shares) == {math.inf}:
        tried.append((1, best[0].distance(seen)))
    for place, (classes, steps) in enumerate(CLASSES.items()):
        if set(shares) == {math.inf}:
            break
        models: list[Mixture] = []
        number = 1 if classes == max(CLASSES) else STARTS if len(shares) == 1 else STARTS - 1
        for i, (ridge, share) in enumerate(shares.items()):
            fits = [independence(seen)] if math.isinf(ridge) else []
            while len(fits) < number and math.isfinite(ridge):
                progress("modelling", (1 + place + (i + len(fits) / number) / len(shares)) / (len(CLASSES) + 1))
                fits.append(fit(seen, classes=classes, ridge=ridge, steps=_steps(seen, classes, steps), rng=rng))
            scores = [model.distance(seen) for model in fits]
            kept = [model for model, score in zip(fits, scores) if score <= min(scores) + near]
            models += [replace(model, share=share / len(kept)) for model in kept]
        misfit = mean(models).distance(seen)
        tried.append((classes, misfit))
        if misfit < least:
            least, best = misfit, models
        if misfit <= _limit(freedom):
            break
        shares = {_middle(shares): 1.0}
    whole = mean(best)
    ridges: dict[float, float] = {}
    for model in best:
        ridges[model.ridge] = ridges.get(model.ridge, 0.0) + model.share
    report = ModelReport(
        classes=max(len(model.weights) for model in best),
        ridges=tuple(ridges.items()),
        starts=len(best),
        steps=whole.steps,
        converged=whole.converged,
        misfit=whole.distance(seen),
        freedom=freedom,
        tried=tuple(tried),
    )
    progress("modelling", 1.0)
    return best, report


def _steps(seen: Components, classes: int, steps: int) -> int:
    """As many ``steps`` as fit into the work that a fit may take."""
    return max(FEWEST_STEPS, min(steps, WORK // (seen.layout.length**2 * classes)))


def _middle(shares: Mapping[float, float]) -> float:
    """One ridge for many classes: the geometric mean, none stronger than ``RIDGE``."""
    return math.exp(sum(share * math.log(min(ridge, RIDGE)) for ridge, share in shares.items()))


def _held_out(folds: list[tuple[Components, Components]], rng: np.random.Generator, progress: Progress) -> Counts:
    """Products of the residuals that fits with each ridge leave of rows kept apart, in units of their noise."""
    seed, classes = int(rng.integers(2**31)), min(CLASSES)
    products = np.zeros((len(RIDGES), len(RIDGES)))
    for place, (fitted, apart) in enumerate(folds):
        models = []
        for i, ridge in enumerate(RIDGES):
            progress("modelling", (place + i / len(RIDGES)) / len(folds) / (len(CLASSES) + 1))
            if math.isinf(ridge):
                models.append(independence(fitted))
            else:
                start = np.random.default_rng(seed)
                steps = _steps(fitted, classes, TRIED_STEPS)
                models.append(fit(fitted, classes=classes, ridge=ridge, steps=steps, rng=start))
        own = [model.distance(apart) for model in models]
        products[np.diag_indices(len(own))] += own
        for i, j in itertools.combinations(range(len(own)), 2):  # |(a + b) / 2|^2 = (|a|^2 + |b|^2 + 2 a b) / 4
            both = 2 * mean([models[i], models[j]]).distance(apart) - (own[i] + own[j]) / 2
            products[[i, j], [j, i]] += both
    return products


def firm(deviations: float) -> float:
    """The part that is taken of what is so many chance deviations above nothing: the firm shrinkage of Gao and Bruce (1997)."""
    return min(1.0, max(0.0, ALL * (1 - NOTHING / deviations) / (ALL - NOTHING))) if deviations > 0 else 0.0


def stacked(products: Counts, chance: float) -> dict[float, float]:
    """The share of each ridge: those that predict rows kept apart best, shrunk towards independence, which is the last ridge.

    ``products`` are those of the residuals: shares w leave ``w G w`` of rows kept apart, which has the chance deviation ``chance``.
    Their distance d from independence is known, and what is gained along it has the chance deviation |d|. By how many of them it
    is above nothing says which part is taken.
    """
    shares = _least(products, np.where(np.array(RIDGES) < WEAK, CLOSE * chance, 0.0))
    away = shares.copy()
    away[-1] -= 1.0
    square = float(away @ products @ away)
    gained = -float(products[-1] @ away) / math.sqrt(square) if square > 0 else 0.0
    if not firm(gained):
        return {math.inf: 1.0}
    shares = away * min(1.0, gained / math.sqrt(square)) * firm(gained)
    shares[-1] += 1.0
    shares[shares < LEAST] = 0.0
    return {ridge: float(share) for ridge, share in zip(RIDGES, shares / shares.sum()) if share > 0}


def _least(products: Counts, costs: Counts) -> Counts:
    """The shares w, none negative and with sum 1, of the least ``w G w + c w``: the best over all sets of positive ones."""
    best, value = np.zeros(len(products)), math.inf
    for size in range(1, len(products) + 1):
        for some in map(list, itertools.combinations(range(len(products)), size)):
            system = np.ones((size + 1, size + 1))
            system[:size, :size] = 2 * products[np.ix_(some, some)]
            system[size, size] = 0.0
            solved = np.linalg.lstsq(system, np.append(-costs[some], 1.0), rcond=None)[0][:size]
            if solved.min() < 0:
                continue
            shares = np.zeros(len(products))
            shares[some] = solved / solved.sum()
            found = float(shares @ products @ shares + costs @ shares)
            if found < value * (1 - 1e-9):
                best, value = shares, found
    return best
