"""The experiments of the paper (its section 5), run again and judged by their numbers.

census.py      the data: the embedded table, the UCI file or a recoded one
paper.py       which points the paper shows, and what is measured at each
statements.py  what the paper says about its figures, checked against the numbers
page.py        one HTML page;  folder.py  everything in a folder that is complete or absent
"""

from .folder import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
