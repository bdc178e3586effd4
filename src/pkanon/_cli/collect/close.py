"""pkanon collect close."""

from __future__ import annotations

import click

from ..printing import say
from .places import allow_fewer_option, place_options, print_status, refuse_fewer, set_state, token_option


@click.command()
@place_options
@token_option
@allow_fewer_option
def command(
    place: str,
    database: str | None,
    accept: tuple[str, ...],
    as_json: bool,
    admin_token_file: str | None,
    allow_fewer: bool,
) -> None:
    """End a survey for ever.

    Submission keys are erased and the answers are stored anew in a random order; then the survey can be released.
    It cannot be opened again, so fewer answers than were expected are refused unless you say --allow-fewer.

    \b
    Examples: pkanon collect close https://survey.example.org --admin-token-file admin.token
              pkanon collect close survey --database sqlite:///answers.db
    """
    check = None if allow_fewer else refuse_fewer
    status = set_state(place, "closed", database, admin_token_file, accept, check)
    print_status(status, as_json)
    if not as_json and status["state"] == "closed":
        say()
        say("Next: pkanon collect release SURVEY --database ADDRESS -o FOLDER")
