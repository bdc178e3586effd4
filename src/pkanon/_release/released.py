"""The Release: a randomised, shuffled table with its plan and certificate, and the questions an analyst can ask it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _estimate, _frames, _plan
from .._errors import InputError, did_you_mean
from .._estimate import Channel, Source, as_names, count_tables, normal_quantile
from .._files import check_free, write_new
from .._plan import Plan, one_row_each, unreadable
from .._progress import Progress, quiet
from .._results import Estimate
from .._schema import Codes, Groups, Merge, check_merge, check_missing, groups_of
from .certificate import Certificate
from .folder import export_release, write_release

if TYPE_CHECKING:
    import polars as pl

    from .. import Verification
    from .._estimate import ModelReport, Number
    from .._frames import Frames, Kind
    from .._results import Answer, Correlations, Description, Regression
    from .modelled import Modelled


@dataclass(frozen=True, repr=False)
class Release:
    """A randomised, shuffled table with its plan and its certificate.

    A single row may be true or not: ask for tables.

    Attributes
    ----------
    plan
        What was done.
    certificate
        What the release may claim.
    codes
        One array per randomised attribute, the codes of its values.
    passed
        The columns that were released as they are; None if there are none.
    kind
        The kind of data frame that ``table`` is, the kind that came in.
    dropped
        The columns that the schema did not name and that it says to drop; for the custodian, a saved release does not
        have them.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500})
    >>> release = pk.release(people, plan, randomness=pk.Seeded(7))  # seeded: the same numbers every time, no privacy
    >>> release.crosstab("sex").count(sex="F")  # 500 in truth
    <Quantity 501.3 ± 13.62>
    """

    plan: Plan
    certificate: Certificate
    codes: Mapping[str, Codes]
    passed: pl.DataFrame | None = None
    kind: Kind = "polars"
    dropped: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows were released."""
        return self.certificate.rows

    @cached_property
    def table(self) -> Any:
        """The released table: columns in schema order, declared types."""
        return _frames.as_kind(_frames.decode(self.plan.schema, self.codes, self.passed), self.kind)

    def _frames(self, *, narrow: bool) -> pl.DataFrame | Frames:
        """The rows on their way to a file."""
        return _frames.decode(self.plan.schema, self.codes, self.passed, narrow=narrow)

    def save(
        self,
        path: str | Path,
        *,
        format: str = "parquet",
        sign: str | Path | None = None,
        password: bytes | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Write the release as a folder that does not exist yet.

        Parameters
        ----------
        path
            The folder.
        format
            parquet, csv or both.
        sign
            The file of a private Ed25519 key, PEM or OpenSSH, to sign the folder with; see :func:`sign`.
        password
            The password of the key, if it is encrypted.
        progress
            Called with the name of a step and the share of it that is done.
        """
        from .signature import read_private_key

        key = None if sign is None else read_private_key(sign, password)
        write_release(
            Path(path),
            self.plan,
            self.certificate,
            self._frames(narrow=True),
            format=format,
            key=key,
            progress=progress or quiet,
        )

    def export(
        self,
        path: str | Path,
        *,
        table: str | None = None,
        missing_label: str | None = None,
        progress: Progress | None = None,
    ) -> dict[str, str]:
        """Write the rows alone to one file that does not exist yet, or to a new table of a database, for another program.

        The folder that ``save`` writes stays the release: it has the plan and the certificate, and it is what
        :func:`open_release` and :func:`verify` take. Returns the columns whose names that program does not take, with the
        names that they have in the file.

        Parameters
        ----------
        path
            The file; its ending names the format: .csv, .parquet, .feather, .arrow, .ipc, .sav or .zsav (SPSS), .dta (Stata),
            .xlsx (Excel, up to 1,048,575 rows). Or a database: the address of one of PostgreSQL, without a password, or a
            file that ends in .duckdb, .sqlite, .sqlite3 or .db, new or not.
        table
            The name of the new table in a database. All rows are there in the end, or no table.
        missing_label
            A text that stands for missing answers, such as "(missing)", in columns that then hold texts; by default they are
            null, an empty field or the missing value of that program. With a text a Parquet file is no release: it does not
            hold the plan.
        progress
            Called with the name of a step and the share of it that is done.
        """
        tell = progress or quiet
        if _frames.is_database(path) != (table is not None):
            raise InputError(
                "table= (--table) names the new table of a database; it goes with a database, and only with one."
            )
        if table is None:
            _frames.export_suffix(Path(path))
        tell("writing", 0.0)
        frame = self._frames(narrow=False)
        if missing_label is not None:
            able = [attribute.name for attribute in self.plan.schema.randomised if attribute.missing_code is not None]
            whole = _frames.decode(self.plan.schema, self.codes, self.passed)
            frame = _frames.with_missing_label(whole, able, missing_label)
        if table is not None:
            _frames.write_table(frame, path, table, lambda share: tell("writing", share))
            return {}
        renamed = export_release(Path(path), self.plan, self.certificate, frame, as_release=missing_label is None)
        tell("writing", 1.0)
        return renamed

    def model(self, file: str | Path | None = None, *, progress: Progress | None = None) -> ModelReport:
        """Fit the model that ``method="model"`` and :meth:`modelled` use, once for all of them, and say how that went.

        They do so by themselves when it is needed; with a ``file`` the model is kept beyond this session.

        Parameters
        ----------
        file
            Where the model is kept: it is read if the file exists, and written if not. It is made of the released rows
            alone, and serves this release only.
        progress
            Called with the name of a step and the share of it that is done.
        """
        source = Source(self.plan.schema, self.plan.blocks, self.codes, kept=self._kept)
        digest = self.certificate.digests["data"]
        if file is not None and Path(file).is_file():
            content = Path(file).read_bytes()
            read = _estimate.model_from_bytes(content, str(file), digest, self.plan.blocks, self.codes)
            self._kept["model"] = [
                (None, read),
                *(entry for entry in self._kept.get("model", []) if entry[0] is not None),
            ]
            return read.report
        if file is not None:
            check_free(file)
        fitted = _estimate.model_of(source, progress or quiet)
        if file is not None:
            write_new(file, _estimate.model_bytes(fitted, digest))
        return fitted.report

    def modelled(
        self,
        rows: int | None = None,
        *,
        draws: int = 1,
        seed: int | None = None,
        progress: Progress | None = None,
    ) -> Modelled:
        """Rows drawn from a model of the release: ordinary microdata, whose tables need no correction.

        Good for tables, charts, machine learning and teaching. Standard errors, tests and coefficients computed from them are
        wrong; :meth:`crosstab` and :meth:`regress` give those. They are computed from the released rows and nothing else, so
        its promises hold for them. Columns that were released as they are are not modelled and left out.

        Parameters
        ----------
        rows
            How many; as many as were released by default.
        draws
            How many draws. One has as little chance in it as possible. Several are drawn person by person, each from a model
            of its own, fitted to released rows that were drawn again; see :func:`combine_draws`.
        seed
            Equal seeds give equal rows on one kind of processor; None takes the operating system's randomness. No promise depends on it.
        progress
            Called with the name of a step and the share of it that is done.
        """
        from .modelled import check_asked, modelled

        wanted = self.rows if rows is None else rows
        check_asked(wanted, draws, seed)
        tell = progress or quiet
        model = _estimate.model_of(Source(self.plan.schema, self.plan.blocks, self.codes, kept=self._kept), tell)
        return modelled(
            self.plan.schema, self.certificate, self.kind, model, rows=wanted, draws=draws, seed=seed, progress=tell
        )

    def crosstab(
        self,
        *attributes: str,
        method: str = "inverse",
        about: str = "table",
        weights: str | None = None,
        merge: Merge | None = None,
        missing: str = "category",
        level: float = 0.95,
        progress: Progress | None = None,
    ) -> Estimate:
        """The cross-tabulation of some attributes, corrected for the randomisation, with errors.

        Parameters
        ----------
        *attributes
            Their names, in the order of the axes.
        method
            ``inverse`` (unbiased), ``simplex`` (nearest without negative cells), ``em`` (most likely), or ``model``: from a model
            of all attributes together, usually the nearest to the truth where rows are few.
        about
            Errors about the people in the ``table``, or about the ``population`` they were sampled from.
        weights
            The column of survey weights: a randomised attribute whose values stand for numbers, or a passed column.
        merge
            Values that are counted together, by attribute: groups with their values, ``{"education": {"school": ["9th",
            "10th"]}}``, or edges for numbers and dates, ``{"age": [0, 15, 65]}``. Values that are not named stay as they are;
            ``"*"`` instead of a list takes them all. The values of a group called "(missing)" become missing answers. Merging
            changes what is shown; means and quantiles keep the numbers of the values. :func:`read_merge` reads a file.
            Attributes that are not in the table are passed over.
        missing
            Missing answers are a ``category``; or ``exclude``: the table is that of the people who answered all its
            attributes, and shares are of them.
        level
            The confidence level of the intervals; the estimate holds it.
        progress
            Called with the name of a step and the share of it that is done.
        """
        normal_quantile(level)  # refuses what is no level before anything is counted
        estimate = Estimate.of(
            self.plan.schema,
            self.plan.blocks,
            self.codes,
            attributes,
            method=method,
            about=about,
            weights=None if weights is None else self._weights(weights),
            groups=self._groups(merge, missing, attributes),
            kept=self._kept,
            progress=progress or quiet,
        )
        return replace(
            estimate,
            level=level,
            missing=check_missing(missing),
            remarks=self.remarks,
            unreadable=None if estimate.merged else unreadable(self.plan, attributes, self.rows, method=method),
        )

    @cached_property
    def _kept(self) -> dict[str, Any]:
        """What methods computed from all rows, for further tables."""
        return {}

    def _groups(self, merge: Merge | None, missing: str, names: Sequence[str] | None = None) -> dict[str, Groups]:
        """Those of the attributes ``names`` (all by default) whose values are merged or left out, with their groups."""
        randomised = self.plan.schema.randomised
        rules, chosen = check_merge(merge, [a.name for a in randomised]), check_missing(missing)
        found = {
            a.name: groups_of(a, rules.get(a.name), chosen) for a in randomised if names is None or a.name in names
        }
        return {name: groups for name, groups in found.items() if groups is not None}

    def query(
        self,
        sql: str,
        *,
        method: str = "inverse",
        about: str = "table",
        weights: str | None = None,
        merge: Merge | None = None,
        missing: str = "category",
        level: float = 0.95,
        progress: Progress | None = None,
    ) -> Answer:
        """The answer to a SELECT on the table ``release``: counts, sums and means by group, corrected, with errors.

        Parameters
        ----------
        sql
            The query, such as "SELECT sex, COUNT(*) FROM release GROUP BY sex". What cannot be estimated is refused.
        method, about, weights, level, progress
            As in :meth:`crosstab`; with ``weights``, COUNT(*) is the total of the weights.
        merge
            As in :meth:`crosstab`: GROUP BY gives the groups, and a condition may name a group or a value.
        missing
            Missing answers are a ``category``, a group of their own with GROUP BY; or ``exclude``: only people who answered
            every attribute of the query are counted.
        """
        crosstab = partial(self.crosstab, method=method, about=about, weights=weights, level=level, progress=progress)
        groups = self._groups(merge, missing)

        def remarks(attributes: Sequence[str]) -> list[str]:
            merged = any(name in groups and not groups[name].apart for name in attributes)
            found = None if merged else unreadable(self.plan, attributes, self.rows, query=True, method=method)
            return [*self.remarks, *([] if found is None else [found])]

        from .._results import respond

        return respond(sql, self.plan.schema, crosstab, weights=weights, groups=groups, level=level, remarks=remarks)

    def describe(
        self,
        *attributes: str,
        by: Sequence[str] = (),
        method: str = "inverse",
        about: str = "table",
        weights: str | None = None,
        merge: Merge | None = None,
        missing: str = "category",
        level: float = 0.95,
        progress: Progress | None = None,
    ) -> Description:
        """Mean, deviation, sum and quantiles of numeric attributes.

        Parameters
        ----------
        *attributes
            Their names; all numeric attributes but the weight by default.
        by
            Describe each group of these attributes apart.
        method, about, weights, level, progress
            As in :meth:`crosstab`.
        merge
            As in :meth:`crosstab`, for the attributes of ``by``.
        missing
            Missing answers to ``by`` are a ``category``, or ``exclude``: only people who answered are described. Who has no
            number has no part in its mean and quantiles either way.
        """
        by = as_names(by)
        numeric = [
            a.name for a in self.plan.schema.randomised if _estimate.is_numeric(a) and a.name not in (*by, weights)
        ]
        if not attributes and not numeric:
            raise InputError("No attribute of this release is numeric; crosstab counts the others.")
        table_of = partial(
            self.crosstab, method=method, about=about, weights=weights, merge=merge, missing=missing, level=level
        )
        self._count([(name, *by) for name in attributes or numeric], weights)
        from .._results import describe

        found = describe(table_of, attributes or numeric, by, level, progress or quiet)
        return replace(found, remarks=(*self.remarks, *found.remarks))

    def correlations(
        self,
        *attributes: str,
        weights: str | None = None,
        merge: Merge | None = None,
        missing: str = "category",
        level: float = 0.95,
        progress: Progress | None = None,
    ) -> Correlations:
        """How all pairs of attributes are related in the population.

        Parameters
        ----------
        *attributes
            Their names; all randomised attributes but the weight by default.
        weights
            As in :meth:`crosstab`.
        merge
            As in :meth:`crosstab`; an attribute whose values are merged has Cramer's V.
        missing
            Missing answers are a ``category`` in Cramer's V; or ``exclude``: each pair is about the people who answered both.
            Correlations are about them in any case.
        level
            The confidence level of the intervals.
        progress
            Called with the name of a step and the share of it that is done.
        """
        schema = self.plan.schema
        names = attributes or [attribute.name for attribute in schema.randomised if attribute.name != weights]
        randomised = {a.name: _estimate.is_numeric(a) for a in schema.randomised}
        for name in names:
            if name not in randomised:
                raise InputError(
                    f"The release has no randomised attribute '{name}'. {did_you_mean(name, list(randomised))}"
                )
        table_of = partial(
            self.crosstab, about="population", weights=weights, merge=merge, missing=missing, level=level
        )
        self._count(list(itertools.combinations(names, 2)), weights)
        from .._results import correlate

        found = correlate(table_of, {name: randomised[name] for name in names}, level, progress or quiet)
        return replace(found, remarks=self.remarks)

    def regress(
        self,
        formula: str,
        *,
        family: str = "linear",
        about: str = "population",
        weights: str | None = None,
        missing: str = "exclude",
        values: Mapping[str, Mapping[Any, Number]] | None = None,
        level: float = 0.95,
        progress: Progress | None = None,
    ) -> Regression:
        """A regression, corrected for the randomisation, with robust errors.

        Parameters
        ----------
        formula
            Such as "income ~ sex + age", or "income == '>50K' ~ sex * C(region, ref='north')".
        family
            ``linear``, ``logistic`` or ``poisson``.
        about
            Errors about the ``population`` that the people were sampled from, or about the people in the ``table``.
        weights
            The column of survey weights: a randomised attribute whose values stand for numbers, or a passed column.
        missing
            ``exclude``: people without an answer are left out. ``category``: no answer is a label like any other.
        values
            The numbers that the labels of an attribute stand for, by its name; an interval ``(10, 20)`` stands for its middle,
            None leaves people out. By default a bin stands for its middle, an open bin being as wide as its neighbour.
        level
            The confidence level of the intervals.
        progress
            Called with the name of a step and the share of it that is done.
        """
        from .._results import regress

        return regress(
            self.plan.schema,
            self.plan.blocks,
            self.codes,
            formula,
            family=family,
            about=about,
            weights=None if weights is None else (weights, self._weights(weights)),
            level=level,
            missing=missing,
            values=values,
            progress=progress or quiet,
        )

    def verify(self, *, progress: Progress | None = None) -> Verification:
        """Check everything that the release says of itself; see :func:`verify`.

        Parameters
        ----------
        progress
            Called with the name of a step and the share of it that is done.
        """
        import pkanon  # by the public door: the audit stands above this room

        return pkanon.verify(self, progress=progress)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of its estimates must know beside their errors, a sentence each."""
        remarks = []
        if self.certificate.collection is not None and self.certificate.collection.simulated:
            remarks.append("the answers were simulated, to try a survey: no row is about a person.")
        if self.plan.count_noise is not None:
            remarks.append(
                "the record count is hidden: estimates are about the released rows, some of which are dummies while some "
                "people were left out; errors do not cover that."
            )
        if self.plan.schema.repeating is not None:
            sentence = one_row_each(self.plan)
            remarks.append(sentence[:1].lower() + sentence[1:])
        return tuple(remarks)

    def _count(self, tables: Sequence[Sequence[str]], weights: str | None = None) -> None:
        """Count tables that will be asked for, in one pass where the rows are on a disk."""
        names = [attribute.name for attribute in self.plan.schema.randomised]
        if weights is None or weights in names:
            asked = [(*table, weights) if weights is not None else tuple(table) for table in tables]
            sound = [each for each in asked if len(set(each)) == len(each) and set(each) <= set(names)]
            count_tables(self.codes, [Channel(self.plan.blocks, each).sizes for each in sound])

    def _weights(self, name: str) -> NDArray[np.float64] | tuple[str, NDArray[np.float64]]:
        if any(attribute.name == name for attribute in self.plan.schema.randomised):
            return name, _estimate.weight_numbers(self.plan.schema.attribute(name))
        if self.passed is None or name not in self.passed.columns:
            able = [a.name for a in self.plan.schema.randomised if _estimate.is_numeric(a)]
            choice = [*able, *(self.passed.columns if self.passed is not None else ())]
            raise InputError(f"The release has no column '{name}' of weights. {did_you_mean(name, choice)}")
        return _frames.column_as_weights(self.passed[name])

    def __str__(self) -> str:
        return f"Release of {self.rows:,} rows\n{self.certificate}"

    def __repr__(self) -> str:
        columns = len(self.plan.schema.randomised)
        subject = f"Release of {self.rows:,} rows of {columns} attribute{'s' * (columns != 1)}"
        return f"<{subject}: {self.certificate.summary}>"

    def _repr_html_(self) -> str:
        """The certificate, which columns there are, and what whoever reads estimates must know."""
        columns = [
            [column.name, "randomised", f"{column.size:,}"]
            if column.role == "randomise"
            else [column.name, "as it is, outside every guarantee", ""]
            for column in self.plan.schema.attributes
            if column.role in ("randomise", "pass")
        ]
        return "".join(
            [
                self.certificate._repr_html_(),
                *(_plan.notebook.paragraph(remark[:1].upper() + remark[1:]) for remark in self.remarks),
                _plan.notebook.table(["column", "released", "values"], columns, [True, True, False]),
                _plan.notebook.paragraph(
                    "A single row may be true or not: ask for tables (crosstab, describe, correlations, query)."
                ),
            ]
        )
