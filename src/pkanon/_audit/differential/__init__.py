"""Is the pipeline as private as its plan says? The real code, run many times on two neighbouring tables.

law.py       what a plan says about releasing one record, and which two records it tells apart best
inputs.py    the tables that are put in;  tables.py  made-up tables through the real pipeline
tails.py     exact bounds and tails
checking.py  what a check is, and the two that bound epsilon
transitions.py, orders.py, repeats.py  the other checks, one function each;  verdict.py  all of them
"""

from .verdict import Audit, audit

__all__ = ["Audit", "audit"]
