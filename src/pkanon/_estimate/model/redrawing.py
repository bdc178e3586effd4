"""All tables of one order with what their averages need: noise, and how much the model follows it (averages.py).

The rows are drawn again with replacement a few times, and the model is fitted again each time. That is done once per order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..._blocks import Counts
from ..._progress import Progress, quiet
from ..channel import Channel
from .averages import Cells
from .choosing import CLASSES, SEED
from .components import Components
from .mixture import Mixture, fit, independence, mean
from .reading import Reader

if TYPE_CHECKING:
    from .fitted import Fitted

REDRAWN = 6
MOST_TABLES = 60
MOST_CELLS = 1_000_000
"""Tables of one order, and cells of all of them; of more, some are drawn."""


def noise_of(model: Fitted, channel: Channel) -> Counts:
    """s^2 of the unbiased shares about the people, were the mixture the truth: ``[sum_y (A p)_y B[y, i]^2 - p_i] / n``."""
    people = model.mixture.table(list(channel.sizes))
    moved = channel.product_inverse(channel.forward(people), *[channel.names] * 2)
    found = (moved - channel.collapse(people)) / model.seen.rows
    return np.where(channel.possible, np.maximum(found, 1e-3 / model.seen.rows**2), 0.0)


def tables_of(model: Fitted, order: int) -> list[tuple[str, ...]]:
    """The tables of so many attributes, in the model's order; some of them if they are many, always the same."""
    names = [name for variable in model.variables for name in variable.attributes]
    sizes = {n: s for v in model.variables for n, s in zip(v.attributes, v.unit.sizes)}
    rng = np.random.default_rng(SEED)
    number = math.comb(len(names), order)
    tables: Iterator[tuple[str, ...]] | list[tuple[str, ...]]
    if number <= 50 * MOST_TABLES:
        every = list(itertools.combinations(names, order))
        tables = [every[i] for i in rng.permutation(len(every))]
    else:
        tables = (tuple(names[i] for i in sorted(rng.choice(len(names), order, replace=False))) for _ in range(200))
    found: list[tuple[str, ...]] = []
    cells = 0
    for table in tables:
        more = math.prod(sizes[name] for name in table)
        if table not in found and len(found) < MOST_TABLES and cells + more <= MOST_CELLS:
            found.append(table)
            cells += more
    return found


def cells_of(model: Fitted, tables: Sequence[tuple[str, ...]], progress: Progress = quiet) -> Cells:
    """The possible cells of these tables."""
    channels = [Channel(model.blocks, table) for table in tables]
    unbiased = [channel.inverse(model.released(channel)) for channel in channels]
    own = _again(model.starts)
    levers = [np.zeros(channel.shape) for channel in channels]
    rng = np.random.default_rng(SEED)
    reader = Reader(model.codes, model.weights)
    for time in range(REDRAWN):
        progress("averaging", time / REDRAWN)
        often = reader.drawn_again(rng)
        pairs, counts = reader.counts(model.variables, [channel.sizes for channel in channels], often=often)
        seen = Components.of(model.seen.layout, pairs, reader.squares(often))
        mixture = mean([_refitted(seen, start) for start in own])
        before = mean(own)
        for i, channel in enumerate(channels):
            moved = channel.inverse(counts[i] / float(counts[i].sum())) - unbiased[i]
            levers[i] += moved * (mixture.table(channel.names) - before.table(channel.names)) / REDRAWN
    progress("averaging", 1.0)
    possible = [channel.possible for channel in channels]
    modelled = [model.mixture.table(table) for table in tables]
    noises = [noise_of(model, channel) for channel in channels]

    def flat(arrays: Sequence[Counts]) -> Counts:
        return np.concatenate([array[where] for array, where in zip(arrays, possible)])

    number = np.concatenate([np.full(int(where.sum()), i) for i, where in enumerate(possible)])
    return Cells(model.seen.rows, number, *(flat(arrays) for arrays in (unbiased, modelled, noises, levers)))


def _again(starts: Sequence[Mixture]) -> Sequence[Mixture]:
    """The starts that are fitted again: two of them, or one of each ridge, which stands for all of it."""
    ridges = list(dict.fromkeys(start.ridge for start in starts))
    if len(ridges) == 1:
        return starts[:2] if len(starts[0].weights) < max(CLASSES) else starts[:1]
    own = [[start for start in starts if start.ridge == ridge] for ridge in ridges]
    return [replace(some[0], share=sum(start.share for start in some)) for some in own]


def _refitted(seen: Components, start: Mixture) -> Mixture:
    if math.isinf(start.ridge):
        return replace(independence(seen), share=start.share)
    classes = len(start.weights)
    steps = 60 if classes <= min(CLASSES) else 400
    return fit(seen, classes=classes, ridge=start.ridge, steps=steps, start=start)
