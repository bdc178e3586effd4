"""Planning backwards, without any data: how much privacy an error allows, and how many people it takes.

The error of a table is the standard error of its cells as a share of all people (the root of the mean over
cells): 0.02 is plus or minus 2 points. It grows with k, falls with the number of records, and is known before
any data exist (docs/theory.md 7), so both questions are answered by searching for the plan that just meets it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from . import _amplification
from ._design import DESIGNS, Number, plan
from ._design.central import checked_delta
from ._design.search import Search
from ._design.target import check_k, check_records, exact
from ._design.workload import read_table
from ._errors import InputError, TargetError, did_you_mean
from ._frames import Tabular, json_rows
from ._plan import Plan
from ._privacy import round_up
from ._schema import Schema

if TYPE_CHECKING:
    import altair

LOWEST_EPSILON, HIGHEST_EPSILON = 1e-3, 25.0
PRECISION = 1e-3
MOST_RECORDS = 10**12

Told = Callable[[float], None]


@dataclass(frozen=True)
class Central:
    """The differential privacy of a shuffled release as a whole: (``epsilon``, ``delta``); no proof can go below ``lower``."""

    epsilon: float
    delta: float
    lower: float

    def __str__(self) -> str:
        return f"central epsilon at most {round_up(self.epsilon)} at delta = {self.delta!r} (at least {math.floor(self.lower * 1e4) / 1e4})"


def central(made: Plan, *, delta: float | None = None) -> Central:
    """(epsilon, delta) of a release by this plan, from above, with a bound from below (docs/theory.md 9)."""
    if made.count_noise is not None:
        raise TargetError("A central epsilon is not computed for a hidden record count.")
    chosen = checked_delta(delta, made.records)
    return Central(
        _amplification.central_epsilon(made.blocks, made.records, chosen),
        chosen,
        _amplification.central_lower(made.blocks, made.records, chosen),
    )


def afford(
    schema: Schema,
    *,
    records: int,
    tables: Sequence[Sequence[str]],
    error: float,
    design: str = "optimal",
    progress: Told | None = None,
    **options: Any,
) -> Plan:
    """The most private plan under which the cells of each of ``tables`` have a standard error of at most ``error``.

    Root mean square over the cells of a table, as a share of all people; single cells can have more.

    An optimal design serves just these tables unless ``workload`` says otherwise.
    """
    wanted = _checked(schema, tables, error)
    options.setdefault("workload", wanted) if design == "optimal" else None

    def design_for(epsilon: float) -> Plan | None:
        try:
            return plan(schema, records=records, epsilon=f"{epsilon:.6g}", design=design, **options)
        except TargetError:
            return None  # given matrices spend more than that

    search = Search(design_for, lambda made: math.log(_worst(made, wanted) / error), _told(progress))
    found = search.between(math.log(HIGHEST_EPSILON), math.log(LOWEST_EPSILON), PRECISION)
    if found is None:
        made = plan(schema, records=records, epsilon=HIGHEST_EPSILON, design=design, **options)
        raise TargetError(
            f"A standard error of {error:g} cannot be met with {records:,} records whatever the privacy: "
            f"{_worst(made, wanted):.3g} is the least. Ask for smaller tables or more people."
        )
    return found


def records_needed(
    schema: Schema,
    *,
    tables: Sequence[Sequence[str]],
    error: float,
    k: Number | None = None,
    epsilon: Number | None = None,
    design: str = "optimal",
    progress: Told | None = None,
    **options: Any,
) -> Plan:
    """The plan for the fewest records (to 0.1%) under which the cells of each of ``tables`` have a standard error of at most
    ``error``: root mean square over the cells of a table, as a share of all people.
    """
    wanted = _checked(schema, tables, error)
    options.setdefault("workload", wanted) if design == "optimal" else None
    if k is None and epsilon is None:
        raise TargetError("Ask for k, for epsilon or for both: how many people are needed depends on it.")

    least = 2 if k is None else max(2, math.ceil(exact(k, "k", up=True)) + 1)

    def design_for(records: float) -> Plan | None:
        try:
            return plan(schema, records=round(records), k=k, epsilon=epsilon, design=design, **options)
        except TargetError:
            return None  # too few for this k

    search = Search(design_for, lambda made: math.log(_worst(made, wanted) / error), _told(progress))
    found = search.between(math.log(MOST_RECORDS), math.log(least), PRECISION / 2)
    if found is None:
        plan(
            schema, records=MOST_RECORDS, k=k, epsilon=epsilon, design=design, **options
        )  # says what is wrong, if anything
        raise TargetError(
            f"More than {MOST_RECORDS:,} records would be needed; ask for smaller tables or a larger error."
        )
    return found


def _told(progress: Told | None) -> Callable[[int], None] | None:
    """About a dozen designs are looked at."""
    return None if progress is None else lambda looks: progress(1 - 0.8**looks)


def _checked(schema: Schema, tables: Sequence[Sequence[str]], error: float) -> list[tuple[str, ...]]:
    if not (isinstance(error, (int, float)) and 0 < error < 1):
        raise InputError(f"A standard error is asked for as a share of all people, such as 0.02; it cannot be {error}.")
    wanted = _named(schema, tables)
    if not wanted:
        raise InputError("Name at least one table that the error is about.")
    return wanted


def _named(schema: Schema, tables: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    if not isinstance(schema, Schema):
        raise InputError("A schema is needed; read a file with read_schema.")
    wanted = [read_table(table, "question") for table in tables]
    known = [attribute.name for attribute in schema.randomised]
    for name in (name for table in wanted for name in table):
        if name not in known:
            raise InputError(
                f"The error is asked for a table of '{name}', which is not randomised. {did_you_mean(str(name), known)}"
            )
    return wanted


def _worst(made: Plan, tables: Sequence[Sequence[str]]) -> float:
    return max(made.predict(*table).standard_error for table in tables)


@dataclass(frozen=True)
class Tradeoff(Tabular):
    """How the error of some tables depends on k and on the number of records, one line per design."""

    tables: tuple[tuple[str, ...], ...]
    frame: pl.DataFrame = field(repr=False)

    def to_polars(self, *args: Any, **kwargs: Any) -> pl.DataFrame:
        """Columns: design, varied (k or records), k, records, epsilon, l1 and standard_error (means over the tables)."""
        return self.frame

    def to_json(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The table and what it is of."""
        return {"tables": [list(table) for table in self.tables], "points": json_rows(self.frame)}

    def chart(self) -> altair.TopLevelMixin:
        """Error against k, and against the number of records."""
        from ._report.tradeoff import tradeoff_chart

        return tradeoff_chart(self.frame, ", ".join(" x ".join(table) for table in self.tables))


