"""A trusted curator with our own model: normal noise on the counts of all tables of one and two attributes, then the mixture.

The model of a release (pkanon._estimate.model) takes tables whose noise is known. Here that noise is the curator's: the same for
every cell, and not multiplied by undoing a randomisation. So what is left between this curator and a release is the price of
trusting nobody, with the same reading on both sides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

import noise
import pkanon as pk
from pkanon._estimate import Mixture
from pkanon._estimate.model.choosing import FOLDS, choose
from pkanon._estimate.model.components import Components
from pkanon._estimate.model.mixture import mean
from pkanon._estimate.model.variables import Layout, variables_of

Tables = Mapping[tuple[int, ...], np.ndarray]


def fit_noisy(truth: Tables, schema: pk.Schema, rows: int, epsilon: float, delta: float, seed: int) -> Mixture:
    """The mixture that a curator fits to noisy tables of one and two attributes at (epsilon, delta)."""
    sizes = [attribute.size for attribute in schema.randomised]
    asked = [s for s in truth if len(s) <= 2]
    scale = noise.gaussian_scale(epsilon, delta, noise.sensitivities(len(asked))[1])
    draw = np.random.default_rng(seed)
    noisy = {s: truth[s] + draw.normal(0, scale, truth[s].shape) for s in asked}
    layout = _layout(schema, sizes, rows, scale)

    def folds() -> list[tuple[Components, Components]]:
        # three versions with three times the variance and independent of each other, whose mean is the noisy table
        extra = {s: draw.normal(0, scale * math.sqrt(FOLDS), (FOLDS, *table.shape)) for s, table in noisy.items()}
        each = [{s: noisy[s] + extra[s][i] - extra[s].mean(0) for s in noisy} for i in range(FOLDS)]
        others = [{s: (FOLDS * noisy[s] - one[s]) / (FOLDS - 1) for s in noisy} for one in each]
        return [
            (_seen(layout, other, rows, (FOLDS - 1) / FOLDS), _seen(layout, one, rows, 1 / FOLDS))
            for one, other in zip(each, others)
        ]

    models, _ = choose(_seen(layout, noisy, rows, 1.0), folds, lambda step, done: None)
    return mean(models)


def _layout(schema: pk.Schema, sizes: Sequence[int], rows: int, scale: float) -> Layout:
    """Coordinates in which the noise of every table has variance 1/rows: the curator's scale takes the eigenvalues' place."""
    blocks = [pk.Retention(unit, 0) for unit in schema.units]
    layout = Layout(variables_of(blocks), [np.full(size, 1 / size) for size in sizes])
    root = np.sqrt(np.array(sizes, dtype=float))
    layout.single = layout.repeat(math.sqrt(rows) / (scale * root))
    layout.pair = math.sqrt(rows) / (scale * np.outer(root, root))
    np.fill_diagonal(layout.pair, 0.0)
    return layout


def _seen(layout: Layout, noisy: Tables, rows: int, weight: float) -> Components:
    """Noisy tables as the model takes them, with 1/weight times the variance of the curator's noise."""
    shares = np.zeros(layout.length)
    pairs = np.zeros((layout.length, layout.length))
    places = [layout.place(i) for i in range(len(layout.variables))]
    for a, b in itertools.combinations(range(len(places)), 2):
        block = noisy[a, b] / rows
        pairs[places[a], places[b]], pairs[places[b], places[a]] = block, block.T
    pairs = layout.seen(layout.seen(pairs).T) * np.repeat(np.repeat(layout.pair, layout.sizes, 0), layout.sizes, 1)
    for a, place in enumerate(places):
        size = layout.sizes[a]
        shares[place] = 1 / size + layout.single[place] * (noisy[(a,)] / rows - 1 / size)
    return Components(layout, weight * rows, shares, layout.seen(shares), pairs)
