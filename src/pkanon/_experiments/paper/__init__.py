"""The experiments of the paper (its section 5), run again and judged by their numbers.

measure.py     which points the paper shows, and what is measured at each
statements.py  what the paper says about its figures, checked against the numbers
charts.py      its figures;  page.py  one HTML page;  folder.py  a run and its folder
"""

from .folder import Reproduction, reproduce
from .measure import ROWS_PER_K

__all__ = ["ROWS_PER_K", "Reproduction", "reproduce"]
