"""What one answer becomes, in numbers for everybody: of 100 people who say v, how many are sent as v.

Computed from the integers of the plan (docs/why/theory.md 1, 6, 8), exactly, and rounded to whole people only at the
end. What a person says in other questions does not change the numbers of one question. A question with many values, such
as a number, takes no longer: only what is shown is computed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .._blocks import Agreement, Block, Matrix, Retention
from .._errors import PlanError
from .._plan import Plan
from .._schema import Unit

MOST_ROWS = 12
"""Values of a question of which the whole table is given."""
LEAST_REPLACED = Fraction(1, 200)
"""The share of people whose answer is replaced, at least: of 100 people the page would else count one who is none."""


def odds(plan: Plan) -> list[dict[str, Any]]:
    """The odds of each attribute in the order of the schema, as survey.json holds them.

    ``kept_of_100`` people of 100 are sent with the value they said: those of the value that is kept most often.
    ``sent_of_100[v][w]`` people of 100 who say v are sent as w, each number rounded by itself; null where there are many
    values.
    """
    return [_odds(plan, attribute.name, attribute.size) for attribute in plan.schema.randomised]


def seldom_replaced(plan: Plan) -> str | None:
    """An attribute of which every value is sent as it is by more than 199 of 200 people, if there is one.

    Every value: in a bundle one that has most of the combinations is sent by nearly everybody, whatever they said.
    """
    few = (a.name for a in plan.schema.randomised if a.size > 1 and 1 - _kept(plan, a.name)[0] < LEAST_REPLACED)
    return next(few, None)


def _kept(plan: Plan, name: str) -> tuple[Fraction, Fraction]:
    """The chances of the values that are sent as they are least often and most often."""
    block, unit = _place(plan, name)
    if isinstance(block, Matrix):
        if len(unit.attributes) > 1:
            raise PlanError(f"{unit} is randomised by a matrix; what one answer becomes depends on the others.")
        own = [row[value] for value, row in enumerate(block.rows)]
        return Fraction(min(own), 2**block.width), Fraction(max(own), 2**block.width)
    stays, each = _mixture(block, unit)
    fewest, most = _extremes(unit, name)
    return stays + each * fewest, stays + each * most


def _place(plan: Plan, name: str) -> tuple[Block, Unit]:
    block = next(block for block in plan.blocks if name in block.attributes)
    return block, next(unit for unit in block.units if name in unit.attributes)


def _odds(plan: Plan, name: str, size: int) -> dict[str, Any]:
    _, kept = _kept(plan, name)
    block, unit = _place(plan, name)
    few = size <= MOST_ROWS
    rows: list[list[Fraction]] = []
    if few and isinstance(block, Matrix):
        rows = [[Fraction(count, 2**block.width) for count in row] for row in block.rows]
    elif few:
        stays, each = _mixture(block, unit)
        shares = [each * count for count in _counts(unit, name)]
        rows = [[share + stays * (v == w) for w, share in enumerate(shares)] for v in range(size)]
    return {
        "attribute": name,
        "kept_of_100": whole(kept),
        "sent_of_100": [[whole(share) for share in row] for row in rows] if few else None,
    }


def _mixture(block: Block, unit: Unit) -> tuple[Fraction, Fraction]:
    """(stays, each): each combination of the unit is sent with the chance ``each``, and one's own with ``stays`` more."""
    if isinstance(block, Retention):
        return block.exact_rho, (1 - block.exact_rho) / unit.size
    assert isinstance(block, Agreement)
    bit = block.units.index(unit)
    kept = Fraction(sum(count for mask, count in enumerate(block.sets) if mask >> bit & 1), 2**block.width)
    # a unit that goes takes each other combination alike: a uniform draw from all, without the share of its own
    each = (1 - kept) / (unit.size - 1)
    return kept - each, each


def _extremes(unit: Unit, name: str) -> tuple[int, int]:
    """How many allowed combinations of the unit hold the value that has fewest of them, and most."""
    if not unit.forbid:
        each = unit.size // unit.sizes[unit.attributes.index(name)]
        return each, each
    counts = [count for count in _counts(unit, name) if count]
    return min(counts), max(counts)


def _counts(unit: Unit, name: str) -> list[int]:
    """How many allowed combinations of the unit hold each value."""
    axis = unit.attributes.index(name)
    if not unit.forbid:
        return [unit.size // unit.sizes[axis]] * unit.sizes[axis]
    others = tuple(other for other in range(len(unit.sizes)) if other != axis)
    return [int(count) for count in unit.allowed.sum(axis=others)]


def whole(share: Fraction) -> int:
    """People of 100; never nobody and never everybody unless that is exact."""
    if share in (0, 1):
        return int(100 * share)
    return min(99, max(1, round(100 * share)))
