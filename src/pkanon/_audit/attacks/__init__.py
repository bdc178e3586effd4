"""What an adversary gets out of a release.

combinations.py  people counted by combination of codes
rows.py          randomised rows in the order of the table, so that an adversary's guesses can be judged
linkage.py       which row is a given person's?  inference.py  what is her value?  bayes.py  naive Bayes from tables
"""

from .bayes import NaiveBayes, normalised, share_right
from .combinations import Combinations, Counts, Places, Readable, Whole
from .inference import Inference
from .linkage import Linkage
from .rows import Rows, randomised

__all__ = [
    "Combinations",
    "Counts",
    "Inference",
    "Linkage",
    "NaiveBayes",
    "Places",
    "Readable",
    "Rows",
    "Whole",
    "normalised",
    "randomised",
    "share_right",
]
