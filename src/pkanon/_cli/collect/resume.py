"""pkanon collect resume."""

from __future__ import annotations

import click

from .places import place_options, print_status, set_state, token_option


@click.command()
@place_options
@token_option
def command(
    place: str, database: str | None, accept: tuple[str, ...], as_json: bool, admin_token_file: str | None
) -> None:
    """Take answers again after a pause.

    \b
    Examples: pkanon collect resume https://survey.example.org --admin-token-file admin.token
              pkanon collect resume survey --database sqlite:///answers.db
    """
    print_status(set_state(place, "open", database, admin_token_file, accept), as_json)
