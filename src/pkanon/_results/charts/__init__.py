"""Pictures of results. Nothing is estimated here: numbers come in finished, charts and files go out.

charts.py  which kind fits a table;  bars.py, heat.py  the kinds;  correlation.py, tradeoff.py  charts of their own
cells.py   what all charts share: the cells of a table, axes, colours, headings;  saving.py  a chart as a file
"""

from .charts import crosstab_chart  # first: it says what to install where altair is missing

from .cells import INK, PALE_INK, axis, dots, heading, legend, panel, powers  # isort: skip
from .correlation import correlation_chart
from .saving import save_chart
from .tradeoff import tradeoff_chart

__all__ = [
    "INK",
    "PALE_INK",
    "axis",
    "correlation_chart",
    "crosstab_chart",
    "dots",
    "heading",
    "legend",
    "panel",
    "powers",
    "save_chart",
    "tradeoff_chart",
]
