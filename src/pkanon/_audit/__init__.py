"""What a table or a release really gives away, and whether a release is what it says.

attacks/       adversaries: which row is a person's, what is her value
classical.py   classical anonymity of a table: k, l-diversity, t-closeness, (alpha, k)-anonymity
differential/  is the pipeline as private as its plan says?
ledger/        what releases of the same people have spent, and the limit that stops the next one
resemblance.py  unique, equal and nearest rows of a private and a published table
shares.py      limits of a share that was counted
verification/  is a release what it says?
"""

from .attacks import (
    Attack,
    Combinations,
    Counts,
    Inference,
    Linkage,
    NaiveBayes,
    Places,
    Readable,
    Rows,
    Whole,
    attack,
    normalised,
    randomised,
    share_right,
)
from .classical import Anonymity, Groups, anonymity, anonymity_of, groups
from .differential import Audit, audit
from .ledger import Account, Ledger, Reservation
from .verification import Check, Verification, verify

__all__ = [
    "Account",
    "Anonymity",
    "Attack",
    "Audit",
    "Check",
    "Combinations",
    "Counts",
    "Groups",
    "Inference",
    "Ledger",
    "Linkage",
    "NaiveBayes",
    "Places",
    "Readable",
    "Reservation",
    "Rows",
    "Verification",
    "Whole",
    "anonymity",
    "anonymity_of",
    "attack",
    "audit",
    "groups",
    "normalised",
    "randomised",
    "share_right",
    "verify",
]
