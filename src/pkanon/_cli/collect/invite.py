"""pkanon collect invite: make invitations, see how many are used, and end them."""

from __future__ import annotations

import click

import pkanon as pk

from .. import private
from ..destinations import check_new_file
from ..options import json_option
from ..printing import print_json, say
from ..progress import progress_bar


@click.command()
@click.argument("survey", type=click.Path())
@click.option("--issuer", required=True, type=click.Path(), help="The issuer's folder, which pkanon collect new made.")
@click.option("--people", type=int, metavar="N", help="Make N invitations.")
@click.option(
    "--url", metavar="URL", help="The address in the links [default: that of the survey, or of the links in FILE]."
)
@click.option("--remind", type=click.Path(), metavar="FILE", help="Those invitations in FILE that are not used yet.")
@click.option("--close", is_flag=True, help="End invitations: destroy the private key.")
@click.option("-o", "--output", type=click.Path(), help="Write the links to this file, which must not exist.")
@json_option
def command(
    survey: str,
    issuer: str,
    people: int | None,
    url: str | None,
    remind: str | None,
    close: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Make one-time links to SURVEY, one for each person. Without any option: how many are used.

    The code in a link stands after the #, which browsers do not send to the server. Links are written once and only their
    hashes are kept. Mix them before you give them out, or do not note who gets which.

    \b
    Examples: pkanon collect invite survey --issuer survey.issuer --people 500 -o invitations.csv
              pkanon collect invite survey --issuer survey.issuer --remind invitations.csv -o reminders.csv
              pkanon collect invite survey --issuer survey.issuer --close
    """
    if sum([people is not None, remind is not None, close]) > 1:
        raise pk.InputError("--people, --remind and --close exclude each other; choose one.")
    read = pk.collect.Survey.read(survey)
    office = pk.collect.Issuer(issuer, read)
    if people is not None or remind is not None:
        if output is None:
            raise pk.InputError("Name a file for the links with -o; they are shown nowhere else.")
        check_new_file(output)
        with progress_bar() as progress:
            progress("inviting", 0)
            links = _unused(office, remind, url) if remind else _new(office, people or 0, url or read.service)
            private.save_invitations(links, output)
        written = len(links)
    elif output is not None or url is not None:
        raise pk.InputError("-o and --url belong to --people and --remind.")
    else:
        written = 0
    if close:
        office.close()
    made, used = office.counts
    if as_json:
        print_json({"written": written, "invitations": made, "used": used, "closed": office.closed})
        return
    if written:
        say(f"{written:,} links written to {output}. Each lets one person answer once: keep the file to yourself.")
    say(
        f"{made:,} invitations, {used:,} used.{' They have ended: the private key is destroyed.' if office.closed else ''}"
    )


def _new(office: pk.collect.Issuer, people: int, url: str | None) -> dict[bytes, str]:
    """New codes, each with the address of the survey."""
    if url is None:
        raise pk.InputError("Say where the survey is with --url, such as --url https://survey.example.org.")
    address = private.web_address(url)  # before codes are made that no link would hold
    return dict.fromkeys(office.invite(people), address)


def _unused(office: pk.collect.Issuer, path: str, url: str | None) -> dict[bytes, str]:
    """The codes in a file that are not used yet, each with the address of its link, or with another one."""
    links = private.read_invitations(path)
    return {code: url or links[code] for code in office.unused(links)}
