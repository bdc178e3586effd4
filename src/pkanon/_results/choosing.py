"""Which k: plans for several k side by side, with what each promises and how many tables can be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
from numpy.typing import ArrayLike

from .._blocks import TransitionMatrix
from .._design import FloorLike, WorkloadLike, plan
from .._errors import InputError, TargetError
from .._plan import (
    Number,
    Plan,
    Readability,
    central_bound,
    central_epsilon,
    default_delta,
    exact,
    round_up,
    share_above,
)
from .._progress import Progress, quiet
from .._schema import Schema
from .tabular import Tabular
from .text import TextTable

KS = (2, 5, 20, 100, 1_000)
"""The k that are put side by side."""
QUICK = 8
"""Units up to which the central epsilon takes less than a second; with more of them a bound stands in for it."""
SAME = 1e-3
"""k that differ by less are one."""


@dataclass(frozen=True)
class Choice:
    """One plan among several.

    Attributes
    ----------
    plan
        The plan.
    readable
        How its tables will read.
    central_epsilon, delta
        At most this epsilon, at this delta, of the shuffled release as a whole; None where none is known.
    chosen
        Whether it is the plan that the others were put beside.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> first, second = pk.choices(schema, records=5_000, ks=[20, 100])
    >>> first.plan.epsilon > second.plan.epsilon, first.readable.usable
    (True, 3)
    """

    plan: Plan
    readable: Readability
    central_epsilon: float | None
    delta: float | None
    chosen: bool = False

    @property
    def as_given(self) -> float:
        """The share of the rows that are a person's record as given; of the kind of record that has most of them."""
        return float(self.plan.unchanged[1])


