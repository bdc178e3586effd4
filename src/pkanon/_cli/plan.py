"""pkanon plan: what a target costs, before any data is touched."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import click

import pkanon as pk

from .results import note
from .shared import (
    design_options,
    given_options,
    is_number,
    json_option,
    print_json,
    print_table,
    progress_bar,
    say,
    target_options,
)

UNREADABLE = 0.8
"""An L1 error of 2 is as far off as a table can be; from here on the noise is as large as the table."""
LEAST_K = 2


@click.command()
@click.argument("schema", type=click.Path())
@click.option("--records", type=int, metavar="N", help="How many rows will be released.")
@target_options
@click.option("--table", "tables", multiple=True, metavar="A,B", help="A cross-tabulation to predict; repeat for more.")
@click.option(
    "--matrix", "matrices", multiple=True, metavar="NAME=FILE", help="Fix an attribute's transition matrix (CSV)."
)
@click.option(
    "--data-matrix",
    "data_matrices",
    multiple=True,
    metavar="NAME=FILE",
    help="The same, computed from the private table.",
)
@click.option(
    "--invariant",
    type=(str, float, str),
    multiple=True,
    metavar="NAME RHO FILE",
    help="Invariant PRAM from marginal counts (CSV).",
)
@click.option(
    "--error",
    type=float,
    metavar="E",
    help="Standard error of the cells of each --table (root mean square, a share): finds k, or N.",
)
@click.option(
    "--chart", type=click.Path(), help="Draw error against k and N for every design: .png, .svg, .html, .json."
)
@click.option("-o", "--output", type=click.Path(), help="Write the plan to this file.")
@json_option
def command(
    schema: str,
    records: int | None,
    k: str | None,
    epsilon: str | None,
    central_epsilon: str | None,
    delta: float | None,
    design: str | None,
    workload: str | None,
    weighting: str | None,
    floor: str | None,
    hide_count: str | None,
    tables: tuple[str, ...],
    matrices: tuple[str, ...],
    data_matrices: tuple[str, ...],
    invariant: tuple[tuple[str, float, str], ...],
    error: float | None,
    chart: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Plan a release of the table described by SCHEMA (a schema.toml), or explain SCHEMA if it is a plan.json.

    Shows k, epsilon, the retention probabilities and the predicted error of some cross-tabulations for
    every design, without touching any data.

    \b
    Examples: pkanon plan people.toml --records 100000 --k 100 --epsilon 3.5 -o plan.json
              pkanon plan people.toml --records 100000 --table sex,age --error 0.02    (which k can be afforded?)
              pkanon plan people.toml --k 100 --table sex,age --error 0.02    (how many people are needed?)
    """
    if schema.endswith(".json"):
        if given_options() - {"schema", "tables", "as_json"}:
            raise pk.InputError(
                f"{schema} is a plan and says everything; leave out all options but --table and --json."
            )
        chosen, answer, options = pk.read_plan(schema), "", {}
        designs: dict[str, pk.Plan | str] = {chosen.asked.design or "by hand": chosen}
    else:
        given = {"hide_count": hide_count, "matrices": _matrices(matrices, data_matrices, invariant)}
        options = design_options(design, workload, weighting, floor)
        described = pk.read_schema(schema)
        found, answer = None, ""
        if error is not None:
            found = _for_error(
                described, error, records, k, epsilon, tables, options | given, central=bool(central_epsilon or delta)
            )
            answer = _answer(found, error, _tables(tables), records_given=records is not None)
            records, epsilon = found.records, found.asked.epsilon
            options.setdefault("workload", _tables(tables)) if options["design"] == "optimal" else None
        if records is None:
            raise pk.InputError("Say how many rows will be released: --records N (or ask how many with --error).")
        target: dict[str, Any] = {"records": records, "k": k, "epsilon": epsilon}
        target |= {"central_epsilon": central_epsilon, "delta": delta}
        chosen, designs = _all_designs(described, options, target | given, found)
        if chart is not None:
            _draw(described, chosen, _tables(tables), options | given, chart)
    wanted = _tables(tables) or _default_tables(chosen, workload)
    for table in wanted:
        chosen.predict(*table)  # an unknown attribute is refused before anything is written
    if output is not None:
        chosen.save(output)
    if as_json:
        print_json({name: _as_json(plan, wanted) for name, plan in designs.items()} | {"chosen": chosen.asked.design})
        return
    if answer:
        say(answer)
        if workload is None and options["design"] == "optimal":
            say("The optimal design was made for just that; --workload 2 serves all tables of up to two attributes.")
        say()
    _print(designs, chosen, wanted)
    if chosen.asked.delta is not None:
        say(f"  As a whole, shuffled: {chosen.central(float(chosen.asked.delta))}.")
    if output is not None:
        say()
        say(f"Written to {output}.")


