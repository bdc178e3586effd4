"""Regressions: a formula in, coefficients with errors out.

tokens.py, formula.py  from a text to terms;  expressions.py  calculating with one attribute
coding.py              from terms to columns: numbers, categories, references
fitted.py              the result;  summary.py  as text
whole.py               from a release's codes to the result
"""

from .fitted import Coefficient, FittedMean, Regression, WaldTest
from .whole import regress

__all__ = ["Coefficient", "FittedMean", "Regression", "WaldTest", "regress"]
