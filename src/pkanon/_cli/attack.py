"""pkanon attack: what an adversary who knows the private table gets out of a release."""

from __future__ import annotations

import click

import pkanon as pk

from .destinations import save_chart
from .options import chart_option, json_option, table_at, text_format, text_options
from .printing import note, print_json, print_table, say
from .progress import progress_bar
from .reading import read_plan

MOST_SETS = 15
"""Sets of columns that are printed; JSON has all."""


@click.command()
@click.argument("private", metavar="PRIVATE", type=click.Path())
@click.argument("release", metavar="RELEASE", type=click.Path())
@click.option(
    "--plan", "plan_file", type=click.Path(), metavar="FILE", help="The plan, if RELEASE is a table without one."
)
@click.option("--columns", metavar="A,B", help="Columns for the classical measures [default: all].")
@click.option("--sensitive", metavar="A,B", help="Attributes to guess [default: all].")
@click.option(
    "--rehearsals",
    type=click.IntRange(min=1),
    metavar="R",
    help="How often to randomise the table again [default: until there are 100,000 rows, once at least].",
)
@chart_option("stated confidence and hit rate against 1/k")
@text_options
@json_option
def command(
    private: str,
    release: str,
    plan_file: str | None,
    columns: str | None,
    sensitive: str | None,
    rehearsals: int | None,
    chart: str | None,
    delimiter: str | None,
    encoding: str | None,
    as_json: bool,
) -> int:
    """Attack RELEASE (a folder, its Parquet file, or any table) as somebody would who has the table PRIVATE.

    Says whose row each row probably is and how often that is right, what is learned about single attributes, and the
    classical measures. Exit code 1 if the promise is not kept. The result is about the people in PRIVATE: keep it.

    \b
    Examples: pkanon attack people.csv out
              pkanon attack people.csv generalised.csv
    """
    plan = None if plan_file is None else read_plan(plan_file)
    with progress_bar() as progress:
        found = pk.attack(
            table_at(private),
            release,
            plan=plan,
            columns=_names(columns),
            sensitive=_names(sensitive),
            rehearsals=rehearsals,
            text=text_format(delimiter, encoding),
            progress=progress,
        )
        drawn = None if chart is None else found.chart()
    if as_json:
        print_json(found.to_json())
    else:
        _print(found)
    if drawn is not None and chart is not None:
        save_chart(drawn, chart)
    return 0 if found.kept else 1


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _print(found: pk.Attack) -> None:
    say(str(found))
    if found.checks:
        say()
        say(f"Checks (an honest release fails one of them at most once in {1 / found.false_alarm:,.0f} times)")
        for check in found.checks:
            say(f"  {'kept' if check.kept else 'NOT KEPT'}: {check.name}. {check.text}")
    if found.links is not None and found.line is not None:
        _print_links(found)
    if found.guesses:
        say()
        say("What is a person's value? Guesses by somebody who knows all her other values")
        print_table(
            ["attribute", "commonest value", "from all others", "and the release", "bound"],
            [
                [g.attribute, *(_percent(x) for x in (g.commonest, g.others, g.released)), _percent(g.bound)]
                for g in found.guesses
            ],
        )
        say(
            "  from all others: everybody else's records, and no release. and the release: with the released rows as well; noise can "
            "make it a little worse. bound: the most that epsilon allows to anybody, were the rows of everybody else known."
        )
    _print_classical(found)
    for line in found.notes:
        note(line)


def _print_links(found: pk.Attack) -> None:
    assert found.links is not None
    links = found.links
    whole = links.whole
    say()
    say("Whose row is it? Guesses by somebody who knows all people")
    if found.posterior is not None:
        say(f"  highest chance of any link, exactly: {_percent(found.posterior.highest)}")
    say(f"  nobody may be surer than 1/k: {_percent(found.line)}")
    say(f"  stated confidence in this release: highest {_percent(links.highest)}, mean {_percent(links.stated)}")
    high = whole.interval(0.9)[1]
    say(
        f"  right in {links.rehearsals:,} rehearsal{'s' * (links.rehearsals != 1)}: {whole.hits:,} of {whole.rows:,} guesses, "
        f"{_percent(whole.hit_rate)} (at most {_percent(high)} with 95% confidence)"
    )
    print_table(
        ["stated", "guesses", "right", "share", "95% interval"],
        [
            [
                _percent(each.stated), f"{each.rows:,}", f"{each.hits:,}", _percent(each.hit_rate),
                " to ".join(_percent(limit) for limit in each.interval()),
            ]
            for each in links.bins
        ],
    )  # fmt: skip
    say(
        "  The release is shuffled, so nobody knows whose its rows are. Hits are counted where the order is known: the table "
        "was randomised again by the same plan with fresh keys."
    )


def _print_classical(found: pk.Attack) -> None:
    alike = found.resemblance
    say()
    say("Classical measures, for comparison")
    sets = [each for each in alike.uniques if each.private or each.published or len(each.columns) > 2]
    print_table(
        ["rows that are unique on", f"private ({alike.private_rows:,})", f"published ({alike.published_rows:,})"],
        [
            [_set(each.columns, alike.uniques[-1].columns), f"{each.private:,}", f"{each.published:,}"]
            for each in (sets or list(alike.uniques[-1:]))[-MOST_SETS:]
        ],
    )
    say(
        f"  published rows that equal a private row: {_percent(alike.equal)} (private rows that equal another one: "
        f"{_percent(alike.equal_private)}; if columns were independent: {_percent(alike.equal_independent)})"
    )
    say(
        f"  columns in which the nearest private row differs: {alike.nearest:.2f} on average (for private rows to the nearest "
        f"other one: {alike.nearest_private:.2f})"
    )
    if found.k is not None:
        say(
            "  These are risks of rows that are published as they are. A randomised row that is unique or equals somebody's may "
            "come from anybody: whose it is, is measured above."
        )


def _set(columns: tuple[str, ...], everything: tuple[str, ...]) -> str:
    return f"all {len(columns)} columns" if columns == everything and len(columns) > 2 else ", ".join(columns)


def _percent(share: float | None) -> str:
    if share is None:
        return "none"
    value = 100 * share
    return f"{value:.1f}%" if value >= 10 else f"{value:.3g}%" if value >= 1e-4 or value == 0 else f"{value:.1e}%"
