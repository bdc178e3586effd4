"""pkanon association: two attributes."""

from __future__ import annotations

import click

import pkanon as pk

from .results import note
from .shared import json_option, print_json, say


@click.command()
@click.argument("release", type=click.Path())
@click.argument("first")
@click.argument("second")
@click.option(
    "--level", type=float, default=0.95, show_default=True, metavar="L", help="Confidence level of intervals."
)
@json_option
def command(release: str, first: str, second: str, level: float, as_json: bool) -> None:
    """Are the attributes FIRST and SECOND of RELEASE related in the population, and how strongly?

    A test of independence corrected for the randomisation, Cramer's V and mutual information.

    \b
    Example: pkanon association out sex education
    """
    opened = pk.open_release(release)
    found = opened.crosstab(first, second).association()
    for line in opened.remarks:
        note(line)
    limits = {
        name: (measure, measure.interval(level))
        for name, measure in (("cramers_v", found.cramers_v), ("mutual_information", found.mutual_information))
    }
    if as_json:
        print_json(
            {
                "attributes": [first, second],
                "about": "population",
                "level": level,
                "chi_square": found.chi_square,
                "degrees_of_freedom": found.degrees_of_freedom,
                "p_value": found.p_value,
                **{
                    name: {"value": measure.value, "std_error": measure.standard_error, "low": low, "high": high}
                    for name, (measure, (low, high)) in limits.items()
                },
            }
        )
        return
    p = found.p_value
    verdict = "related" if p < 1 - level else "not shown to be related"
    say(f"{first} and {second} are {verdict}: p = {p:.3g}" + (" (below any doubt)." if p < 1e-6 else "."))
    say(f"  corrected chi-square {found.chi_square:.4g} on {found.degrees_of_freedom} degrees of freedom")
    for name, words in (("cramers_v", "Cramer's V"), ("mutual_information", "mutual information (nats)")):
        measure, (low, high) = limits[name]
        say(f"  {words} {measure.value:.4g} ± {measure.standard_error:.2g} ({100 * level:g}%: {low:.4g} to {high:.4g})")
