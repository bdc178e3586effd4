"""From a target to a plan.

planning.py  the whole way
target.py    what is asked for, as one exact budget;  central.py  the privacy of the shuffled release as a target
paper.py     Algorithms 1-3 of the paper
budget.py    how the budget is split over units and rounded to the private side
workload.py  the tables an optimal design serves;  optimal.py  the mechanism with the least error for them
assemble.py  optimal blocks, compared with the simple designs
backwards.py from an error to k or to the number of records;  search.py  the root search behind it
"""

from .backwards import afford, named_tables, records_needed
from .paper import rho_from_both, rho_from_epsilon, rho_from_k
from .planning import DESIGNS, plan
from .target import check_k, check_records
from .workload import read_workload

__all__ = [
    "DESIGNS",
    "afford",
    "check_k",
    "check_records",
    "named_tables",
    "plan",
    "read_workload",
    "records_needed",
    "rho_from_both",
    "rho_from_epsilon",
    "rho_from_k",
]
