"""Estimate: a reconstructed table with everything an analyst does with it.

Numbers come from ``_estimate``; here they get their labels and leave as data frames, arrays and charts. An estimate
holds the confidence level of its intervals; every method that gives limits also takes another one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from .. import _estimate, _frames
from .._blocks import Counts
from .._errors import InputError, missing_package
from .._estimate import ABOUT, METHODS, Reconstruction, as_names
from .._estimate import statistics as _analysis
from .._files import write_new
from .._schema import MISSING_LABEL, Attribute, MissingAnswers, code_dtype
from .columns import Columns, average_columns, free_names, interval_title, merged_remark, percent
from .tabular import PAPER, Tabular, file_content, format_of, json_rows, paper_content, refuse_options

if TYPE_CHECKING:
    import altair
    import pandas
    import pyarrow
    import xarray

    from .._estimate import MantelHaenszel, Number, Quantile, Quantity, Shares, Trend
    from .association import Association
    from .chart_data import Grid
    from .paper import PaperTable
    from .text import TextTable

Where = Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Reconstruction, Tabular):
    """A cross-tabulation reconstructed from a release: counts, errors and intervals, one axis per attribute.

    A condition maps attributes to the value, or the list of values, that counts: ``{"sex": "F", "rooms": [1, 2]}``;
    None is the missing value. Intervals of counts and shares are honest in sparse tables too. The same number has
    the same error and interval as a cell, by :meth:`count`, as a share and in SQL.

    Attributes
    ----------
    attributes
        Those of the axes, in order; ``names`` are their names, ``labels`` their values.
    method
        How it was made: ``inverse``, ``simplex``, ``em`` or ``model``.
    about
        What errors are about: the people in the ``table``, or the ``population`` they were sampled from.
    rows
        How many rows were counted.
    counts
        The number of people in each cell; with ``inverse`` it can be negative.
    channel, released, squares, source
        What the table was made of: what the plan does to it, the released counts, those of squared survey weights, and
        the released rows.
    weighing
        The larger table with the weight as its last axis, if a randomised attribute is the weight.
    grouping
        The table with every value apart, if values are merged or missing answers left out.
    convergence
        How the search for the table ended; None if there was none.
    notes
        How ``model`` made the table, a sentence each.
    level
        The confidence level of its intervals; methods also take another one.
    missing
        What was asked for: missing answers as a ``category``, or ``exclude``, the table of the people who answered.
    remarks
        What readers of the release must know beside its errors, a sentence each.
    unreadable
        If the plan predicts that the table is poor or cannot be read: that, and what to ask instead; else None.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500, "rooms": [1, 2, 2, 3, 4] * 200})
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> release = pk.release(people, pk.plan(schema, records=1_000, k=20), randomness=pk.Seeded(7))
    >>> estimate = release.crosstab("sex", "rooms")
    >>> estimate
    <Estimate of sex x rooms: 10 cells from 1,000 released rows>
    >>> estimate.mean("rooms")  # 2.4 in truth
    <Quantity 2.426 ± 0.1182>
    """

    level: float = 0.95
    missing: MissingAnswers = "category"
    remarks: tuple[str, ...] = ()
    unreadable: str | None = None

    @cached_property
    def labels(self) -> tuple[list[Any], ...]:
        """The values of each axis as they are released; None is the missing value."""
        return tuple(list(attribute.labels()) for attribute in self.attributes)

    def _level(self, level: float | None) -> float:
        return self.level if level is None else level

    def interval(self, level: float | None = None, kind: str = "each") -> tuple[Counts, Counts]:
        """(low, high) of each cell, at ``level`` or the estimate's own.

        With the ``kind`` "average", of ``model`` alone: narrower limits that hold on average over the cells of all tables of as
        many attributes, not for each cell nor each table; ``without_average`` says why where there are none.

        For ``em``, ``simplex`` and ``model``: the interval of the unbiased estimate after that was moved into what is possible
        (0 to the total), cut off there and widened where needed to hold the estimate. It covers at least as often.
        """
        return super().interval(self._level(level), kind)

    def near_zero(self, level: float | None = None) -> NDArray[np.bool_]:
        """Where the interval, at ``level`` or the estimate's own, holds zero: nobody may be there."""
        return super().near_zero(self._level(level))

    def shares(self, given: Sequence[str] = (), level: float | None = None) -> Shares:
        """Each cell's share of the people with the same values of ``given``; of all people if none is named.

        Their intervals are at ``level`` or the estimate's own.
        """
        return super().shares(given, self._level(level))

    def _marginal(self, names: tuple[str, ...]) -> Self:
        return replace(super()._marginal(names), level=self.level, missing=self.missing)

    def proportions(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Counts as shares of all people in the table."""
        return self.shares().shares

    @property
    def merged(self) -> dict[str, dict[str, list[str]]]:
        """The groups that were asked for, by attribute: the label of each and the values in it."""
        if self.grouping is None:
            return {}
        axes = {name: self.grouping.axes[name] for name in self.names}
        return {n: {label: list(values) for label, values in axis.merged} for n, axis in axes.items() if axis.merged}

    @property
    def excluded(self) -> tuple[str, ...]:
        """The attributes whose missing answers are left out."""
        if self.grouping is None:
            return ()
        order = [name for name in self.names if name in self.grouping.axes]
        order += [name for name in self.grouping.axes if name not in order]
        return tuple(name for name in order if not self.grouping.axes[name].complete)

    @property
    def groups_remark(self) -> str:
        """Which values were merged and what was done with missing answers, in a few words; empty if there is nothing to say."""
        parts = []
        if self.merged:
            parts.append(merged_remark(self.merged))
        if self.excluded:
            parts.append(f"missing answers left out: {', '.join(self.excluded)}")
        if any(attribute.missing_code is not None for attribute in self.attributes):
            parts.append("missing answers are a category")
        return "; ".join(parts)

    def conditional(
        self, *given: str, level: float | None = None, missing_label: str | None = MISSING_LABEL
    ) -> pl.DataFrame:
        """P(the other attributes | ``given``): shares within each group, with standard errors and limits.

        One row per cell, as in :meth:`to_polars`; limits at ``level`` or the estimate's own. ``missing_label`` is that of
        :meth:`to_polars`.
        """
        if not given or set(given) >= set(self.names):
            raise InputError("A conditional table is given some of its attributes, and not all of them.")
        return self.to_polars(level=level, given=given, missing_label=missing_label)

    def count(self, where: Where | None = None, /, **more: Any) -> Quantity:
        """How many people meet a condition: ``count(sex="F", age=["0-4", "5-9"])``.

        Parameters
        ----------
        where
            The condition as a mapping; everybody if there is none.
        **more
            Further attributes and their values.
        """
        return _analysis.count(self, _condition(where, more))

    def proportion(self, where: Where, given: Where | None = None) -> Quantity:
        """Which share of the people who meet ``given`` (all by default) meet ``where``: two conditions."""
        return _analysis.proportion(self, where, given or {})

    def difference(self, first: Where, second: Where) -> Quantity:
        """How many more people meet the condition ``first`` than ``second``."""
        return _analysis.count(self, first) - _analysis.count(self, second)

    def ratio(self, first: Where, second: Where) -> Quantity:
        """The number who meet the condition ``first`` divided by the number who meet ``second``."""
        return _analysis.ratio(self, first, second)

    def odds_ratio(self, first: Where, second: Where) -> Quantity:
        """By which factor meeting the condition ``first`` multiplies the odds of meeting ``second``."""
        return _analysis.odds_ratio(self, first, second)

    def sum(
        self, attribute: str, where: Where | None = None, *, values: Mapping[Any, Number] | None = None, **more: Any
    ) -> Quantity:
        """The sum of a numeric attribute, ``sum("age", sex="F")``; who has no number adds nothing.

        Parameters
        ----------
        attribute
            Its name.
        where
            The condition that the people counted meet; everybody by default.
        values
            The numbers that labels stand for, or limits of intervals: ``{"10-19": (10, 20)}`` stands for 15 here and for
            people spread from 10 to 20 in :meth:`quantile`. None leaves people out. By default a bin stands for its middle,
            an open bin being as wide as its neighbour.
        **more
            Further attributes and their values, as in :meth:`count`.
        """
        return _analysis.total(self, attribute, _condition(where, more), values)

    def mean(
        self, attribute: str, where: Where | None = None, *, values: Mapping[Any, Number] | None = None, **more: Any
    ) -> Quantity:
        """The mean of a numeric attribute, among the people who have a number.

        ``attribute``, ``where``, ``values`` and ``more`` are those of :meth:`sum`.
        """
        return _analysis.mean(self, attribute, _condition(where, more), values)

    def deviation(
        self, attribute: str, where: Where | None = None, *, values: Mapping[Any, Number] | None = None, **more: Any
    ) -> Quantity:
        """The standard deviation of a numeric attribute, among the people who have a number.

        ``attribute``, ``where``, ``values`` and ``more`` are those of :meth:`sum`.
        """
        return _analysis.deviation(self, attribute, _condition(where, more), values)

    def quantile(
        self,
        attribute: str,
        q: float,
        where: Where | None = None,
        *,
        values: Mapping[Any, Number] | None = None,
        **more: Any,
    ) -> Quantile:
        """The value of a numeric attribute below which a share ``q`` of the people lies; 0.5 is the median.

        ``attribute``, ``where``, ``values`` and ``more`` are those of :meth:`sum`. Inside a bin, or an interval
        such as ``(10, 20)``, people are taken to be spread evenly. Where labels stand for single numbers the quantile is one of
        them, and its interval goes from one to another: it holds the truth more often than it says.
        """
        return _analysis.quantile(self, attribute, q, _condition(where, more), values)

    def correlation(self, first: str, second: str) -> Quantity:
        """Pearson's correlation of two numeric attributes, ``first`` and ``second``."""
        return _analysis.correlation(self, first, second)

    def standardised(
        self,
        where: Where,
        over: str | Sequence[str],
        *,
        given: Where | None = None,
        to: Mapping[Any, Any] | None = None,
    ) -> Quantity:
        """The share that meets a condition, as if a group had the strata of a standard population: direct standardisation.

        A stratum of the standard whose size cannot be told from zero is left out. If the group has nobody for certain in
        one of the others, nothing can be standardised.

        Parameters
        ----------
        where
            The condition whose share is asked for.
        over
            The attribute, or attributes, whose values are the strata.
        given
            The group; everybody by default.
        to
            The standard: a condition on people in this table (everybody by default), whose strata are estimated too; or
            the number or share of people of each value of ``over`` in a population known from elsewhere.
        """
        return _analysis.standardised(self, where, over, given or {}, to)

    def mantel_haenszel(self, first: Where, second: Where, within: str | Sequence[str]) -> MantelHaenszel:
        """The odds ratio of two conditions that is common to all strata, and a test whether it is 1.

        Parameters
        ----------
        first, second
            Two conditions on different attributes.
        within
            The attribute, or attributes, whose values are the strata.
        """
        return _analysis.mantel_haenszel(self, first, second, within)

    def trend(
        self,
        where: Where,
        over: str,
        *,
        given: Where | None = None,
        scores: Mapping[Any, float] | None = None,
    ) -> Trend:
        """How the share that meets a condition changes along an ordered attribute, and a test whether it does.

        Parameters
        ----------
        where
            The condition.
        over
            The ordered attribute.
        given
            The group; everybody by default.
        scores
            The number that stands for each value. By default numbers are themselves and bins their middles; other
            values are numbered 0, 1, 2, ... in the order of the schema. Missing and unlisted values are left out.
        """
        return _analysis.trend(self, where, over, given or {}, scores)

    def association(self) -> Association:
        """Test of independence, Cramer's V and mutual information of the table's two attributes.

        Of a weighted table the first two alone: about the population that its weights stand for.
        """
        from .association import Association

        return Association(
            **vars(_analysis.associate(self)),
            level=self.level,
            missing=self.missing,
            merged=self.merged,
            weighting=self.weighting,
            weights=None if self.weighing is None else self.weighing.attribute.name,
            weight_error=None if self.weighing is None else self.weight_error,
            remark=self.groups_remark,
            remarks=self.remarks,
        )

    @property
    def weighting(self) -> str:
        """Whether rows count by a survey weight, by which and how far off it may be; "" if all count alike."""
        return f"weighted{self.weight_remark}" if self.weighted else ""

    def columns(self, level: float | None = None) -> Columns:
        """The names that counts and their errors have in data frames.

        Those of limits carry ``level``, or the estimate's own.
        """
        return Columns.of("estimate", self._level(level))

    def share_columns(self, level: float | None = None) -> Columns:
        """The names that shares and their errors have in data frames.

        Those of limits carry ``level``, or the estimate's own.
        """
        return Columns.named("proportion", self._level(level))

    def to_polars(
        self,
        *,
        level: float | None = None,
        given: Sequence[str] = (),
        missing_label: str | None = MISSING_LABEL,
        average: bool = False,
    ) -> pl.DataFrame:
        """One row per cell: labels, count, share, their errors and limits, the released count and a flag.

        Parameters
        ----------
        level
            The confidence level of the limits; the estimate's own by default.
        given
            The column ``proportion`` is the share of all people, or of those with the same values of these attributes.
        missing_label
            What stands for missing answers. Other programs drop null when they group rows, so it is a text by default, and the
            column holds texts. None writes null and keeps the type of the column.
        average
            Add the limits of the counts that hold on average over cells (:meth:`interval`); for the method ``model``.
        """
        shares = self.shares(given, level)
        columns = {
            **self._results(level),
            **dict(zip(self.share_columns(level), (shares.shares, shares.standard_errors, shares.low, shares.high))),
            **(self._averages(level) if average else {}),
            "released": self.released_counts,
        }
        labels = _frames.decode_attributes(self.attributes, self._codes)
        labels = _frames.with_missing_label(labels, labels.columns, missing_label)
        labels = labels.rename(free_names(labels.columns, (*columns, "flag")))
        numbers = pl.DataFrame([_frames.as_column(name, np.ravel(values)) for name, values in columns.items()])
        flags = pl.DataFrame({"flag": self.flags_of(level, shares)})
        return pl.concat([labels, numbers.fill_nan(None), flags], how="horizontal")

    def _results(self, level: float | None) -> dict[str, Counts]:
        """Counts, errors and limits by the names of their columns."""
        return dict(zip(self.columns(level), (self.counts, self.standard_errors, *self.interval(level))))

    def _averages(self, level: float | None) -> dict[str, Counts]:
        """Limits on average over cells by the names of their columns."""
        return dict(zip(average_columns(self._level(level)), self.interval(level, "average")))

    @property
    def _codes(self) -> dict[str, Any]:
        """The code of each attribute in every cell, row-major."""
        grid = np.indices(self.counts.shape, dtype=code_dtype(max(self.counts.shape, default=1)))
        return {name: axis.ravel() for name, axis in zip(self.names, grid)}

    def flags_of(self, level: float | None = None, shares: Shares | None = None) -> pl.Series:
        """The flags of each cell, row-major; null where there are none.

        ``level`` is that of the intervals, the estimate's own by default. With ``shares``, those of the shares too.
        """
        near = self.near_zero(level)
        small = beyond = np.zeros(near.shape, bool)
        if shares is not None:
            small, beyond = (np.broadcast_to(each, near.shape) for each in (~shares.bounded, shares.beyond))
        parts = (near, self.fallback, small, beyond, ~self.possible, self.differs)
        number, texts = _estimate.Flags(*(part.ravel() for part in parts)).numbered()
        return pl.Series(texts, dtype=pl.String).gather(_frames.as_column("", number))

    def to_pandas(
        self,
        *,
        level: float | None = None,
        given: Sequence[str] = (),
        missing_label: str | None = MISSING_LABEL,
    ) -> pandas.DataFrame:
        """As :meth:`to_polars` with the same ``level``, ``given`` and ``missing_label``, in pandas."""
        return _frames.as_kind(self.to_polars(level=level, given=given, missing_label=missing_label), "pandas")

    def to_arrow(
        self,
        *,
        level: float | None = None,
        given: Sequence[str] = (),
        missing_label: str | None = MISSING_LABEL,
    ) -> pyarrow.Table:
        """As :meth:`to_polars` with the same ``level``, ``given`` and ``missing_label``, in pyarrow."""
        return _frames.as_kind(self.to_polars(level=level, given=given, missing_label=missing_label), "pyarrow")

    def to_xarray(self, *, level: float | None = None) -> xarray.Dataset:
        """One variable per result, one dimension per attribute; limits at ``level`` or the estimate's own."""
        try:
            import xarray
        except ImportError:
            raise missing_package("to_xarray needs the package xarray", "arrays") from None
        results = self._results(level) | {"released": self.released_counts}
        axes = free_names(self.names, results)
        return xarray.Dataset(
            {name: (tuple(axes.values()), values) for name, values in results.items()},
            coords={axes[name]: self.axis_labels(name) for name in self.names},
            attrs={"method": self.method, "about": self.about, "rows": self.rows, "missing": self.missing},
        )

    def axis_labels(self, name: str) -> list[Any]:
        """The labels of the attribute ``name``, with a word for the missing value."""
        return [MISSING_LABEL if label is None else label for label in self.labels[self.names.index(name)]]

    def to_json(
        self,
        *,
        level: float | None = None,
        given: Sequence[str] = (),
        missing_label: str | None = MISSING_LABEL,
        average: bool = False,
    ) -> dict[str, Any]:
        """Everything in :meth:`to_polars` and how it was made, as JSON holds it.

        ``level``, ``given``, ``missing_label`` and ``average`` are those of :meth:`to_polars`.
        """
        convergence = self.convergence
        return {
            "attributes": list(self.names),
            "method": self.method,
            "about": self.about,
            "level": self._level(level),
            "given": list(as_names(given)),
            "rows": self.rows,
            "missing": self.missing,
            "excluded": list(self.excluded),
            "merged": self.merged,
            "weighted": self.weighted,
            "weights": None if self.weighing is None else self.weighing.attribute.name,
            "weight_error": self.weight_error if self.weighing is not None else None,
            "convergence": None
            if convergence is None
            else {
                "gap": convergence.gap,
                "passes": convergence.passes,
                "converged": convergence.converged,
                "log_likelihood": convergence.log_likelihood,
            },
            "remarks": [*self.all_remarks, *(self._why_not_narrower if average else ())],
            "cells": json_rows(self.to_polars(level=level, given=given, missing_label=missing_label, average=average)),
        }

    @property
    def _why_not_narrower(self) -> tuple[str, ...]:
        """Why limits on average over cells are those of each cell, as a remark."""
        why = self.without_average
        return () if why is None else (why[:1].upper() + why[1:],)

    def to_bytes(
        self,
        format: str,
        *,
        level: float | None = None,
        given: Sequence[str] = (),
        missing_label: str | None = MISSING_LABEL,
        average: bool = False,
        **options: Any,
    ) -> bytes:
        """The content of a file in this ``format``: csv, json, parquet, latex, html, markdown or xlsx.

        ``level``, ``given``, ``missing_label`` and ``average`` are those of :meth:`to_polars`; ``options``, in the last four, those of
        :meth:`paper`.
        """
        if format in PAPER:
            if average:
                raise InputError("Limits on average over cells (average=True) go into csv, json and parquet.")
            return paper_content(format, self.paper(level=level, given=given, **options))
        refuse_options(format, options)
        asked: dict[str, Any] = {"level": level, "given": given, "missing_label": missing_label, "average": average}
        return file_content(format, partial(self.to_polars, **asked), partial(self.to_json, **asked))

    def save(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        level: float | None = None,
        given: Sequence[str] = (),
        missing_label: str | None = MISSING_LABEL,
        average: bool = False,
        **options: Any,
    ) -> None:
        """Write the table to a file that does not exist yet.

        Parameters
        ----------
        path
            The file.
        format
            csv, json, parquet, latex, html, markdown or xlsx; by the ending of the file (.tex, .md) if not set.
        level, given, missing_label, average
            As in :meth:`to_polars`; ``average`` in csv, json and parquet.
        **options
            In the last four formats, those of :meth:`paper`.
        """
        asked: dict[str, Any] = {"level": level, "given": given, "missing_label": missing_label, **options}
        asked["average"] = average
        write_new(path, self.to_bytes(format_of(path, format), **asked))

    def paper(
        self,
        *,
        show: str = "counts",
        given: Sequence[str] = (),
        layout: str | None = None,
        interval: bool = False,
        totals: bool | None = None,
        level: float | None = None,
        caption: str | None = None,
    ) -> PaperTable:
        """The table as a paper has it: rounded to the digits of the errors, with a caption and notes.

        Parameters
        ----------
        show
            ``counts``, or ``shares`` in percent; in the long layout both are shown.
        given
            Shares within the groups of these attributes; without it, of all people.
        layout
            ``cross``: the values of the last attribute are columns. ``long``: one row per cell. By default what fits.
        interval
            Show intervals instead of standard errors.
        totals
            In a cross-table of two attributes, a column and a row for everybody; by default unless ``given`` is set.
        level
            The confidence level; the estimate's own by default.
        caption
            What is shown; said by itself if not set.
        """
        from .crosstable import crosstable

        return crosstable(
            self,
            show=show,
            given=as_names(given),
            layout=layout,
            interval=interval,
            totals=totals,
            level=self._level(level),
            caption=caption,
        )

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read: each number as "value ± standard error"; its first ``most`` rows."""
        from .chart_data import label_texts
        from .text import TextTable, interval_text, with_error

        size = self.counts.size if most is None else min(most, self.counts.size)
        shares = self.shares()
        arrays = (self.counts, self.standard_errors, *self.interval(), shares.shares, shares.standard_errors)
        columns = [np.ravel(array)[:size].tolist() for array in arrays]
        places = itertools.product(*(label_texts(labels) for labels in self.labels))
        rows = [
            [
                *place,
                with_error(count, error),
                interval_text(low, high, error),
                with_error(100 * share, 100 * share_error),
                flag or "",
            ]
            for place, flag, count, error, low, high, share, share_error in zip(
                places, self.flags_of(None, shares).to_list(), *columns
            )
        ]
        people = "people (weighted)" if self.weighted else "people"
        share = "% of those who answered" if self.excluded else "% of all"
        header = [*self.names, people, interval_title(self.level), share, ""]
        left = [*[True] * len(self.names), False, False, False, True]
        return TextTable(header, rows, left, self.counts.size - size)

    def _captions(self) -> list[str]:
        caption = self.caption()
        captions = [f"{caption[:1].upper()}{caption[1:]}."]
        return [*captions, *self.all_remarks]

    @property
    def all_remarks(self) -> tuple[str, ...]:
        """The remarks, whether the table can be read, and whether the search for it ended too early: sentences with a capital."""
        ended = None if self.convergence is None else self.convergence.remark
        found = (*self.remarks, self.unreadable, *self.notes, ended)
        return tuple(remark[:1].upper() + remark[1:] for remark in found if remark is not None)

    def grid(self, *, level: float | None = None, given: Sequence[str] = ()) -> Grid:
        """The table as a chart draws it: counts, or with ``given`` shares within groups in percent.

        Limits are at ``level`` or the estimate's own.
        """
        from .chart_data import Grid, label_texts
        from .crosstable import shown_as

        given = as_names(given)
        shares = self.shares(given, level)
        low, high = (shares.low, shares.high) if given else self.interval(level)
        scale = 100.0 if given else 1.0
        return Grid(
            names=self.names,
            labels=tuple(label_texts(labels) for labels in self.labels),
            estimate=scale * (shares.shares if given else self.counts),
            standard_error=scale * (shares.standard_errors if given else self.standard_errors),
            low=scale * low,
            high=scale * high,
            share=shares.shares,
            released=self.released_counts,
            flags=self.flags_of(level, shares).to_list(),
            measure=f"% of {' x '.join(given)}" if given else "people",
            level=self._level(level),
            caption=self.caption(level, given=given),
            title=shown_as(self.names, given),
            ordered=tuple(map(_in_order, self.attributes)),
            apart=tuple(_apart(attribute) for attribute in self.attributes),
        )

    def chart(
        self, kind: str | None = None, *, level: float | None = None, given: Sequence[str] = ()
    ) -> altair.TopLevelMixin:
        """An Altair chart of the counts, or of shares, with their errors.

        Parameters
        ----------
        kind
            ``bars`` with error bars (one or two attributes), a ``heat`` map (two or three), or a ``line`` with an error
            band (one or two, one of them ordered); bars or a heat map, what fits, by default.
        level
            The confidence level of the error bars; the estimate's own by default.
        given
            Show shares in percent within the groups of these attributes, instead of counts.
        """
        from .charts import crosstab_chart

        return crosstab_chart(self.grid(level=level, given=given), kind)

    def caption(self, level: float | None = None, *, given: Sequence[str] = ()) -> str:
        """What the numbers are, in one line; with ``given`` they are shares within groups.

        ``level`` is the confidence level to name; the estimate's own by default.
        """
        remark = self.groups_remark
        return self.plain_caption(level, given=given) + (f"; {remark}" if remark else "")

    def plain_caption(self, level: float | None = None, *, given: Sequence[str] = (), numbers: str = "counts") -> str:
        """The caption without what is said about merged values and missing answers.

        ``level`` and ``given`` are those of :meth:`caption`; without ``given``, ``numbers`` says what is shown.
        """
        if given:
            numbers = f"shares within {' x '.join(as_names(given))}"
        return f"{'weighted ' if self.weighted else ''}{numbers}{self.weight_remark} {self.made(level)}"

    def made(self, level: float | None = None) -> str:
        """From how many rows the numbers come, by which method, and what their intervals are about.

        ``level`` is the confidence level to name; the estimate's own by default.
        """
        return (
            f"from {self.rows:,} released rows; {self.method}: {METHODS[self.method].summary}; "
            f"{percent(self._level(level))}% intervals about {ABOUT[self.about]}"
        )

    @property
    def weight_remark(self) -> str:
        """Which attribute is the weight, and how far off its bins may be."""
        if self.weighing is None:
            return ""
        error = self.weight_error
        bins = (
            ", whose values beyond its list or its open end may shift totals without limit"
            if error is None
            else f", whose bins may shift totals by up to {percent(error)}%"
            if error
            else ""
        )
        return f" (by {self.weighing.attribute.name}{bins})"

    @property
    def weight_error(self) -> float | None:
        """By which share a total may be off besides its error, as the weight is known by bins or open at an end; None: without limit."""
        return 0.0 if self.weighing is None else _estimate.weight_error(self.weighing.attribute, self.weighing.numbers)

    def __repr__(self) -> str:
        return f"<Estimate of {' x '.join(self.names)}: {self.counts.size:,} cells from {self.rows:,} released rows>"


def _condition(where: Where | None, more: Mapping[str, Any]) -> Where:
    """A condition from a mapping and from further attributes; what is no mapping is refused where conditions are read."""
    condition: Any = {} if where is None else where
    return {**condition, **more} if isinstance(condition, Mapping) else condition


def _in_order(attribute: Attribute) -> bool:
    """Whether the values of an attribute have an order: declared, or numbers and dates that are listed in theirs."""
    if attribute.ordered:
        return True
    outside = (attribute.other_code, attribute.missing_code)
    values: list[Any] = [label for code, label in enumerate(attribute.labels()) if code not in outside]
    return attribute.released_type in ("integer", "number", "date") and values == sorted(values)


def _apart(attribute: Attribute) -> tuple[str, ...]:
    """The labels of an attribute that are outside the order of its values: unlisted and missing ones."""
    from .chart_data import label_texts

    texts = label_texts(list(attribute.labels()))
    return tuple(texts[code] for code in (attribute.other_code, attribute.missing_code) if code is not None)
