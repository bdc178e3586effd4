"""How many classes, how strong a ridge: chosen by the known noise and by rows that were kept apart.

The ridge is the one that predicts rows kept apart best; of those that predict almost as well, the strongest, which may be
independence. Then classes are doubled until the misfit is what noise alone explains, ``chi^2 <= D + 2 sqrt(2 D)``, D coordinates.
Several starts are averaged; one that got stuck far above the best is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..._progress import Progress
from .components import Components
from .mixture import Mixture, fit, independence, mean

CLASSES = {8: 200, 16: 300, 32: 1_000, 64: 1_000}
"""Classes that are tried, and the steps that each may take."""
STARTS = 3
RIDGE = 5.0
"""The strongest ridge where more classes are needed: rows then say much of each class."""
RIDGES = (0.15, 0.5, 1.5, 5.0, 15.0, 50.0, 150.0, math.inf)
"""Ridges that are tried; an infinite one is independence."""
CLOSE = 0.1
"""A stronger ridge is taken if its misfit to other rows is no more than this times its chance deviation above the least."""
WEAK = 1.5
"""A ridge below it must predict other rows better by as much again."""
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
    ridge
        How many people who are like everybody each class was given; infinite for independence. Chosen by rows kept apart.
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
    ridge: float
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
    def explained(self) -> bool:
        """Whether noise alone explains how far the model is from the released rows."""
        return self.misfit <= self.limit

    def to_json(self) -> dict[str, Any]:
        """The same by name; the ridge of independence is null."""
        ridge = None if math.isinf(self.ridge) else self.ridge
        tried = [{"classes": classes, "misfit": misfit} for classes, misfit in self.tried]
        return asdict(self) | {"ridge": ridge, "tried": tried, "limit": self.limit, "explained": self.explained}


def _limit(freedom: int) -> float:
    return freedom + 2 * math.sqrt(2 * freedom)


def choose(
    seen: Components,
    folds: Callable[[], list[tuple[Components, Components]]],
    progress: Progress,
) -> tuple[list[Mixture], ModelReport]:
    """The models of several starts, and how they were found; ``folds`` gives rows to fit to and rows kept apart."""
    rng = np.random.default_rng(SEED)
    freedom = seen.layout.freedom
    tried: list[tuple[int, float]] = []
    ridge = _held_out(folds(), min(CLASSES), rng, progress)
    best = [independence(seen)]
    least = math.inf
    if math.isinf(ridge):
        tried.append((1, best[0].distance(seen)))
    for place, (classes, steps) in enumerate(CLASSES.items()):
        if math.isinf(ridge):
            break
        models = []
        for start in range(STARTS if classes < max(CLASSES) else 1):
            progress("modelling", (1 + place + start / STARTS) / (len(CLASSES) + 1))
            models.append(fit(seen, classes=classes, ridge=ridge, steps=steps, rng=rng))
        misfit = min(model.distance(seen) for model in models)
        tried.append((classes, misfit))
        if misfit < least:
            least, best = misfit, models
        if misfit <= _limit(freedom):
            break
        ridge = min(ridge, RIDGE)
    scores = [model.distance(seen) for model in best]
    kept = [m for m, score in zip(best, scores) if score <= min(scores) + 2 * math.sqrt(2 * freedom)]
    whole = mean(kept)
    report = ModelReport(
        classes=len(kept[0].weights),
        ridge=ridge,
        starts=len(kept),
        steps=whole.steps,
        converged=whole.converged,
        misfit=whole.distance(seen),
        freedom=freedom,
        tried=tuple(tried),
    )
    progress("modelling", 1.0)
    return kept, report


def _held_out(
    folds: list[tuple[Components, Components]],
    classes: int,
    rng: np.random.Generator,
    progress: Progress,
) -> float:
    """The strongest ridge that predicts rows kept apart almost as well as the best."""
    seed = int(rng.integers(2**31))
    total = np.zeros(len(RIDGES))
    for place, (fitted, apart) in enumerate(folds):
        for i, ridge in enumerate(RIDGES):
            progress("modelling", (place + i / len(RIDGES)) / len(folds) / (len(CLASSES) + 1))
            if math.isinf(ridge):
                model = independence(fitted)
            else:
                start = np.random.default_rng(seed)
                model = fit(fitted, classes=classes, ridge=ridge, steps=80, rng=start)
            total[i] += model.distance(apart)
    close = CLOSE * math.sqrt(2 * FOLDS * folds[0][0].layout.freedom)
    total[np.array(RIDGES) < WEAK] += close  # where rows seem to ask for it by chance, tables are far off
    return max(ridge for ridge, misfit in zip(RIDGES, total) if misfit <= total.min() + close)
