"""Experiments: the paper's, and comparisons with other ways of publishing.

paper/       the figures of the paper, run again
comparison/  randomisation against classical k-anonymisation
census.py    the embedded table, the UCI file or a recoded one
seeds.py     randomness;  writing.py  folders;  document.py  pages of all experiments
"""

from .comparison import Comparison, compare
from .paper import Reproduction, reproduce

__all__ = ["Comparison", "Reproduction", "compare", "reproduce"]
