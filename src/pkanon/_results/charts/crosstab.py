"""The chart of a reconstructed table: bars with error bars, lines with bands, or a heat map that shows its errors.

This module chooses the kind that fits a table, and refuses what cannot be drawn.
"""

from __future__ import annotations

from ..._errors import InputError
from ..chart_data import Grid
from .bars import COLOURS, bars
from .cells import Cells
from .heat import heat
from .line import line
from .style import Chart

KINDS = {"bars": (1, 2), "heat": (2, 3), "line": (1, 2)}
"""How many attributes each kind can show."""
MAX_CELLS = 5_000
GROUPED_CELLS, GROUPS = 60, 6
"""The largest table of two attributes that is drawn as bars: with more cells bars are too thin, with more groups there
are too many colours to compare."""


def crosstab_chart(grid: Grid, kind: str | None) -> Chart:
    """A chart of a table; ``kind`` is None for what fits, ``bars``, ``heat`` or ``line``."""
    _check(len(grid.names), kind)
    if grid.estimate.size > MAX_CELLS:
        raise InputError(
            f"A chart shows at most {MAX_CELLS:,} cells, and this table has {grid.estimate.size:,}; "
            "tabulate fewer attributes, or coarser ones."
        )
    cells = Cells.of(grid)
    if (kind or _fitting(cells)) == "heat":
        return heat(cells, grid.caption)
    if kind == "line":
        return line(cells, grid.caption)
    if len(grid.names) == 2 and min(cells.sizes) > len(COLOURS):
        first, second = grid.names
        raise InputError(
            f"Bars can tell {len(COLOURS)} groups apart, and '{first}' and '{second}' "
            "both have more values; ask for the kind 'heat'."
        )
    return bars(cells, grid.caption)


def _check(attributes: int, kind: str | None) -> None:
    if not 1 <= attributes <= 3:
        raise InputError(
            f"A chart shows one, two or three attributes, not {attributes}; tabulate fewer attributes for a chart."
        )
    if kind is None:
        return
    if kind not in KINDS:
        raise InputError(f"There is no chart of the kind '{kind}'. Available: {', '.join(KINDS)}.")
    if attributes not in KINDS[kind]:
        other = next(name for name, counts in KINDS.items() if attributes in counts)
        few, many = KINDS[kind]
        raise InputError(
            f"The kind '{kind}' shows {few} or {many} attributes, and this table has {attributes}; "
            f"ask for the kind '{other}'."
        )


def _fitting(cells: Cells) -> str:
    if len(cells.sizes) == 1:
        return "bars"
    few = len(cells.rows) <= GROUPED_CELLS and min(cells.sizes) <= GROUPS
    return "bars" if len(cells.sizes) == 2 and few else "heat"
