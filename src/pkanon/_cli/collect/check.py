"""pkanon collect check: does an address serve what the survey folder holds?"""

from __future__ import annotations

import click

import pkanon as pk

from ..options import json_option
from ..printing import print_json, say
from ..progress import progress_bar


@click.command()
@click.argument("url")
@click.argument("survey", type=click.Path(), required=False)
@click.option("--digest", metavar="HEX", help="The survey digest, for those who do not have the folder.")
@json_option
def command(url: str, survey: str | None, digest: str | None, as_json: bool) -> int:
    """Fetch page, module, plan, survey and manifest from URL as an ordinary visitor, and compare them with SURVEY.

    Ends with 1 if a byte differs. An operator who wants to deceive one person can still serve another page to that person
    alone; many who check from many places make that risky.

    \b
    Examples: pkanon collect check https://survey.example.org survey
              pkanon collect check https://survey.example.org --digest 3f8a...
    """
    read = None if survey is None else pk.collect.Survey.read(survey)
    with progress_bar() as progress:
        progress("fetching", 0)
        files = pk.collect.check(url, read, digest=digest)
    same = all(file.same for file in files)
    if as_json:
        print_json(
            {
                "same": same,
                "files": [
                    {"name": file.name, "url": file.url, "served": file.served, "expected": file.expected}
                    for file in files
                ],
            }
        )
    else:
        for file in files:
            say(f"  {file.name}: {'the same' if file.same else 'DIFFERENT'}  {file.served}")
        say(
            "The address serves this survey."
            if same
            else "The address does not serve this survey: do not answer there."
        )
    return 0 if same else 1
