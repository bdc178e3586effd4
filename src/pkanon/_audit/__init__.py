"""What a table or a release really gives away, and whether a release is what it says.

attacks/       adversaries: which row is a person's, what is her value
classical.py   the classical k-anonymity of a table, and how many rows are in its smallest groups
differential/  is the pipeline as private as its plan says?
ledger/        what releases of the same people have spent, and the limit that stops the next one
verification/  is a release what it says?
"""

from .attacks import (
    Combinations,
    Counts,
    Inference,
    Linkage,
    NaiveBayes,
    Places,
    Readable,
    Rows,
    Whole,
    normalised,
    randomised,
    share_right,
)
from .classical import Groups, anonymity, groups
from .differential import Audit, audit
from .ledger import Account, Ledger, Reservation
from .verification import Check, Verification, verify

__all__ = [
    "Account",
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
    "audit",
    "groups",
    "normalised",
    "randomised",
    "share_right",
    "verify",
]
