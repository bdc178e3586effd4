"""Which released row belongs to a given person? How often an adversary who knows all values and the mechanism picks it.

Generalised: all rows of the person's group look alike, so one of them is picked at random. The mean chance over all people
is the number of groups divided by the number of people.

Randomised: the adversary scores a released row y for a person x by ``A[x, y] / sum over all people l of A[x_l, y]``, which
is the chance that the row is hers if the other rows are ignored. (The exact chance depends on who made the other rows and
needs a sum over all orders; this is the usual approximation to it.) The best row is picked, at random if several are best.
Hits are counted for every person of the table, by the order of rows, which a release does not have.

For value-symmetric plans ``A[x, y]`` depends only on the set of attributes on which x and y agree. The best row is found for
each of these sets: along each axis of the full table it has the person's own value, or the best among the others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..._blocks import Agreement, Block, Retention
from ..._estimate import Channel
from ..._plan import Plan
from ..._schema import Codes
from .combinations import Combinations, Counts, Whole
from .rows import Rows

MOST_STEPS = 2**29
"""Cells of the full table times sets of attributes; about ten seconds for each release."""
JITTER = 1e-9
"""Scores are moved apart by this share, so that a random one of several equal scores is the highest."""


def agreement_chances(blocks: Sequence[Block]) -> Counts:
    """``A[x, y]`` by whether x and y agree (1) or differ (0) on each attribute: one axis of length 2 for each.

    A block of several attributes has either several units of one attribute, or one unit of all (the design joint).
    """
    result = np.ones(())
    for block in blocks:
        units = len(block.units)
        if isinstance(block, Retention):
            other = block.replace / 2**block.width
            chances = np.full((2,) * len(block.attributes), other)
            chances[(1,) * len(block.attributes)] = 1 - (block.unit.size - 1) * other
        else:
            assert isinstance(block, Agreement)
            chances = np.empty((2,) * units)
            for flags in itertools.product((0, 1), repeat=units):
                cells = math.prod(unit.size - 1 for unit, flag in zip(block.units, flags) if not flag)
                words = block.sets[sum(flag << bit for bit, flag in enumerate(flags))]
                chances[flags] = words / cells / 2**block.width
        result = np.multiply.outer(result, chances)
    return result


@dataclass(frozen=True, eq=False)
class Linkage:
    """How an adversary who knows everybody's values (``people``) attacks rows made by a plan."""

    plan: Plan
    people: Combinations = field(repr=False)
    where: Whole = field(repr=False)
    columns: Sequence[Codes] = field(repr=False)

    @staticmethod
    def fits(sizes: Sequence[int]) -> bool:
        """Whether the full table is small enough."""
        return math.prod(sizes) << len(sizes) <= MOST_STEPS

    @cached_property
    def channel(self) -> Channel:
        """The whole mechanism."""
        return Channel(self.plan.blocks, [attribute.name for attribute in self.plan.schema.randomised])

    @cached_property
    def chances(self) -> Counts:
        """``agreement_chances`` with its axes in the order of the attributes; blocks may have another."""
        order = [name for block in self.plan.blocks for name in block.attributes]
        names = [attribute.name for attribute in self.plan.schema.randomised]
        return agreement_chances(self.plan.blocks).transpose([order.index(name) for name in names])

    @cached_property
    def expected(self) -> Counts:
        """``sum over all people of A[x_l, y]``: how many rows of each cell are expected."""
        return self.channel.forward(self.people.table(tuple(range(len(self.people.sizes)))))

    def likelihood(self, rows: Rows) -> Counts:
        """``sum over released rows of A[x, y] / expected``: the evidence of the release for a person with x."""
        # where no row is expected, none has come
        shares = np.divide(_dense(rows), self.expected, out=np.zeros(self.expected.shape), where=self.expected > 0)
        return self.channel.forward_transpose(shares)

    def attack(self, rows: Rows, random: np.random.Generator) -> dict[str, float]:
        """The share of people whose row is picked, and the highest confidence in any pick."""
        released = _dense(rows)
        chances = self.chances
        # the largest of n uniform numbers, so that a cell is drawn as often as it has rows
        lots = random.random(released.shape) ** (1 / np.maximum(released, 1))
        weights = np.where(released > 0, (1 + JITTER * lots) / self.expected, 0.0)
        at = tuple(self.people.codes.T)
        best = strongest(chances, weights, at)
        agree = tuple((own == code).astype(np.intp) for own, code in zip(self.columns, rows.columns))
        places = tuple(rows.columns)
        hit = chances[agree] * weights[places] == best[self.where]
        certain = best / self.likelihood(rows)[at]
        return {
            "linkage": float((hit / released[places]).sum() / len(self.where)),
            "linkage_highest": float(certain.max()),
        }


def strongest(chances: Counts, weights: Counts, at: tuple[Whole, ...]) -> Counts:
    """The largest ``A[x, y] weights[y]`` over all cells y, for each of the cells ``at``.

    Long axes are done first and lie last in memory: the short ones are left for the many sets, where they cost little.
    """
    order = sorted(range(weights.ndim), key=lambda axis: weights.shape[axis])
    by_set = chances.transpose(order)
    cells = tuple(at[axis] for axis in order)
    best = np.zeros(len(at[0]))

    def walk(values: Counts, flags: tuple[int, ...]) -> None:
        axis = weights.ndim - 1 - len(flags)
        if axis < 0:
            np.maximum(best, by_set[flags] * values[cells], out=best)
            return
        walk(values, (1, *flags))
        walk(_others(values, axis), (0, *flags))

    walk(np.ascontiguousarray(weights.transpose(order)), ())
    return best


def _others(values: Counts, axis: int) -> Counts:
    """At each place the largest of the other values along an axis."""
    if values.shape[axis] == 2:
        return np.flip(values, axis)
    result = np.empty_like(values)
    own, others = np.moveaxis(values, axis, 0), np.moveaxis(result, axis, 0)
    highest = own[0].copy()
    for i in range(1, len(own)):
        others[i] = highest
        np.maximum(highest, own[i], out=highest)
    highest = own[-1].copy()
    for i in range(len(own) - 2, 0, -1):
        np.maximum(others[i], highest, out=others[i])
        np.maximum(highest, own[i], out=highest)
    others[0] = highest
    return result


def _dense(rows: Rows) -> Counts:
    return rows.counted.table(tuple(range(len(rows.columns))))
