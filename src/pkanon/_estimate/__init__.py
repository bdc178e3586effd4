"""From released codes to an unbiased cross-tabulation with errors: arrays in, arrays out.

tabulate.py        codes to counts;  stored.py  codes on a disk
channel.py         how a table was randomised: the passes of all blocks on its axes, and back
method.py          the parts of a method;  methods.py  the catalogue;  inverse.py, simplex.py, em.py  one method each
reconstruction.py  one table: counts, standard errors, intervals;  shares.py  shares of its cells
quantity.py        one number computed from a table;  testing.py  its test;  weighing.py  a table weighted by a randomised attribute
grouping.py        a table that shows some values as one, or leaves them out
source.py          the rows behind a table;  joint.py  numbers from several tables;  several.py  numbers from several releases
uncertainty.py     the one owner of errors and intervals, for cells, counts, shares, sums and everything else
linear.py          linear functions of a table;  variance.py  their variance;  delta.py  numbers computed from them
model/             a model of all rows: its tables, and people drawn from it;  combining.py  what several draws say together
flags.py           what must be said beside a number
interval.py        limits that are honest in sparse tables, of cells, counts, sums and shares
statistics/        means, quantiles, associations;  regression/  linear, logistic and Poisson
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from . import regression, statistics
    from .channel import Channel
    from .combining import Combined, combine_draws
    from .delta import Derived
    from .em import maximum_likelihood
    from .flags import MEANING as FLAG_MEANING
    from .flags import Flags
    from .interval import normal_quantile
    from .method import Convergence
    from .methods import METHODS
    from .model import (
        Fitted,
        Mixture,
        ModelReport,
        draw_people,
        fit_model,
        model_bytes,
        model_from_bytes,
        model_of,
        resampled,
    )
    from .quantity import Quantity
    from .reconstruction import ABOUT, About, Reconstruction, as_names
    from .several import pool, together
    from .shares import Shares
    from .simplex import nearest
    from .source import Source
    from .statistics import (
        Association,
        MantelHaenszel,
        Measure,
        Number,
        Quantile,
        QuantileDifference,
        Trend,
        code_of,
        cramers_v,
        is_numeric,
        representative,
        weight_error,
        weight_numbers,
    )
    from .stored import StoredCodes, number_of_rows, pieces_of
    from .tabulate import LARGEST_TABLE, check_size, count_tables, tabulate
    from .testing import Test, p_text, short
    from .uncertainty import Basis, flags, intervals, standard_errors, values

lazy(
    __name__,
    {
        "": "regression, statistics",
        "channel": "Channel",
        "combining": "Combined, combine_draws",
        "delta": "Derived",
        "em": "maximum_likelihood",
        "flags": "MEANING as FLAG_MEANING, Flags",
        "interval": "normal_quantile",
        "method": "Convergence",
        "methods": "METHODS",
        "model": (
            "Fitted, Mixture, ModelReport, draw_people, fit_model, model_bytes, model_from_bytes, model_of, resampled"
        ),
        "quantity": "Quantity",
        "reconstruction": "ABOUT, About, Reconstruction, as_names",
        "several": "pool, together",
        "shares": "Shares",
        "simplex": "nearest",
        "source": "Source",
        "statistics": (
            "Association, MantelHaenszel, Measure, Number, Quantile, QuantileDifference, Trend, code_of, cramers_v, "
            "is_numeric, representative, weight_error, weight_numbers"
        ),
        "stored": "StoredCodes, number_of_rows, pieces_of",
        "tabulate": "LARGEST_TABLE, check_size, count_tables, tabulate",
        "testing": "Test, p_text, short",
        "uncertainty": "Basis, flags, intervals, standard_errors, values",
    },
)

__all__ = [
    "ABOUT",
    "FLAG_MEANING",
    "LARGEST_TABLE",
    "METHODS",
    "About",
    "Association",
    "Basis",
    "Channel",
    "Combined",
    "Convergence",
    "Derived",
    "Fitted",
    "Flags",
    "MantelHaenszel",
    "Measure",
    "Mixture",
    "ModelReport",
    "Number",
    "Quantile",
    "QuantileDifference",
    "Quantity",
    "Reconstruction",
    "Shares",
    "Source",
    "StoredCodes",
    "Test",
    "Trend",
    "as_names",
    "check_size",
    "code_of",
    "combine_draws",
    "count_tables",
    "cramers_v",
    "draw_people",
    "fit_model",
    "flags",
    "intervals",
    "is_numeric",
    "maximum_likelihood",
    "model_bytes",
    "model_from_bytes",
    "model_of",
    "nearest",
    "normal_quantile",
    "number_of_rows",
    "p_text",
    "pieces_of",
    "pool",
    "regression",
    "representative",
    "resampled",
    "short",
    "standard_errors",
    "statistics",
    "tabulate",
    "together",
    "values",
    "weight_error",
    "weight_numbers",
]