def tradeoff(
    schema: Schema,
    *,
    records: int,
    k: Number,
    tables: Sequence[Sequence[str]] | None = None,
    designs: Sequence[str] = DESIGNS,
    options: Mapping[str, Any] | None = None,
    progress: Told | None = None,
) -> Tradeoff:
    """Errors for k from 2 up with ``records`` rows, and for more and fewer rows with ``k``.

    ``tables``: all of one and two attributes by default. ``options`` are those of an optimal design, and ``matrices`` and ``hide_count``.
    """
    more = dict(options or {})
    common = {name: more.pop(name) for name in ("matrices", "hide_count") if name in more}
    for design in designs:
        if design not in DESIGNS:
            raise InputError(f"The design '{design}' is unknown. {did_you_mean(str(design), DESIGNS)}")
    check_records(records)
    least = exact(k, "k", up=True)
    check_k(least, records)
    asked = _named(schema, tables or [])
    names = [attribute.name for attribute in schema.randomised]
    wanted = asked or [
        *((name,) for name in names),
        *((a, b) for i, a in enumerate(names) for b in names[i + 1 :]),
    ]
    points = [("k", value, records) for value in _steps(2, records / 2)]
    points += [("records", float(least), round(n)) for n in _steps(max(2 * float(least), records / 100), records * 100)]
    rows = []
    for done, (varied, k_here, records_here) in enumerate(points):
        for design in designs:
            own = common | (more if design == "optimal" else {})
            try:
                made = plan(schema, records=records_here, k=f"{k_here:.6g}", design=design, **own)
            except TargetError:
                continue  # not every design reaches every target
            predictions = [made.predict(*table) for table in wanted]
            rows.append(
                {
                    "design": design,
                    "varied": varied,
                    "k": k_here,
                    "records": records_here,
                    "epsilon": made.epsilon,
                    "l1": sum(p.l1 for p in predictions) / len(predictions),
                    "standard_error": sum(p.standard_error for p in predictions) / len(predictions),
                }
            )
        if progress is not None:
            progress((done + 1) / len(points))
    return Tradeoff(tuple(wanted), pl.DataFrame(rows))


def _steps(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, ... times a power of ten between two bounds."""
    found = [
        digit * 10.0**power
        for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digit in (1, 2, 5)
    ]
    return [value for value in found if low <= value <= high]
