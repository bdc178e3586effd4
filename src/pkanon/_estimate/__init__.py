"""From released codes to an unbiased cross-tabulation with errors: arrays in, arrays out."""

from .channel import Channel
from .em import Convergence, maximum_likelihood
from .interval import normal_quantile
from .quantity import Quantity
from .reconstruction import ABOUT, METHODS, About, Method, Reconstruction, Shares, as_names
from .simplex import nearest
from .tabulate import LARGEST_TABLE, tabulate

__all__ = [
    "ABOUT",
    "LARGEST_TABLE",
    "METHODS",
    "About",
    "Channel",
    "Convergence",
    "Method",
    "Quantity",
    "Reconstruction",
    "Shares",
    "as_names",
    "maximum_likelihood",
    "nearest",
    "normal_quantile",
    "tabulate",
]
