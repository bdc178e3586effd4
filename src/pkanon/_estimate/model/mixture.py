"""A mixture of products: people fall into classes, and within a class all variables are independent.

    p(x) = sum_c pi_c prod_a theta_ca(x_a)

It is fitted to all tables of one and two variables by least squares, each with its known noise (components.py), which in the
limit of strong randomisation is the likelihood. A ridge holds every class near the margins: each class has seen ``ridge`` more
people who are like everybody. All pairs are one product of matrices S x S, whatever their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..._blocks import Counts
from .components import Components
from .descent import descend
from .variables import Layout


@dataclass(frozen=True, eq=False)
class Mixture:
    """The ``weights`` of the classes, and in ``tables`` a row per class: the shares of each variable, side by side.

    ``ridge`` is the one it was fitted with, infinite for independence; ``share`` its part in the :func:`mean` of several.
    """

    layout: Layout
    weights: Counts
    tables: Counts
    steps: int = 0
    converged: bool = True
    ridge: float = math.inf
    share: float = 1.0

    def of(self, i: int) -> Counts:
        """The shares of variable ``i``, a row per class."""
        return self.tables[:, self.layout.place(i)]

    def table(self, names: Sequence[str]) -> Counts:
        """The shares of the cells of the table of ``names``, an axis each."""
        order: list[str] = []
        shape: list[int] = []
        halves = [np.ones((len(self.weights), 1)), self.weights[:, None]]
        involved = [i for i, v in enumerate(self.layout.variables) if not set(names).isdisjoint(v.attributes)]
        cells = [math.prod(self.layout.variables[i].shape(names)) for i in involved]
        split, whole = 0, math.prod(cells)
        while split < len(cells) and math.prod(cells[: split + 1]) ** 2 <= whole:
            split += 1
        for place, i in enumerate(involved):
            variable = self.layout.variables[i]
            own = variable.marginal(self.of(i), names)
            side = int(place >= split)
            halves[side] = (halves[side][:, :, None] * own[:, None, :]).reshape(len(self.weights), -1)
            order += [name for name in variable.attributes if name in names]
            shape += variable.shape(names)
        table = (halves[0].T @ halves[1]).reshape(shape)
        return np.transpose(table, [order.index(name) for name in names])

    def distance(self, seen: Components) -> float:
        """chi^2 of some rows: the squared distance from them in units of their noise."""
        return 2 * _misfit(self.layout, seen, self.weights, self.layout.through(self.tables))[0]


def mean(mixtures: Sequence[Mixture]) -> Mixture:
    """The mean of several mixtures, each by its share: one with all their classes."""
    total = sum(m.share for m in mixtures)
    return Mixture(
        mixtures[0].layout,
        np.concatenate([m.share / total * m.weights for m in mixtures]),
        np.concatenate([m.tables for m in mixtures]),
        sum(m.steps for m in mixtures),
        all(m.converged for m in mixtures),
    )


def independence(seen: Components) -> Mixture:
    """One class: all variables independent, with the margins that were seen."""
    return Mixture(seen.layout, np.ones(1), seen.margins[None, :])


def fit(
    seen: Components,
    *,
    classes: int,
    ridge: float,
    steps: int,
    rng: np.random.Generator | None = None,
    start: Mixture | None = None,
) -> Mixture:
    """The mixture that is nearest to what was ``seen``, from a random start or from another mixture."""
    layout, margins = seen.layout, seen.margins
    sizes = layout.repeat(layout.sizes.astype(float))
    if start is not None:
        first = np.concatenate([np.log(start.weights), np.log(np.maximum(start.tables, 1e-12)).ravel()])
    else:
        assert rng is not None
        jitter = 0.7 * rng.normal(size=(classes, layout.length))
        first = np.concatenate([0.3 * rng.normal(size=classes), (np.log(margins + 0.3 / sizes) + jitter).ravel()])
    prior = (margins + 0.02 / sizes) / 1.02

    def unpack(z: Counts) -> tuple[Counts, Counts]:
        weights = np.exp(z[:classes] - z[:classes].max())
        return weights / weights.sum(), layout.softmax(z[classes:].reshape(classes, -1))

    def loss(z: Counts) -> tuple[float, Counts]:
        weights, tables = unpack(z)
        value, by_weight, by_coordinate = _misfit(layout, seen, weights, layout.through(tables), slopes=True)
        by_table = layout.back(by_coordinate)
        slope = tables * (by_table - layout.sums(tables * by_table)) + ridge * (tables - prior)
        value -= ridge * float((prior * np.log(tables + 1e-300)).sum())
        return value, np.concatenate([weights * (by_weight - weights @ by_weight), slope.ravel()])

    found = descend(loss, first, steps)
    share = 1.0 if start is None else start.share
    return Mixture(layout, *unpack(found.point), found.steps, found.converged, ridge, share)


def _misfit(
    layout: Layout, seen: Components, weights: Counts, coordinates: Counts, slopes: bool = False
) -> tuple[float, Counts, Counts]:
    """(half of chi^2, its slopes by the weights and by the ``coordinates`` of the classes)."""
    average = layout.single * (weights @ coordinates)
    apart = average + layout.offset - seen.single
    total = 0.5 * seen.rows * float(apart @ apart)
    by_average = seen.rows * apart
    pulled = np.zeros_like(coordinates)
    weighed = weights[:, None] * coordinates
    for rows, columns in layout.rectangles:
        scale = layout.scale(rows, columns)
        apart = scale * (weighed[:, rows].T @ coordinates[:, columns]) - seen.pairs[rows, columns]
        own, offset = layout.offset[rows], layout.offset[columns]
        apart += np.outer(average[rows] + own, offset) + np.outer(own, average[columns])
        apart[layout.owner[rows, None] == layout.owner[columns]] = 0.0
        total += 0.25 * seen.rows * float((apart * apart).sum())  # each pair is met twice
        if slopes:
            by_average[columns] += seen.rows * (layout.offset[rows] @ apart)
            pulled[:, columns] += 0.5 * seen.rows * (coordinates[:, rows] @ (scale * apart))
    by_single = layout.single * by_average
    by_weight = coordinates @ by_single + (coordinates * pulled).sum(1)
    return total, by_weight, weights[:, None] * (by_single + 2 * pulled)
