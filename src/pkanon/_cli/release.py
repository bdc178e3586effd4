"""pkanon release: randomise and shuffle a table."""

from __future__ import annotations

from typing import Any

import click

import pkanon as pk

from .shared import (
    TARGETS,
    design_options,
    given_options,
    json_option,
    print_json,
    progress_bar,
    say,
    target_options,
    text_format,
    text_options,
)


@click.command()
@click.argument("table", type=click.Path())
@click.option("--plan", "plan_file", type=click.Path(), help="A plan made by 'pkanon plan'.")
@click.option("--schema", "schema_file", type=click.Path(), help="In one step: a schema, with --k and/or --epsilon.")
@click.option(
    "--records", type=int, metavar="N", help="In one step: plan for this many rows [default: the rows of TABLE]."
)
@target_options
@click.option("-o", "--output", type=click.Path(), help="The folder to write; it must not exist.")
@click.option(
    "--format", "file_format", type=click.Choice(["parquet", "csv", "both"]), default="parquet", show_default=True
)
@click.option("--check", is_flag=True, help="Validate TABLE and the plan; write nothing.")
@click.option("--allow-fewer", is_flag=True, help="Accept fewer rows than planned; k is then lower.")
@click.option("--allow-pass", is_flag=True, help="Release 'pass' columns as they are, outside every guarantee.")
@click.option("--data-dependent", is_flag=True, help="Accept a matrix computed from the table; voids the guarantee.")
@click.option("--seed", type=int, help="Reproducible rows for tests and teaching; they protect nobody.")
@click.option("--seeded-not-private", is_flag=True, help="Needed with --seed: you know that it protects nobody.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads for randomising [default: as many as help].")
@text_options
@json_option
def command(
    table: str,
    plan_file: str | None,
    schema_file: str | None,
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
    output: str | None,
    file_format: str,
    check: bool,
    allow_fewer: bool,
    allow_pass: bool,
    data_dependent: bool,
    seed: int | None,
    seeded_not_private: bool,
    threads: int | None,
    delimiter: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Randomise and shuffle TABLE (CSV or Parquet) and write a release folder.

    \b
    Examples: pkanon release people.csv --plan plan.json -o out
              pkanon release people.csv --schema people.toml --k 100 -o out
    """
    text = text_format(delimiter, encoding)
    if (seed is not None) != seeded_not_private:
        raise pk.RefusedError("A seeded release protects nobody: --seed and --seeded-not-private go together.")
    if output is None and not check:
        raise pk.InputError("Name the folder to write with -o, or validate only with --check.")
    if output is not None and not check:
        pk.check_free(output)
    if plan_file is not None:
        if given_options() & {"schema_file", "records", *TARGETS}:
            raise pk.InputError(
                "--plan says everything; leave out --schema, --records, every target, --hide-count, --design and its options."
            )
        plan = pk.read_plan(plan_file)
    elif schema_file is not None:
        schema = pk.read_schema(schema_file)
        if records is None:
            if hide_count is not None:
                raise pk.RefusedError("With --hide-count give a public lower bound on the rows: --records N.")
            records = pk.count_rows(table, text=text)
        options = design_options(design, workload, weighting, floor)
        targets: dict[str, Any] = {
            "k": k,
            "epsilon": epsilon,
            "central_epsilon": central_epsilon,
            "delta": delta,
            "hide_count": hide_count,
        }
        plan = pk.plan(schema, records=records, **targets, **options)
    else:
        raise pk.InputError("Give --plan plan.json, or --schema people.toml with --k or --epsilon.")

    with progress_bar() as progress:
        if check:
            others = pk.check(
                table,
                plan,
                allow_fewer=allow_fewer,
                allow_pass=allow_pass,
                data_dependent=data_dependent,
                text=text,
                progress=progress,
            )
        else:
            made = pk.release(
                table,
                plan,
                randomness=pk.System() if seed is None else pk.Seeded(seed),
                allow_fewer=allow_fewer,
                allow_pass=allow_pass,
                data_dependent=data_dependent,
                text=text,
                threads=threads,
                progress=progress,
            )
            made.save(str(output), format=file_format, progress=progress)
    if check:
        if as_json:
            print_json({"fits": True, "plan_digest": plan.digest})
        else:
            say("The table fits the plan; nothing was written.")
            for name, share in others.items():
                say(
                    f"  Up to {100 * share:.0f}% of the rows hold an unlisted value of '{name}' and would be taken as other."
                )
            for reason in plan.void_reasons:
                say(f"  A release would claim nothing: {reason}")
        return
    if as_json:
        print_json({"folder": str(output), "certificate": made.certificate.to_json()})
        return
    say(f"Released {made.rows:,} rows to {output}.")
    for line in str(made.certificate).splitlines():
        say(f"  {line}")
