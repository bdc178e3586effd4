"""A trusted curator's synthetic data beside our releases, at equal central (epsilon, delta): L1 of tables of 1, 2, 3 attributes.

    make synthetic                                     the embedded table, 50,000 rows of it
    make synthetic DATA=folder ARGUMENTS="--write"     real tables too; put the results into docs/results/trust.md

The curator sees the true rows. Either MST or AIM makes synthetic rows of them (dpmm, synthesise.py), or normal noise is added to
counts: to those of all tables of one and two attributes, and for tables of three to those of all up to three. The last curator
fits our model to noisy tables of one and two attributes (noisy_model.py). Ours are read by every method, and modelled rows are
counted as they are. Synthetic rows take minutes: with ``--kept FOLDER`` they are made once.
"""

from __future__ import annotations

import argparse
import itertools
import math
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

import noise
import pkanon as pk
from comparison import TABLES, coded
from noisy_model import fit_noisy
from pkanon._estimate import nearest, tabulate
from report import FIGURES, put
from synthetic_figure import chart

DELTA = 1e-8
KS = (2, 10, 100, 1_000)
ORDERS = (1, 2, 3)
METHODS = ("simplex", "em", "model")
SYNTHETIC = ("MST", "AIM")
RELEASES, DRAWS = 3, 2
"""How often our releases and the curator's noise are repeated, and how often synthetic rows are made."""
ROWS = 50_000
Tables = dict[tuple[int, ...], np.ndarray]


@dataclass(frozen=True)
class People:
    """A table of people as codes."""

    name: str
    frame: pl.DataFrame
    schema: pk.Schema

    @cached_property
    def sizes(self) -> list[int]:
        """How many values each attribute has."""
        return [attribute.size for attribute in self.schema.randomised]

    @cached_property
    def codes(self) -> list[np.ndarray]:
        """A column each; no attribute here has more than 256 values."""
        return [self.frame[name].to_numpy().astype(np.uint8) for name in self.schema.names]

    @cached_property
    def subsets(self) -> list[tuple[int, ...]]:
        """The tables, by the places of their attributes."""
        return [s for order in ORDERS for s in itertools.combinations(range(len(self.sizes)), order)]

    @cached_property
    def truth(self) -> Tables:
        """The true tables."""
        return self.tables(self.codes)

    def tables(self, codes: Sequence[np.ndarray]) -> Tables:
        """The tables of some rows."""
        return {s: tabulate([codes[a] for a in s], [self.sizes[a] for a in s]) for s in self.subsets}

    def errors(self, found: Mapping[tuple[int, ...], np.ndarray]) -> list[float]:
        """L1 as a share of the rows, the mean over the tables of each order."""
        rows = self.frame.height
        each = {s: float(np.abs(table - self.truth[s]).sum()) / rows for s, table in found.items()}
        return [float(np.mean([error for s, error in each.items() if len(s) == order])) for order in ORDERS]


def ours(people: People, plan: pk.Plan, seed: int) -> dict[str, list[float]]:
    """One release, read by every method; and what independence of all attributes says."""
    release = pk.release(people.frame, plan, randomness=pk.Seeded(seed))
    names = people.schema.names
    found = {
        method: {s: release.crosstab(*(names[a] for a in s), method=method).counts for s in people.subsets}
        for method in METHODS
    }
    single = [found["simplex"][(a,)] / release.rows for a in range(len(names))]
    apart = {s: release.rows * _product([single[a] for a in s]) for s in people.subsets}
    rows = release.modelled(seed=seed).table
    drawn = people.tables([rows[name].to_numpy().astype(np.uint8) for name in names])
    ways = {"independence": apart, **found, "modelled rows": drawn}
    return {way: people.errors(tables) for way, tables in ways.items()}


def _product(shares: Sequence[np.ndarray]) -> np.ndarray:
    table = np.ones(())
    for share in shares:
        table = np.multiply.outer(table, share)
    return table


def noisy(people: People, epsilon: float, seed: int) -> list[float]:
    """Normal noise at the least scale that suffices, then the nearest tables without negative cells."""
    draw = np.random.default_rng(seed)
    found: Tables = {}
    for largest, kept in ((2, (1, 2)), (3, (3,))):
        tables = sum(len(s) <= largest for s in people.subsets)
        scale = noise.gaussian_scale(epsilon, DELTA, noise.sensitivities(tables)[1])
        for s in people.subsets:
            if len(s) in kept:
                true = people.truth[s]
                counts = true + draw.normal(0, scale, true.shape)
                found[s] = nearest(counts, people.frame.height, np.ones(true.shape, dtype=bool))
    return people.errors(found)


def noisy_modelled(people: People, epsilon: float, seed: int) -> list[float]:
    """The tables of our model, fitted by the curator."""
    rows, names = people.frame.height, people.schema.names
    model = fit_noisy(people.truth, people.schema, rows, epsilon, DELTA, seed)
    return people.errors({s: rows * model.table([names[a] for a in s]) for s in people.subsets})


