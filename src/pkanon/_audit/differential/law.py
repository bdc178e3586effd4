"""What a plan says about releasing one record, and which two records it tells apart best (docs/why/theory.md 3).

For two records u and v the score of a released row y is ``log P[u -> y] - log P[v -> y]``. No score is above epsilon,
and the records chosen here reach it. By the lemma of Neyman and Pearson the events that tell u from v best are those
of a score above some limit; the limit is chosen from these laws alone, before anything is drawn.

Laws are read through the passes of the blocks, which reconstruct tables, not through their samplers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._blocks import Block
from ..._errors import InputError
from ..._plan import Plan
from ..._schema import Codes

Record: TypeAlias = dict[str, int]
"""The code of each randomised attribute."""

LARGEST_BLOCK = 2**22
"""Combinations of the attributes of one block, for which its law is written out."""
CERTAIN = 1e3
"""The score of a row that only one of two records can give: more than any finite one."""
SAME = 1e-9
"""Scores that differ by less are the same one, added up in another order."""
MOST_SCORES = 2_000


def sizes_of(block: Block) -> list[int]:
    """How many values each attribute of a block has."""
    return [size for unit in block.units for size in unit.sizes]


def check_size(plan: Plan) -> None:
    """Refuse a plan whose laws cannot be written out."""
    for block in plan.blocks:
        if math.prod(sizes_of(block)) > LARGEST_BLOCK:
            raise InputError(
                "The audit is for plans whose attributes have up to 2^22 combinations together; make a plan of fewer attributes "
                "with the same design and audit that."
            )


def law(block: Block, record: Record) -> NDArray[np.float64]:
    """The probability of each released combination of the block's attributes, one axis each."""
    whole = np.zeros(sizes_of(block))
    whole[tuple(record[name] for name in block.attributes)] = 1.0
    return np.clip(block.forward(whole, _axes(block)), 0.0, 1.0)


def worst_pair(plan: Plan) -> tuple[Record, Record]:
    """Two records whose releases can differ by the whole factor e^eps: the first is the likelier one of some row."""
    first: Record = {}
    second: Record = {}
    for block in plan.blocks:
        likely, unlikely = _extremes(block)
        first |= zip(block.attributes, likely)
        second |= zip(block.attributes, unlikely)
    return first, second


def _extremes(block: Block) -> tuple[list[int], list[int]]:
    if block.rho(block.attributes[0]) is None:  # a general matrix: look at every released value
        (unit,) = block.units
        entries = block.as_matrix()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.nan_to_num(entries.max(axis=0) / entries.min(axis=0), nan=1.0, posinf=np.inf)
        column = entries[:, int(ratios.argmax())]
        codes = np.array([column.argmax(), column.argmin()], np.uint32)
        columns = unit.split(codes)
        return [int(codes[0]) for codes in columns], [int(codes[1]) for codes in columns]
    # all values are treated alike, so one released value stands for all
    allowed = np.ones((), bool)
    for unit in block.units:
        allowed = np.multiply.outer(allowed, unit.allowed if unit.forbid else np.ones(unit.sizes, bool))
    released = np.zeros(allowed.shape)
    released.flat[int(allowed.argmax())] = 1.0
    column = block.forward_transpose(released, _axes(block))
    likely = np.where(allowed, column, -np.inf).argmax()
    unlikely = np.where(allowed, column, np.inf).argmin()
    return [int(i) for i in np.unravel_index(likely, allowed.shape)], [
        int(i) for i in np.unravel_index(unlikely, allowed.shape)
    ]


def _axes(block: Block) -> dict[str, int]:
    return {name: axis for axis, name in enumerate(block.attributes)}


@dataclass(frozen=True)
class Scores:
    """The possible scores of a released row, falling, and their probabilities if the record was u and if it was v."""

    values: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    @classmethod
    def merged(
        cls, values: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64], grain: float = SAME
    ) -> Scores:
        """Equal scores added up; the grain grows until there are few enough of them."""
        found, places = np.unique(np.round(values.ravel() / grain), return_inverse=True)
        if len(found) > MOST_SCORES:
            return cls.merged(values, first, second, grain * 10)
        places = places.ravel()
        totals = [np.asarray(np.bincount(places, law.ravel())[::-1], float) for law in (first, second)]
        return cls(found[::-1] * grain, totals[0], totals[1])


class Comparison:
    """Two records, and how a released row tells which of them it came from."""

    def __init__(self, plan: Plan, first: Record, second: Record) -> None:
        self.first, self.second = first, second
        self._blocks = plan.blocks
        self._scores: list[NDArray[np.float64]] = []
        total = Scores(np.zeros(1), np.ones(1), np.ones(1))
        for block in plan.blocks:
            laws = law(block, first), law(block, second)
            scores = _scores(*laws)
            self._scores.append(scores)
            own = Scores.merged(scores, *laws)
            total = Scores.merged(
                np.add.outer(total.values, own.values),
                np.multiply.outer(total.first, own.first),
                np.multiply.outer(total.second, own.second),
            )
        self.scores = total
        """The law of the score of one released row."""

    def score(self, codes: Mapping[str, Codes]) -> NDArray[np.float64]:
        """The score of each released row."""
        result = np.zeros(len(next(iter(codes.values()))))
        for block, scores in zip(self._blocks, self._scores):
            result += scores[tuple(codes[name] for name in block.attributes)]
        return result

    def two_rows(self) -> Scores:
        """The law of :func:`of_two` if the private table is (u, u), and if it is (v, u)."""
        one = self.scores
        values = of_two(one.values[:, None], one.values[None, :])
        return Scores.merged(values, np.multiply.outer(one.first, one.first), np.multiply.outer(one.second, one.first))


def of_two(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of two released rows in any order, the tables (u, u) and (v, u) compared.

    With r = exp(score) of each row, the rows have the likelihood ratio ``2 / (1/r + 1/r')``: either of the two can be
    that of the record which differs.
    """
    return np.asarray(math.log(2) - np.logaddexp(-one, -other))


def _scores(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(first) - np.log(second)
    finite = np.nan_to_num(scores, nan=0.0, posinf=CERTAIN, neginf=-CERTAIN)
    return np.asarray(np.clip(finite, -CERTAIN, CERTAIN))
