"""What an adversary gets out of a release.

combinations.py  people counted by combination of codes
rows.py          randomised rows in the order of the table, so that an adversary's guesses can be judged
attack.py        the custodian's attack;  result.py  what it found
ways.py          in which ways numbers can have been rounded to points
mechanism.py     a plan on the cells that occur;  matching.py  whose row is it, for all rows at once
posterior.py     the exact chances of small tables;  rehearsal.py  hits and calibration
likeness.py      did this plan make this release of this table?  values.py  what is a person's value?

For the comparison with k-anonymised tables, one person at a time:

linkage.py       which row is a given person's?  inference.py  what is her value?  bayes.py  naive Bayes from tables
"""

from .attack import attack
from .bayes import NaiveBayes, normalised, share_right
from .combinations import Combinations, Counts, Places, Readable, Whole
from .inference import Inference
from .linkage import Linkage
from .result import Attack
from .rows import Rows, randomised

__all__ = [
    "Attack",
    "Combinations",
    "Counts",
    "Inference",
    "Linkage",
    "NaiveBayes",
    "Places",
    "Readable",
    "Rows",
    "Whole",
    "attack",
    "normalised",
    "randomised",
    "share_right",
]