def synthesiser(python: str, kept: Path | None) -> Callable[[People, str, float, int], list[np.ndarray]]:
    """What makes synthetic rows in the other environment, or finds those that were kept."""

    def make(people: People, way: str, epsilon: float, draw: int) -> list[np.ndarray]:
        content = zlib.crc32(np.array(people.codes).tobytes())
        name = f"{people.name}-{content:08x}-{way}-{epsilon:.3g}-{draw}.npz".replace(" ", "-")
        with tempfile.TemporaryDirectory() as folder:
            rows = (kept or Path(folder)) / name
            if not rows.exists():
                job = Path(folder) / "job.npz"
                np.savez(job, codes=people.codes, sizes=people.sizes, epsilon=epsilon, delta=DELTA, way=way)
                made = Path(folder) / "rows.npz"
                worker = Path(__file__).with_name("synthesise.py")
                subprocess.run([python, "-W", "ignore", str(worker), str(job), str(made)], check=True)
                rows.write_bytes(made.read_bytes())
            return list(np.load(rows)["codes"])

    return make


def measure(people: People, k: int, make: Callable[[People, str, float, int], list[np.ndarray]]) -> dict[str, object]:
    """One line: our release at this k and all curators at its central epsilon."""
    plan = pk.plan(people.schema, records=people.frame.height, k=k)
    central = plan.central(DELTA)
    releases = [ours(people, plan, seed) for seed in range(RELEASES)]
    found = {way: np.mean([release[way] for release in releases], axis=0) for way in releases[0]}
    found["noise"] = np.mean([noisy(people, central.epsilon, seed) for seed in range(RELEASES)], axis=0)
    found["noise, our model"] = np.mean([noisy_modelled(people, central.epsilon, s) for s in range(RELEASES)], axis=0)
    for way in SYNTHETIC:
        drawn = [people.tables(make(people, way, central.epsilon, draw)) for draw in range(DRAWS)]
        found[way] = np.mean([people.errors(tables) for tables in drawn], axis=0)
    line = {"people": people.name, "k": k, "epsilon": central.epsilon, "lower": central.lower, "found": found}
    said = ", ".join(f"{way} {' '.join(f'{value:.3f}' for value in values)}" for way, values in found.items())
    print(f"{people.name}, k = {k:,}, epsilon {central.epsilon:.3g}: {said}", file=sys.stderr, flush=True)
    return line


LAST = ("noise", "MST", "AIM", "noise, our model")
"""The curators, in the order of the columns."""


def table(lines: Sequence[dict], order: int) -> str:
    """Errors of one order in Markdown; bold are the least of ours and the least of the curators."""
    own = [way for way in lines[0]["found"] if way not in LAST and (order > 1 or way != "independence")]
    ways = [*own, *LAST]
    heads = [*own, *(f"curator: {way}" for way in LAST)]
    head = f"| {order} attribute{'s' * (order > 1)} | k | central epsilon | {' | '.join(heads)} |"
    rows = [head, f"| --- | ---: | ---: |{' ---: |' * len(ways)}"]
    for line in lines:
        values = [float(line["found"][way][order - 1]) for way in ways]
        best = {min(values[: len(own)]), min(values[len(own) :])}
        cells = [f"**{digits(v)}**" if v in best else digits(v) for v in values]
        rows.append(f"| {line['people']} | {line['k']:,} | {digits(line['epsilon'])} | {' | '.join(cells)} |")
    return "\n".join(rows)


def digits(value: float) -> str:
    """Three digits."""
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def embedded() -> People:
    """Some rows of the embedded table."""
    schema = pk.demo_schema()
    frame = pk.demo_table().sample(ROWS, seed=1)
    codes = frame.select(pl.col(name).to_physical().cast(pl.Int64) for name in schema.names)
    ranged = [pk.Attribute.ranged(a.name, 0, a.size - 1) for a in schema.randomised]
    return People("embedded", codes, pk.Schema(ranged))


def main() -> None:
    """Measure, print, and write into the documentation if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", required=True, help="the Python of the environment with the synthesisers")
    parser.add_argument("--data", type=Path, help="a folder with real tables, named as comparison.py names them")
    parser.add_argument("--kept", type=Path, help="a folder for synthetic rows that are made once")
    parser.add_argument("--only", nargs="*", default=(), help="names of tables")
    parser.add_argument("--write", action="store_true", help="put tables and figure into docs/results/trust.md")
    arguments = parser.parse_args()
    tables = [embedded()]
    for file, (name, read) in TABLES.items():
        if arguments.data is not None and (arguments.data / file).exists():
            tables.append(People(name, *coded(read(arguments.data / file))))
    make = synthesiser(arguments.python, arguments.kept)
    chosen = [people for people in tables if not arguments.only or people.name in arguments.only]
    lines = [measure(people, k, make) for people in chosen for k in KS]
    report = "\n\n".join(table(lines, order) for order in ORDERS)
    print(f"\n{report}")
    if arguments.write:
        put("synthetic", report, page="trust.md")
        target = FIGURES / "synthetic.svg"
        target.unlink(missing_ok=True)
        pk.save_chart(chart(lines), target)


if __name__ == "__main__":
    main()
