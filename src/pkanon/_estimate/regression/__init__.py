"""Regression from corrected moments: coefficients and their errors, arrays only (docs/why/theory.md 7).

rows.py           distinct released rows: tables of people, sums over rows
design.py         columns, response, who counts;  families.py  linear, logistic, Poisson
least_squares.py  from tables of pairs;  likelihood.py  from the table of the predictors;  solution.py  what both return
fitting.py        covariance, intervals and tests; what cannot be known is refused
"""

from .design import Column, Design, Factors
from .families import FAMILIES, Family
from .fitting import Fitted, fit
from .rows import Rows

__all__ = ["FAMILIES", "Column", "Design", "Factors", "Family", "Fitted", "Rows", "fit"]
