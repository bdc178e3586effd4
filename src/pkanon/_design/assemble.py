"""Optimal blocks for a schema: one agreement block where that is possible, several where it is not.

Once rounded to whole words, they are compared with the simple designs that keep the floor, and are never worse for the
workload. If nothing better is found, the best simple design is taken and the plan says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from .._blocks import Agreement, Block, Retention
from .._errors import TargetError
from .._schema import Unit
from .budget import equal_epsilon, equal_rho, paper_cost, paper_rho, retention_blocks
from .floor import Floor
from .grouping import UNITS_PER_BLOCK, affordable_groups, groups_of
from .infeasible import contradiction
from .optimal import LARGEST_EPSILON, Infeasible, rounded, solve
from .problem import Problem, coefficients
from .target import Target, budget
from .workload import Table, total_error

KEPT = 1e-6
"""A floor counts as kept if it is missed by at most this share, the loss from rounding to whole words."""
SPENT = LARGEST_EPSILON * (1 - 1e-9)
"""The most that one block spends."""
SMALL = Floor(3)
"""Tables of up to three attributes get a floor with positive eigenvalues, even where all tables have a floor."""


def optimal_blocks(
    units: Sequence[Unit],
    tables: Sequence[Table],
    limit: Fraction,
    target: Target,
    fixed: Sequence[Block],
    floor: Floor,
    joint: Callable[[], Unit],
) -> tuple[list[Block], str | None]:
    """The blocks with the least error for ``tables``, and the reason for a fallback if any; ``joint`` makes one unit of all."""
    epsilon = budget(limit)
    simple = _simple_designs(units, limit, target, fixed, joint)
    floors = floor.floors(units, paper_rho(units, epsilon))
    kept = {
        name: blocks
        for name, blocks in simple.items()
        # the paper's design is the floor, but for its own rounding to whole words
        if (name == "equal-rho" and not floor.by_table) or _keep(blocks, units, floors)
    }
    best = min(kept, key=lambda name: total_error(kept[name], tables), default=None)
    blocks: Sequence[Block] | None = None
    why, impossible = None, False
    groups = groups_of(units) if floor.by_table else affordable_groups(units, epsilon)
    if len(units) > 1 and epsilon > 0 and groups is not None:
        if len(groups) == 1 and epsilon < LARGEST_EPSILON:
            try:
                block = _block(units, tables, limit, floor, paper_rho(units, epsilon))
                blocks = None if block is None else [block]
            except Infeasible:
                impossible = True
            if blocks is None and len(units) > UNITS_PER_BLOCK and not floor.by_table:
                groups = groups_of(units, 2)  # smaller problems are solved more surely
                why = "two blocks: one for all attributes was not found"
        if len(groups) > 1:
            blocks = _several_blocks(units, groups, tables, limit, floor)
        if epsilon >= LARGEST_EPSILON and len(groups_of(units)) == 1:
            # the rest of the budget may be left unspent, if that is better than to deal it to several blocks
            with suppress(Infeasible):
                block = _block(units, tables, Fraction(math.exp(2 * SPENT)), floor, paper_rho(units, epsilon))
                if block and (blocks is None or total_error([block], tables) < total_error(blocks, tables)):
                    blocks = [block]
    if blocks is not None and (best is None or total_error(blocks, tables) <= total_error(kept[best], tables)):
        return list(blocks), why
    if best is None:  # a floor by table: equal-rho keeps every other
        alone = len(units) == 1 or epsilon >= LARGEST_EPSILON  # then there is nothing but the simple designs
        raise TargetError(contradiction(units, epsilon, floor, proved=impossible or alone))
    if len(units) == 1:
        return list(kept[best]), None
    return list(kept[best]), f"{best}: nothing better was found{' that keeps the floor' if floors else ''}"


def _simple_designs(
    units: Sequence[Unit], limit: Fraction, target: Target, fixed: Sequence[Block], joint: Callable[[], Unit]
) -> dict[str, list[Retention]]:
    designs = {"equal-rho": retention_blocks(units, equal_rho, limit, target, fixed)}
    with suppress(TargetError):
        designs["equal-epsilon"] = retention_blocks(units, equal_epsilon, limit, target, fixed)
    with suppress(TargetError):
        designs["joint"] = retention_blocks([joint()], equal_epsilon, limit, target, fixed)
    return designs


def _keep(blocks: Sequence[Retention], units: Sequence[Unit], floors: Mapping[int, float]) -> bool:
    """Whether a simple design keeps the floors."""
    touched = [
        sum(1 << number for number, unit in enumerate(units) if set(unit.attributes) & set(block.attributes))
        for block in blocks
    ]
    kept = [float(block.exact_rho) for block in blocks]
    return all(
        math.prod(rho for rho, own in zip(kept, touched) if mask & own) >= least * (1 - KEPT)
        for mask, least in floors.items()
    )


def _several_blocks(
    units: Sequence[Unit], groups: Sequence[Sequence[int]], tables: Sequence[Table], limit: Fraction, floor: Floor
) -> list[Agreement] | None:
    """One block per group, each solved with the others as they are; None if a solver fails."""
    rho = paper_rho(units, budget(limit))
    left = limit
    blocks: list[Agreement] = []
    for place, group in enumerate(groups):
        members = [units[i] for i in group]
        share = left
        if place + 1 < len(groups):
            share = min(left, 1 + Fraction(math.expm1(2 * paper_cost(members, rho))))
        local = [_seen_from(group, table, rho) for table in tables if any(i in table.cells for i in group)]
        # no table asks for these units: serve each of them alone
        local = local or [Table((), {place: unit.size}, 1.0, 1.0) for place, unit in enumerate(members)]
        try:
            block = _block(members, local, share, floor, rho)
        except Infeasible:
            return None
        if block is None:
            return None
        ratio = block.epsilon_ratio
        assert ratio is not None  # every set has a word
        left /= ratio**2
        blocks.append(block)
    return blocks


def _seen_from(group: Sequence[int], table: Table, rho: float) -> Table:
    """A table as one block sees it: its weight is multiplied by the errors of other blocks, as in the paper's design."""
    elsewhere = math.prod(1 + (cells - 1) / rho**2 for unit, cells in table.cells.items() if unit not in group)
    cells = {group.index(unit): table.cells[unit] for unit in group if unit in table.cells}
    return Table(table.names, cells, 1.0, table.weight * table.fixed * elsewhere)


def _block(
    units: Sequence[Unit], tables: Sequence[Table], limit: Fraction, floor: Floor, rho: float
) -> Agreement | None:
    """The best block for some tables; None if none was found, Infeasible if there is none.

    A floor for all tables asks for |lam_T|, and it is much cheaper to keep with the signs that eigenvalues of large T take
    by themselves than with positive ones.
    """
    floors = floor.floors(units, rho)
    if not floor.of_all:
        return _solved(units, tables, limit, floors, floor.wishes(units, rho))
    free = _solved(units, tables, limit, SMALL.floors(units, rho), SMALL.wishes(units, rho))
    if free is not None and all(abs(free.spectrum[mask]) >= least for mask, least in floors.items()):
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
    if block is None or any(abs(block.spectrum[m]) < (1 - KEPT) * least for m, least in floors.items()):
        return None  # with a tiny budget, words are too coarse for small eigenvalues
    return block
