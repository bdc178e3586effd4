"""Pictures of results. Nothing is estimated here: records with finished numbers come in, charts and files go out.

crosstab.py    a reconstructed table: which kind fits it;  bars.py, heat.py, line.py  the kinds
confidence.py  how sure an adversary is, and how often she is right
correlation.py how strongly pairs of attributes go together;  tradeoff.py  what privacy costs
readability.py which tables can be read
cells.py       the cells of a table as altair needs them;  style.py  axes, legends, headings and colours of all charts
saving.py      a chart as a PNG, SVG, PDF, HTML or JSON file

No chart changes anything for the rest of the process (renderers, themes, limits on rows): the rows are part of the chart.
"""

from ..._errors import missing_package

try:
    import altair  # noqa: F401  imported here so that a missing package is reported with the extra to install
except ImportError:
    raise missing_package("Charts need the package altair", "charts") from None

from .confidence import confidence_chart
from .correlation import correlation_chart
from .crosstab import crosstab_chart
from .readability import readability_chart
from .saving import check_chart_file, save_chart
from .style import INK, PALE_INK, axis, dots, heading, legend, panel, powers
from .tradeoff import tradeoff_chart

__all__ = [
    "INK",
    "PALE_INK",
    "axis",
    "check_chart_file",
    "confidence_chart",
    "correlation_chart",
    "crosstab_chart",
    "dots",
    "heading",
    "legend",
    "panel",
    "powers",
    "readability_chart",
    "save_chart",
    "tradeoff_chart",
]
