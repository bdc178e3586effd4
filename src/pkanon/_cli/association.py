"""pkanon association: how two attributes are related."""

from __future__ import annotations

from typing import Any

import click

import pkanon as pk

from .destinations import deliver, destination, output_options
from .options import caption_option, group_options, level_option
from .printing import note, say
from .progress import progress_bar


@click.command()
@click.argument("release", type=click.Path())
@click.argument("first")
@click.argument("second")
@level_option
@click.option("--weights", metavar="COLUMN", help="The column of survey weights.")
@group_options
@caption_option
@output_options
def command(
    release: str,
    first: str,
    second: str,
    level: float,
    weights: str | None,
    merge: dict[str, Any],
    missing: str,
    caption: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Test whether FIRST and SECOND, attributes of RELEASE, are related in the population, and how strongly.

    Prints a test of independence, Cramer's V and mutual information, all corrected for the randomisation. With weights there is no
    mutual information.

    \b
    Example: pkanon association out sex education
    """
    where = destination(form, output)
    paper = where.for_papers(caption=caption)
    with progress_bar() as progress:
        progress("opening", 0)
        opened = pk.open_release(release)
        progress("associating", 0)
        association = opened.crosstab(
            first, second, weights=weights, merge=merge, missing=missing, level=level
        ).association()
    for line in association.remarks:
        note(line)
    if where.readable:
        _print(association, level)
    else:
        deliver(association, where, **paper)


def _print(association: pk.Association, level: float) -> None:
    first, second = association.attributes
    p = association.p_value
    verdict = "related" if p < 1 - level else "not shown to be related"
    say(f"{first} and {second} are {verdict}: p = {p:.3g}" + (" (below any doubt)." if p < 1e-6 else "."))
    say(f"  corrected chi-square {association.chi_square:.4g} on {association.degrees_of_freedom} degrees of freedom")
    for words, measure in (
        ("Cramer's V", association.cramers_v),
        ("mutual information (nats)", association.mutual_information),
    ):
        if measure is None:
            continue
        low, high = measure.interval(level)
        say(f"  {words} {measure.value:.4g} ± {measure.standard_error:.2g} ({100 * level:g}%: {low:.4g} to {high:.4g})")
    for remark in (association.weighting, association.remark):
        if remark:
            say(f"{remark[:1].upper()}{remark[1:]}.")
