"""A plan: exactly what will be done to a table, fixed before any data is seen.

A published plan never changes meaning. Its file holds integers and texts, no floats; unknown keys,
kinds and versions are refused, because they might change what the plan promises; the digest is over
the canonical text of the plan as it is written here. ``approx`` entries are for readers without our
code: they are computed anew and never read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _files
from .._blocks import Block, block_from_json
from .._errors import InputError, PlanError, TargetError
from .._files import write_new
from .._schema import Attribute, Schema, Unit
from . import privacy as _privacy
from .asked import Asked
from .numbers import Number
from .promises import promises, void_reasons

if TYPE_CHECKING:
    from .breach import Breach
    from .central import Central
    from .predict import Prediction, Predictor
    from .readability import Readability

FORMAT = "pkanon-plan/1"
LARGEST_RECORDS = 2**53
"""Record counts are written as JSON numbers, which other languages read as doubles."""


_STATEMENTS = {"by": "confirmed_by", "on": "confirmed_on", "rows_are": "rows_are"}
"""What a person said about the schema, in the entry ``confirmed``; written only if it was said."""


@dataclass(frozen=True)
class CountNoise:
    """Hide the record count: the released count is off by a two-sided geometric draw (docs/why/theory.md 10).

    Parameters
    ----------
    p
        The ratio of the geometric draw: the nearer to 1, the more noise.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    >>> pk.plan(schema, records=1_000, k=20, hide_count="9/10").count_noise
    CountNoise(p=Fraction(9, 10))
    """

    p: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise PlanError(f"The record count is hidden with a p between 0 and 1, not {self.p}.")
        if self.p.denominator > 10**6:
            raise PlanError(
                "The p that hides the record count must be a ratio of integers up to 1,000,000, such as 9/10."
            )


@dataclass(frozen=True, repr=False)
class Plan:
    """Schema, blocks and record count: everything that decides what a release promises.

    :func:`plan` makes one for a target; one made by hand serves comparisons.

    Parameters
    ----------
    schema
        The attributes; which of them form one unit is up to the blocks.
    blocks
        What is done to them; together they cover every attribute to randomise exactly once.
    records
        The number of rows the plan was made for, or with ``count_noise`` a public lower bound on it.
    asked
        The design and the targets as they were asked for.
    count_noise
        How the record count is hidden; None if it is public.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> plan = pk.plan(schema, records=1_000, k=20, design="equal-rho")
    >>> print(plan)
    Plan for 1,000 records: k = 20, epsilon = 1.9812
    >>> round(plan.rho["sex"], 3), round(plan.predict("sex").standard_error, 3)
    (0.34, 0.044)
    """

    schema: Schema
    blocks: tuple[Block, ...]
    records: int
    asked: Asked = field(default_factory=Asked)
    count_noise: CountNoise | None = None

    def __post_init__(self) -> None:
        self.schema.refuse_undecided()
        object.__setattr__(self, "schema", replace(self.schema, bundles=()))
        object.__setattr__(self, "blocks", tuple(self.blocks))
        if type(self.records) is not int or not 1 <= self.records <= LARGEST_RECORDS:
            raise PlanError(f"records = {self.records}: a plan is for 1 to 2^53 records.")
        if not isinstance(self.asked, Asked):
            raise PlanError(f"What was asked of a plan is a record, not an object of type {type(self.asked).__name__}.")
        planned = sorted(name for block in self.blocks for name in block.attributes)
        declared = sorted(attribute.name for attribute in self.schema.randomised)
        if planned != declared:
            raise PlanError("The blocks of a plan must cover every attribute to randomise exactly once.")
        for unit in self.units:
            if unit.sizes != tuple(self.schema.attribute(name).size for name in unit.attributes):
                raise PlanError(f"{unit} has different sizes in the plan's units and in its attributes.")

    def __hash__(self) -> int:
        return hash((self.schema.names, self.records))  # asked for often; every value and block would take a while

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units of all blocks, in the order of the blocks."""
        return tuple(unit for block in self.blocks for unit in block.units)

    @cached_property
    def anonymity_ratio(self) -> Fraction:
        """AR of the whole plan, exactly."""
        return _privacy.total_anonymity_ratio(self.blocks)

    @cached_property
    def epsilon_ratio(self) -> Fraction | None:
        """e^eps of the whole plan, exactly; None when nothing bounds it."""
        return _privacy.total_epsilon_ratio(self.blocks)

    def k_for(self, records: int) -> Fraction:
        """k exactly, when ``records`` rows are released.

        Examples
        --------
        >>> import pkanon as pk
        >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
        >>> float(plan.k_for(500)) < plan.k  # with fewer rows k is lower
        True
        """
        return _privacy.exact_k(self.anonymity_ratio, records)

    @property
    def k(self) -> float:
        """k for the planned number of records, rounded down."""
        return _privacy.float_below(self.k_for(self.records))

    @property
    def epsilon(self) -> float:
        """eps, rounded up: neighbours differ in one record and the record count is public."""
        return _privacy.log_above(self.epsilon_ratio)

    @property
    def k_text(self) -> str:
        """k as it may be printed: rounded down."""
        return _privacy.round_down(self.k_for(self.records))

    @property
    def epsilon_text(self) -> str:
        """eps as it may be printed: rounded up."""
        return _privacy.round_up(self.epsilon)

    @property
    def epsilon_unbounded(self) -> float | None:
        """eps when neighbours differ by one record more or less; None unless the count is hidden."""
        if self.count_noise is None:
            return None
        if self.epsilon_ratio is None:
            return math.inf
        return _privacy.log_above(self.epsilon_ratio * _privacy.hidden_count_ratio(self.count_noise.p, self.records))

    @property
    def rho(self) -> dict[str, float | None]:
        """The eigenvalue of each attribute alone: as if its values were kept with this probability, else drawn uniformly.

        Of an optimal design at small epsilon it can be negative; None where a general matrix has none.
        """
        by_name = {name: block.rho(name) for block in self.blocks for name in block.attributes}
        return {attribute.name: by_name[attribute.name] for attribute in self.schema.randomised}

    @cached_property
    def unchanged(self) -> tuple[Fraction, Fraction]:
        """The probability that a row is released just as it was given, exactly: the lowest and the highest over all rows."""
        lows, highs = zip(*(block.unchanged for block in self.blocks))
        return math.prod(lows, start=Fraction(1)), math.prod(highs, start=Fraction(1))

    @property
    def data_dependent(self) -> bool:
        """Whether any block was computed from the private table."""
        return any(block.data_dependent for block in self.blocks)

    @property
    def void_reasons(self) -> list[str]:
        """What in the plan itself takes every guarantee away, a sentence each; empty if nothing does."""
        return void_reasons(self)

    @property
    def below_chance(self) -> str:
        """Which values are released less often than chance alone would release them, a sentence; empty if there are none."""
        from .explain import below_chance

        return below_chance(self)

    @property
    def steps(self) -> list[str]:
        """What is done to the table, a sentence each."""
        from .explain import steps

        return steps(self)

    def predict(self, *attributes: str) -> Prediction:
        """The error of the cross-tabulation of ``attributes``, before any data exist.

        Examples
        --------
        >>> import pkanon as pk
        >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
        >>> prediction = pk.plan(schema, records=5_000, k=20, design="equal-rho").predict("sex", "rooms")
        >>> prediction.cells, round(prediction.standard_error, 3)
        (10, 0.013)
        """
        return self._predictor.predict(self.records, attributes)

    @cached_property
    def _predictor(self) -> Predictor:
        from .predict import Predictor

        return Predictor(self.blocks)

    def readable(
        self, tables: Iterable[Sequence[str] | str] | None = None, *, records: int | None = None
    ) -> Readability:
        """How every table of one and two attributes will read, before any data exist.

        Parameters
        ----------
        tables
            More tables to look at, of any number of attributes: ``[("sex", "age", "job")]``.
        records
            Errors are for the planned number of records, or for this many released rows.

        Examples
        --------
        >>> import pkanon as pk
        >>> names = ("sex", "job", "smokes")
        >>> schema = pk.Schema([pk.Attribute(name, ["a", "b"]) for name in names])
        >>> readable = pk.plan(schema, records=5_000, k=20).readable([names])
        >>> readable.of("job", "sex", "smokes").level
        'good'
        """
        from .readability import readable

        rows = self.records if records is None else records
        names = [attribute.name for attribute in self.schema.randomised]
        return readable(self._predictor, rows, names, tables or ())

    def served(self, *, records: int | None = None) -> Readability:
        """How the tables of the workload will read: those that an optimal design serves, else of one and two attributes.

        Errors are for the planned number of records, or for ``records`` released rows.

        Examples
        --------
        >>> import pkanon as pk
        >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
        >>> plan = pk.plan(schema, records=5_000, k=20, workload=[("sex", "rooms")])
        >>> [table.name for table in plan.served().tables]
        ['sex x rooms']
        """
        from .readability import served

        rows = self.records if records is None else records
        names = [attribute.name for attribute in self.schema.randomised]
        return served(self._predictor, rows, names, self.asked.workload)

    def central(self, delta: float | None = None) -> Central:
        """(epsilon, delta) of the shuffled release as a whole, from above, with a bound from below (docs/why/theory.md 9).

        ``delta`` is 1/(10 records) by default; refused from 1/records on, for a hidden record count, and for a plan that
        promises nothing.
        """
        from .central import central

        if self.count_noise is not None:
            raise TargetError("A central epsilon is not computed for a hidden record count.")
        if void := self.void_reasons:
            raise TargetError(f"The plan promises nothing, so it has no central epsilon. {void[0]}")
        return central(self.blocks, self.records, delta)

    def breach(self, prior: Number, relative: Number = 1) -> Breach:
        """How far one randomised record can move a belief about the person it is known to come from.

        ``prior`` is the probability beforehand of a property of her record. For single attributes, ``relative`` is the highest
        ratio of the prior of a set of values to its share of the replacements. Refused for a plan that promises nothing.
        """
        from .breach import breach

        return breach(self, prior, relative)

    def explain(self) -> str:
        """What is done and what is promised, in plain sentences."""
        from .explain import explain

        return explain(self)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan."""
        return _files.digest(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """The plan as ``plan.json`` holds it."""
        data: dict[str, Any] = {
            "format": FORMAT,
            "records": self.records,
            "count_noise": None if self.count_noise is None else {"p": str(self.count_noise.p)},
            "asked": self.asked.to_json(),
            "attributes": self.schema.to_json(),
            "units": [unit.to_json() for unit in self.units],
            "blocks": [block.to_json(self.units) for block in self.blocks],
        }
        if self.schema.drafted:
            data["domains"] = "drafted"
            drafted = [attribute.name for attribute in self.schema.draft]
            if drafted != [attribute.name for attribute in self.schema.randomised]:
                data["drafted"] = drafted
        said = {key: getattr(self.schema, name) for key, name in _STATEMENTS.items()}
        if confirmed := {key: text for key, text in said.items() if text is not None}:
            data["confirmed"] = confirmed
        if self.schema.others != "refuse":
            data["others"] = self.schema.others
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Plan:
        """The plan in ``data``, the inverse of :meth:`to_json`; refuses what this version does not understand."""
        try:
            plan = cls._from_json(data)
            if _files.canonical(_without_approx(plan.to_json())) == _files.canonical(_without_approx(data)):
                return plan
            problem = "it is not in the form that pkanon writes"
        except InputError:
            raise
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            problem = f"a part of it is absent or of the wrong kind ({type(error).__name__})"
        raise PlanError(f"The plan is damaged: {problem}.")

    @classmethod
    def _from_json(cls, data: Mapping[str, Any]) -> Plan:
        if data.get("format") != FORMAT:
            raise PlanError(f"The plan has the format {data.get('format')!r}; this version reads '{FORMAT}' only.")
        known = {"format", "records", "count_noise", "asked", "attributes", "units", "blocks"}
        known |= {"domains", "drafted", "others", "confirmed"}
        if unknown := sorted(set(data) - known):
            raise PlanError(f"The plan has the unknown key '{unknown[0]}'; a newer version of pkanon may have made it.")
        if data.get("domains", "drafted") != "drafted":
            raise PlanError("The plan is damaged: 'domains' can only say \"drafted\".")
        drafted = data.get("drafted", ())
        schema = Schema(
            [Attribute.from_json(item, drafted=item["name"] in drafted) for item in data["attributes"]],
            drafted="domains" in data and "drafted" not in data,
            others=data.get("others", "refuse"),
            **{_STATEMENTS[key]: text for key, text in data.get("confirmed", {}).items()},
        )
        units = [_unit(item, schema) for item in data["units"]]
        noise = data["count_noise"]
        asked = Asked.from_json(data["asked"], schema.names)
        blocks = tuple(block_from_json(item, units) for item in data["blocks"])
        if tuple(unit for block in blocks for unit in block.units) != tuple(units):
            raise PlanError("The plan is damaged: its blocks do not use its units one after the other.")
        return cls(
            schema=schema,
            blocks=blocks,
            records=data["records"],
            asked=asked,
            count_noise=None if noise is None else CountNoise(Fraction(noise["p"])),
        )

    def save(self, path: str | Path) -> None:
        """Write the plan to the file ``path``, which must not exist yet."""
        write_new(path, _files.laid_out(self.to_json()) + "\n")

    def __str__(self) -> str:
        if self.void_reasons:
            return f"Plan for {self.records:,} records: void, it promises nothing as it stands"
        return f"Plan for {self.records:,} records: k = {self.k_text}, epsilon = {self.epsilon_text}"

    def __repr__(self) -> str:
        columns = len(self.schema.randomised)
        subject = f"Plan for {self.records:,} records of {columns} attribute{'s' * (columns != 1)}"
        if self.void_reasons:
            return f"<{subject}: void, it promises nothing as it stands>"
        return f"<{subject}: k = {self.k_text}, epsilon = {self.epsilon_text}>"

    def _repr_html_(self) -> str:
        """What is promised, what takes the promise away first, and what is done to each column."""
        from . import notebook

        void = self.void_reasons
        parts = [
            notebook.paragraph(str(self), strong=True),
            notebook.bullets(void or promises(self)),
        ]
        rho = self.rho
        columns = [
            [
                column.name,
                column.role,
                f"{column.size:,}" if column.name in rho else "",
                _three_digits(rho.get(column.name)),
            ]
            for column in self.schema.attributes
        ]
        parts += [
            notebook.table(["column", "role", "values", "rho"], columns, [True, True, False, False]),
            notebook.paragraph(
                "rho: as if a value were kept with this probability and else replaced by a uniform draw."
            ),
        ]
        return "".join(parts)


def _three_digits(number: float | None) -> str:
    return "" if number is None else f"{number:.3g}"


def _unit(data: Mapping[str, Any], schema: Schema) -> Unit:
    names = tuple(data["attributes"])
    forbid = tuple(tuple(tuple(codes) for codes in rule) for rule in data.get("forbid", ()))
    unit = Unit(names, tuple(schema.attribute(name).size for name in names), forbid)
    if unit.size != data["size"]:
        raise PlanError(f"{unit} has {unit.size} values, but the plan says {data['size']}.")
    return unit


def _without_approx(data: Mapping[str, Any]) -> dict[str, Any]:
    blocks = [{key: value for key, value in block.items() if key != "approx"} for block in data["blocks"]]
    return {**data, "blocks": blocks}


def read_plan(path: str | Path) -> Plan:
    """The plan in a ``plan.json`` file.

    Refused: a file that this version does not understand to the last key.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plan.save(Path(folder, "plan.json"))
    ...     pk.read_plan(Path(folder, "plan.json")) == plan
    True
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot read the plan {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise PlanError(f"{path} is not a plan: it is not UTF-8 text.") from None
    return parse_plan(text, str(path))


def parse_plan(text: str, source: str) -> Plan:
    """The plan in a JSON text; ``source`` is what errors call it."""
    try:
        data = _files.parse_json(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise PlanError(f"{source} is not a plan: it is not a valid JSON object with each key once.")
    return Plan.from_json(data)
