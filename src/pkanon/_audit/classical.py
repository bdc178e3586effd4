"""Classical measures of a table: k-anonymity, l-diversity, t-closeness, (alpha, k)-anonymity.

A class is all rows that agree on the columns that an outsider may know (the quasi-identifiers).

    k             rows in the smallest class
    distinct l    different values of a sensitive column in the class that has fewest (Machanavajjhala et al. 2006)
    entropy l     e^H in the class where it is lowest, H the entropy of the sensitive values there (the same)
    t             the largest distance between the values in a class and in the table (Li, Li, Venkatasubramanian 2007): the
                  earth mover's distance, where all values are equally far apart (half the sum of absolute differences), or
                  for a column of numbers their ranks are (the mean of absolute differences of the cumulated shares)
    alpha         the largest share of one sensitive value in a class (Wong et al. 2006, for all values)

Each sensitive column is judged alone. For a deterministic recoding k is the same number as its Pk-anonymity
(docs/why/theory.md 2), so the two can be compared; the others say nothing about randomised rows, which hide by other means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import InputError
from .._frames import CodedTable, TextFormat, coded_tables, group_sizes

_FEW = 2**16
"""Numbers that are counted one by one, however few rows there are."""
_AT_ONCE = 2**22
"""Cells of classes by values that are held at a time."""


@dataclass(frozen=True)
class Groups:
    """Groups of equal rows: the smallest has ``k`` rows, and ``rare`` of all ``rows`` are in groups of that size."""

    k: int
    rare: int
    rows: int


def groups(table: object, columns: Sequence[str], *, text: TextFormat | None = None) -> Groups:
    """The size of the smallest group of rows that agree on ``columns``, and how many rows are in such groups."""
    sizes = group_sizes(table, _checked(columns), text or TextFormat())
    smallest = int(sizes.min())
    return Groups(k=smallest, rare=smallest * int((sizes == smallest).sum()), rows=int(sizes.sum()))


def anonymity(table: object, columns: Sequence[str], *, text: TextFormat | None = None) -> int:
    """k of a table as classical k-anonymity counts it: the size of the smallest group of equal rows.

    Parameters
    ----------
    table
        A data frame, the path of a file, or a :class:`TableFile`.
    columns
        The names of the columns that an outsider may know.
    text
        Delimiter and encoding, if the table is a text file.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> pk.anonymity(pl.DataFrame({"sex": ["F", "F", "M"], "age": [30, 30, 31]}), ["sex", "age"])
    1
    """
    return groups(table, columns, text=text).k


@dataclass(frozen=True)
class Sensitive:
    """What the classes of a table give away about one sensitive column.

    ``ordered`` says whether ``t`` takes its values as numbers in their order.
    """

    column: str
    distinct_l: int
    entropy_l: float
    t: float
    ordered: bool
    alpha: float


@dataclass(frozen=True)
class Anonymity:
    """Classical anonymity of a table: its k, how many rows fall short of a k that was asked for, and sensitive columns.

    Attributes
    ----------
    columns
        What an outsider may know.
    k
        Rows in the smallest class.
    rows, classes
        How many there are in all.
    asked, short
        A k that was asked for, and how many rows are in smaller classes; None if none was.
    smallest, rare
        How many classes have just k rows, and how many rows those are together.
    sensitive
        For each sensitive column ``column``, ``distinct_l``, ``entropy_l``, ``t``, ``ordered`` and ``alpha``.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["F", "F", "M"], "illness": ["flu", "cold", "flu"]})
    >>> pk.anonymity_of(table, ["sex"], k=2, sensitive=["illness"]).short
    1
    """

    columns: tuple[str, ...]
    k: int
    rows: int
    classes: int
    asked: int | None
    short: int | None
    smallest: int
    rare: int
    sensitive: tuple[Sensitive, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Every number, for a JSON document."""
        document: dict[str, Any] = {
            "k": self.k,
            "columns": list(self.columns),
            "smallest_groups": self.smallest,
            "rows_in_smallest_groups": self.rare,
            "rows": self.rows,
        }
        if self.asked is not None:
            document |= {"asked": self.asked, "rows_short_of_it": self.short}
        if self.sensitive:
            document["sensitive"] = [vars(each) for each in self.sensitive]
        return document


