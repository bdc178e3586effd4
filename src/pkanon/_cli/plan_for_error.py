"""pkanon plan-for-error: planning backwards, from an error to k or to the number of records."""

from __future__ import annotations

import click

import pkanon as pk

from .matrices import matrix_options
from .options import json_option, output_option, table_option
from .predictions import all_designs, plan_as_json, print_plan
from .printing import print_json, say
from .progress import progress_bar
from .reading import read_schema_or_survey
from .targets import Options, Target, design_options, k_and_epsilon_options

LEAST_K = 2


@click.command()
@click.argument("schema", type=click.Path())
@table_option
@click.option("--error", type=float, required=True, metavar="E", help="The largest standard error, such as 0.02.")
@click.option("--records", type=int, metavar="N", help="How many rows will be released; finds k.")
@k_and_epsilon_options
@design_options(workload="each --table")
@matrix_options
@output_option("the plan to this file")
@json_option
def command(
    schema: str,
    tables: list[tuple[str, ...]],
    error: float,
    records: int | None,
    k: str | None,
    epsilon: str | None,
    design: str,
    options: Options,
    matrices: dict[str, pk.TransitionMatrix],
    output: str | None,
    as_json: bool,
) -> None:
    """Find the k, or the sample size, for a standard error; SCHEMA is a schema.toml or a survey.toml.

    With --records: the most private plan that keeps each --table within the error. With --k, --epsilon or both: the
    fewest records that do. The error of a table is the root mean square over its cells, as a share of all people: 0.02 is
    plus or minus 2 points. No data is touched.

    \b
    Examples:
    pkanon plan-for-error people.toml --table sex,age --error 0.02 --records 5000
    pkanon plan-for-error people.toml --table sex,age --error 0.02 --k 20
    """
    if not tables:
        raise pk.InputError("Name the tables that the error is about with --table.")
    if (records is None) == (k is None and epsilon is None):
        raise pk.InputError("Give either --records, to find k, or --k, --epsilon or both, to find the records.")
    described = read_schema_or_survey(schema)
    options["matrices"] = matrices
    with progress_bar() as progress:
        if records is not None:
            plan = pk.plan_for_error(
                described, records=records, tables=tables, error=error, design=design, progress=progress, **options
            )
        else:
            plan = pk.records_needed(
                described, k=k, epsilon=epsilon, tables=tables, error=error, design=design, progress=progress, **options
            )
        target = Target(k=k, epsilon=epsilon or plan.asked.epsilon, central_epsilon=None, delta=None)
        designs = all_designs(described, plan, target, options, progress)
    if output is not None:
        plan.save(output)
    if as_json:
        numbers = {name: plan_as_json(plan, tables) for name, plan in designs.items()}
        print_json(numbers | {"chosen": design, "error": error, "records": plan.records})
        return
    say(_answer(plan, error, tables, records_fixed=records is not None))
    if "workload" not in options and design == "optimal":
        say("The optimal design serves these tables only; --workload 2 serves all tables of up to two attributes.")
    say()
    print_plan(designs, plan, tables)
    if output is not None:
        say()
        say(f"Written to {output}.")


def _answer(plan: pk.Plan, error: float, tables: list[tuple[str, ...]], *, records_fixed: bool) -> str:
    """The result of the search, in a sentence."""
    each = (f"{' x '.join(table)} (an average cell has {1 / plan.predict(*table).cells:.2g})" for table in tables)
    about = f"a standard error of at most {error:g} in {', '.join(each)}"
    if not records_fixed:
        return f"For {about}, {plan.records:,} records are needed."
    warning = " That protects hardly anybody: allow a larger error, or ask more people." if plan.k < LEAST_K else ""
    return f"With {about}, k = {plan.k_text} and epsilon = {plan.epsilon_text} are possible.{warning}"
