"""All measures, for every k and every way of publishing.

Every way publishes the same table at the same k. Tables, queries and correlations are read from what is published and
compared with the truth; a classifier is trained on what is published of four fifths of the people and judged by the
others; and two adversaries try to learn something about every single person.

    l1_1, l1_2, l1_3      mean normalised L1 error of all tables of one, two, three attributes
    l1_first4             of the full table of the first four attributes
    query_error           mean absolute error of random counting queries, as a share of the people
    query_relative        median relative error of those that at least 0.1% of the people meet
    cramers_v             mean absolute error of Cramér's V over all pairs
    accuracy, log_loss    of the classifier
    linkage               share of people whose own row is picked by an adversary who knows every record
    linkage_highest       the highest confidence of such an adversary in any pick; the promise is 1/k
    inference             share of people whose target value is guessed by somebody who knows their other values
    certain               share of people for whom only one value is left

Every release is seeded; its numbers depend neither on which other k are compared nor on how many releases there are.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from ..._audit import Combinations, Counts, Inference, Linkage, Places, Readable, Rows, Whole
from ..._design import plan
from ..._errors import InputError, PlanError
from ..._progress import Progress, within
from ..seeds import seeded
from .downstream import classify, correlation_error
from .generalised import Generalised
from .people import People
from .queries import Query, answers, query_errors, random_queries

DESIGNS = ("equal-rho", "optimal")
METHODS = ("inverse", "simplex")
MODEL, MODELLED = "model", ("optimal",)
"""A reading that is fitted to all rows at once, which takes a while: of the first release, of these designs, without the classifier."""
MONDRIAN, AS_IS = "mondrian", "mondrian as-is"
RAW, COMMONEST, OTHERS, INDEPENDENT = "raw data", "commonest value", "other people", "independence"
"""References, not ways of publishing: the data themselves, guesses that use nothing of the person, and tables computed from
those of single attributes alone."""
USES = ("l1_1", "l1_2", "l1_3", "l1_first4", "query_error", "query_relative", "cramers_v", "accuracy", "log_loss")
RISKS = ("linkage", "linkage_highest", "inference", "certain")
MEASURES = (*USES, *RISKS)
TRAINED = 0.8
MOST_WAYS = 3
"""Tables of up to this many attributes are all compared."""

Found = dict[str, float]


@dataclass(frozen=True, eq=False)
class Bench:
    """A table with its truth, and the same questions for every way of publishing."""

    people: People
    seed: int
    query_count: int
    workload: int | str = 2
    _truth: dict[Places, Counts] = field(default_factory=dict, repr=False)

    @cached_property
    def _counted(self) -> tuple[Combinations, Whole]:
        return Combinations.of(self.people.columns, self.people.sizes)

    @property
    def cells(self) -> Combinations:
        """Everybody."""
        return self._counted[0]

    @cached_property
    def trained(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """The people a classifier is trained on."""
        order = np.random.default_rng([self.seed, self.people.rows]).permutation(self.people.rows)
        return np.sort(order[: round(TRAINED * self.people.rows)])

    @cached_property
    def training(self) -> Combinations:
        """The cells of these people."""
        return Combinations.of([column[self.trained] for column in self.people.columns], self.people.sizes)[0]

    @cached_property
    def held_out(self) -> Combinations:
        """The cells of all others."""
        columns = [np.delete(column, self.trained) for column in self.people.columns]
        return Combinations.of(columns, self.people.sizes)[0]

    @cached_property
    def inference(self) -> Inference:
        """The adversary who guesses the target."""
        return Inference(self.people.target, self.cells)

    @cached_property
    def _questions(self) -> tuple[list[Query], Counts]:
        queries = random_queries(self.people.sizes, self.query_count, self.seed)
        return queries, answers(queries, self)

    def table(self, places: Places) -> Counts:
        """The true cross-tabulation of some attributes."""
        if places not in self._truth:
            self._truth[places] = self.cells.table(places)
        return self._truth[places]

    @property
    def attackable(self) -> bool:
        """Whether the full table is small enough for the adversaries."""
        return Linkage.fits(self.people.sizes)

    # what is published

    def generalised(self, k: int) -> Iterator[tuple[str, Found]]:
        """Both ways of Mondrian."""
        target = self.people.target
        for way, make in (
            (MONDRIAN, Generalised.whole),
            (AS_IS, lambda cells, k: Generalised.except_for(target, cells, k)),
        ):
            published = make(self.cells, k)
            assert published.smallest >= k  # of the generalised columns, as pk.anonymity counts it
            found = self._used(published) | classify(make(self.training, k), target, self.held_out)
            # rows that look alike to somebody who knows all values: a group, or its rows with the same open value
            found |= {
                "linkage": len(published.counts) / self.people.rows,
                "linkage_highest": 1 / int(published.counts.min()),
            }
            if self.attackable:
                found |= self.inference.from_generalised(published)
            yield way, found

    def randomised(self, k: int, design: str, releases: int, progress: Progress) -> Iterator[tuple[str, Found, float]]:
        """One design, released again and again: what each reading finds, and epsilon."""
        rows, schema, number = self.people.rows, self.people.schema, DESIGNS.index(design)
        whole = plan(schema, records=rows, k=k, design=design, workload=self.workload)
        part = plan(schema, records=len(self.trained), k=k, design=design, workload=self.workload)
        train = [column[self.trained] for column in self.people.columns]
        linkage = Linkage(whole, *self._counted, self.people.columns)
        for i in range(releases):
            released = Rows.of(whole, self.people.columns, seeded(self.seed, k, number, i))
            trained = Rows.of(part, train, seeded(self.seed, k, number, i, 1))
            for method in METHODS:
                found = self._used(released.by(method)) | classify(
                    trained.by(method), self.people.target, self.held_out
                )
                yield f"{design} {method}", found, whole.epsilon
            if i == 0 and design in MODELLED:
                with suppress(InputError):  # too few rows or attributes for a model
                    yield f"{design} {MODEL}", self._used(released.by(MODEL)), whole.epsilon
            if self.attackable:
                random = np.random.default_rng([self.seed, k, number, i])
                risks = linkage.attack(released, random) | self.inference.from_randomised(released, linkage)
                yield design, risks, whole.epsilon
            progress("comparing", (i + 1) / releases)

    def references(self) -> Iterator[tuple[str, Found]]:
        """The measures of the data themselves, and of guesses without the person."""
        target = self.people.target
        yield RAW, classify(self.training, target, self.held_out)
        commonest = int(self.training.table((target,)).argmax())
        right = self.held_out.counts[self.held_out.codes[:, target] == commonest].sum() / self.held_out.people
        yield COMMONEST, {"inference": self.inference.commonest(), "accuracy": float(right)}
        alone = self._used(Independent(self))
        del alone["l1_1"]  # that is what is taken from the truth
        yield INDEPENDENT, alone
        yield OTHERS, self.inference.others()

    def _used(self, source: Readable) -> Found:
        """Tables, queries and correlations."""
        attributes = len(self.people.sizes)
        found: Found = {}
        with np.errstate(all="raise"):
            for size in range(1, min(MOST_WAYS, attributes) + 1):
                tables = itertools.combinations(range(attributes), size)
                found[f"l1_{size}"] = float(np.mean([self._l1(source, places) for places in tables]))
            try:
                if attributes >= 4:
                    found["l1_first4"] = self._l1(source, (0, 1, 2, 3))
                queries, truth = self._questions
                found |= query_errors(answers(queries, source), truth, self.people.rows)
            except PlanError:
                pass  # a design for small tables may leave nothing of a table of four attributes
            found["cramers_v"] = correlation_error(source, self, attributes)
        return found

    def _l1(self, source: Readable, places: Places) -> float:
        return float(np.abs(source.table(places) - self.table(places)).sum() / self.people.rows)


@dataclass(frozen=True)
class Independent:
    """Tables as if attributes were independent, from the true tables of single attributes."""

    truth: Bench

    def table(self, places: Places) -> Counts:
        """The product of the shares, times the people."""
        people = self.truth.people.rows
        shares = [self.truth.table((place,)) / people for place in places]
        return np.asarray(functools.reduce(np.multiply.outer, shares) * people)


def measure(bench: Bench, ks: Sequence[int], releases: int, progress: Progress) -> pl.DataFrame:
    """One row per k, way of publishing and measure."""
    found: dict[tuple[int | None, str], list[Found]] = {}
    epsilons: dict[tuple[int | None, str], float] = {}
    steps = len(ks) * (1 + len(DESIGNS))
    done = 0
    for k in ks:
        for way, values in bench.generalised(k):
            found[k, way] = [values]
        done += 1
        progress("comparing", done / steps)
        for design in DESIGNS:
            part = within(progress, done / steps, (done + 1) / steps)
            for way, values, epsilon in bench.randomised(k, design, releases, part):
                found.setdefault((k, way), []).append(values)
                epsilons[k, way] = epsilon
            done += 1
    for way, values in bench.references():
        found[None, way] = [values]
    rows = [
        _row(k, way, measure, [each[measure] for each in each_release if measure in each], epsilons.get((k, way)))
        for (k, way), each_release in found.items()
        for measure in MEASURES
        if any(measure in each for each in each_release)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


SCHEMA = {
    "k": pl.Int64, "way": pl.String, "measure": pl.String, "value": pl.Float64, "spread": pl.Float64,
    "releases": pl.Int64, "epsilon": pl.Float64,
}  # fmt: skip


def _row(k: int | None, way: str, measure: str, values: list[float], epsilon: float | None) -> dict[str, Any]:
    return {
        "k": k,
        "way": way,
        "measure": measure,
        "value": float(np.mean(values)),
        "spread": float(np.std(values, ddof=1)) if len(values) > 1 else None,
        "releases": len(values) if epsilon is not None else None,
        "epsilon": epsilon,
    }