@dataclass(frozen=True)
class Choices(Tabular):
    """Plans for several k side by side, the least k first.

    Attributes
    ----------
    records
        The number of rows that all of them are for.
    choices
        One entry per plan.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 5)])
    >>> side_by_side = pk.choices(schema, records=5_000, ks=[5, 100])
    >>> print("\\n".join(side_by_side.text_table().lines()))
      k  epsilon  central epsilon  rows as given  readable
    ---  -------  ---------------  -------------  --------
      5   3.5654            0.337          79.8%    3 of 3
    100    1.961            0.084          41.2%    3 of 3
    """

    records: int
    choices: tuple[Choice, ...]

    def __iter__(self) -> Any:
        return iter(self.choices)

    def __len__(self) -> int:
        return len(self.choices)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The table in polars."""
        return pl.DataFrame(
            [
                {
                    "k": choice.plan.k,
                    "epsilon": choice.plan.epsilon,
                    "central_epsilon": choice.central_epsilon,
                    "delta": choice.delta,
                    "as_given": choice.as_given,
                    **{level.replace(" ", "_"): count for level, count in choice.readable.counts().items()},
                    "chosen": choice.chosen,
                }
                for choice in self.choices
            ],
            schema_overrides={"central_epsilon": pl.Float64, "delta": pl.Float64},
        )

    def to_polars(self) -> pl.DataFrame:
        """Columns: k, epsilon, central_epsilon, delta, as_given (a share), tables by how they read, and chosen."""
        return self.frame

    def to_json(self) -> dict[str, Any]:
        """The table and the number of records."""
        rows = [
            {key: value if not isinstance(value, float) or math.isfinite(value) else None for key, value in row.items()}
            for row in self.frame.to_dicts()
        ]
        return {"records": self.records, "choices": rows}

    def text_table(self, most: int | None = None) -> TextTable:
        """The table for people to read; its first ``most`` rows."""
        shown = self.choices[:most]
        rows = [
            [
                f"{'* ' * choice.chosen}{choice.plan.k_text}",
                choice.plan.epsilon_text,
                "-" if choice.central_epsilon is None else _three_digits(choice.central_epsilon),
                share_above(choice.plan.unchanged[1]),
                f"{choice.readable.usable:,} of {len(choice.readable.tables):,}",
            ]
            for choice in shown
        ]
        header = ["k", "epsilon", "central epsilon", "rows as given", "readable"]
        return TextTable(header, rows, [False] * len(header), len(self.choices) - len(shown))

    def _captions(self) -> list[str]:
        return self.captions

    @property
    def captions(self) -> list[str]:
        """What the columns mean, a sentence each."""
        deltas = {choice.delta for choice in self.choices if choice.delta is not None}
        captions = [
            "rows as given: at most this share of the rows is a person's record as given.",
            "readable: tables that read good or fair.",
        ]
        if deltas:
            at = f" at delta = {max(deltas):.3g}" if len(deltas) == 1 else ""
            captions.insert(0, f"central epsilon: at most this of the shuffled release as a whole{at}.")
        if any(choice.chosen for choice in self.choices):
            captions.append("*: this plan.")
        return captions

    def __str__(self) -> str:
        return "\n".join([*self.text_table().lines(), *self._captions()])

    def __repr__(self) -> str:
        return (
            f"<Choices of {', '.join(choice.plan.k_text for choice in self.choices)} for k, {self.records:,} records>"
        )


def choices(
    schema: Schema,
    *,
    records: int,
    ks: Sequence[Number] = KS,
    tables: Sequence[Sequence[str]] | None = None,
    design: str = "optimal",
    workload: WorkloadLike = 2,
    weighting: str = "relative",
    floor: FloorLike = 3,
    matrices: Mapping[str, TransitionMatrix | ArrayLike] | None = None,
    hide_count: Number | None = None,
    chosen: Plan | None = None,
    progress: Progress | None = None,
) -> Choices:
    """Plans for several k side by side: epsilon, rows as given, and how many tables can be read, so that k can be chosen.

    A k that cannot be met is left out, such as one above the number of records.

    Parameters
    ----------
    schema
        The table to be released.
    records
        The number of rows to be released.
    ks
        The k to compare.
    tables
        Tables to look at beside all those of one and two attributes.
    design, workload, weighting, floor, matrices, hide_count
        As in :func:`plan`, for every k.
    chosen
        A plan that was made already, to be put among the others and marked; it stands for its own k.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.ranged("rooms", 1, 9)])
    >>> for choice in pk.choices(schema, records=1_000, ks=[2, 20, 5_000]):
    ...     print(choice.plan.k_text, choice.readable.summary)
    2 3 tables of one and two attributes: 1 good, 2 fair
    20 3 tables of one and two attributes: 1 good, 1 fair, 1 not readable
    """
    progress = progress or quiet
    asked = sorted({exact(k, "k", up=True) for k in ks})
    if not asked and chosen is None:
        raise InputError("Name at least one k.")
    plans = [] if chosen is None else [chosen]
    others = [k for k in asked if chosen is None or abs(float(k) - chosen.k) > SAME * chosen.k]
    problem: TargetError | None = None
    for done, k in enumerate(others):
        progress("choosing", done / len(others))
        try:
            plans.append(
                plan(
                    schema,
                    records=records,
                    k=k,
                    design=design,
                    workload=workload,
                    weighting=weighting,
                    floor=floor,
                    matrices=matrices,
                    hide_count=hide_count,
                )
            )
        except TargetError as error:
            problem = error
    if not plans and problem is not None:
        raise problem
    found = []
    for made in sorted(plans, key=lambda made: made.k):
        central, delta = _central(made)
        found.append(Choice(made, made.readable(tables), central, delta, made is chosen))
    progress("choosing", 1.0)
    return Choices(records, tuple(found))


def _central(made: Plan) -> tuple[float | None, float | None]:
    """The central epsilon of a plan and its delta, if there is one; whether the plan is void is for others to say."""
    if made.count_noise is not None or made.epsilon_ratio is None or made.records < 2:
        return None, None
    delta = default_delta(made.records) if made.asked.delta is None else float(made.asked.delta)
    bound = central_epsilon if len(made.units) <= QUICK else central_bound
    try:
        return bound(made.blocks, made.records, delta), delta
    except TargetError:
        return None, None


def _three_digits(value: float) -> str:
    """A number above 0 with three digits, rounded up."""
    return round_up(value, max(0, 2 - math.floor(math.log10(value)))) if value > 0 else "0"
