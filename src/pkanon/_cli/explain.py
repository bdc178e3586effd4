"""pkanon explain: what a plan or a release does, and what it promises."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

import pkanon as pk

from .options import json_option, table_option
from .predictions import default_tables, design_of, plan_as_json, print_designs, print_plan, print_readable
from .printing import note, print_json, say
from .progress import progress_bar
from .reading import is_table, read_plan


@click.command()
@click.argument("file", metavar="PLAN.json|RELEASE", type=click.Path())
@table_option
@click.option(
    "--breach",
    "prior",
    type=float,
    metavar="PRIOR",
    help="Also say how far a record can move a belief of this strength about the person it is known to come from.",
)
@json_option
def command(file: str, tables: list[tuple[str, ...]], prior: float | None, as_json: bool) -> None:
    """Explain what a plan, or a release (a folder or its Parquet file), does and promises.

    Prints k, epsilon, the retention probabilities, which tables can be read, and the predicted errors of some of them.

    \b
    Examples: pkanon explain plan.json
              pkanon explain out --table sex,age
              pkanon explain plan.json --breach 0.05
    """
    if is_table(file) and not file.endswith(".parquet"):
        raise pk.InputError(f"{file} is a table; give a plan, or the folder of a release or its Parquet file.")
    release = None
    with progress_bar() as progress:
        if Path(file).is_dir() or file.endswith(".parquet"):
            progress("opening", 0)
            release = pk.open_release(file)
    plan = read_plan(file) if release is None else release.plan
    shown = tables or default_tables(plan, None)
    for table in shown:
        plan.predict(*table)  # an unknown attribute is refused before anything is printed
    if prior is not None and release is not None and release.certificate.void:
        raise pk.InputError(f"The release claims nothing, so it bounds no breach. {release.certificate.void[0]}")
    breach = None if prior is None else plan.breach(prior)
    if as_json:
        document = {"plan": {"design": design_of(plan), "records": plan.records} | plan_as_json(plan, shown)}
        document["plan"]["steps"] = plan.steps
        rows = plan.records if release is None else max(release.rows, 1)
        document["readable"] = plan.readable(tables, records=rows).to_json()
        if breach is not None:
            document["plan"]["breach"] = asdict(breach)
        if release is not None:  # what is promised is for its certificate to say
            for name in ("k", "epsilon", "epsilon_unbounded", "void"):
                del document["plan"][name]
            document["certificate"] = release.certificate.to_json()
        print_json(document)
        return
    if release is None:
        print_plan({design_of(plan): plan}, plan, shown, tables)
        _print_breach(breach)
        return
    certificate = release.certificate
    say(f"Release of {release.rows:,} rows, made on {certificate.date} with {certificate.software}")
    _print_section("What was done", plan.steps)
    _print_section("What is promised", str(certificate).splitlines())
    if certificate.assumptions:
        _print_section("What the promise rests on", certificate.assumptions)
    _print_section("What the promise does not cover", certificate.outside)
    say()
    say(f"Which tables can be read, of {release.rows:,} rows")
    say()
    print_readable(plan.readable(tables, records=max(release.rows, 1)))
    say()
    say(f"What the plan says about errors, for {plan.records:,} records")
    say()
    print_designs({design_of(plan): plan}, plan, shown, promises=False)
    _print_breach(breach)
    for line in release.remarks:
        note(line)


def _print_breach(breach: pk.Breach | None) -> None:
    if breach is not None:
        _print_section("What one record could tell", breach.sentences)


def _print_section(title: str, sentences: list[str] | tuple[str, ...]) -> None:
    say()
    say(title)
    for sentence in sentences:
        say(f"  {sentence}")
