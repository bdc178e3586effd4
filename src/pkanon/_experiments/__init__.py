"""The experiments of the paper (its section 5), run again and judged by their numbers, and comparisons.

census.py      the data: the embedded table, the UCI file or a recoded one
paper.py       which points the paper shows, and what is measured at each
statements.py  what the paper says about its figures, checked against the numbers
page.py        one HTML page;  folder.py  a run and its folder
comparison/    randomisation against classical k-anonymisation
seeds.py, writing.py, document.py   randomness, folders and pages of all experiments
"""

from .comparison import Comparison, compare
from .folder import Reproduction, reproduce

__all__ = ["Comparison", "Reproduction", "compare", "reproduce"]
