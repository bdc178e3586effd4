"""Regressions of people with known coefficients, released again and again.

    python benchmarks/regression.py           bias and coverage
    python benchmarks/regression.py --write   also put the table into docs/results/benchmarks.md

Every release has other people, drawn from one model, so that its coefficients are the truth about the population. About the table, the
truth is the same regression of the people themselves.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import numpy as np
import polars as pl

import pkanon as pk
from report import put

RELEASES = 400
RECORDS = 50_000
REGIONS = ["north", "east", "south", "west"]
TRUTH = {
    "Intercept": -1.0,
    "sex[T.M]": 0.8,
    "region[T.east]": 0.5,
    "region[T.south]": -0.5,
    "region[T.west]": 0.3,
    "age": 0.15,
}
RESPONSES = {
    "linear": ("hours ~ sex + region + age", 1.0, 3.0),
    "logistic": ("ill == 'yes' ~ sex + region + age", 1.0, 0.0),
    "poisson": ("visits ~ sex + region + age", 0.5, 0.0),
}
"""The formula, the factor of all coefficients, and what is added to the intercept."""
PLANS = {
    "optimal, k = 5": (5.0, "optimal"),
    "optimal, k = 50": (50.0, "optimal"),
    "equal-rho, k = 2": (2.0, "equal-rho"),
}


def schema() -> pk.Schema:
    """Three predictors and three responses."""
    return pk.Schema(
        [
            pk.Attribute("sex", ["F", "M"]),
            pk.Attribute("region", REGIONS),
            pk.Attribute.ranged("age", 0, 7),
            pk.Attribute.ranged("hours", 0, 7),
            pk.Attribute("ill", ["no", "yes"]),
            pk.Attribute.ranged("visits", 0, 9),
        ]
    )


def people(seed: int, records: int = RECORDS) -> pl.DataFrame:
    """People whose responses have exactly the means of the model."""
    draw = np.random.default_rng(seed)
    sex, region = draw.integers(0, 2, records), draw.choice(4, records, p=[0.4, 0.3, 0.2, 0.1])
    age = np.clip(draw.normal(3 + region / 2, 2, records).round(), 0, 7).astype(int)
    effect = np.array([0.0, TRUTH["region[T.east]"], TRUTH["region[T.south]"], TRUTH["region[T.west]"]])
    eta = TRUTH["Intercept"] + TRUTH["sex[T.M]"] * sex + effect[region] + TRUTH["age"] * age
    hours = eta + 3.0 + draw.choice([-1, 0, 1], records)
    whole = np.floor(hours)
    return pl.DataFrame(
        {
            "sex": np.array(["F", "M"])[sex],
            "region": np.array(REGIONS)[region],
            "age": age,
            "hours": (whole + (draw.random(records) < hours - whole)).astype(int),
            "ill": np.array(["no", "yes"])[(draw.random(records) < 1 / (1 + np.exp(-eta))).astype(int)],
            "visits": np.minimum(draw.poisson(np.exp(eta / 2)), 9),  # nearly nobody has more
        }
    )


def truth(family: str) -> np.ndarray:
    """The coefficients of the population."""
    _, factor, added = RESPONSES[family]
    return factor * np.array(list(TRUTH.values())) + np.array([added, 0, 0, 0, 0, 0])


@dataclass
class Tally:
    """What the regressions of all releases came to."""

    errors: list[np.ndarray] = field(default_factory=list)
    stated: list[list[float]] = field(default_factory=list)
    covered: list[np.ndarray] = field(default_factory=list)
    refused: int = 0

    def add(self, fit: pk.Regression, true: np.ndarray) -> None:
        """Hold one regression against the truth."""
        values, low, high = (np.array([getattr(each, name) for each in fit]) for name in ("value", "low", "high"))
        self.errors.append(values - true)
        self.stated.append([each.standard_error for each in fit])
        self.covered.append((low <= true) & (true <= high))

    def __str__(self) -> str:
        if len(self.errors) < 2:
            return f"{self.refused} | | | | |"
        deviation = np.std(self.errors, axis=0, ddof=1)
        bias = np.mean(self.errors, axis=0) / deviation
        shares = 100 * np.mean(self.covered, axis=0)
        scale = np.median(np.median(self.stated, axis=0) / deviation)
        largest = bias[np.argmax(np.abs(bias))]
        return f"{self.refused} | {largest:+.2f} | {shares.mean():.1f}% | {shares.min():.1f} to {shares.max():.1f}% | {scale:.2f} |"


def measured(plan: pk.Plan, releases: int) -> dict[tuple[str, str], Tally]:
    """Every family and both readings, release after release."""
    kept = pk.Plan(plan.schema, [pk.Retention(unit, replace=0) for unit in plan.schema.units], records=RECORDS)
    tallies = {(family, about): Tally() for family in RESPONSES for about in ("population", "table")}
    for number in range(releases):
        table = people(number)
        release = pk.release(table, plan, randomness=pk.Seeded(number))
        itself = pk.release(table, kept, randomness=pk.Seeded(0))
        for (family, about), tally in tallies.items():
            formula = RESPONSES[family][0]
            try:
                fit = release.regress(formula, family=family, about=about)
            except pk.InputError:
                tally.refused += 1
                continue
            values = (
                [each.value for each in itself.regress(formula, family=family)] if about == "table" else truth(family)
            )
            tally.add(fit, np.array(values))
    return tallies


def main() -> None:
    """Measure every plan, family and reading."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--write", action="store_true")
    options.add_argument("--releases", type=int, default=RELEASES)
    chosen = options.parse_args()
    lines = [
        f"{chosen.releases} releases of {RECORDS:,} people each, six attributes, six coefficients: `... ~ sex + region + age`. "
        "The bias is the largest among the coefficients, in standard deviations of the estimate; chance alone gives about 0.1.",
        "",
        "| plan | family | errors about | refused | largest bias | coverage of 95% | by coefficient | stated error / deviation |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for words, (k, design) in PLANS.items():
        plan = pk.plan(schema(), records=RECORDS, k=k, design=design)
        for (family, about), tally in measured(plan, chosen.releases).items():
            line = f"| {words} | {family} | {about} | {tally}"
            print(line, flush=True)
            lines.append(line)
    if chosen.write:
        put("regression", "\n".join(lines))


if __name__ == "__main__":
    main()
