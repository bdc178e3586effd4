"""How two attributes are related, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from .. import _estimate
from .columns import Columns, interval_title, sentence
from .tabular import Tabular
from .text import TextTable, interval_text, with_error


@dataclass(frozen=True, repr=False)
class Association(_estimate.Association, Tabular):
    """The relation of two attributes in the population.

    Attributes
    ----------
    attributes
        The two attributes.
    chi_square, degrees_of_freedom, p_value
        The test of independence, corrected for the randomisation.
    cramers_v
        Cramer's V, 0 to 1.
    mutual_information
        Mutual information, in nats; None with survey weights.
    level
        The confidence level of the intervals of the last two.
    missing
        Whether missing answers are a ``category``, or people without an answer are left out (``exclude``).
    merged
        The groups of values that were asked for, by attribute.
    weighting
        Whether rows count by a survey weight, and which; "" if all count alike.
    weights, weight_error
        The randomised attribute that is the weight, and by which share its bins may shift totals.
    remark
        The last two in a few words; empty if there is nothing to say.
    remarks
        What its readers must know beside its errors, a sentence each.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"smokes": ["no", "yes"] * 500, "coughs": ["no", "yes"] * 500})
    >>> schema = pk.Schema([pk.Attribute(name, ["no", "yes"]) for name in people.columns])
    >>> release = pk.release(people, pk.plan(schema, records=1_000, k=20), randomness=pk.Seeded(7))
    >>> relation = release.crosstab("smokes", "coughs", about="population").association()
    >>> relation.p_value < 0.001  # the two columns are the same
    True
    """

    level: float = 0.95
    missing: str = "category"
    merged: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    weighting: str = ""
    weights: str | None = None
    weight_error: float | None = None
    remark: str = ""
    remarks: tuple[str, ...] = ()

    def to_polars(self) -> pl.DataFrame:
        """The columns of :meth:`Correlations.to_polars`, one row per number that there is; those of the test have no error."""
        first, second = self.attributes
        rows = []
        for name, number in self._numbers().items():
            value, error, low, high = number if isinstance(number, tuple) else (float(number), None, None, None)
            rows.append((first, second, name, value, error, low, high, None))
        labels = ("first", "second", "measure")
        types = dict.fromkeys(labels, pl.String) | dict.fromkeys(Columns.of("value", self.level), pl.Float64)
        types["flag"] = pl.String  # nothing is divided by the size of a group
        return pl.DataFrame(rows, schema=types, orient="row")

    def to_json(self) -> dict[str, Any]:
        """All numbers and how they were made."""
        parts = ("value", "std_error", "low", "high")
        made: dict[str, Any] = {
            "about": "population",
            "level": self.level,
            "missing": self.missing,
            "merged": dict(self.merged),
        }
        made |= {"weighted": bool(self.weighting), "weights": self.weights, "weight_error": self.weight_error}
        numbers: dict[str, Any] = {
            name: dict(zip(parts, number)) if isinstance(number, tuple) else number
            for name, number in self._numbers().items()
        }
        numbers.setdefault("mutual_information", None)
        return {"attributes": list(self.attributes), **made, "remarks": list(self.remarks)} | numbers

    def _numbers(self) -> dict[str, float | tuple[float, float, float, float]]:
        """Every number by its name; a strength with its error and limits."""
        strengths = {"cramers_v": self.cramers_v, "mutual_information": self.mutual_information}
        return {
            "chi_square": self.chi_square,
            "degrees_of_freedom": self.degrees_of_freedom,
            "p_value": self.p_value,
        } | {
            name: (measure.value, measure.standard_error, *measure.interval(self.level))
            for name, measure in strengths.items()
            if measure is not None
        }

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read; ``most`` changes nothing, it has few rows."""
        rows = []
        for name, number in self._numbers().items():
            if isinstance(number, tuple):
                value, error, low, high = number
                rows.append([name.replace("_", " "), with_error(value, error), interval_text(low, high, error)])
            else:
                rows.append([name.replace("_", " "), f"{number:.4g}", ""])
        return TextTable(["measure", "value", interval_title(self.level)], rows, [True, False, False])

    def _captions(self) -> list[str]:
        first, second = self.attributes
        return [
            f"Relation of {first} and {second} in the population{self.weighting and f', {self.weighting}'}.",
            "The test of independence and the measures are corrected for the randomisation"
            + (". With survey weights there is" if self.weighting else "; mutual information is in nats.")
            + (" no mutual information." if self.weighting else ""),
            *([sentence(self.remark)] if self.remark else []),
            *(remark[:1].upper() + remark[1:] for remark in self.remarks),
        ]

    def __repr__(self) -> str:
        return f"<Association of {' and '.join(self.attributes)}>"

    def __str__(self) -> str:
        return super().__str__() + "".join(f"\n  {remark}" for remark in (self.weighting, self.remark) if remark)
