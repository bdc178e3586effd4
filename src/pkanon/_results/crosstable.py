"""A reconstructed table as a paper has it: cells in rows and columns, or one row per cell."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._errors import InputError
from .chart_data import label_texts
from .columns import interval_title
from .paper import Cell, PaperTable, check_layout, number_cell

if TYPE_CHECKING:
    from .._blocks import Counts
    from .estimate import Estimate

SHOWN = ("counts", "shares")
WIDEST = 12
"""Columns of a cross-table that fit a page; with more values the table is long unless asked for otherwise."""
EVERYBODY = "all"


def crosstable(
    estimate: Estimate,
    *,
    show: str,
    given: tuple[str, ...],
    layout: str | None,
    interval: bool,
    totals: bool | None,
    level: float,
    caption: str | None,
) -> PaperTable:
    """The table for :meth:`Estimate.paper`, which says what the arguments are."""
    if show not in SHOWN:
        raise InputError(f"show is 'counts' or 'shares', not '{show}'.")
    if layout is not None:
        check_layout(layout)
    several = len(estimate.names) > 1
    if layout == "cross" and not several:
        raise InputError("A cross-table has two attributes or more; this one has one: use the layout 'long'.")
    if totals and (given or len(estimate.names) != 2 or layout == "long"):
        raise InputError("Totals belong to a cross-table of two attributes, without given.")
    if layout is None:
        layout = "cross" if several and estimate.counts.shape[-1] <= WIDEST else "long"
    writer = _Writer(estimate, given, interval, level)
    table = writer.long() if layout == "long" else writer.cross(show, totals is not False)
    return table if caption is None else replace(table, caption=caption)


def shown_as(names: Sequence[str], given: Sequence[str] = (), *, shares: bool = False, answered: bool = False) -> str:
    """What a table of these attributes shows, for its caption: counts, ``shares`` of all, or shares within ``given``.

    ``answered``: people without an answer are left out.
    """
    if given:
        rest = [name for name in names if name not in given] or list(names)
        return f"Share of people by {_and(rest)} within {_and(given)}, in percent"
    everybody = "people who answered" if answered else "all people"
    return f"Share of {everybody} by {_and(names)}, in percent" if shares else f"Number of people by {_and(names)}"


class _Writer:
    """Writes the cells of one table."""

    def __init__(self, estimate: Estimate, given: tuple[str, ...], interval: bool, level: float) -> None:
        self.estimate, self.given, self.interval, self.level = estimate, given, interval, level

    def cross(self, show: str, totals: bool) -> PaperTable:
        """The values of the last attribute are columns."""
        names, shares = self.estimate.names, show == "shares" or bool(self.given)
        labels = [label_texts(values) for values in self.estimate.labels]
        body = self._cells(self.estimate, shares)
        header = list(labels[-1])
        rows = [
            [*map(Cell, place), *cells]
            for place, cells in zip(itertools.product(*labels[:-1]), _rows(body, len(labels[-1])))
        ]
        if totals and len(names) == 2 and not self.given:
            sides = [self._cells(self.estimate.marginal(name), shares) for name in names]
            everybody = self._everybody(shares)
            rows = [[*row, cell] for row, cell in zip(rows, sides[0])]
            rows.append([Cell(EVERYBODY), *sides[1], everybody])
            header.append(EVERYBODY)
        what = shown_as(names, self.given, shares=shares, answered=bool(self.estimate.excluded))
        return self._table(what, names[:-1], header, rows, span=names[-1])

    def long(self) -> PaperTable:
        """One row per cell: counts and shares."""
        names = self.estimate.names
        labels = [label_texts(values) for values in self.estimate.labels]
        counts, shares = self._cells(self.estimate, False), self._cells(self.estimate, True)
        rows = [
            [*map(Cell, place), count, share] for place, count, share in zip(itertools.product(*labels), counts, shares)
        ]
        within = f", and share within {_and(self.given)}" if self.given else " and share of people"
        everybody = "% of those who answered" if self.estimate.excluded else "% of all"
        share = f"% of {' x '.join(self.given)}" if self.given else everybody
        what = f"Number of people{within}" if self.given else f"Number{within}"
        return self._table(f"{what} by {_and(names)}", names, [self._people, share], rows)

    @property
    def _people(self) -> str:
        return "people (weighted)" if self.estimate.weighted else "people"

    def _table(
        self, what: str, stub: Sequence[str], header: Sequence[str], rows: list[list[Cell]], span: str | None = None
    ) -> PaperTable:
        estimate = self.estimate
        shown = interval_title(self.level) if self.interval else "standard error"
        weighted = f", weighted{estimate.weight_remark}" if estimate.weighted else ""
        joined = "and" if self.interval else "±"
        remark = f"; {estimate.groups_remark}" if estimate.groups_remark else ""
        return PaperTable(
            caption=f"{what}{weighted} (estimate {joined} {shown})",
            stub=tuple(stub),
            header=tuple(header),
            rows=tuple(map(tuple, rows)),
            notes=(
                f"Estimated {estimate.made(self.level)}{remark}.",
                "Rounded to two digits of the standard error; numbers without an error are exact.",
                *estimate.all_remarks,
            ),
            span=span,
            spanned=0 if span is None else len(label_texts(estimate.labels[-1])),
            numbers=estimate.to_polars(level=self.level, given=self.given),
        )

    def _cells(self, table: Estimate, shares: bool) -> list[Cell]:
        """All cells of a table, row by row."""
        given = tuple(name for name in self.given if name in table.names)
        of_group = table.shares(given, self.level)
        flags = table.flags_of(self.level, of_group if shares else None).to_list()
        low, high = (of_group.low, of_group.high) if shares else table.interval(self.level)
        value, error = (of_group.shares, of_group.standard_errors) if shares else (table.counts, table.standard_errors)
        return [
            number_cell(number, spread, ends, flag, interval=self.interval, scale=100.0 if shares else 1.0)
            for number, spread, ends, flag in zip(
                _listed(value), _listed(error), zip(_listed(low), _listed(high)), flags
            )
        ]

    def _everybody(self, shares: bool) -> Cell:
        if shares:
            return Cell("100")
        people = self.estimate.count()
        limits = people.interval(self.level)
        return number_cell(people.value, people.standard_error, limits, people.flag(self.level), interval=self.interval)


def _listed(array: Counts) -> list[float]:
    return list(np.ravel(array).tolist())


def _rows(cells: list[Cell], width: int) -> list[list[Cell]]:
    return [cells[start : start + width] for start in range(0, len(cells), width)]


def _and(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