def anonymity_of(
    table: object,
    columns: Sequence[str],
    *,
    k: int | None = None,
    sensitive: Sequence[str] = (),
    text: TextFormat | None = None,
) -> Anonymity:
    """Classical anonymity of a table in full: k, rows that fall short, l-diversity, t-closeness, (alpha, k)-anonymity.

    Parameters
    ----------
    table
        A data frame, the path of a file, or a :class:`TableFile`.
    columns
        The names of the columns that an outsider may know.
    k
        Count the rows whose combination occurs fewer times than this.
    sensitive
        The names of columns that nobody should learn about a person; each is judged alone.
    text
        Delimiter and encoding, if the table is a text file.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["F", "F", "M", "M"], "illness": ["flu", "cold", "flu", "flu"]})
    >>> found = pk.anonymity_of(table, ["sex"], sensitive=["illness"])
    >>> found.k, found.sensitive[0].distinct_l, found.sensitive[0].alpha  # all men have the flu
    (2, 1, 1.0)
    """
    known = tuple(dict.fromkeys(_checked(columns)))
    if isinstance(sensitive, str):
        raise InputError("Name the sensitive columns as a list.")
    hidden = tuple(dict.fromkeys(sensitive))
    if both := [name for name in hidden if name in known]:
        raise InputError(f"'{both[0]}' is named as known and as sensitive; choose one.")
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise InputError("The k that rows may fall short of is a whole number, 1 or more.")
    form, judged = text or TextFormat(), []
    if hidden:
        [coded] = coded_tables([table], [*known, *hidden], form)
        where = class_of([coded.columns[name] for name in known])
        sizes = np.bincount(where)
        judged = [_sensitive(coded, where, sizes, name) for name in hidden]
    else:  # which needs no more memory than the groups
        sizes = group_sizes(table, known, form)
    smallest = int(sizes.min())
    return Anonymity(
        columns=known,
        k=smallest,
        rows=int(sizes.sum()),
        classes=len(sizes),
        asked=k,
        short=None if k is None else int(sizes[sizes < k].sum()),
        smallest=int((sizes == smallest).sum()),
        rare=smallest * int((sizes == smallest).sum()),
        sensitive=tuple(judged),
    )


def class_of(columns: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    """The number of each row's class, from 0 on without gaps; ``columns`` hold whole numbers, 0 or more."""
    where = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        where = where * (int(column.max()) + 1) + column
        most = int(where.max()) + 1
        if most > max(_FEW, 4 * len(where)):
            where = np.unique(where, return_inverse=True)[1].astype(np.int64)
        else:  # quicker than sorting
            occurs = np.bincount(where, minlength=most) > 0
            where = (np.cumsum(occurs) - 1)[where]
    return where


def _checked(columns: Sequence[str]) -> Sequence[str]:
    if isinstance(columns, str) or len(columns) == 0:
        raise InputError("Name the columns as a list with at least one of them.")
    return columns


def _sensitive(coded: CodedTable, where: NDArray[np.int64], sizes: NDArray[np.int64], name: str) -> Sensitive:
    values, count, ordered = coded.columns[name], coded.sizes[name], name in coded.numeric and coded.sizes[name] > 2
    pairs, numbers = np.unique(where * count + values, return_counts=True)
    of_class, of_value = np.divmod(pairs, count)
    shares = numbers / sizes[of_class]
    entropy = np.bincount(of_class, weights=-shares * np.log(shares))
    whole = np.bincount(values, minlength=count) / coded.rows
    if ordered:
        distance = _moved(pairs, shares, len(sizes), whole)
    else:
        # values that do not occur in a class are off by their whole share
        apart = np.abs(shares - whole[of_value]) - whole[of_value]
        distance = float(((np.bincount(of_class, weights=apart) + 1) / 2).max())
    return Sensitive(
        column=name,
        distinct_l=int(np.bincount(of_class).min()),
        entropy_l=math.exp(float(entropy.min())),
        t=max(distance, 0.0),
        ordered=ordered,
        alpha=float(shares.max()),
    )


def _moved(pairs: NDArray[np.int64], shares: NDArray[np.float64], classes: int, whole: NDArray[np.float64]) -> float:
    """The largest earth mover's distance between the values of a class and of the table, some classes at a time."""
    count, furthest = len(whole), 0.0
    step = max(1, _AT_ONCE // count)
    for first in range(0, classes, step):
        start, stop = np.searchsorted(pairs, [first * count, (first + step) * count])
        own = np.zeros(min(step, classes - first) * count)
        own[pairs[start:stop] - first * count] = shares[start:stop]
        apart = np.cumsum(own.reshape(-1, count) - whole, axis=1)
        furthest = max(furthest, float(np.abs(apart).sum(axis=1).max()) / (count - 1))
    return furthest
