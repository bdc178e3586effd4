"""Tables larger than memory: read once, randomised, scattered on a disk, put in order bucket by bucket.

    read -> randomise -> scatter by the leading bits of the order words -> sort each bucket -> columns of codes

The rows and their order are those of the engine in memory, for every plan and key: a row draws its words by its number, and
its place in the order is that of its order word, in whichever bucket.

engine.py   the whole way;  budget.py  how many rows at a time
scatter.py  rows on their way to buckets;  buckets.py  the buckets on a disk, in files of spool.py
sorting.py  buckets in order, to columns.py, the codes of the released rows
ids.py      one row per person, for any number of persons
"""

from .budget import Sizes, budget_of, sizes_for
from .engine import Streamed, check_through, stream

__all__ = ["Sizes", "Streamed", "budget_of", "check_through", "sizes_for", "stream"]
