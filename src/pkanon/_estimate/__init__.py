"""From released codes to an unbiased cross-tabulation with errors: arrays in, arrays out.

tabulate.py        codes to counts
channel.py         how a table was randomised: the passes of all blocks on its axes, and back
simplex.py, em.py  methods beside the plain inverse
reconstruction.py  counts, standard errors, intervals of one table;  interval.py  limits of a cell;  quantity.py  of a number
statistics/        means, quantiles, associations
"""

from . import statistics
from .channel import Channel
from .em import Convergence, maximum_likelihood
from .interval import normal_quantile
from .quantity import Quantity
from .reconstruction import ABOUT, METHODS, About, Method, Reconstruction, Shares, as_names
from .simplex import nearest
from .statistics import (
    Association,
    Measure,
    Quantile,
    code_of,
    cramers_v,
    is_numeric,
    representative,
)
from .tabulate import LARGEST_TABLE, tabulate

__all__ = [
    "ABOUT",
    "LARGEST_TABLE",
    "METHODS",
    "About",
    "Association",
    "Channel",
    "Convergence",
    "Measure",
    "Method",
    "Quantile",
    "Quantity",
    "Reconstruction",
    "Shares",
    "as_names",
    "code_of",
    "cramers_v",
    "is_numeric",
    "maximum_likelihood",
    "nearest",
    "normal_quantile",
    "representative",
    "statistics",
    "tabulate",
]
