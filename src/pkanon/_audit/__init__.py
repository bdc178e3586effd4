"""What a table or a release really gives away.

classical.py   the classical k-anonymity of a table, and how many rows are in its smallest groups
differential/  is the pipeline as private as its plan says?
ledger/        what releases of the same people have spent, and the limit that stops the next one
"""

from .classical import Groups, anonymity, groups
from .differential import Audit, audit
from .ledger import Account, Ledger, Reservation

__all__ = ["Account", "Audit", "Groups", "Ledger", "Reservation", "anonymity", "audit", "groups"]
