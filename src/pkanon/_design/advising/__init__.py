"""Advice before data: which columns to drop and which values to merge.

whole.py     the whole way;  request.py  what is asked;  advice.py  the answer
ladder.py    coarser versions of an attribute;  space.py  all choices and what each is worth
forecast.py  the errors of a choice in milliseconds;  search.py  the best choice by forecasts
ways.py      what else would help
"""

from .advice import Advice, OpenStep, Step
from .whole import advise

__all__ = ["Advice", "OpenStep", "Step", "advise"]
