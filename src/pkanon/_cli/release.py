"""pkanon release: randomise and shuffle a table."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import click

import pkanon as pk

from . import private
from .options import json_option, output_option, seed_option, table_at, text_format, text_options, typed_options
from .predictions import note_unreadable
from .printing import note, print_json, say
from .progress import progress_bar
from .reading import read_plan, read_schema
from .sign import key_password
from .spending import check_limit, check_pair, ledger_options, note_spending, reserved
from .targets import DESIGN, TARGET, Options, Target, check_target, design_options, target_options

MEANT = {
    "confirmed_by": "who has confirmed that its values are public knowledge",
    "rows_are": "what the rows are",
}


class Reading(TypedDict):
    """The arguments that :func:`pk.check` and :func:`pk.release` share."""

    allow_fewer: bool
    allow_pass: bool
    drafted_not_protected: bool
    data_dependent: bool
    exact_counts: bool
    text: pk.TextFormat


@click.command()
@click.argument("table", type=click.Path())
@click.option("--plan", "plan_file", type=click.Path(), help="A plan made by 'pkanon plan'.")
@click.option("--schema", "schema_file", type=click.Path(), help="In one step: a schema, with --k and/or --epsilon.")
@click.option(
    "--records", type=int, metavar="N", help="In one step: plan for this many rows [default: the rows of TABLE]."
)
@target_options
@design_options()
@output_option("the release to this folder")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["parquet", "csv", "both"]),
    default="parquet",
    show_default=True,
    help="How the rows are written.",
)
@click.option("--sign", type=click.Path(), metavar="KEY", help="Sign the folder with this private Ed25519 key.")
@click.option("--report", is_flag=True, help="Also write report.html into the folder, for people.")
@click.option("--check", is_flag=True, help="Validate TABLE and the plan; write nothing.")
@click.option("--allow-fewer", is_flag=True, help="Accept fewer rows than planned; k is then lower.")
@click.option("--allow-pass", is_flag=True, help="Release 'pass' columns as they are, outside every guarantee.")
@click.option(
    "--drafted-not-protected", is_flag=True, help="Release with a draft that nobody confirmed: it claims nothing."
)
@click.option("--data-dependent", is_flag=True, help="Accept a matrix computed from the table; voids the guarantee.")
@click.option("--exact-counts", is_flag=True, help="Say in errors how many rows are at fault: a confidential number.")
@seed_option(None, needs="--seeded-not-private")
@click.option("--seeded-not-private", is_flag=True, help="Confirm that a seeded release protects nobody.")
@click.option("--threads", type=click.IntRange(min=1), help="Threads for randomising [default: as many as are useful].")
@click.option(
    "--memory",
    metavar="SIZE",
    help="Memory for the rows, such as 2GB; the rest is on the disk, randomised [default: a quarter of what is free].",
)
@click.option(
    "--engine",
    type=click.Choice(["memory", "spark"]),
    default="memory",
    show_default=True,
    help="Where rows are randomised: this process, or a Spark cluster.",
)
@click.option("--master", metavar="URL", help="With --engine spark: its master [default: this machine].")
@click.option("--key-port", type=int, default=0, help="With --engine spark: the port where executors ask for the key.")
@ledger_options
@text_options
@json_option
def command(
    table: str,
    plan_file: str | None,
    schema_file: str | None,
    records: int | None,
    target: Target,
    design: str,
    options: Options,
    output: str | None,
    file_format: str,
    sign: str | None,
    report: bool,
    check: bool,
    allow_fewer: bool,
    allow_pass: bool,
    drafted_not_protected: bool,
    data_dependent: bool,
    exact_counts: bool,
    seed: int | None,
    seeded_not_private: bool,
    threads: int | None,
    memory: str | None,
    engine: str,
    master: str | None,
    key_port: int,
    ledger: str | None,
    subject: str | None,
    new_subject: bool,
    delimiter: str | None,
    encoding: str | None,
    as_json: bool,
) -> None:
    """Randomise and shuffle TABLE and write a release folder.

    \b
    Examples: pkanon release people.csv --plan plan.json -o out
              pkanon release people.csv --schema people.toml --k 100 -o out
    """
    if (seed is not None) != seeded_not_private:
        raise pk.RefusedError("A seeded release protects nobody: --seed and --seeded-not-private go together.")
    if output is None and not check:
        raise pk.InputError("Name the folder to write with -o, or validate only with --check.")
    check_pair(ledger, subject, new_subject)
    if output is not None and not check:
        private.check_free(output)
    password = None if sign is None else key_password(sign)
    reading = Reading(
        allow_fewer=allow_fewer,
        allow_pass=allow_pass,
        drafted_not_protected=drafted_not_protected,
        data_dependent=data_dependent,
        exact_counts=exact_counts,
        text=text_format(delimiter, encoding),
    )
    if engine == "spark":
        _refuse_with_spark(check, plan_file, records)
    elif typed_options() & {"master", "key_port"}:
        raise pk.InputError("--master and --key-port go with --engine spark.")
    people = table if engine == "spark" else table_at(table)
    with progress_bar() as progress:
        progress("planning", 0)
        if plan_file is not None:
            plan = _read_plan(plan_file)
        elif schema_file is not None:
            plan = _make_plan(people, schema_file, records, target, design, options, reading["text"])
        else:
            raise pk.InputError("Give --plan plan.json, or --schema people.toml with --k or --epsilon.")
        progress("planning", 1)
        randomness = pk.System() if seed is None else pk.Seeded(seed)
        if engine == "spark":
            certificate = pk.spark.release(
                table,
                plan,
                str(output),
                randomness=randomness,
                format=file_format,
                sign=sign,
                password=password,
                key_port=key_port,
                master=master,
                progress=progress,
                **reading,
            )
            dropped: tuple[str, ...] = ()
        elif check:
            check_limit(ledger, subject, plan, randomness, new_subject=new_subject)
            others = pk.check(people, plan, memory=memory, progress=progress, **reading)
        else:
            with reserved(ledger, subject, plan, randomness, new_subject=new_subject) as make:
                spool = Path(str(output)).absolute().parent  # beside the output
                release = make(people, threads=threads, memory=memory, spool=spool, progress=progress, **reading)
                release.save(str(output), format=file_format, sign=sign, password=password, progress=progress)
            certificate, dropped = release.certificate, release.dropped
        if report and not check:
            pk.report(str(output), Path(str(output)) / "report.html", progress=progress)
    if check:
        _print_check(plan, others, as_json)
        return
    if as_json:
        print_json({"folder": str(output), "certificate": certificate.to_json()})
    else:
        say(f"Released {certificate.rows:,} rows to {output}.")
        for line in str(certificate).splitlines():
            say(f"  {line}")
    if dropped:
        count = "1 column" if len(dropped) == 1 else f"{len(dropped)} columns"
        note(f"{count} without an entry in the schema dropped: {', '.join(map(repr, dropped))}.")
    if plan.schema.repeating is not None:
        note(f"these are persons: one row of each value of '{plan.schema.repeating.name}' was drawn at random.")
    note_unreadable(plan, certificate.rows)
    if not certificate.claims:
        note(f"this release claims nothing: {' '.join(certificate.void)}", kind="warning")
    elif unsaid := [key for key in MEANT if getattr(plan.schema, key) is None]:
        note(
            f"the schema does not say {' and '.join(MEANT[key] for key in unsaid)} (pkanon confirm asks for it); the certificate "
            "says so."
        )
    if certificate.claims or ledger is not None:
        note_spending(ledger, subject)


def _refuse_with_spark(check: bool, plan_file: str | None, records: int | None) -> None:
    """What --engine spark does not do."""
    if check:
        raise pk.InputError("--check reads the table in this process; leave out --engine spark, or leave out --check.")
    if typed_options() & {"ledger", "subject", "new_subject"}:
        raise pk.InputError("--engine spark keeps no ledger yet; leave out --ledger, or use another engine.")
    if typed_options() & {"threads"}:
        raise pk.InputError(
            "--threads is for this process; with --engine spark the master says how many tasks run at once."
        )
    if typed_options() & {"memory"}:
        raise pk.InputError("--memory is for this process; with --engine spark the executors' own settings decide.")
    if plan_file is None and records is None:
        raise pk.InputError("With --engine spark the rows are not counted beforehand; give --records N, or --plan.")


def _read_plan(file: str) -> pk.Plan:
    if typed_options() & ({"schema_file", "records"} | TARGET | DESIGN):
        raise pk.InputError(
            "--plan fixes all of this; leave out --schema, --records, every target, --hide-count, --design and its options."
        )
    return read_plan(file)


def _make_plan(
    table: str | pk.TableFile,
    schema_file: str,
    records: int | None,
    target: Target,
    design: str,
    options: Options,
    text: pk.TextFormat,
) -> pk.Plan:
    schema = read_schema(schema_file)
    check_target(target)
    if records is None:
        if options.get("hide_count") is not None:
            raise pk.RefusedError("With --hide-count give a public lower bound on the rows: --records N.")
        records = private.count_people(table, schema, text)
    return pk.plan(schema, records=records, design=design, **target, **options)


def _print_check(plan: pk.Plan, others: dict[str, float], as_json: bool) -> None:
    """The result of --check; ``others`` has the share of rows with an unlisted value, by attribute."""
    if as_json:
        print_json({"fits": True, "plan_digest": plan.digest})
        return
    say("The table fits the plan; nothing was written.")
    if plan.schema.others == "drop":
        say("  Columns without an entry in the schema would be dropped, if there are any.")
    for name, share in others.items():
        say(f"  Up to {100 * share:.0f}% of the rows hold an unlisted value of '{name}' and would be taken as other.")
    for reason in plan.void_reasons:
        say(f"  A release would claim nothing: {reason}")
    note_unreadable(plan, plan.records)
