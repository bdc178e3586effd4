"""People drawn from a model: a class by its weight, then every variable by its shares in that class.

Two ways. ``systematic``: as little chance as possible. The numbers of people per class, and of each value within a class, differ
from what the model expects by less than one; chance decides only who has which values together. ``independent``: every person
alone, as if sampled from the modelled population, which is what combining rules for several draws assume.

Several draws have a model each, fitted to released rows that were drawn again with replacement (:func:`resampled`), so that they
differ by what noise and sampling leave open, not only by the draw.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Counts
from ..._schema import Codes, code_dtype
from .components import Components
from .fitted import Fitted
from .mixture import Mixture, fit, independence, mean
from .reading import Reader

STEPS = 300
"""Steps of a fit that starts from the model of all rows."""


def draw(mixture: Mixture, rows: int, rng: np.random.Generator, *, independent: bool = False) -> dict[str, Codes]:
    """The codes of so many people by attribute, in random order; forbidden combinations do not occur.

    An attribute that the model does not know, because it has one value, is left out.
    """
    classes = _classes(mixture.weights, rows, rng, independent=independent)
    order = rng.permutation(rows)
    found: dict[str, Codes] = {}
    for i, variable in enumerate(mixture.layout.variables):
        codes = _values(mixture.of(i), classes, rng, independent=independent)[order]
        found |= variable.split(codes.astype(code_dtype(variable.size)))
    return found


def _classes(weights: Counts, rows: int, rng: np.random.Generator, *, independent: bool) -> NDArray[np.intp]:
    """A class per person, in ascending order."""
    points = np.sort(rng.random(rows)) if independent else (np.arange(rows) + rng.random()) / max(rows, 1)
    ends = np.cumsum(weights) / weights.sum()
    return np.minimum(np.searchsorted(ends, points, side="right"), _last(weights))


def _values(
    shares: Counts, classes: NDArray[np.intp], rng: np.random.Generator, *, independent: bool
) -> NDArray[np.intp]:
    """A value per person, by the shares of the person's class (a row each); within a class in random order."""
    number, size = len(shares), len(shares[0])
    if independent:
        points = rng.random(len(classes))
    else:
        people = np.bincount(classes, minlength=number)
        first = np.cumsum(people) - people
        place = np.arange(len(classes)) - first[classes]
        points = (place + rng.random(number)[classes]) / people[classes]
        mixed = np.argsort(classes + rng.random(len(classes)), kind="stable")  # classes ascend: each is mixed by itself
        points = points[mixed]
    ends = np.cumsum(shares, axis=1)
    ends = ends / ends[:, -1:] + np.arange(number)[:, None]  # one long ascending line, a unit per class
    found = np.searchsorted(ends.ravel(), points + classes, side="right") - size * classes
    last = size - 1 - np.argmax(shares[:, ::-1] > 0, axis=1)
    return np.asarray(np.clip(found, 0, last[classes]))


def _last(shares: Counts) -> int:
    """The last place with a share above 0: where rounding may not go beyond."""
    return int(np.flatnonzero(shares > 0)[-1])


def resampled(model: Fitted, rng: np.random.Generator) -> Mixture:
    """The model of as many rows, drawn from the released ones with replacement; from the model of all rows onwards."""
    layout, reader = model.seen.layout, Reader(model.codes, model.weights)
    often = reader.drawn_again(rng)
    seen = Components.of(layout, reader.pairs(layout.variables, often=often), reader.squares(often))
    return mean([_refitted(seen, start) for start in model.starts])


def _refitted(seen: Components, start: Mixture) -> Mixture:
    if math.isinf(start.ridge):
        return replace(independence(seen), share=start.share)
    return fit(seen, classes=len(start.weights), ridge=start.ridge, steps=STEPS, start=start)
