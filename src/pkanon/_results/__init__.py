"""Results for people: numbers with labels, errors and pictures.

tabular.py   the output that all results share: data frames, JSON, files, notebooks;  text.py  tables for people to read
paper/       tables for papers: LaTeX, HTML, Markdown, Excel;  crosstable.py  a reconstructed table as one
columns.py   the names of their columns
estimate.py  a reconstructed table;  association.py  how two attributes are related;  families.py  numbers tested together
overview.py  descriptions and correlations of many attributes
regression/  regressions by formula
costs.py     what privacy costs, before any data exist;  choosing.py  plans for several k side by side
sql/         queries;  charts/  pictures (loaded when the first one is drawn: altair is optional);  chart_data.py  their input
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from .association import Association
    from .chart_data import Confidence, Grid, Pair, Point
    from .choosing import Choice, Choices, choices
    from .costs import Tradeoff, tradeoff
    from .estimate import Estimate
    from .families import Family, family
    from .overview import Correlations, Description, correlate, describe
    from .paper import PaperTable
    from .regression import Coefficient, FittedMean, Regression, WaldTest, regress
    from .sql import Answer, respond
    from .tabular import Tabular, json_rows

lazy(
    __name__,
    {
        "association": "Association",
        "chart_data": "Confidence, Grid, Pair, Point",
        "choosing": "Choice, Choices, choices",
        "costs": "Tradeoff, tradeoff",
        "estimate": "Estimate",
        "families": "Family, family",
        "overview": "Correlations, Description, correlate, describe",
        "paper": "PaperTable",
        "regression": "Coefficient, FittedMean, Regression, WaldTest, regress",
        "sql": "Answer, respond",
        "tabular": "Tabular, json_rows",
    },
)

__all__ = [
    "Answer",
    "Association",
    "Choice",
    "Choices",
    "Coefficient",
    "Confidence",
    "Correlations",
    "Description",
    "Estimate",
    "Family",
    "FittedMean",
    "Grid",
    "Pair",
    "PaperTable",
    "Point",
    "Regression",
    "Tabular",
    "Tradeoff",
    "WaldTest",
    "choices",
    "correlate",
    "describe",
    "family",
    "json_rows",
    "regress",
    "respond",
    "tradeoff",
]
