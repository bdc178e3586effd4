"""From codes to randomised, shuffled codes. Nothing here depends on what the codes mean.

keystream.py     random words: the operating system's key, or a seed
randomise.py     words to the blocks, piece by piece
order.py         the uniformly random order of the rows;  records.py  rows packed so that they move as one
one_each.py      one row of each person;  rounding.py  numbers between points
hidden_count.py  the noisy number of rows;  threads.py, memory.py  what a step uses of the machine
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from .hidden_count import draw_change, dummy_columns
    from .keystream import Keystream, Randomness, Seeded, System, WordSource, is_private
    from .memory import keep_freed_memory
    from .one_each import draw_one_each
    from .order import draw_order, order_words, settle_ties, sort_by_words
    from .randomise import randomise
    from .records import Records
    from .rounding import round_places
    from .threads import thread_count

lazy(
    __name__,
    {
        "hidden_count": "draw_change, dummy_columns",
        "keystream": "Keystream, Randomness, Seeded, System, WordSource, is_private",
        "memory": "keep_freed_memory",
        "one_each": "draw_one_each",
        "order": "draw_order, order_words, settle_ties, sort_by_words",
        "randomise": "randomise",
        "records": "Records",
        "rounding": "round_places",
        "threads": "thread_count",
    },
)

__all__ = [
    "Keystream",
    "Randomness",
    "Records",
    "Seeded",
    "System",
    "WordSource",
    "draw_change",
    "draw_one_each",
    "draw_order",
    "dummy_columns",
    "is_private",
    "keep_freed_memory",
    "order_words",
    "randomise",
    "round_places",
    "settle_ties",
    "sort_by_words",
    "thread_count",
]
