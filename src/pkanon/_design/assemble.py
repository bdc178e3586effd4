"""Optimal blocks for a schema: one agreement block where that is possible, several where it is not.

What comes out is compared, in whole words, with the simple designs that keep the floor, and never worse for
the workload than any of them. If nothing better is found, the best of them is taken and the plan says so.

With many units (or units of very many values) they are dealt to several blocks, large and small ones to each.
Every block gets what the paper's design would spend on its units, so the floor holds across blocks too: a
table over several blocks has the product of their eigenvalues.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from .._blocks import LARGEST_AGREEMENT, Agreement, Block, Retention
from .._errors import TargetError, did_you_mean
from .._schema import Unit
from .budget import LARGEST_LOG_ODDS, equal_epsilon, equal_rho, retention_blocks
from .optimal import LARGEST_EPSILON, Infeasible, Problem, coefficients, rounded, solve
from .paper import log_odds
from .target import Target, budget
from .workload import Named, Table

UNITS_PER_BLOCK = 8
KEPT = 1e-6
"""A floor is kept if it is missed by no more than this share, for rounding."""
SMALL = 3
"""Attributes of tables that are floored with positive eigenvalues even where all tables are."""
LARGEST_PRODUCT = 2**50
"""Values of all units of a block together: beyond, 64-bit words are too coarse to tell their probabilities apart."""


def optimal_blocks(
    units: Sequence[Unit],
    tables: Sequence[Table],
    limit: Fraction,
    target: Target,
    fixed: Sequence[Block],
    floor: int | str | Named | None,
    joint: Callable[[], Unit],
) -> tuple[list[Block], str | None]:
    """(the blocks with the least error for ``tables``, what went wrong if anything did); ``joint`` makes one unit of all."""
    epsilon = budget(limit)
    simple = _simple(units, limit, target, fixed, joint)
    floors = _floors(units, epsilon, floor)
    kept = {
        name: blocks
        for name, blocks in simple.items()
        # the paper's design is the floor, but for its own rounding to whole words
        if (name == "equal-rho" and not isinstance(floor, Mapping)) or _keeps(blocks, units, floors)
    }
    best = min(kept, key=lambda name: error(kept[name], units, tables), default=None)
    found: list[Block] | None = None
    why, impossible = None, False
    groups = _groups(units) if isinstance(floor, Mapping) else _affordable(units, epsilon)
    if len(units) > 1 and epsilon > 0 and groups is not None:
        if len(groups) == 1 and epsilon < LARGEST_EPSILON:
            try:
                block = _designed(units, tables, limit, floor, floors, _paper_rho(units, epsilon))
                found = None if block is None else [block]
            except Infeasible:
                impossible = True
            if found is None and len(units) > UNITS_PER_BLOCK and not isinstance(floor, Mapping):
                groups = _groups(units, 2)  # smaller problems are solved more surely
                why = "two blocks: one for all attributes was not found"
        if len(groups) > 1:
            found = _several(units, groups, tables, limit, floor)
    if found is not None and (best is None or error(found, units, tables) <= error(kept[best], units, tables)):
        return found, why
    if best is None:
        assert isinstance(floor, Mapping)  # equal-rho keeps every other floor
        alone = len(units) == 1 or epsilon >= LARGEST_EPSILON  # then there is nothing but the simple designs
        raise TargetError(_contradiction(units, epsilon, floor, proved=impossible or alone))
    if len(units) == 1:
        return kept[best], None
    return kept[best], f"{best}: nothing better was found{' that keeps the floor' if floors else ''}"


def lost(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """The smallest sets of attributes of which next to nothing comes through: no table that has one can be reconstructed.

    Next to nothing is a thousandth of what the paper's design would leave with the same budget. In blocks of many units sets
    of up to 3 of them are looked at.
    """
    found = []
    for block in blocks:
        if not isinstance(block, Agreement) or block.epsilon_ratio is None:
            continue
        rho = _paper_rho(block.units, math.log(block.epsilon_ratio))
        gone: list[int] = []
        most = len(block.units) if len(block.units) <= UNITS_PER_BLOCK else SMALL
        for mask in sorted(range(1, len(block.sets)), key=int.bit_count):
            small = abs(float(block.eigenvalues[mask])) < rho ** mask.bit_count() / 1000
            if small and mask.bit_count() <= most and not any(other & mask == other for other in gone):
                gone.append(mask)
                found.append(tuple(n for bit, u in enumerate(block.units) if mask >> bit & 1 for n in u.attributes))
    return found


def error(blocks: Sequence[Block], units: Sequence[Unit], tables: Sequence[Table]) -> float:
    """The weighted error of a workload: what an optimal design makes small."""
    known: dict[tuple[int, tuple[str, ...]], float] = {}
    total = 0.0
    for table in tables:
        factor = table.fixed
        for number, block in enumerate(blocks):
            inside = tuple(name for name in block.attributes if name in table.names)
            if (number, inside) not in known:
                known[number, inside] = block.error_factor(inside)
            factor *= known[number, inside]
        cells = math.prod(table.cells.values())
        total += table.weight * (cells * factor - cells)
    return total


def _simple(
    units: Sequence[Unit], limit: Fraction, target: Target, fixed: Sequence[Block], joint: Callable[[], Unit]
) -> dict[str, list[Block]]:
    found: dict[str, list[Block]] = {"equal-rho": list(retention_blocks(units, equal_rho, limit, target, fixed))}
    with suppress(TargetError):
        found["equal-epsilon"] = list(retention_blocks(units, equal_epsilon, limit, target, fixed))
    with suppress(TargetError):
        found["joint"] = list(retention_blocks([joint()], equal_epsilon, limit, target, fixed))
    return found


def _floors(units: Sequence[Unit], epsilon: float, floor: int | str | Named | None) -> dict[int, float]:
    """The least |lam_T| of every set of units that has one."""
    if floor is None:
        return {}
    if isinstance(floor, Mapping):
        if len(_groups(units)) > 1:
            raise TargetError(
                f"Floors of one's own can be set where all attributes fit one block: up to {LARGEST_AGREEMENT} of them, with up to "
                "2^50 combinations. Ask for a floor by number of attributes."
            )
        own: dict[int, float] = {}
        for table, least in floor.items():
            mask = _mask(units, table)
            own[mask] = max(least, own.get(mask, 0.0))
        return own
    rho = _paper_rho(units, epsilon)
    if len(units) > LARGEST_AGREEMENT:
        # block by block; a simple design keeps the floor if it does so for every unit alone
        return {1 << number: rho for number in range(len(units))}
    return _paper_floors(len(units), rho, floor)


def _paper_floors(units: int, rho: float, floor: int | str | Named | None) -> dict[int, float]:
    """What the paper's design leaves of every set of units that has a floor."""
    most = units if floor == "all" else floor if isinstance(floor, int) else 0
    return {mask: rho ** mask.bit_count() for mask in range(1, 2**units) if mask.bit_count() <= most}


