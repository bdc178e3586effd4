"""Several numbers looked at together: tests and intervals that hold for all of them at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from .._errors import InputError, did_you_mean
from .._estimate import (
    MantelHaenszel,
    Quantile,
    QuantileDifference,
    Quantity,
    Test,
    Trend,
    normal_quantile,
    p_text,
)
from .columns import Columns, interval_title, percent
from .tabular import Tabular, json_rows
from .text import TextTable, interval_text, with_error

ADJUSTMENTS = ("holm", "bonferroni")
Member: TypeAlias = Quantity | Quantile | QuantileDifference | Trend | MantelHaenszel


@dataclass(frozen=True, eq=False)
class Family(Tabular):
    """Numbers that were tested together.

    Attributes
    ----------
    names
        What each number is.
    numbers, tests
        The numbers, and the test of each by itself.
    method
        How p-values are adjusted: ``holm`` or ``bonferroni``.
    level
        The confidence level at which all intervals together hold the truth.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute.ranged("rooms", 1, 3)]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"rooms": [1, 1, 1, 2, 3] * 200}), plan, randomness=pk.Seeded(7))
    >>> table = release.crosstab("rooms")
    >>> one, two, three = (table.count(rooms=number) for number in (1, 2, 3))
    >>> family = pk.family({"1 less 2": one - two, "2 less 3": two - three})
    >>> family.adjusted[1] == family.tests[1].p_value, family.rejected
    (True, (True, False))
    """

    names: tuple[str, ...]
    numbers: tuple[Quantity | Quantile | QuantileDifference, ...]
    tests: tuple[Test, ...]
    method: str = "holm"
    level: float = 0.95

    @cached_property
    def adjusted(self) -> tuple[float, ...]:
        """The p-values, adjusted for the number of tests."""
        found = np.array([test.p_value for test in self.tests])
        known = np.where(np.isnan(found), 1.0, found)
        count = len(known)
        if self.method == "bonferroni":
            raised = np.minimum(known * count, 1.0)
        else:
            order = np.argsort(known, kind="stable")
            raised = np.empty(count)
            raised[order] = np.minimum(np.maximum.accumulate(known[order] * np.arange(count, 0, -1)), 1.0)
        return tuple(float(p) for p in np.where(np.isnan(found), np.nan, raised))

    @property
    def rejected(self) -> tuple[bool, ...]:
        """Which values are rejected; the chance that any true one is among them is at most 1 - level."""
        return tuple(p < 1 - self.level for p in self.adjusted)

    @cached_property
    def flags(self) -> tuple[str | None, ...]:
        """What must be said beside each number, at the level of the intervals."""
        level = 1 - (1 - self.level) / len(self.numbers)
        return tuple(number.flag(level) for number in self.numbers)

    @cached_property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """(low, high) of each number; all of them hold the truth at the confidence level, by Bonferroni's inequality."""
        level = 1 - (1 - self.level) / len(self.numbers)
        return tuple(number.interval(level) for number in self.numbers)

    def to_polars(self) -> pl.DataFrame:
        """One row per number: value, error, simultaneous limits, the value tested, statistic, p-value, adjusted, rejected, flag."""
        value, error, low, high = Columns.of("value", self.level)
        frame = pl.DataFrame(
            {
                "name": self.names,
                value: [number.value for number in self.numbers],
                error: [number.standard_error for number in self.numbers],
                low: [limits[0] for limits in self.intervals],
                high: [limits[1] for limits in self.intervals],
                "null": [test.null for test in self.tests],
                "statistic": [test.statistic for test in self.tests],
                "p_value": [test.p_value for test in self.tests],
                "adjusted_p_value": self.adjusted,
                "rejected": self.rejected,
                "flag": self.flags,
            },
            schema_overrides={"name": pl.String, "rejected": pl.Boolean, "flag": pl.String},
        )
        return frame.fill_nan(None)

    def to_json(self) -> dict[str, Any]:
        """The table and how it was made."""
        return {"method": self.method, "level": self.level, "numbers": json_rows(self.to_polars())}

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read; its first ``most`` rows."""
        size = len(self.names) if most is None else min(most, len(self.names))
        rows = [
            [
                self.names[i],
                with_error(self.numbers[i].value, self.numbers[i].standard_error),
                interval_text(*self.intervals[i], self.numbers[i].standard_error),
                f"{self.tests[i].null:g}",
                p_text(self.tests[i].p_value).removeprefix("p = ").removeprefix("p "),
                p_text(self.adjusted[i]).removeprefix("p = ").removeprefix("p "),
                "rejected" if self.rejected[i] else "",
                self.flags[i] or "",
            ]
            for i in range(size)
        ]
        header = ["number", "value", interval_title(self.level), "tested", "p", "adjusted p", "", ""]
        return TextTable(header, rows, [True, *[False] * 5, True, True], len(self.names) - size)

    @property
    def captions(self) -> list[str]:
        """What the numbers are, a sentence each."""
        if len(self.names) == 1:
            return [f"One number: nothing is adjusted; tested at {percent(1 - self.level)}%."]
        lines = [
            f"{len(self.names)} numbers: p-values adjusted by {self.method.capitalize()}; all intervals together hold the "
            f"truth at {percent(self.level)}%."
        ]
        if self.method == "holm":
            lines.append("Holm rejects more than these intervals do: they may hold a value that is rejected.")
        return lines

    def _captions(self) -> list[str]:
        return self.captions

    def __str__(self) -> str:
        return "\n".join([*self.text_table().lines(), "", *self.captions])

    def __repr__(self) -> str:
        return f"<Family of {len(self.names)} numbers, {sum(self.rejected)} rejected>"


def family(
    numbers: Mapping[str, Member] | Sequence[Member],
    *,
    null: float | None = None,
    method: str = "holm",
    level: float = 0.95,
) -> Family:
    """Test several numbers together: adjusted p-values, and intervals that all hold at once.

    Parameters
    ----------
    numbers
        The numbers by name, or a list of them: quantities, quantiles and their differences, trends, Mantel-Haenszel odds ratios.
    null
        The value that each is tested against; by default 0, and 1 for ratios.
    method
        ``holm``, or ``bonferroni``, which rejects less and agrees with the intervals.
    level
        The confidence level of all together.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute.ranged("rooms", 1, 3)]), records=1_000, k=20)
    >>> release = pk.release(pl.DataFrame({"rooms": [1, 1, 1, 2, 3] * 200}), plan, randomness=pk.Seeded(7))
    >>> table = release.crosstab("rooms")
    >>> pk.family([table.proportion({"rooms": number}) for number in (1, 2, 3)], null=1 / 3)
    <Family of 3 numbers, 3 rejected>
    """
    normal_quantile(level)
    if method not in ADJUSTMENTS:
        raise InputError(
            f"P-values are adjusted by 'holm' or 'bonferroni', not '{method}'. {did_you_mean(method, ADJUSTMENTS)}"
        )
    named = dict(numbers) if isinstance(numbers, Mapping) else {str(i): each for i, each in enumerate(numbers, 1)}
    if not named:
        raise InputError("A family has at least one number.")
    found: list[Quantity | Quantile | QuantileDifference] = []
    tests: list[Test] = []
    for name, member in named.items():
        if isinstance(member, Trend | MantelHaenszel):
            if null is not None:
                raise InputError(f"'{name}' has a test of its own; leave out null, or test its number apart.")
            found.append(member.slope if isinstance(member, Trend) else member.odds_ratio)
            tests.append(member.test)
        elif isinstance(member, Quantity | Quantile | QuantileDifference):
            found.append(member)
            tests.append(member.test() if null is None else member.test(null))
        else:
            raise InputError(f"'{name}' is no number with an error, but a {type(member).__name__}.")
        if math.isnan(found[-1].value):
            raise InputError(f"'{name}' has no value in this release; leave it out.")
    return Family(tuple(str(name) for name in named), tuple(found), tuple(tests), method, level)
