"""From a target to a plan.

planning.py  the whole way
target.py    the privacy target, as one exact budget;  central.py  the privacy of the shuffled release as a target
paper.py     Algorithms 1-3 of the paper
budget.py    how the budget is split over units and rounded to the private side
workload.py  the tables an optimal design serves;  floor.py  how bad the others may be
optimal.py   one block with the least error, by a conic solver
grouping.py  which units share a block;  assemble.py  all blocks, compared with the simple designs
infeasible.py  why floors cannot be met;  lost.py  the tables that a design destroys
backwards.py from an error to k or to the number of records;  search.py  the root search behind it
advising/    which columns to drop and which values to merge, so that tables can be read
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from .advising import Advice, OpenStep, Step, advise
    from .backwards import named_tables, plan_for_error, records_needed
    from .floor import FloorLike
    from .paper import rho_from_both, rho_from_epsilon, rho_from_k
    from .planning import DESIGNS, plan
    from .target import check_k, check_records
    from .workload import Workload, WorkloadLike

lazy(
    __name__,
    {
        "advising": "Advice, OpenStep, Step, advise",
        "backwards": "named_tables, plan_for_error, records_needed",
        "floor": "FloorLike",
        "paper": "rho_from_both, rho_from_epsilon, rho_from_k",
        "planning": "DESIGNS, plan",
        "target": "check_k, check_records",
        "workload": "Workload, WorkloadLike",
    },
)

__all__ = [
    "DESIGNS",
    "Advice",
    "FloorLike",
    "OpenStep",
    "Step",
    "Workload",
    "WorkloadLike",
    "advise",
    "check_k",
    "check_records",
    "named_tables",
    "plan",
    "plan_for_error",
    "records_needed",
    "rho_from_both",
    "rho_from_epsilon",
    "rho_from_k",
]
