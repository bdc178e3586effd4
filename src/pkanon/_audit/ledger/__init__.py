"""What releases of the same people have spent, and the limit that stops the next one.

store.py    an append-only file of events: SQLite, safe under concurrent runs and sudden ends
format.py   what is in the file, and when it is damaged
account.py  the events of one subject, added up
book.py     the ledger: reserve, release, limit, abandon
"""

from .account import Account, Entry
from .book import Ledger, Reservation

__all__ = ["Account", "Entry", "Ledger", "Reservation"]
