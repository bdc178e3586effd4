"""The pipeline: a table and a plan in, a release out.

    encode -> codes of attributes -> codes of units -> randomise -> shuffle -> codes of attributes

Everything that would weaken the promise is refused unless it is asked for by name. Nothing here
prints or logs; with a hidden record count the true count leaves no trace but in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._analysis import is_numeric
from ._bundle import read_folder, write_bundle
from ._certificate import Certificate
from ._crosstab import Estimate
from ._errors import DataError, InputError, PlanError, RefusedError, did_you_mean
from ._estimate import as_names
from ._frames import Encoded, Kind, TextFormat, as_kind, column_as_weights, decode, encode
from ._hidden_count import draw_change, dummy_columns
from ._keystream import Keystream, Randomness, System
from ._overview import Correlations, Description, correlate, describe
from ._plan import Plan
from ._query import Answer, respond
from ._randomise import randomise, thread_count
from ._schema import Codes
from ._shuffle import Records, draw_order

if TYPE_CHECKING:
    import polars as pl

Progress: TypeAlias = Callable[[str, float], None]
"""Called with the name of a step and how much of it is done, 0 to 1."""


@dataclass(frozen=True)
class Release:
    """A randomised, shuffled table with its plan and its certificate.

    ``codes`` holds one array per randomised attribute; ``table`` is the same as a data frame of the
    kind that came in.
    """

    plan: Plan
    certificate: Certificate
    codes: Mapping[str, Codes] = field(repr=False)
    passed: pl.DataFrame | None = field(default=None, repr=False)
    kind: Kind = "polars"

    @property
    def rows(self) -> int:
        """How many rows were released."""
        return self.certificate.rows

    @cached_property
    def table(self) -> Any:
        """The released table: columns in schema order, declared types."""
        return as_kind(decode(self.plan.schema, self.codes, self.passed), self.kind)

    def save(self, path: str | Path, *, format: str = "parquet", progress: Progress | None = None) -> None:
        """Write the release as a folder that does not exist yet; ``format`` is parquet, csv or both."""
        told = progress or _quiet
        write_bundle(
            Path(path),
            self.plan,
            self.certificate,
            decode(self.plan.schema, self.codes, self.passed, narrow=True),
            format=format,
            progress=lambda done: told("writing", done),
        )

    def crosstab(
        self,
        *attributes: str,
        method: str = "inverse",
        about: str = "table",
        weights: str | None = None,
        progress: Progress | None = None,
    ) -> Estimate:
        """The cross-tabulation of ``attributes``, corrected for the randomisation, with errors.

        ``method``: ``inverse`` (unbiased), ``simplex`` (nearest without negative cells) or ``em`` (most likely).
        ``about``: errors about the people in the ``table``, or about the ``population`` they were sampled from.
        ``weights``: a passed column of survey weights.
        """
        told = progress or _quiet
        return Estimate.of(
            self.plan.schema,
            self.plan.blocks,
            self.codes,
            attributes,
            method=method,
            about=about,
            weights=None if weights is None else self._weights(weights),
            progress=lambda done: told("fitting", done),
        )

    def query(
        self,
        sql: str,
        *,
        method: str = "inverse",
        about: str = "table",
        level: float = 0.95,
        progress: Progress | None = None,
    ) -> Answer:
        """The answer to a SELECT on the table ``release``: counts, sums and means by group, corrected, with errors."""
        crosstab = partial(self.crosstab, method=method, about=about, progress=progress)
        return respond(sql, self.plan.schema, crosstab, level=level, remarks=self.remarks)

    def describe(
        self,
        *attributes: str,
        by: Sequence[str] = (),
        method: str = "inverse",
        about: str = "table",
        weights: str | None = None,
        level: float = 0.95,
    ) -> Description:
        """Mean, deviation, sum and quantiles of numeric attributes (all by default), within each group of ``by``."""
        by = as_names(by)
        numeric = [a.name for a in self.plan.schema.randomised if is_numeric(a) and a.name not in by]
        if not attributes and not numeric:
            raise InputError("No attribute of this release is numeric; crosstab counts the others.")
        table_of = partial(self.crosstab, method=method, about=about, weights=weights)
        return describe(table_of, attributes or numeric, by, level)

    def correlations(self, *attributes: str, level: float = 0.95, progress: Progress | None = None) -> Correlations:
        """How all pairs of attributes (all by default) are related in the population."""
        told = progress or _quiet
        schema = self.plan.schema
        names = attributes or [attribute.name for attribute in schema.randomised]
        randomised = {a.name: is_numeric(a) for a in schema.randomised}
        for name in names:
            if name not in randomised:
                raise InputError(
                    f"The release has no randomised attribute '{name}'. {did_you_mean(name, list(randomised))}"
                )
        table_of = partial(self.crosstab, about="population")
        return correlate(
            table_of, {name: randomised[name] for name in names}, level, lambda done: told("correlating", done)
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What whoever reads estimates from this release must know besides their errors."""
        found = []
        if self.plan.count_noise is not None:
            found.append(
                "the record count is hidden: estimates are about the released rows, some of which are dummies while some "
                "people were left out; errors do not cover that."
            )
        return tuple(found)

    def _weights(self, name: str) -> NDArray[np.float64]:
        passed = [] if self.passed is None else self.passed.columns
        if self.passed is None or name not in passed:
            randomised = any(attribute.name == name for attribute in self.plan.schema.randomised)
            reason = "is randomised" if randomised else "is not in the release"
            known = f" Passed columns: {', '.join(passed)}." if passed else " This release passes no column."
            raise InputError(f"Weights must be a column that was passed as it is; '{name}' {reason}.{known}")
        return column_as_weights(self.passed[name])

    def __str__(self) -> str:
        return f"Release of {self.rows:,} rows\n{self.certificate}"


