"""The charts of this package: which kind fits a table, and what is refused.

    crosstab_chart      a reconstructed table: bars with error bars, or a heat map that shows its errors
    correlation_chart   how strongly pairs of attributes go together
    save_chart          a chart as a PNG, SVG, HTML or JSON file

No chart changes anything for the rest of the process (renderers, themes, limits on rows): the rows are
part of the chart.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ..._errors import EnvironmentFailure, InputError

try:
    import altair  # noqa: F401  asked first, so that its absence is told by what to install
except ImportError:
    raise EnvironmentFailure("Charts need the package altair; install pkanon[charts].") from None

from .bars import COLOURS, bars
from .cells import Cells, Chart
from .correlation import correlation_chart
from .heat import heat
from .saving import save_chart

__all__ = ["correlation_chart", "crosstab_chart", "save_chart"]

KINDS = {"bars": (1, 2), "heat": (2, 3)}
"""How many attributes each kind can show."""
MAX_CELLS = 5_000
GROUPED_CELLS, GROUPS = 60, 6
"""Two attributes are shown as bars up to here; beyond, bars are too thin or colours too many to compare."""


def crosstab_chart(
    frame: pl.DataFrame, names: Sequence[str], kind: str | None, caption: str, measure: str = "people"
) -> Chart:
    """A chart of ``Estimate.to_polars()``; ``names`` are its attributes, ``kind`` is None, ``bars`` or ``heat``.

    ``measure`` is what its column ``estimate`` counts.
    """
    _check(len(names), kind)
    if frame.height > MAX_CELLS:
        raise InputError(
            f"A chart shows at most {MAX_CELLS:,} cells, and this table has {frame.height:,}; "
            "tabulate fewer attributes, or coarser ones."
        )
    cells = Cells.of(frame, names, measure)
    if (kind or _fitting(cells)) == "heat":
        return heat(cells, caption)
    if len(names) == 2 and min(cells.sizes) > len(COLOURS):
        raise InputError(
            f"Bars can tell {len(COLOURS)} groups apart, and '{names[0]}' and '{names[1]}' "
            "both have more values; ask for the kind 'heat'."
        )
    return bars(cells, caption)


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
