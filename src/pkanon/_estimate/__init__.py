"""From released codes to an unbiased cross-tabulation with errors: arrays in, arrays out.

tabulate.py        codes to counts
channel.py         how a table was randomised: the passes of all blocks on its axes, and back
method.py          the parts of a method;  methods.py  the catalogue;  inverse.py, simplex.py, em.py  one method each
reconstruction.py  one table: counts, standard errors, intervals;  shares.py  shares of its cells
quantity.py        one number computed from a table;  testing.py  its test;  weighing.py  a table weighted by a randomised attribute
grouping.py        a table that shows some values as one, or leaves them out
source.py          the rows behind a table;  joint.py  numbers from several tables;  several.py  numbers from several releases
uncertainty.py     the one owner of errors and intervals, for cells, counts, shares, sums and everything else
linear.py          linear functions of a table;  variance.py  their variance;  delta.py  numbers computed from them
flags.py           what must be said beside a number
interval.py        limits that are honest in sparse tables
statistics/        means, quantiles, associations;  regression/  linear, logistic and Poisson
"""

from . import regression, statistics
from .channel import Channel
from .delta import Derived
from .em import maximum_likelihood
from .flags import MEANING as FLAG_MEANING
from .flags import Flags
from .interval import normal_quantile
from .method import Convergence
from .methods import METHODS
from .quantity import Quantity
from .reconstruction import ABOUT, About, Reconstruction, as_names
from .several import pool, together
from .shares import Shares
from .simplex import nearest
from .statistics import (
    Association,
    MantelHaenszel,
    Measure,
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
from .tabulate import LARGEST_TABLE, tabulate
from .testing import Test, p_text, short
from .uncertainty import Basis, flags, intervals, standard_errors, values

__all__ = [
    "ABOUT",
    "FLAG_MEANING",
    "LARGEST_TABLE",
    "METHODS",
    "About",
    "Association",
    "Basis",
    "Channel",
    "Convergence",
    "Derived",
    "Flags",
    "MantelHaenszel",
    "Measure",
    "Quantile",
    "QuantileDifference",
    "Quantity",
    "Reconstruction",
    "Shares",
    "Test",
    "Trend",
    "as_names",
    "code_of",
    "cramers_v",
    "flags",
    "intervals",
    "is_numeric",
    "maximum_likelihood",
    "nearest",
    "normal_quantile",
    "p_text",
    "pool",
    "regression",
    "representative",
    "short",
    "standard_errors",
    "statistics",
    "tabulate",
    "together",
    "values",
    "weight_error",
    "weight_numbers",
]
