"""pkanon plan: make a plan and show what it costs, before any data is touched."""

from __future__ import annotations

import click

import pkanon as pk

from .destinations import save_chart
from .matrices import matrix_options
from .options import chart_option, json_option, moved_option, output_option, table_option
from .predictions import all_designs, default_tables, named_tables, plan_as_json, print_plan
from .printing import print_json, say
from .progress import progress_bar
from .reading import read_schema_or_survey
from .targets import Options, Target, check_target, design_options, target_options

KS_HELP = "Other k, or none [default: 2,5,20,100,1000]."


@click.command()
@click.argument("schema", type=click.Path())
@click.option("--records", type=int, metavar="N", help="How many rows will be released.")
@target_options
@design_options()
@table_option
@matrix_options
@click.option("--ks", metavar="K,K", callback=lambda context, option, text: _read_ks(text), help=KS_HELP)
@chart_option("how all pairs of attributes read")
@chart_option("error against k and N", name="--tradeoff-chart")
@output_option("the plan to this file")
@json_option
@moved_option("--error", "--error is an option of pkanon plan-for-error, which finds k or the number of records.")
def command(
    schema: str,
    records: int | None,
    target: Target,
    design: str,
    options: Options,
    tables: list[tuple[str, ...]],
    matrices: dict[str, pk.TransitionMatrix],
    ks: list[str] | None,
    chart: str | None,
    tradeoff_chart: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Make a plan for SCHEMA (a schema.toml, or the survey.toml of a survey).

    Prints which tables can be read, what other k would give, and k, epsilon, rho and predicted errors of every design. No data
    is touched.

    \b
    Example: pkanon plan people.toml --records 100000 --k 100 -o plan.json
    """
    described = read_schema_or_survey(schema)
    if records is None:
        raise pk.InputError("Say how many rows will be released with --records N; pkanon plan-for-error finds N.")
    check_target(target)
    options["matrices"] = matrices
    with progress_bar() as progress:
        progress("planning", 0)
        chosen = pk.plan(described, records=records, design=design, **target, **options, progress=progress)
        designs = all_designs(described, chosen, target, options, progress)
        named = tables or named_tables(options.get("workload"))
        shown = tables or default_tables(chosen, options.get("workload"))
        for table in shown:
            chosen.predict(*table)  # an unknown attribute is refused before anything is written
        choices = None
        if ks is None or ks:
            asked = {} if ks is None else {"ks": ks}
            choices = pk.choices(
                described,
                records=records,
                tables=named,
                design=design,
                chosen=chosen,
                progress=progress,
                **asked,
                **options,
            )
    if chart is not None:
        save_chart(pk.readability_chart(chosen.readable()), chart)
    if tradeoff_chart is not None:
        _draw(described, chosen, tables, options, tradeoff_chart)
    if output is not None:
        chosen.save(output)
    if as_json:
        print_json(
            {name: plan_as_json(plan, shown) for name, plan in designs.items()}
            | {"chosen": design, "readable": chosen.readable(named).to_json()}
            | ({} if choices is None else {"choices": choices.to_json()["choices"]})
        )
        return
    print_plan(designs, chosen, shown, named, choices)
    if output is not None:
        say()
        say(f"Written to {output}.")


def _read_ks(text: str | None) -> list[str] | None:
    """The k to put side by side; none where nothing was typed, an empty list for 'none'."""
    if text is None:
        return None
    return [] if text == "none" else [k.strip() for k in text.split(",") if k.strip()]


def _draw(schema: pk.Schema, chosen: pk.Plan, tables: list[tuple[str, ...]], options: Options, path: str) -> None:
    with progress_bar() as progress:
        costs = pk.tradeoff(
            schema, records=chosen.records, k=max(chosen.k, 1.001), tables=tables or None, progress=progress, **options
        )
    save_chart(costs.chart(), path)
