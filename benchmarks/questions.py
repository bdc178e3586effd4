"""The questions of examples/ asked of release after release: how often do 95% intervals hold the truth?

    python benchmarks/questions.py                      both tables, 1,000 releases each
    python benchmarks/questions.py --time-use FILE      a real survey instead of the invented one; the other columns are dropped
    python benchmarks/questions.py --write              also put the tables into docs/results/questions.md

About the table, the same people are released again and again. About the population, every release has people drawn anew, with
replacement, from the table, which is then the population. The truth is the answer of a release that keeps everything. All releases
count, also those in which an answer was flagged or its interval had no end; only a question that was refused was not answered.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pkanon as pk
from report import put

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import census  # the examples are scripts, and no package
import time_use

RELEASES = 1_000
CENSUS_ROWS = 50_000
SURVEY_ROWS = 180_000
READINGS = ("table", "population")


class OnlyPopulation(Exception):
    """The question is about the population, and was asked about the table."""


class Reading:
    """A release whose answers are about the table, or about the population, whatever is the default."""

    def __init__(self, release: pk.Release, about: str) -> None:
        self.release, self.about = release, about

    def crosstab(self, *names: str, about: str | None = None, **options: Any) -> pk.Estimate:
        """The table, with errors about what was chosen."""
        if about is not None and about != self.about:
            raise OnlyPopulation
        return self.release.crosstab(*names, about=self.about, **options)

    def query(self, sql: str) -> pk.Answer:
        """The answer, with errors about what was chosen."""
        return self.release.query(sql, about=self.about)

    def regress(self, formula: str, **options: Any) -> pk.Regression:
        """The regression, with errors about what was chosen."""
        return self.release.regress(formula, about=self.about, **options)


@dataclass(frozen=True)
class Found:
    """An answer: its value and limits, and whether it is flagged as one that says little."""

    value: float
    low: float
    high: float
    flagged: bool

    @classmethod
    def of(cls, answer: Any) -> Found:
        """Whatever kind of number was given back."""
        if isinstance(answer, pk.Answer):
            row = answer.frame.row(0, named=True)
            value, low, high, flag = (row[f"share{ending}"] for ending in ("", "_low_95", "_high_95", "_flag"))
            value = math.nan if value is None else value
        elif isinstance(answer, pk.Coefficient):
            value, low, high, flag = answer.value, answer.low, answer.high, answer.flag
        else:
            value, (low, high) = answer.value, answer.interval(0.95)
            flag = None if isinstance(answer, pk.Measure) else answer.flag(0.95)
        return cls(value, low, high, math.isnan(value) or "small group" in (flag or ""))


@dataclass
class Tally:
    """How often the interval of one question held the truth."""

    truth: float
    held: int = 0
    missed: int = 0
    flagged: int = 0
    refused: int = 0

    def add(self, asked: Callable[[], Any]) -> None:
        """One release. An answer counts whatever its flags; one without limits would count as missed."""
        try:
            found = Found.of(asked())
        except pk.InputError:
            self.refused += 1
            return
        slack = 1e-9 * abs(self.truth)
        self.flagged += found.flagged
        if found.low - slack <= self.truth <= found.high + slack:
            self.held += 1
        else:
            self.missed += 1

    def __str__(self) -> str:
        answered = self.held + self.missed
        share = f"{100 * self.held / answered:.1f}%" if answered else "-"
        return share if not self.refused else f"{share} ({self.refused} refused)"


def measured(
    table: pl.DataFrame, plan: pk.Plan, questions: dict[str, Callable[..., Any]], releases: int
) -> dict[tuple[str, str], Tally]:
    """Every question and reading, release after release."""
    kept = pk.Plan(plan.schema, [pk.Retention(unit, replace=0) for unit in plan.schema.units], records=table.height)
    itself = pk.release(table, kept, randomness=pk.Seeded(0))
    tallies = {
        (words, about): Tally(Found.of(asked(itself)).value) for words, asked in questions.items() for about in READINGS
    }
    for number in range(releases):
        drawn = np.random.default_rng(number).integers(0, table.height, table.height)
        for about, people in zip(READINGS, (table, table[drawn])):
            release = Reading(pk.release(people, plan, randomness=pk.Seeded(number)), about)
            for words, asked in questions.items():
                try:
                    tallies[words, about].add(lambda asked=asked, release=release: asked(release))
                except OnlyPopulation:
                    tallies.pop((words, about), None)
                except KeyError:
                    continue  # it was found out before that this question has no such reading
    return tallies


def report(tallies: dict[tuple[str, str], Tally]) -> list[str]:
    """Rows of a table."""
    lines = [
        "| question | truth | about the table | flagged | about the population | flagged |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for words in dict.fromkeys(words for words, _ in tallies):
        both = [tallies.get((words, about)) for about in READINGS]
        truth = next(f"{tally.truth:.4g}" for tally in both if tally is not None)
        cells = " | ".join("- | -" if tally is None else f"{tally} | {tally.flagged}" for tally in both)
        lines.append(f"| {words} | {truth} | {cells} |")
    return lines


def main() -> None:
    """Ask everything of both tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--releases", type=int, default=RELEASES)
    options.add_argument("--time-use", metavar="FILE")
    options.add_argument("--only", choices=["census", "time-use"])
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    for name in ("census", "time-use") if chosen.only is None else (chosen.only,):
        if name == "census":
            table, schema, k = pk.demo_table().sample(CENSUS_ROWS, seed=1), pk.demo_schema(), 2
            questions, words = census.QUESTIONS, f"{CENSUS_ROWS:,} rows of the embedded table"
        elif chosen.time_use is not None:
            table = pl.read_csv(chosen.time_use, infer_schema_length=None).select(time_use.SCHEMA.names)
            schema, k, questions, words = (
                time_use.SCHEMA,
                10,
                time_use.QUESTIONS,
                f"{table.height:,} people of a real survey",
            )
        else:
            table, schema, k = time_use.invented(SURVEY_ROWS, seed=1), time_use.SCHEMA, 10
            questions, words = time_use.QUESTIONS, f"{SURVEY_ROWS:,} invented people"
        plan = pk.plan(schema, records=table.height, k=k)
        lines = report(measured(table, plan, questions, chosen.releases))
        title = f"{words}, {len(schema.names)} attributes, k = {k}, default design; {chosen.releases} releases."
        print(title, *lines, sep="\n", flush=True)
        if chosen.write:
            section = "real" if name == "time-use" and chosen.time_use is not None else name
            put(f"questions-{section}", "\n".join([title, "", *lines]), page="questions.md")


if __name__ == "__main__":
    main()
