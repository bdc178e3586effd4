"""Regression: coefficients with their errors, tests and predicted means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import polars as pl

from ..._blocks import Counts
from ..._errors import InputError, did_you_mean
from ..._estimate import ABOUT, normal_quantile, p_text, regression, short
from ..columns import Columns, interval_title
from ..tabular import Tabular, json_rows
from ..text import TextTable, interval_text, with_error
from .coding import INTERCEPT, Coding
from .summary import summary

WEAK = "weak"


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a regression, or a sum of some: value, standard error, test against zero, interval.

    Attributes
    ----------
    name
        The column of the design that it belongs to.
    value, standard_error
        The estimate and its error.
    z, p_value
        The test that it is zero.
    low, high
        The interval at the level of the regression.
    flag
        ``weak`` if little sets its column, or one of several, apart from the others; else None.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.Coefficient("age", 0.5, 0.25, z=2.0, p_value=0.046, low=0.01, high=0.99)
    <Coefficient age 0.5 ± 0.25>
    """

    name: str
    value: float
    standard_error: float
    z: float
    p_value: float
    low: float
    high: float
    flag: str | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return _number(self)

    def __repr__(self) -> str:
        return f"<Coefficient {self.name} {self}>"

    def _repr_html_(self) -> str:
        """The number with its error and its interval, as a notebook shows it."""
        return f"<p>{escape(self.name)} {_with_limits(self)}</p>"


@dataclass(frozen=True)
class FittedMean:
    """The mean of the response that a regression predicts for given values of its predictors.

    Attributes
    ----------
    value, standard_error
        The mean and its error. Of a logistic regression it is a probability.
    low, high
        The interval at the level of the regression; symmetric where the regression is linear in its coefficients.
    flag
        ``weak`` if one of the coefficients in it is; else None.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.FittedMean(0.25, 0.02, low=0.21, high=0.29)
    <FittedMean 0.25 ± 0.02>
    """

    value: float
    standard_error: float
    low: float
    high: float
    flag: str | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return _number(self)

    def __repr__(self) -> str:
        return f"<FittedMean {self}>"

    def _repr_html_(self) -> str:
        """The number with its error and its interval, as a notebook shows it."""
        return f"<p>{_with_limits(self)}</p>"


@dataclass(frozen=True)
class WaldTest:
    """The test that several coefficients are zero together.

    Attributes
    ----------
    names
        The coefficients.
    chi_square, degrees_of_freedom, p_value
        The test.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.WaldTest(("a", "b"), 9.21, 2, 0.01)
    <WaldTest of 2 coefficients: chi-square 9.21 on 2, p = 0.01>
    """

    names: tuple[str, ...]
    chi_square: float
    degrees_of_freedom: int
    p_value: float

    def __repr__(self) -> str:
        return (
            f"<WaldTest of {len(self.names)} coefficients: chi-square {self.chi_square:.4g} on {self.degrees_of_freedom}, "
            f"{p_text(self.p_value)}>"
        )


