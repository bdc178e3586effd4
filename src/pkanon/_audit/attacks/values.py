"""What is a person's value? Guesses with and without the release, by an adversary who knows all her other values.

Without the release she is guessed from everybody else's data (``Inference.belief``), which is more than statistics about the
table tell. With it, the same belief is multiplied by how well the released rows fit each value, she herself being taken out of
what is known. The difference is what her own row gave away. The certificate bounds it too: no belief p becomes more than
``g p / (1 + (g - 1) p)``, g = e^epsilon (docs/why/theory.md 3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..._plan import Plan
from ..._schema import Codes
from .bayes import share_right
from .combinations import Combinations, Counts
from .inference import Inference
from .matching import Matching
from .mechanism import Shared

MOST_BELIEFS = 2**25
"""Cells of the people times values of the attribute."""


@dataclass(frozen=True)
class Guess:
    """How often an attribute is guessed: by naming its ``commonest`` value, from everybody ``else``, and with the release.

    ``bound`` is what the certificate allows; None where nothing bounds it.
    """

    attribute: str
    commonest: float
    others: float
    released: float
    bound: float | None


def guesses(plan: Plan, people: Mapping[str, Codes], matching: Matching, names: list[str]) -> list[Guess]:
    """One for each of ``names`` that fits into memory."""
    attributes = [attribute.name for attribute in plan.schema.randomised]
    sizes = [plan.schema.attribute(name).size for name in attributes]
    if math.prod(sizes) >= 2**63 or len(attributes) < 2:
        return []
    cells, _ = Combinations.of([people[name] for name in attributes], sizes)
    found = []
    for name in names:
        target = attributes.index(name)
        if len(cells.counts) * sizes[target] <= MOST_BELIEFS:
            found.append(_guess(plan, cells, matching, attributes, target))
    return found


def _guess(plan: Plan, cells: Combinations, matching: Matching, attributes: list[str], target: int) -> Guess:
    inference = Inference(target, cells)
    belief = inference.belief()
    evidence = _evidence(plan, cells, matching, attributes, target)
    return Guess(
        attributes[target],
        inference.commonest(),
        share_right(belief, inference.values, cells.counts),
        share_right(belief * evidence, inference.values, cells.counts),
        _bound(plan, belief, cells),
    )


def _evidence(plan: Plan, cells: Combinations, matching: Matching, attributes: list[str], target: int) -> Counts:
    """How well the rows fit each person with each value, all else being equal; 0 where the schema forbids it."""
    mechanism, size = matching.mechanism, cells.sizes[target]
    unit = next(u for u in plan.units if attributes[target] in u.attributes)
    if plan.units.index(unit) not in mechanism.units:
        return np.ones((len(cells.counts), size))
    axis = mechanism.units.index(plan.units.index(unit))
    # the person's own share is taken out of what was expected: to first order, b becomes b (1 + b A[own, v] a[own])
    squares = matching.rows.grid(mechanism.shape, matching.rows.counts * matching.b**2)
    shared = Shared.of(mechanism, axis, squares)
    result = np.zeros((len(cells.counts), size))
    codes = {name: cells.codes[:, i] for i, name in enumerate(attributes)}
    own = mechanism.places([u.join([codes[name] for name in u.attributes]) for u in plan.units])
    numbers = np.ravel_multi_index(own, mechanism.shape)
    a = matching.a[np.searchsorted(matching.people.numbers, numbers)]
    for value in range(size):
        tried = codes | {attributes[target]: np.full(len(cells.counts), value)}
        allowed = np.ones(len(cells.counts), bool)
        if unit.forbid:
            allowed = unit.allowed[tuple(tried[name] for name in unit.attributes)]
        places = mechanism.places([u.join([tried[name][allowed] for name in u.attributes]) for u in plan.units])
        here = tuple(part[allowed] for part in own)
        result[allowed, value] = matching.evidence[places] + a[allowed] * shared.at(here, places[axis])
    return result


def _bound(plan: Plan, belief: Counts, cells: Combinations) -> float | None:
    """The mean over all people of the most that the best guess can be worth."""
    if plan.epsilon_ratio is None:
        return None
    ratio = float(plan.epsilon_ratio)
    best = belief.max(axis=1)
    return float((ratio * best / (1 + (ratio - 1) * best) * cells.counts).sum() / cells.people)