def _wishes(units: int, rho: float, floor: int | str | Named | None) -> dict[int, float]:
    """With a floor by number of attributes: larger tables should not be worse than in the paper's design either."""
    if not isinstance(floor, int) or units > UNITS_PER_BLOCK:
        return {}
    return {mask: rho ** mask.bit_count() for mask in range(1, 2**units) if mask.bit_count() > floor}


def _paper_rho(units: Sequence[Unit], epsilon: float) -> float:
    if epsilon <= 0:
        return 0.0
    odds = math.exp(min(log_odds(epsilon, [unit.size for unit in units]), LARGEST_LOG_ODDS))
    return odds / (1 + odds)


def _mask(units: Sequence[Unit], names: Sequence[str]) -> int:
    known = [name for unit in units for name in unit.attributes]
    for name in names:
        if name not in known:
            raise TargetError(f"A floor names '{name}', which the design does not decide. {did_you_mean(name, known)}")
    return sum(1 << number for number, unit in enumerate(units) if set(unit.attributes) & set(names))


def _contradiction(
    units: Sequence[Unit], epsilon: float, floor: Mapping[tuple[str, ...], float], *, proved: bool
) -> str:
    """Why floors of one's own cannot be met."""
    for table, least in floor.items():
        mask = _mask(units, table)
        most = _largest([unit.size for number, unit in enumerate(units) if mask >> number & 1], epsilon)
        if least > most:
            return (
                f"The floor {least:g} for {' x '.join(table)} cannot be met: with this budget at most {most:.4g} is possible, were nothing "
                "else kept. Lower it, or ask for less privacy."
            )
    if proved and len(floor) > 1:
        return "The floors cannot all be met with this budget, though each of them could alone. Lower some of them."
    return "No plan that keeps these floors was found. Lower them, or ask for a smaller workload or less privacy."


def _largest(sizes: Sequence[int], epsilon: float) -> float:
    """The largest |lam_T| that any value-symmetric mechanism has for the set T of units of these sizes.

    lam is a mean of the characters in which those above lam itself have e^eps times the weight, so it is found by
    adding characters from the top (or from the bottom) as long as they raise it.
    """
    gain = math.expm1(min(epsilon, 700.0))
    patterns = []
    for agree in itertools.product((True, False), repeat=len(sizes)):
        share = math.prod(1 / size if kept else (size - 1) / size for size, kept in zip(sizes, agree))
        patterns.append((math.prod(1.0 if kept else -1 / (size - 1) for size, kept in zip(sizes, agree)), share))
    found = []
    for sign in (1.0, -1.0):
        value, weight, above = 0.0, 1.0, 0.0
        for character, share in sorted(((sign * c, s) for c, s in patterns), reverse=True):
            if character <= value:
                break
            above, weight = above + gain * share * character, weight + gain * share
            value = above / weight
        found.append(value)
    return max(found)


