"""Estimate: a reconstructed table with everything an analyst does with it.

Numbers come from ``_estimate`` and ``_analysis``; here they get their labels and leave as data frames,
arrays and charts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import EnvironmentFailure, InputError
from .._estimate import ABOUT, METHODS, Association, Quantile, Quantity, Reconstruction, as_names
from .._estimate import statistics as _analysis
from .._frames import decode
from .._schema import Schema
from .tabular import Tabular, free_names, json_rows

if TYPE_CHECKING:
    import altair
    import polars as pl
    import xarray

Where = Mapping[str, Any]
MISSING = "(missing)"
"""How a missing value is written where a label is needed."""


class Estimate(Reconstruction, Tabular):
    """A cross-tabulation reconstructed from a release: ``counts``, ``standard_errors``, ``labels``, one axis per attribute.

    ``method`` is how it was made, ``about`` what its errors are about: the people in the table, or the population
    they were sampled from.
    """

    @cached_property
    def labels(self) -> tuple[list[Any], ...]:
        """The values of each axis as they are released; None is the missing value."""
        return tuple(list(attribute.labels()) for attribute in self.attributes)

    def proportions(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Counts as shares of all people."""
        return self.shares().shares

    def conditional(self, *given: str, level: float = 0.95) -> pl.DataFrame:
        """P(the other attributes | given): shares within each group, with standard errors and limits."""
        if not given or set(given) >= set(self.names):
            raise InputError("A conditional table is given some of its attributes, and not all of them.")
        return self.to_polars(level=level, given=given)

    def count(self, where: Where | None = None, /, **more: Any) -> Quantity:
        """How many people meet a condition: ``count(sex="F", age=["0-4", "5-9"])``."""
        given: Any = {} if where is None else where
        # what is no condition is refused where it is read
        return _analysis.count(self, {**given, **more} if isinstance(given, Mapping) else given)

    def proportion(self, where: Where, given: Where | None = None) -> Quantity:
        """Which share of the people who meet ``given`` (all by default) meet ``where``."""
        return _analysis.proportion(self, where, given or {})

    def difference(self, first: Where, second: Where) -> Quantity:
        """How many more people meet ``first`` than ``second``."""
        return _analysis.count(self, first) - _analysis.count(self, second)

    def ratio(self, first: Where, second: Where) -> Quantity:
        """The number who meet ``first`` divided by the number who meet ``second``."""
        return _analysis.ratio(self, first, second)

    def odds_ratio(self, first: Where, second: Where) -> Quantity:
        """By which factor meeting ``first`` multiplies the odds of meeting ``second``."""
        return _analysis.odds_ratio(self, first, second)

    def sum(self, attribute: str, where: Where | None = None, *, values: Mapping[Any, float] | None = None) -> Quantity:
        """The sum of a numeric attribute; a bin counts as its middle, ``values`` says otherwise."""
        return _analysis.total(self, attribute, where or {}, values)

    def mean(
        self, attribute: str, where: Where | None = None, *, values: Mapping[Any, float] | None = None
    ) -> Quantity:
        """The mean of a numeric attribute, among the people who have a number."""
        return _analysis.mean(self, attribute, where or {}, values)

    def deviation(
        self, attribute: str, where: Where | None = None, *, values: Mapping[Any, float] | None = None
    ) -> Quantity:
        """The standard deviation of a numeric attribute, among the people who have a number."""
        return _analysis.deviation(self, attribute, where or {}, values)

    def quantile(
        self, attribute: str, q: float, where: Where | None = None, *, values: Mapping[Any, float] | None = None
    ) -> Quantile:
        """The value below which a share ``q`` of the people lies; with ``values`` it is one of those numbers."""
        return _analysis.quantile(self, attribute, q, where or {}, values)

    def correlation(self, first: str, second: str) -> Quantity:
        """Pearson's correlation of two numeric attributes."""
        return _analysis.correlation(self, first, second)

    def association(self) -> Association:
        """Test of independence, Cramer's V and mutual information of the table's two attributes."""
        return _analysis.associate(self)

    def to_polars(self, *, level: float = 0.95, given: Sequence[str] = ()) -> pl.DataFrame:
        """One row per cell; ``proportion`` is of all people, or of those with the same values of ``given``."""
        import polars as pl

        given = as_names(given)
        frame = decode(Schema(self.attributes), self._codes, None)
        shares = self.shares(given, level)
        percent = f"{100 * level:g}"
        results = self._results(level)
        columns = {
            **results,
            "proportion": shares.shares,
            "proportion_std_error": shares.standard_errors,
            f"proportion_low_{percent}": shares.low,
            f"proportion_high_{percent}": shares.high,
            "released": self.channel.collapse(self.released),
        }
        frame = frame.rename(free_names(frame.columns, (*columns, "flag")))
        numbers = pl.DataFrame({name: np.ravel(values) for name, values in columns.items()})
        return pl.concat(
            [frame, numbers.fill_nan(None), self._flags(results[f"low_{percent}"], shares.bounded)], how="horizontal"
        )

    def _results(self, level: float) -> dict[str, Any]:
        """What every form of the table has, by the name of its column."""
        low, high = self.interval(level)
        percent = f"{100 * level:g}"
        return {
            "estimate": self.counts,
            "std_error": self.standard_errors,
            f"low_{percent}": low,
            f"high_{percent}": high,
        }

    @property
    def _codes(self) -> dict[str, Any]:
        """The code of each attribute in every cell, row-major."""
        grid = np.indices(self.counts.shape, dtype=np.uint32)
        return {name: axis.ravel() for name, axis in zip(self.names, grid)}

    def _flags(self, low: Any, bounded: Any) -> pl.DataFrame:
        import polars as pl

        near = (low <= 0) & self.channel.possible
        # every combination of remarks has a number; few numbers occur, so few texts are made
        number = near + 2 * self.fallback + 4 * ~np.broadcast_to(bounded, near.shape)
        number = np.where(self.channel.possible, number, 8).ravel()
        words = ("near zero", "predicted error", "small group")
        texts = [", ".join(word for bit, word in enumerate(words) if i >> bit & 1) or None for i in range(8)]
        return pl.DataFrame({"flag": pl.Series([*texts, "impossible"], dtype=pl.String).gather(number)})

    def to_xarray(self, *, level: float = 0.95) -> xarray.Dataset:
        """One variable per result, one dimension per attribute."""
        try:
            import xarray
        except ImportError:
            raise EnvironmentFailure("to_xarray needs the package xarray; install pkanon[arrays].") from None
        results = self._results(level) | {"released": self.channel.collapse(self.released)}
        axes = free_names(self.names, results)
        return xarray.Dataset(
            {name: (tuple(axes.values()), values) for name, values in results.items()},
            coords={axes[name]: self.axis_labels(name) for name in self.names},
            attrs={"method": self.method, "about": self.about, "rows": self.rows},
        )

    def axis_labels(self, name: str) -> list[Any]:
        """The labels of an attribute, with a word for the missing value."""
        return [MISSING if label is None else label for label in self.labels[self.names.index(name)]]

    def chart(self, kind: str | None = None, *, level: float = 0.95, given: Sequence[str] = ()) -> altair.TopLevelMixin:
        """An Altair chart: ``bars`` with error bars (one or two attributes), or a ``heat`` map (two or three).

        With ``given`` it shows shares in percent instead of counts.
        """
        from .charts import crosstab_chart

        given = as_names(given)
        frame = self.to_polars(level=level, given=given)
        if not given:
            return crosstab_chart(frame, frame.columns[: len(self.names)], kind, self.caption(level))
        shares = {
            column.removeprefix("proportion").removeprefix("_") or "estimate": 100 * frame[column]
            for column in frame.columns
            if column.startswith("proportion")
        }
        measure = f"% of {' x '.join(given)}"
        return crosstab_chart(
            frame.with_columns(**shares), frame.columns[: len(self.names)], kind, self.caption(level), measure
        )

    def caption(self, level: float = 0.95) -> str:
        """What the numbers are, in one line."""
        counted = "weighted counts" if self.weighted else "counts"
        return (
            f"{counted} from {self.rows:,} released rows; {self.method}: {METHODS[self.method].summary}; "
            f"{100 * level:g}% intervals about {ABOUT[self.about]}"
        )

    def to_json(self, *, level: float = 0.95, given: Sequence[str] = ()) -> dict[str, Any]:
        """Everything in :meth:`to_polars` and how it was made, as JSON holds it."""
        convergence = self.convergence
        return {
            "attributes": list(self.names),
            "method": self.method,
            "about": self.about,
            "level": level,
            "given": list(as_names(given)),
            "rows": self.rows,
            "weighted": self.weighted,
            "convergence": None
            if convergence is None
            else {
                "gap": convergence.gap,
                "passes": convergence.passes,
                "converged": convergence.converged,
                "log_likelihood": convergence.log_likelihood,
            },
            "cells": json_rows(self.to_polars(level=level, given=given)),
        }

    def __str__(self) -> str:
        return f"{' x '.join(self.names)}, {self.counts.size:,} cells; {self.caption()}"
