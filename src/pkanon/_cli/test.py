"""pkanon test: shares compared between groups, adjusted for a third attribute, or followed along an ordered one."""

from __future__ import annotations

import itertools
from typing import Any

import click

import pkanon as pk

from . import private
from .destinations import deliver, destination, output_options
from .options import about_option, caption_option, group_options, level_option
from .printing import note, print_cells, say
from .progress import progress_bar


@click.command()
@click.argument("release", type=click.Path())
@click.argument("condition", metavar="NAME=VALUE[,VALUE...]")
@click.option("--by", metavar="NAME", help="Compare the share between the values of this attribute, each pair.")
@click.option(
    "--standardise",
    multiple=True,
    metavar="NAME",
    help="With --by: shares standardised over this attribute; repeatable.",
)
@click.option(
    "--within",
    multiple=True,
    metavar="NAME",
    help="With --by of two values: the odds ratio common to the strata of this attribute (Mantel-Haenszel); repeatable.",
)
@click.option("--trend", metavar="NAME", help="How the share changes along this ordered attribute (Cochran-Armitage).")
@click.option(
    "--adjust",
    type=click.Choice(["holm", "bonferroni"]),
    default="holm",
    show_default=True,
    help="How the p-values of several comparisons are adjusted.",
)
@click.option("--weights", metavar="COLUMN", help="The column of survey weights.")
@about_option("population")
@level_option
@group_options
@caption_option
@output_options
def command(
    release: str,
    condition: str,
    by: str | None,
    standardise: tuple[str, ...],
    within: tuple[str, ...],
    trend: str | None,
    adjust: str,
    about: str,
    level: float,
    merge: dict[str, Any],
    missing: str,
    weights: str | None,
    caption: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Test whether the share of people with NAME=VALUE in RELEASE differs between groups, or along an attribute.

    \b
    Example: pkanon test out job=care --by sex
             pkanon test out job=care,office --by sex --standardise age
             pkanon test out job=care --by sex --within age
             pkanon test out job=care --trend age
    """
    where = destination(form, output)
    paper = where.for_papers(caption=caption)
    if (by is None) == (trend is None):
        raise pk.InputError(
            "Say what to compare: --by NAME for groups, or --trend NAME for an ordered attribute; one of them."
        )
    if trend is not None and (standardise or within):
        raise pk.InputError("--standardise and --within compare groups; they go with --by.")
    if standardise and within:
        raise pk.InputError("--standardise and --within exclude each other; choose one.")
    name, texts = _split(condition)
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        progress("testing", 0)
        names = [each for each in (name, by, trend, *standardise, *within) if each is not None]
        for attribute, count in ((each, names.count(each)) for each in names):
            if count > 1:
                raise pk.InputError(
                    f"'{attribute}' is named twice; the condition, groups and strata are different attributes."
                )
        table = opened.crosstab(*names, about=about, weights=weights, merge=merge, missing=missing, level=level)
        chosen = {name: [_label(table, name, text) for text in texts]}
        found: dict[str, Any]
        if trend is not None:
            found = {f"slope over {trend}": table.trend(chosen, over=trend)}
        elif within:
            found = _odds_ratio(table, chosen, str(by), within)
        else:
            found = _differences(table, chosen, str(by), standardise)
        tested = pk.family(found, method=adjust, level=level)
    for line in opened.remarks:
        note(line)
    if not where.readable:
        if where.for_paper and caption is None:
            paper["caption"] = _caption(name, texts, by, trend, standardise, within)
        deliver(tested, where, **paper)
        return
    shown = tested.text_table()
    print_cells(shown.header, shown.rows, labels=1)
    say()
    for caption in tested.captions:
        say(caption)
    say(f"Corrected for the randomisation; errors are about {private.reading(about)}.")
    if table.groups_remark:
        say(f"{table.groups_remark[:1].upper()}{table.groups_remark[1:]}.")


def _caption(
    name: str,
    texts: list[str],
    by: str | None,
    trend: str | None,
    standardise: tuple[str, ...],
    within: tuple[str, ...],
) -> str:
    """What is shown in a paper."""
    share = f"share of people with {name} = {' or '.join(texts)}"
    if trend is not None:
        return f"Slope of the {share}, over {trend}"
    if within:
        return f"Odds ratio of {name} = {' or '.join(texts)} by {by}, common to the strata of {' x '.join(within)}"
    same = f", standardised over {' x '.join(standardise)}" if standardise else ""
    return f"Differences of the {share} by {by}{same}"


def _split(condition: str) -> tuple[str, list[str]]:
    name, sign, values = condition.partition("=")
    if not sign or not name or not values:
        raise pk.InputError(f"'{condition}' is no condition; write NAME=VALUE, or NAME=VALUE,VALUE for several values.")
    return name, values.split(",")


def _label(table: pk.Estimate, name: str, text: str) -> Any:
    """The value of an attribute that was typed; its texts are compared, so that 3 and "3" are the same."""
    labels = table.labels[table.names.index(name)]
    for label in labels:
        if str(label) == text or (label is None and text == "(missing)"):
            return label
    return text  # which is refused where conditions are read


def _differences(
    table: pk.Estimate, chosen: dict[str, list[Any]], by: str, over: tuple[str, ...]
) -> dict[str, pk.Quantity]:
    """The difference of the shares of every two groups."""
    shares = {}
    for label in table.labels[table.names.index(by)]:
        group = {by: label}
        word = "(missing)" if label is None else str(label)
        if table.count(group).interval()[0] <= 0:
            note(f"'{word}' of {by} is left out: its size cannot be told from zero.")
            continue
        shares[word] = table.standardised(chosen, over, given=group) if over else table.proportion(chosen, given=group)
    if len(shares) < 2:
        raise pk.InputError(f"Fewer than two groups of '{by}' have people for certain, so there is nothing to compare.")
    return {
        f"{first} less {second}": one - two for (first, one), (second, two) in itertools.combinations(shares.items(), 2)
    }


def _odds_ratio(
    table: pk.Estimate, chosen: dict[str, list[Any]], by: str, within: tuple[str, ...]
) -> dict[str, pk.MantelHaenszel]:
    labels = table.labels[table.names.index(by)]
    if len(labels) != 2:
        raise pk.InputError(f"--within compares two groups; '{by}' has {len(labels)} values.")
    found = table.mantel_haenszel({by: labels[0]}, chosen, within)
    if found.left_out:
        note(f"{len(found.left_out)} strata were left out: their size cannot be told from zero.")
    return {f"odds ratio of {labels[0]} to {labels[1]}": found}
