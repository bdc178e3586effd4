"""Statistics on top of a reconstructed table, each with a standard error.

conditions.py  which cells a condition picks;  numbers.py  which numbers values stand for
proportions.py counts, shares, ratios, odds ratios;  moments.py  sums, means, deviations, correlations
weights.py     the numbers of an attribute that is a survey weight
comparisons.py standardised shares, Mantel-Haenszel, trends
quantiles.py   quantiles;  association.py  test of independence, Cramer's V, mutual information
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._doors import lazy

if TYPE_CHECKING:
    from .association import Association, Measure, associate, cramers_v
    from .comparisons import MantelHaenszel, Trend, mantel_haenszel, standardised, trend
    from .conditions import cells_where, code_of
    from .moments import correlation, deviation, mean, total
    from .numbers import Number, is_numeric, representative
    from .proportions import count, odds_ratio, proportion, ratio
    from .quantiles import Quantile, QuantileDifference, quantile
    from .weights import weight_error, weight_numbers

lazy(
    __name__,
    {
        "association": "Association, Measure, associate, cramers_v",
        "comparisons": "MantelHaenszel, Trend, mantel_haenszel, standardised, trend",
        "conditions": "cells_where, code_of",
        "moments": "correlation, deviation, mean, total",
        "numbers": "Number, is_numeric, representative",
        "proportions": "count, odds_ratio, proportion, ratio",
        "quantiles": "Quantile, QuantileDifference, quantile",
        "weights": "weight_error, weight_numbers",
    },
)

__all__ = [
    "Association",
    "MantelHaenszel",
    "Measure",
    "Number",
    "Quantile",
    "QuantileDifference",
    "Trend",
    "associate",
    "cells_where",
    "code_of",
    "correlation",
    "count",
    "cramers_v",
    "deviation",
    "is_numeric",
    "mantel_haenszel",
    "mean",
    "odds_ratio",
    "proportion",
    "quantile",
    "ratio",
    "representative",
    "standardised",
    "total",
    "trend",
    "weight_error",
    "weight_numbers",
]
