"""An advice: what to drop and what to merge, what that gains, and what else could be done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._files import write_new
from ..._plan import Plan, Readability, notebook
from ..._schema import UNCONFIRMED_COMMENT, Schema

OPEN = "Take one of these steps yourself, as a program cannot know which values belong together, and ask again:"
MOST_LABELS = 6
"""Values that a step names; the file has all of them."""


@dataclass(frozen=True)
class Step:
    """One change of a schema, and how the tables read after it and all changes before it.

    Attributes
    ----------
    action
        ``drop`` or ``merge``.
    attribute
        The column.
    before, after
        How many values it has; 0 after it was dropped.
    labels
        The values after the change.
    reached, pairs
        How many tables of two attributes reach the level (with named tables: are fair or better), of how many.
    l1
        The mean error of the tables of two attributes.
    worst
        The largest error of the tables that must reach the level. Before the last step all numbers are forecasts.
    codes
        Whether its numbers may be codes without an order; somebody should look at it.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.binned("age", start=0, stop=90, width=5)])
    >>> print(pk.advise(schema, records=500, k=20).steps[0])
    merge age: 18 values to 4 (0-19, 20-39, 40-59, 60-89)
    """

    action: str
    attribute: str
    before: int
    after: int
    labels: tuple[str, ...]
    reached: int
    pairs: int
    l1: float
    worst: float
    codes: bool = False

    def __str__(self) -> str:
        if self.action == "drop":
            return f"drop {self.attribute} ({self.before:,} values)"
        shown = ", ".join(self.labels[:MOST_LABELS]) + (", ..." if len(self.labels) > MOST_LABELS else "")
        return f"merge {self.attribute}: {self.before:,} values to {self.after:,} ({shown})"


@dataclass(frozen=True)
class OpenStep:
    """A column that could stay if a person merged its values, which have no order that a program could use.

    Attributes
    ----------
    attribute
        The column, which the advised schema drops.
    before
        How many values it has.
    most
        How many it may have to stay beside the advised columns, which may then have to be a little coarser.

    Examples
    --------
    >>> import pkanon as pk
    >>> jobs = pk.Attribute("job", [f"job {number}" for number in range(40)])
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("edu", list("abcdefgh")), jobs])
    >>> print(pk.advise(schema, records=5_000, k=20).open_steps[0])
    merge job to at most 2 values (it has 40) and it can stay
    """

    attribute: str
    before: int
    most: int

    def __str__(self) -> str:
        return f"merge {self.attribute} to at most {self.most:,} values (it has {self.before:,}) and it can stay"


@dataclass(frozen=True)
class Advice:
    """Which columns to drop and which values to merge, so that the tables that matter can be read.

    Attributes
    ----------
    schema
        The advised schema. It is drafted if the one it comes from is.
    plan
        The plan for it, which was made to see that the tables reach their level.
    workload
        The workload of that plan: 2 (all tables of one and two attributes), or with the named tables and their weights.
    level
        The level that was asked for.
    tables
        The tables that must reach it; none: every table of one and two attributes.
    steps
        What changes, most useful first.
    open_steps
        What only a person can do.
    ways_out
        What else would help: a sentence each, with numbers.
    before
        How the tables of the schema as it was would read.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute.binned("age", start=0, stop=90, width=5)])
    >>> advice = pk.advise(schema, records=500, k=20)
    >>> advice.before.of("sex", "age").level, advice.readable.of("sex", "age").level
    ('not readable', 'fair')
    """

    schema: Schema
    plan: Plan
    workload: Any
    level: str
    tables: tuple[tuple[str, ...], ...]
    steps: tuple[Step, ...]
    open_steps: tuple[OpenStep, ...]
    ways_out: tuple[str, ...]
    before: Readability

    @property
    def readable(self) -> Readability:
        """How the tables of the advised schema read."""
        return self.plan.readable()

    @property
    def workload_text(self) -> str:
        """The workload as ``pkanon plan --workload`` takes it."""
        if not isinstance(self.workload, dict):
            return str(self.workload)
        items = ((str(key) if isinstance(key, int) else ",".join(key), weight) for key, weight in self.workload.items())
        return "; ".join(key + (f"={weight:g}" if weight != 1 else "") for key, weight in items)

    def to_toml(self, folder: str | Path | None = None) -> str:
        """The advised schema as a ``schema.toml`` text, with the plan it is meant for in a comment.

        Files of hierarchies are named as seen from ``folder``, if it is given.
        """
        lines = [f"# Advised for: {self.next_command('FILE')}"]
        if self.schema.drafted:
            lines.append(
                f"{UNCONFIRMED_COMMENT} was read off data; it protects nobody until somebody has run: pkanon confirm FILE"
            )
        return "\n".join(lines) + "\n\n" + self.schema.to_toml(folder)

    def next_command(self, file: str) -> str:
        """The command that makes the plan of the advised schema, if that is in ``file``."""
        asked = (("k", self.plan.asked.k), ("epsilon", self.plan.asked.epsilon))
        target = " ".join(f"--{name} {value}" for name, value in asked if value is not None)
        served = "" if self.workload == 2 else f' --workload "{self.workload_text}"'
        return f"pkanon plan {file} --records {self.plan.records} {target}{served} -o plan.json"

    def save(self, path: str | Path) -> None:
        """Write the advised schema to the file ``path``, which must not exist yet."""
        write_new(path, self.to_toml(Path(path).parent))

    def to_json(self) -> dict[str, Any]:
        """The advice as data."""
        return {
            "records": self.plan.records,
            "k": self.plan.asked.k,
            "epsilon": self.plan.asked.epsilon,
            "level": self.level,
            "tables": [{"attributes": list(t), "l1": _finite(self.plan.predict(*t).l1)} for t in self.tables],
            "workload": self.workload_text,
            "columns": {a.name: a.size for a in self.schema.randomised},
            "before": _counts(self.before),
            "after": _counts(self.readable),
            "steps": [
                {
                    "action": step.action,
                    "attribute": step.attribute,
                    "before": step.before,
                    "after": step.after,
                    "labels": list(step.labels),
                    "reached": step.reached,
                    "pairs": step.pairs,
                    "l1": _finite(step.l1),
                    "worst": _finite(step.worst),
                    "codes": step.codes,
                }
                for step in self.steps
            ],
            "open_steps": [{"attribute": s.attribute, "before": s.before, "most": s.most} for s in self.open_steps],
            "ways_out": list(self.ways_out),
            "drafted": self.schema.drafted,
        }

    @property
    def summary(self) -> list[str]:
        """What the advice reaches, and from where, in sentences."""
        now, then = self.readable, self.before
        columns, given = len(self.schema.randomised), sum(len(table.attributes) == 1 for table in then.tables)
        asked = f"{self.plan.records:,} records at k = {self.plan.k_text} (epsilon {self.plan.epsilon_text})"
        lines = [f"As it is, for {asked}: {given} columns; {_pairs(then)}."]
        if then.by_model is not None:
            lines.append(f"As it is, {then.by_model}.")
        if not self.steps:
            lines.append(
                "Nothing need change" + (f" but the workload: {self.workload_text}." if self.workload != 2 else ".")
            )
        else:
            lines.append(f"As advised: {columns} of {given} columns; {_pairs(now)}.")
        for table in self.tables:
            found = self.plan.predict(*table)
            lines.append(f"{' x '.join(table)}: an error of {found.l1:.3f}, {self.level} was asked for.")
        if self.workload != 2:
            lines.append(f'The plan must serve these tables: --workload "{self.workload_text}".')
        return lines

    def __str__(self) -> str:
        lines = list(self.summary)
        if self.steps:
            lines += ["", "Steps, the most useful first:"]
            for number, step in enumerate(self.steps, 1):
                lines.append(f"  {number}. {step}: {self._gain(step)}")
            lines += self._cautions()
        if self.open_steps:
            lines += ["", OPEN]
            lines += [f"  - {step}" for step in self.open_steps]
        if self.ways_out:
            lines += ["", "Other ways:"]
            lines += [f"  - {way}" for way in self.ways_out]
        return "\n".join(lines)

    def _gain(self, step: Step) -> str:
        """What is reached with a step."""
        level = "fair" if self.tables else self.level
        words = level if level == "good" else f"{level} or better"
        gained = f"{step.reached:,} of {step.pairs:,} pairs {words}, mean error {_short(step.l1)}"
        return gained + (f"; worst of the tables asked for {_short(step.worst)}" if self.tables else "")

    def _cautions(self) -> list[str]:
        """What somebody should look at before the steps are taken."""
        lines = []
        if any(step.action == "drop" for step in self.steps):
            lines.append("A program cannot know which columns matter: ask again with --keep for one that must stay.")
        if names := [step.attribute for step in self.steps if step.codes]:
            whose = "the numbers of " + ", ".join(names)
            lines.append(
                f"If {whose} are codes without an order, neighbours do not belong together: ask again with --codes."
            )
        return lines

    def __repr__(self) -> str:
        return f"<Advice: {len(self.steps)} steps to {len(self.schema.randomised)} columns>"

    def _repr_html_(self) -> str:
        """The advice for a notebook."""
        rows = [[str(step), self._gain(step)] for step in self.steps]
        parts = [notebook.paragraph(line, strong=number == 1) for number, line in enumerate(self.summary)]
        if rows:
            parts.append(notebook.table(["step", "what is reached with it"], rows, [True, True]))
        parts += [notebook.paragraph(line) for line in self._cautions()]
        parts += [notebook.paragraph(OPEN), notebook.bullets(map(str, self.open_steps))] if self.open_steps else []
        parts += [notebook.paragraph("Other ways:"), notebook.bullets(self.ways_out)] if self.ways_out else []
        return "".join(parts)


def _pairs(readable: Readability) -> str:
    counts = readable.counts(2)
    total = sum(counts.values())
    if not total:
        only = readable.tables[0]
        return f"{only.name} reads {only.level}"
    if total == 1:
        return f"their table is {next(level for level, count in counts.items() if count)}"
    words = ", ".join(f"{count:,} {level}" for level, count in counts.items() if count)
    return f"of {total:,} pairs {words}"


def _short(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "-"


def _counts(readable: Readability) -> dict[str, Any]:
    return {"columns": readable.counts(1), "pairs": readable.counts(2)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
