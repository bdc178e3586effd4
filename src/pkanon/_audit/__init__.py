"""What a table or a release really gives away.

classical.py  the classical k-anonymity of a table, and how many rows are in its smallest groups
ledger/       what releases of the same people have spent, and the limit that stops the next one
"""

from .classical import Groups, anonymity, groups
from .ledger import Account, Ledger, Reservation

__all__ = ["Account", "Groups", "Ledger", "Reservation", "anonymity", "groups"]
