"""The exact chance of every link, for tables of few rows.

Given the private table and the release, all orders being equally likely beforehand, the chance that a row is a person's is
``A[u, v] per(rest) / per(all)``: permanents of the chances of all people and all rows, without and with this link. Equal people
are interchangeable, so it is enough to count how many of each kind are taken: rows are dealt out one after the other, from
both ends. Every term is positive, so nothing cancels. Small tables are computed in whole numbers, without any rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_STEPS = 2**27
"""Kinds taken, times rows, times kinds, up to which a table is small: 18 different people, or more if some are alike."""
MOST_WHOLE = 2**15
"""The same up to which whole numbers are used."""
MOST_KINDS = 60
"""An array has an axis for each kind of people, and numpy's have 64."""


def steps(people: Sequence[int], rows: Sequence[int]) -> int:
    """What the exact chances cost for people and rows counted by cell."""
    return min(_steps(people, rows), _steps(rows, people))


def _steps(kinds: Sequence[int], dealt: Sequence[int]) -> int:
    if len(kinds) > MOST_KINDS or sum(dealt) > MOST_STEPS:
        return MOST_STEPS + 1
    return math.prod(count + 1 for count in kinds) * sum(dealt) * len(kinds)


def link_chances(
    chances: Sequence[Sequence[Fraction]], people: Sequence[int], rows: Sequence[int]
) -> NDArray[Any] | None:
    """The chance of a link between one person of cell u and one row of cell v, for all u and v.

    ``chances[u][v]`` is ``A[u, v]``; ``people`` and ``rows`` say how many have each cell, as many people as rows. Fractions
    where the table is small, else floats. None if the plan cannot have made these rows.
    """
    assert sum(people) == sum(rows)
    if _steps(rows, people) < _steps(people, rows):
        turned = link_chances([list(column) for column in zip(*chances)], rows, people)
        return None if turned is None else turned.T
    exact = _steps(people, rows) <= MOST_WHOLE
    weights: NDArray[Any]
    if exact:
        scale = math.lcm(*(chance.denominator for row in chances for chance in row))
        weights = np.array([[int(chance * scale) for chance in row] for row in chances], object)
    else:
        weights = np.array([[float(chance) for chance in row] for row in chances])
        weights = weights / weights.max(axis=0, keepdims=True).clip(min=np.finfo(float).tiny)  # a scale for each row
    dealt = [v for v, count in enumerate(rows) for _ in range(count)]
    choices = [[count - taken for taken in range(count)] for count in people]  # whoever is not taken yet
    ahead, ahead_scale = _dealt(weights, choices, dealt)
    behind, behind_scale = _dealt(weights, [row[::-1] for row in choices], dealt[::-1])  # of those who will be left
    total = ahead[-1].flat[-1]
    if not total:
        return None
    result = np.zeros((len(people), len(rows)), object if exact else float)
    for place, v in enumerate(dealt):
        if place and dealt[place - 1] == v:
            continue  # rows of one cell have equal chances
        before = ahead[place]
        left = len(dealt) - 1 - place
        after = np.flip(behind[left])  # by what was left, not by what was taken
        divided = math.exp(ahead_scale[place] + behind_scale[left] - ahead_scale[-1])
        for u in range(len(people)):
            taken, more, free = _along(u, choices[u], weights)
            joint = (before[taken] * free * after[more]).sum() * weights[u, v]
            result[u, v] = (
                Fraction(int(joint), int(total) * people[u]) if exact else joint / total * divided / people[u]
            )
    return result


def _dealt(
    weights: NDArray[Any], choices: Sequence[Sequence[int]], order: Sequence[int]
) -> tuple[list[NDArray[Any]], list[float]]:
    """After 0, 1, ... rows: for each number taken of each kind, the weight of all ways to deal these rows to people.

    ``choices[u][i]`` people can be taken where i of kind u are taken already. Floats grow like factorials, so they are
    scaled after every row; the logarithm of what was divided out is given beside each. Whole numbers stay as they are.
    """
    first = np.zeros([len(row) + 1 for row in choices], weights.dtype)
    first.flat[0] = 1
    found, scales = [first], [0.0]
    for v in order:
        last = found[-1]
        after = np.zeros_like(last)
        for u, row in enumerate(choices):
            taken, more, free = _along(u, row, weights)
            after[more] += last[taken] * free * weights[u, v]
        largest = 1.0 if after.dtype == object else float(after.max()) or 1.0
        found.append(after if largest == 1.0 else after / largest)
        scales.append(scales[-1] + math.log(largest))
    return found, scales


def _along(u: int, choices: Sequence[int], weights: NDArray[Any]) -> tuple[Any, Any, NDArray[Any]]:
    """Where one of kind u can be taken, where it then is, and among how many."""
    free = np.array(choices, weights.dtype)[(slice(None), *[None] * (len(weights) - 1 - u))]
    return (*[slice(None)] * u, slice(None, -1)), (*[slice(None)] * u, slice(1, None)), free