def release(
    table: object,
    plan: Plan,
    *,
    randomness: Randomness | None = None,
    allow_fewer: bool = False,
    allow_pass: bool = False,
    data_dependent: bool = False,
    text: TextFormat | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Randomise and shuffle ``table`` according to ``plan``.

    ``table`` is a polars, pandas or pyarrow table, a duckdb relation, or the path of a CSV or Parquet
    file. ``randomness=Seeded(7)`` makes a release that claims nothing, for tests and teaching.
    ``allow_fewer`` accepts fewer rows than planned (k is then lower), ``allow_pass`` columns that are
    released as they are, ``data_dependent`` matrices that were computed from the table.
    """
    told = progress or _quiet
    chosen = randomness or System()
    _refuse_plan(plan, allow_pass=allow_pass, data_dependent=data_dependent)
    encoded = encode(table, plan.schema, text=text or TextFormat(), progress=lambda done: told("reading", done))
    _refuse_rows(plan, encoded.rows, allow_fewer=allow_fewer)
    source = Keystream(chosen.key())
    columns = _unit_columns(plan, encoded)
    rows = encoded.rows
    if plan.count_noise is not None:
        change = draw_change(rows, plan.count_noise.p, source)
        if change > 0:
            added = dummy_columns(plan.units, change, source)
            columns = [np.concatenate(pair) for pair in zip(columns, added)]
        rows += change
    drawn = len(columns[0])
    records = Records([column.dtype for column in columns], drawn)
    with ThreadPoolExecutor(1) as pool:
        # the order needs no data: a second thread sorts while the first randomises
        spare = thread_count(drawn, threads) - 1
        ordering = pool.submit(draw_order, drawn, source) if spare else None
        randomise(
            plan.blocks,
            columns,
            source,
            out=records.columns,
            threads=spare or 1,
            progress=lambda done: told("randomising", done),
        )
        del columns
        told("shuffling", 0.0)
        order = ordering.result() if ordering else draw_order(drawn, source)
    order = order[:rows]  # the last of a uniform order are uniform rows to drop
    moved = records.permuted(order, threads=threads)
    passed = None if encoded.passed is None else encoded.passed[order]
    told("shuffling", 1.0)
    return Release(
        plan=plan,
        certificate=Certificate.of(plan, rows, private=chosen.private),
        codes=_attribute_columns(plan, moved),
        passed=passed,
        kind=encoded.kind,
    )


def check(
    table: object,
    plan: Plan,
    *,
    allow_fewer: bool = False,
    allow_pass: bool = False,
    data_dependent: bool = False,
    text: TextFormat | None = None,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Raise what :func:`release` would raise with the same arguments; release nothing.

    Returns about which share of the rows would be taken as ``other``, per attribute, in whole percents
    rounded up; nothing if the plan hides the record count.
    """
    told = progress or _quiet
    _refuse_plan(plan, allow_pass=allow_pass, data_dependent=data_dependent)
    encoded = encode(table, plan.schema, text=text or TextFormat(), progress=lambda done: told("reading", done))
    _refuse_rows(plan, encoded.rows, allow_fewer=allow_fewer)
    _unit_columns(plan, encoded)
    if plan.count_noise is not None:
        return {}
    return {name: math.ceil(100 * share) / 100 for name, share in encoded.others.items()}


def open_release(path: str | Path) -> Release:
    """The release in a folder, or in a Parquet file that was taken out of one."""
    data, plan, certificate = read_folder(path)
    encoded = encode(data, plan.schema, released=True)
    if encoded.rows != certificate.rows:
        raise DataError(f"{data} has {encoded.rows:,} rows, but its certificate is for {certificate.rows:,}.")
    return Release(plan, certificate, encoded.codes, encoded.passed)


def _quiet(step: str, done: float) -> None:
    pass


def _refuse_plan(plan: Plan, *, allow_pass: bool, data_dependent: bool) -> None:
    if not isinstance(plan, Plan):
        raise PlanError(f"A plan is needed, not an object of type {type(plan).__name__}; read a file with read_plan.")
    passed = ", ".join(attribute.name for attribute in plan.schema.passed)
    if passed and plan.count_noise is not None:
        raise PlanError(f"The plan hides the record count, so no column can be passed; drop {passed}.")
    if passed and not allow_pass:
        raise RefusedError(
            f"Passed columns ({passed}) are released as they are and void the guarantee; drop them, or say allow_pass "
            "(--allow-pass) if that is meant."
        )
    if plan.data_dependent and not data_dependent:
        raise RefusedError(
            "The plan has a matrix computed from the private table, which voids the guarantee; say data_dependent "
            "(--data-dependent) if that is meant."
        )


def _refuse_rows(plan: Plan, rows: int, *, allow_fewer: bool) -> None:
    if plan.count_noise is not None:
        if rows < plan.records:  # no numbers: the true count is hidden
            raise DataError(
                f"The table has fewer rows than the public lower bound of the plan, {plan.records:,}; plan for a lower one."
            )
        return
    if rows == 1:
        raise DataError("The table has one row; a single person cannot be hidden.")
    if rows < plan.records and not allow_fewer:
        raise RefusedError(
            f"The table has {rows:,} rows and the plan was made for {plan.records:,}, so k would be lower than planned; make "
            "a plan for the rows there are, or say allow_fewer (--allow-fewer)."
        )


def _unit_columns(plan: Plan, encoded: Encoded) -> list[Codes]:
    """One column of codes per unit; attribute columns are given up as they are used."""
    codes = encoded.codes
    return [unit.join([codes.pop(name) for name in unit.attributes]) for unit in plan.units]


def _attribute_columns(plan: Plan, columns: list[Codes]) -> dict[str, Codes]:
    split: dict[str, Codes] = {}
    for unit, column in zip(plan.units, columns):
        split.update(zip(unit.attributes, unit.split(column)))
    return {attribute.name: split[attribute.name] for attribute in plan.schema.randomised}