def _keeps(blocks: Sequence[Block], units: Sequence[Unit], floors: Mapping[int, float]) -> bool:
    """Whether a simple design keeps the floors."""
    if not floors:
        return True
    for mask, least in floors.items():
        value = 1.0
        for block in blocks:
            touched = any(
                mask >> number & 1 for number, unit in enumerate(units) if set(unit.attributes) & set(block.attributes)
            )
            assert isinstance(block, Retention)
            value *= float(block.exact_rho) if touched else 1.0
        if value < least * (1 - KEPT):
            return False
    return True


def _groups(units: Sequence[Unit], least: int = 1) -> list[list[int]]:
    """Which units share a block: all if they fit (and one block will do), else dealt by their size, so that blocks are alike."""
    falling = sorted(range(len(units)), key=lambda number: (-units[number].size, number))
    for count in range(least, len(units) + 1):
        groups = [sorted(falling[start::count]) for start in range(count)]
        most = LARGEST_AGREEMENT if count == 1 else UNITS_PER_BLOCK
        if all(len(g) <= most and math.prod(units[i].size for i in g) <= LARGEST_PRODUCT for g in groups):
            return groups
    return [[number] for number in range(len(units))]


def _affordable(units: Sequence[Unit], epsilon: float) -> list[list[int]] | None:
    """As few groups as will do, none of which gets more of the budget than one block can spend."""
    rho = _paper_rho(units, epsilon)
    for least in range(1, len(units) + 1):
        groups = _groups(units, least)
        shares = [_spent(units, group, rho) for group in groups] if len(groups) > 1 else [epsilon]
        if max(shares) < LARGEST_EPSILON:
            return groups
    return None


def _spent(units: Sequence[Unit], group: Sequence[int], rho: float) -> float:
    """What the paper's design spends on the units of a group."""
    return sum(math.log1p(units[i].size * rho / (1 - rho)) if rho < 1 else math.inf for i in group)


def _several(
    units: Sequence[Unit],
    groups: Sequence[Sequence[int]],
    tables: Sequence[Table],
    limit: Fraction,
    floor: int | str | Named | None,
) -> list[Block] | None:
    """One block per group, each solved with the others as they are; None if a solver fails."""
    rho = _paper_rho(units, budget(limit))
    left = limit
    found: list[Block] = []
    for place, group in enumerate(groups):
        share = left
        if place + 1 < len(groups):
            share = min(left, 1 + Fraction(math.expm1(2 * _spent(units, group, rho))))
        local = [_local(table, group, rho) for table in tables if any(i in table.cells for i in group)]
        # no table asks for these units: serve each of them alone
        local = local or [Table((), {place: units[i].size}, 1.0, 1.0) for place, i in enumerate(group)]
        try:
            floors = _paper_floors(len(group), rho, floor)
            block = _designed([units[i] for i in group], local, share, floor, floors, rho)
        except Infeasible:
            return None
        if block is None:
            return None
        ratio = block.epsilon_ratio
        assert ratio is not None
        left /= ratio**2
        found.append(block)
    return found


def _designed(
    units: Sequence[Unit],
    tables: Sequence[Table],
    limit: Fraction,
    floor: int | str | Named | None,
    floors: Mapping[int, float],
    rho: float,
) -> Agreement | None:
    """The best block for some tables; None if none was found, Infeasible if there is none.

    A floor for all tables asks for |lam_T|, and it is much cheaper to keep with the signs that eigenvalues of large T take
    by themselves than with positive ones.
    """
    if floor != "all":
        return _solved(units, tables, limit, floors, _wishes(len(units), rho, floor))
    free = _solved(units, tables, limit, _paper_floors(len(units), rho, SMALL), _wishes(len(units), rho, SMALL))
    if free is not None and all(abs(float(free.eigenvalues[mask])) >= least for mask, least in floors.items()):
        return free
    return _solved(units, tables, limit, floors, {})


def _solved(
    units: Sequence[Unit],
    tables: Sequence[Table],
    limit: Fraction,
    floors: Mapping[int, float],
    wishes: Mapping[int, float],
) -> Agreement | None:
    """The best block for some tables; None if none was found, Infeasible if there is none."""
    epsilon = budget(limit)
    if not 0 < epsilon < LARGEST_EPSILON:
        return None
    t = solve(Problem(tuple(unit.size for unit in units), epsilon, coefficients(tables), floors, wishes))
    block = None if t is None else rounded(units, t, limit)
    if block is None or any(abs(float(block.eigenvalues[m])) < (1 - KEPT) * least for m, least in floors.items()):
        return None  # with a tiny budget, words are too coarse for small eigenvalues
    return block


def _local(table: Table, group: Sequence[int], rho: float) -> Table:
    """What one block sees of a table: the errors elsewhere, taken as in the paper's design, multiply its weight."""
    elsewhere = math.prod(1 + (cells - 1) / rho**2 for unit, cells in table.cells.items() if unit not in group)
    cells = {group.index(unit): table.cells[unit] for unit in group if unit in table.cells}
    return Table(table.names, cells, 1.0, table.weight * table.fixed * elsewhere)
