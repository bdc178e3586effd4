"""What a table or a release really gives away, and whether a release is what it says.

classical.py   the classical k-anonymity of a table, and how many rows are in its smallest groups
differential/  is the pipeline as private as its plan says?
ledger/        what releases of the same people have spent, and the limit that stops the next one
verification/  is a release what it says?
"""

from .classical import Groups, anonymity, groups
from .differential import Audit, audit
from .ledger import Account, Ledger, Reservation
from .verification import Check, Verification, verify

__all__ = [
    "Account",
    "Audit",
    "Check",
    "Groups",
    "Ledger",
    "Reservation",
    "Verification",
    "anonymity",
    "audit",
    "groups",
    "verify",
]
