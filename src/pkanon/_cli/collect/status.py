"""pkanon collect status."""

from __future__ import annotations

import click

from .places import place_options, print_status, status_of


@click.command()
@place_options
def command(place: str, database: str | None, accept: tuple[str, ...], as_json: bool) -> None:
    """How a survey stands: a running one by its address, a stopped one by its folder and database.

    \b
    Examples: pkanon collect status https://survey.example.org
              pkanon collect status survey --database sqlite:///answers.db
    """
    print_status(status_of(place, database, accept), as_json)
