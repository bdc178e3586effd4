"""Plans side by side: k, epsilon, rho and predicted errors, as a readable table or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pkanon as pk

from . import private
from .printing import note, print_table, say
from .targets import Options, Target

HOPELESS = 1000
"""Errors from this on are all the same to a reader."""
UNREADABLE = 1.0
"""An L1 error: from here on the errors of a table add up to all its people, and it cannot be read."""
MOST_LOST = 5
"""Sets of attributes that are named; the others are counted."""

Tables = Sequence[tuple[str, ...]]
Designs = Mapping[str, pk.Plan | str]
"""The plan of every design, or why it cannot be made."""


def design_of(plan: pk.Plan) -> str:
    """The name of a plan's design."""
    return plan.asked.design or "by hand"


def all_designs(
    schema: pk.Schema, chosen: pk.Plan, target: Target, options: Options, progress: Callable[[str, float], None]
) -> Designs:
    """The chosen plan beside those of the other designs for the same target."""
    same = Options(hide_count=options.get("hide_count"), matrices=options.get("matrices", {}))
    designs: dict[str, pk.Plan | str] = {}
    names = private.designs()
    for number, name in enumerate(names):
        progress("comparing", number / len(names))
        if name == design_of(chosen):
            designs[name] = chosen
            continue

        def compared(step: str, done: float, number: int = number) -> None:
            progress("comparing", (number + done) / len(names))

        try:
            designs[name] = pk.plan(schema, records=chosen.records, design=name, **target, **same, progress=compared)
        except pk.TargetError as error:
            designs[name] = str(error)
    return designs


def default_tables(
    plan: pk.Plan, workload: int | str | list[tuple[str, ...]] | dict[Any, float] | None
) -> list[tuple[str, ...]]:
    """The tables of a workload that names some; else of the first one to four attributes, as the paper adds them."""
    if isinstance(workload, (list, dict)):
        return named_tables(workload)
    names = [attribute.name for attribute in plan.schema.randomised]
    counts = {*range(1, min(len(names), 4) + 1), *([len(names)] if workload == "full" else [])}
    return [tuple(names[:count]) for count in sorted(counts)]


def named_tables(workload: int | str | list[tuple[str, ...]] | dict[Any, float] | None) -> list[tuple[str, ...]]:
    """The tables that a workload names."""
    if isinstance(workload, dict):
        return [table for table in workload if isinstance(table, tuple)]
    return workload if isinstance(workload, list) else []


def plan_as_json(plan: pk.Plan | str, tables: Tables) -> dict[str, Any]:
    """The numbers of one plan, or why it cannot be made."""
    if isinstance(plan, str):
        return {"refused": plan}
    predictions = [plan.predict(*table) for table in tables]
    void = plan.void_reasons
    return {
        "void": void,
        "k": None if void else plan.k,
        "epsilon": None if void else plan.epsilon,
        "epsilon_unbounded": None if void else plan.epsilon_unbounded,
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


def print_plan(
    designs: Designs, chosen: pk.Plan, tables: Tables, named: Tables = (), choices: pk.Choices | None = None
) -> None:
    """How many tables can be read, other k, the plan beside other designs, what it does and what it promises."""
    say(str(chosen))
    say()
    print_readable(chosen.readable(named))
    if sentence := chosen.served().warning:
        say(f"  {sentence}")
    say()
    if choices is not None:
        print_choices(choices, void=bool(chosen.void_reasons))
        say()
    print_designs(designs, chosen, tables)
    say()
    for line in chosen.explain().splitlines():
        say(line)
    delta = chosen.asked.delta
    if delta is not None and not chosen.void_reasons:
        say(f"  As a whole, shuffled: {chosen.central(float(delta))}.")


def print_readable(readable: pk.Readability) -> None:
    """How many tables are good, fair, poor and not readable, and which are the best and the worst."""
    for line in str(readable).splitlines():
        say(line)
    say("  " + private.meaning_of_levels())


def note_unreadable(plan: pk.Plan, rows: int) -> None:
    """Warn if most tables that the plan serves cannot be read in so many rows."""
    sentence = plan.served(records=max(rows, 1)).warning
    if sentence is not None:
        note(sentence, kind="warning")


def print_choices(choices: pk.Choices, *, void: bool) -> None:
    """Plans for several k side by side; where the chosen one is void, as if it were not."""
    say("Other k, if nothing made the plan void:" if void else "Which k:")
    table = choices.text_table()
    print_table(table.header, table.rows, labels=0)
    for line in choices.captions:
        say(f"  {line}")


def print_designs(designs: Designs, chosen: pk.Plan, tables: Tables, *, promises: bool = True) -> None:
    """The table of all designs, how to read it, and what to know about the chosen one.

    Without ``promises`` it leaves out k and epsilon: of a release its certificate states them, or states nothing. A void plan
    states none.
    """
    plans = {name: plan for name, plan in designs.items() if isinstance(plan, pk.Plan)}
    header = ["", *(f"{name} *" if plan is chosen and len(designs) > 1 else name for name, plan in plans.items())]
    rows = []
    if promises and not chosen.void_reasons:
        rows += [["k", *(plan.k_text for plan in plans.values())]]
        rows += [["epsilon", *(plan.epsilon_text for plan in plans.values())]]
    for attribute in chosen.schema.randomised:
        rhos = [plan.rho[attribute.name] for plan in plans.values()]
        rows.append([f"rho: {attribute.name}", *("matrix" if rho is None else f"{100 * rho:.2f}%" for rho in rhos)])
    for table in tables:
        errors = [plan.predict(*table) for plan in plans.values()]
        rows.append([f"error: {' x '.join(table)}", *(_error(error) for error in errors)])
    print_table(header, rows)
    say()
    say(
        "rho: how much of an attribute comes through, as if its true value were kept in this share of the rows and the others "
        "got a uniform draw. Negative: the true value is released less often than the others, which is as informative."
    )
    say(
        "error: the expected sum of absolute errors of the corrected table, divided by the records. From 1 on (marked !) "
        "the table cannot be read at this target. <=: an upper bound, as the error depends on the data."
    )
    if len(plans) > 1:
        say("*: the chosen design.")
    _print_remarks(chosen)
    for name, reason in designs.items():
        if isinstance(reason, str):
            say(f"{name}: {reason}")


def _error(prediction: pk.Prediction) -> str:
    if prediction.l1 >= HOPELESS:
        return f"> {HOPELESS:,} !"
    bound = "" if prediction.exact else "<= "
    return f"{bound}{prediction.l1:.4g}{' !' if prediction.l1 >= UNREADABLE else ''}"


def _print_remarks(plan: pk.Plan) -> None:
    floor, fallback, lost = plan.asked.floor, plan.asked.fallback, plan.asked.lost
    # the floor compares with equal-rho at the same budget; under a central target the budgets differ
    if isinstance(floor, int) and plan.asked.central_epsilon is None:
        say(
            f"Floor: no table of up to {floor} attributes is worse than with equal-rho (--floor none removes this floor)."
        )
    if fallback is not None:
        say(f"The optimal design is {fallback}.")
    if lost:
        texts = [" x ".join(table) for table in lost[:MOST_LOST]]
        if len(lost) > MOST_LOST:
            texts.append(f"one of {len(lost) - MOST_LOST} more sets of attributes")
        say(f"Lost: no table with {', or '.join(texts)} can be reconstructed. A floor (--floor all) keeps them.")