def _tables(texts: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [tuple(name.strip() for name in table.split(",")) for table in texts if table.strip()]


def _for_error(
    schema: pk.Schema,
    error: float,
    records: int | None,
    k: str | None,
    epsilon: str | None,
    tables: tuple[str, ...],
    options: dict[str, Any],
    *,
    central: bool,
) -> pk.Plan:
    """The plan that just meets an error: the most private one, or the one with the fewest records."""
    if not tables:
        raise pk.InputError("--error is about tables; name them with --table.")
    if central:
        raise pk.InputError(
            "--error finds k or the records for k and epsilon; leave out --central-epsilon and --delta."
        )
    with progress_bar() as progress:
        if records is not None and k is None and epsilon is None:
            return pk.afford(schema, records=records, tables=_tables(tables), error=error, progress=progress, **options)
        if records is None and (k is not None or epsilon is not None):
            return pk.records_needed(
                schema, k=k, epsilon=epsilon, tables=_tables(tables), error=error, progress=progress, **options
            )
    raise pk.InputError(
        "With --error give either --records (finds k) or --k and --epsilon (finds the records), not both."
    )


def _answer(found: pk.Plan, error: float, tables: list[tuple[str, ...]], *, records_given: bool) -> str:
    """What was searched for, in a sentence."""
    each = (f"{' x '.join(table)} (an average cell has {1 / found.predict(*table).cells:.2g})" for table in tables)
    about = f"a standard error of at most {error:g} in {', '.join(each)}"
    if not records_given:
        return f"For {about}, {found.records:,} records are needed."
    warning = " That hides next to nobody: allow a larger error, or ask more people." if found.k < LEAST_K else ""
    return f"With {about}, k = {found.k_text} and epsilon = {found.epsilon_text} can be afforded.{warning}"


def _draw(
    schema: pk.Schema, chosen: pk.Plan, tables: list[tuple[str, ...]], options: dict[str, Any], path: str
) -> None:
    more = {name: value for name, value in options.items() if name != "design"}
    with progress_bar() as progress:
        drawn = pk.tradeoff(
            schema,
            records=chosen.records,
            k=max(chosen.k, 1.001),
            tables=tables or None,
            options=more,
            progress=progress,
        )
    pk.save_chart(drawn.chart(), path)
    note(f"the chart is in {path}.")


def _all_designs(
    schema: pk.Schema, options: dict[str, Any], target: dict[str, Any], found: pk.Plan | None
) -> tuple[pk.Plan, dict[str, pk.Plan | str]]:
    """The plan of the chosen design, and for every design its plan or why it cannot be."""
    chosen = found or pk.plan(schema, **options, **target)
    designs: dict[str, pk.Plan | str] = {}
    for name in pk.DESIGNS:
        try:
            designs[name] = chosen if name == options["design"] else pk.plan(schema, design=name, **target)
        except pk.TargetError as error:
            designs[name] = str(error)
    return chosen, designs


def _matrices(
    public: tuple[str, ...], from_data: tuple[str, ...], invariant: tuple[tuple[str, float, str], ...]
) -> dict[str, pk.TransitionMatrix]:
    given = {}
    for items, data_dependent in ((public, False), (from_data, True)):
        for item in items:
            name, equals, file = item.partition("=")
            if not equals:
                raise pk.InputError(f"--matrix {item}: write NAME=FILE.")
            given[name] = pk.TransitionMatrix(_numbers(file), data_dependent=data_dependent)
    for name, rho, file in invariant:
        given[name] = pk.TransitionMatrix.invariant([x for row in _numbers(file) for x in row], rho)
    return given


def _numbers(file: str) -> list[list[float]]:
    try:
        with open(file, encoding="utf-8-sig", newline="") as handle:
            return [[float(cell) for cell in row] for row in csv.reader(handle) if row]
    except OSError as error:
        raise pk.InputError(f"Cannot read {file}: {error.strerror}.") from None
    except ValueError:
        raise pk.InputError(f"{file} must hold numbers separated by commas, without a header.") from None


def _default_tables(plan: pk.Plan, workload: str | None) -> list[tuple[str, ...]]:
    """The tables of a workload that names some; else of one to four attributes, the first as the paper adds them."""
    names = [attribute.name for attribute in plan.schema.randomised]
    if workload is not None and not is_number(workload) and workload != "full":
        return _tables(tuple(workload.split(";")))
    counts = {*range(1, min(len(names), 4) + 1), *([len(names)] if workload == "full" else [])}
    return [tuple(names[:count]) for count in sorted(counts)]


def _as_json(plan: pk.Plan | str, tables: list[tuple[str, ...]]) -> dict[str, Any]:
    if isinstance(plan, str):
        return {"refused": plan}
    predictions = [plan.predict(*table) for table in tables]
    return {
        "void": plan.void_reasons,
        "k": plan.k,
        "epsilon": _finite(plan.epsilon),
        "epsilon_unbounded": None if plan.epsilon_unbounded is None else _finite(plan.epsilon_unbounded),
        "rho": plan.rho,
        "digest": plan.digest,
        "predictions": [
            {
                "attributes": list(p.attributes),
                "cells": p.cells,
                "l1": _finite(p.l1),
                "rmse": _finite(p.rmse),
                "standard_error": _finite(p.standard_error),
                "exact": p.exact,
            }
            for p in predictions
        ],
    }


def _finite(value: float) -> float | None:
    return value if abs(value) != float("inf") else None


def _print(designs: dict[str, pk.Plan | str], chosen: pk.Plan, tables: list[tuple[str, ...]]) -> None:
    say(str(chosen))
    say()
    plans = {name: plan for name, plan in designs.items() if isinstance(plan, pk.Plan)}
    header = ["", *(f"{name} *" if plan is chosen and len(designs) > 1 else name for name, plan in plans.items())]
    rows = [
        ["k", *(plan.k_text for plan in plans.values())],
        ["epsilon", *(plan.epsilon_text for plan in plans.values())],
    ]
    for attribute in chosen.schema.randomised:
        rhos = [plan.rho[attribute.name] for plan in plans.values()]
        rows.append([f"rho: {attribute.name}", *("matrix" if rho is None else f"{100 * rho:.2f}%" for rho in rhos)])
    for table in tables:
        errors = [plan.predict(*table) for plan in plans.values()]
        label = f"error: {' x '.join(table)}"
        rows.append([label, *(_error(error) for error in errors)])
    print_table(header, rows)
    say()
    say(
        "rho: how much of an attribute comes through, as if its true value were kept in this share of the rows and all others"
    )
    say("got a uniform draw. Negative: other values than the true one are favoured, which tells as much.")
    say("error: the expected sum of absolute errors of the corrected table, divided by the records; near or above 1")
    say("(marked !) the table cannot be read at this target. <=: at most, it depends on the data.")
    if len(plans) > 1:
        say("*: the design that was chosen.")
    if isinstance(chosen.asked.floor, int) and chosen.asked.central_epsilon is None:
        say(
            f"Floor: no table of up to {chosen.asked.floor} attributes is worse than with equal-rho (--floor none: without)."
        )
    if chosen.asked.fallback is not None:
        say(f"The optimal design is {chosen.asked.fallback}.")
    if chosen.asked.lost:
        say(f"Lost: no table with {_any(chosen.asked.lost)} can be reconstructed. A floor (--floor all) keeps them.")
    for name, reason in designs.items():
        if isinstance(reason, str):
            say(f"{name}: {reason}")
    say()
    for line in chosen.explain().splitlines():
        say(line)


def _any(tables: Sequence[Sequence[str]]) -> str:
    """'a, or b x c'; the first five of many."""
    texts = [" x ".join(table) for table in tables]
    more = f", or one of {len(texts) - 5} more sets of attributes" if len(texts) > 5 else ""
    return ", or ".join(texts[:5]) + more


def _error(prediction: pk.Prediction) -> str:
    bound = "" if prediction.exact else "<= "
    return f"{bound}{prediction.l1:.4g}{' !' if prediction.l1 >= UNREADABLE else ''}"