@dataclass(frozen=True, eq=False)
class Regression(Tabular):
    """A regression fitted to a release, corrected for the randomisation: one row per coefficient.

    ``regression["age"]`` is one coefficient; iterating gives all of them. ``print`` shows it as statsmodels does.

    Attributes
    ----------
    formula, family
        What was fitted: ``linear``, ``logistic`` or ``poisson``.
    about
        What errors are about: the ``population`` that the people were sampled from, or the people in the ``table``.
    level
        The confidence level of the intervals.
    rows
        How many rows were released.
    weights
        The column of survey weights, if there is one.
    missing
        What became of people without an answer: ``exclude`` or ``category``.
    remarks
        What a reader of the coefficients must know beside their errors, a sentence each.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"smokes": ["no", "yes"] * 5_000, "visits": [0, 1, 1, 3] * 2_500})
    >>> schema = pk.Schema([pk.Attribute("smokes", ["no", "yes"]), pk.Attribute.ranged("visits", 0, 4)])
    >>> release = pk.release(people, pk.plan(schema, records=10_000, k=20), randomness=pk.Seeded(7))
    >>> fit = release.regress("visits ~ smokes")  # 0.5 and 1.5 in truth
    >>> fit["smokes[T.yes]"]
    <Coefficient smokes[T.yes] 1.485 ± 0.03409>
    >>> fit.predict(smokes="yes")
    <FittedMean 1.997 ± 0.02342>
    """

    formula: str
    family: str
    about: str
    level: float
    rows: int
    weights: str | None
    missing: str
    remarks: tuple[str, ...]
    _coding: Coding = field(repr=False)
    _fitted: regression.Fitted = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coefficients."""
        return self._coding.names

    @property
    def people(self) -> float:
        """How many people were counted: those with a value in every column. It is an estimate."""
        return self._fitted.people

    @property
    def covariance(self) -> Counts:
        """The covariance matrix of the coefficients."""
        return self._fitted.covariance.copy()

    @property
    def r_squared(self) -> tuple[float, float] | None:
        """The explained share of the variance, cut to 0 and 1, and its standard error; None unless linear."""
        found = self._fitted.r_squared
        return None if found is None else (min(max(found[0], 0.0), 1.0), found[1])

    @property
    def r_squared_flag(self) -> str | None:
        """``weak`` if nothing is known of R-squared: its interval holds everything from 0 to 1, or nothing of it; else None."""
        if self._fitted.r_squared is None:
            return None
        value, error = self._fitted.r_squared
        reach = normal_quantile(self.level) * error + 1e-9  # digits may be lost where everything is kept
        everything = value - reach <= 0 and value + reach >= 1
        nothing = value - reach > 1 or value + reach < 0
        return WEAK if everything or nothing else None

    def __iter__(self) -> Iterator[Coefficient]:
        """All coefficients in order."""
        return iter(self._coefficients)

    def __getitem__(self, name: str) -> Coefficient:
        """The coefficient of one column."""
        return self._coefficients[self._place(name)]

    @cached_property
    def _coefficients(self) -> tuple[Coefficient, ...]:
        fitted = self._fitted
        numbers = fitted.coefficients, fitted.standard_errors, fitted.statistics, fitted.p_values
        columns = (array.tolist() for array in (*numbers, *fitted.limits(self.level)))
        flags = (WEAK if weak else None for weak in fitted.weak)
        return tuple(Coefficient(name, *row) for name, *row in zip(self.names, *columns, flags))

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InputError(f"The regression has no coefficient '{name}'. {did_you_mean(str(name), self.names)}")
        return self.names.index(name)

    def interval(self, level: float | None = None) -> tuple[Counts, Counts]:
        """(low, high) of each coefficient, at ``level`` or the regression's own."""
        return self._fitted.limits(self.level if level is None else level)

    def linear(self, weights: Mapping[str, float]) -> Coefficient:
        """A sum of coefficients, each times a number: ``linear({"age": 10, "sex[T.M]": -1})``.

        Parameters
        ----------
        weights
            The number of each coefficient, by its name; all others count 0.
        """
        direction = np.zeros(len(self.names))
        for name, weight in weights.items():
            direction[self._place(name)] = weight
        text = " ".join(_signed(name, weight) for name, weight in weights.items()).removeprefix("+ ")
        value, error, low, high = self._along(direction)
        z = value / error if error else math.nan
        p = self._fitted.wald_test(direction[None])[2]
        return Coefficient(text, value, error, z, p, low, high, self._flag(direction))

    def _along(self, direction: Counts) -> tuple[float, float, float, float]:
        """A linear function of the coefficients: value, error, limits."""
        value = float(direction @ self._fitted.coefficients)
        error = math.sqrt(max(float(direction @ self._fitted.covariance @ direction), 0.0))
        reach = normal_quantile(self.level) * error
        return value, error, value - reach, value + reach

    def _flag(self, direction: Counts) -> str | None:
        """The flag of a sum of coefficients: one of them is weak."""
        return WEAK if bool((self._fitted.weak & (direction != 0)).any()) else None

    def test(self, *names: str) -> WaldTest:
        """The test that some coefficients are zero together.

        Parameters
        ----------
        *names
            Terms of the formula or names of coefficients; all but the intercept by default.
        """
        places: list[int] = []
        terms = self._coding.terms
        for name in names or [name for name in terms if name != INTERCEPT]:
            places += terms[name] if name in terms else [self._place(name)]
        if not places:
            raise InputError("There is nothing to test: the formula has an intercept only.")
        chosen = sorted(set(places))
        square, freedom, p = self._fitted.wald_test(np.eye(len(self.names))[chosen])
        return WaldTest(tuple(self.names[place] for place in chosen), square, freedom, p)

    def predict(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> FittedMean:
        """The mean of the response for given values of all predictors: ``predict(sex="F", age=40)``.

        Parameters
        ----------
        values
            The value of each predictor, as a mapping.
        **more
            Further predictors and their values.
        """
        row = self._coding.row({**(values or {}), **more})
        family = regression.FAMILIES[self.family]
        eta, error, low, high = self._along(row)
        mean, slope = (float(of(np.array(eta))) for of in (family.mean, family.slope))
        lowest, highest = (float(family.mean(np.array(limit))) for limit in (low, high))
        return FittedMean(mean, slope * error, lowest, highest, self._flag(row))

    def columns(self) -> Columns:
        """The names that coefficients and their errors have in data frames."""
        return Columns.of("coefficient", self.level)

    def to_polars(self) -> pl.DataFrame:
        """One row per coefficient: name, value, error, limits, z, p-value and a flag; ratios if not linear.

        Ratios are exp of the coefficient and its limits: of odds in a logistic, of rates in a Poisson regression.
        """
        names = self.columns()
        rows = []
        for each in self:
            row: dict[str, Any] = {"name": each.name}
            row |= dict(zip(names, (each.value, each.standard_error, each.low, each.high)))
            row |= {"z": each.z, "p_value": each.p_value}
            if self.family != "linear":
                ends = (math.exp(min(limit, 700.0)) for limit in (each.value, each.low, each.high))
                row |= dict(zip(("ratio", f"ratio_{names.low}", f"ratio_{names.high}"), ends))
            rows.append(row | {"flag": each.flag})
        return pl.DataFrame(rows, schema_overrides={"flag": pl.String}).fill_nan(None)

    def to_json(self) -> dict[str, Any]:
        """All numbers and how they were made; ``covariance`` is in the order of the coefficients."""
        r_squared = self.r_squared
        return {
            "formula": self.formula,
            "family": self.family,
            "about": self.about,
            "level": self.level,
            "rows": self.rows,
            "people": self.people,
            "weights": self.weights,
            "missing": self.missing,
            "r_squared": None
            if r_squared is None
            else {"value": r_squared[0], "std_error": r_squared[1], "flag": self.r_squared_flag},
            "coefficients": json_rows(self.to_polars()),
            "covariance": self.covariance.tolist(),
            "remarks": list(self.remarks),
        }

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read: each coefficient as "value ± standard error"; its first ``most`` rows."""
        shown = self._coefficients[:most]
        rows = [
            [
                each.name,
                with_error(each.value, each.standard_error),
                interval_text(each.low, each.high, each.standard_error),
                f"{each.z:.3f}",
                f"{each.p_value:.3f}",
                each.flag or "",
            ]
            for each in shown
        ]
        header = ["", "coefficient", interval_title(self.level), "z", "P>|z|", ""]
        left = [True, False, False, False, False, True]
        return TextTable(header, rows, left, len(self.names) - len(shown))

    def _captions(self) -> list[str]:
        return [f"{self._title}: {self.formula}. Robust errors about {ABOUT[self.about]}.", *self.remarks]

    @property
    def _title(self) -> str:
        return f"{regression.FAMILIES[self.family].title} regression, corrected for the randomisation"

    def summary(self) -> str:
        """The regression as statsmodels prints its own."""
        heads = [
            ("Response:", self._coding.response.factor.text),
            ("Released rows:", f"{self.rows:,}"),
            ("Family:", self.family),
            ("People counted:", f"{self.people:,.0f}"),
            ("Errors:", "robust"),
            ("Errors about:", self.about),
            ("Weights:", self.weights or "none"),
        ]
        if self.r_squared is not None:
            flag = f" ({self.r_squared_flag})" if self.r_squared_flag else ""
            heads.append(("R-squared:", f"{self.r_squared[0]:.3f} ± {self.r_squared[1]:.3f}{flag}"))
        flags = [each.flag or "" for each in self]
        unknown = ["R-squared: nothing is known of it, given the noise."] if self.r_squared_flag else []
        return summary(self._title, heads, list(self), flags, self.level, [*self.remarks, *unknown])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Regression {self.formula}: {len(self.names)} coefficients, {self.family}>"


def _number(found: Coefficient | FittedMean) -> str:
    """A number with its error and its flag."""
    flag = "" if found.flag is None else f" ({found.flag})"
    return f"{short(found.value)} ± {short(found.standard_error)}{flag}"


def _with_limits(found: Coefficient | FittedMean) -> str:
    """The same with its interval."""
    return f"{found} (interval: {short(found.low)} to {short(found.high)})"


def _signed(name: str, weight: float) -> str:
    """A part of a sum of coefficients: "+ age", "- 10 age"."""
    size = "" if abs(weight) == 1 else f"{abs(weight):g} "
    return f"{'-' if weight < 0 else '+'} {size}{name}"
