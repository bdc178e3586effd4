"""pkanon collect: surveys whose answers are randomised on the device of the person who gives them.

One subcommand, one file, imported when it is used. Beside them: places.py, which survey is meant.
"""

from __future__ import annotations

import difflib
import importlib

import click

import pkanon as pk

GROUPS = {
    "Prepare": {
        "new": "Make a survey folder from survey.toml.",
        "pilot": "Try a survey with simulated people.",
        "check": "Compare what an address serves with the survey folder.",
        "invite": "Make invitations, and end them.",
    },
    "Run": {
        "serve": "Serve a survey and take answers.",
        "issue": "Redeem invitations, apart from the survey.",
        "status": "How a survey stands: answers, and k so far.",
        "pause": "Take no answers for a while.",
        "resume": "Take answers again.",
        "close": "End the survey for ever.",
        "release": "Turn the answers into a release folder.",
    },
    "Take part and try": {
        "answer": "Randomise an answer on this machine and send it.",
        "demo": "A small survey with simulated respondents.",
    },
}
SUBCOMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}


class _Subcommands(click.Group):
    """Loads a subcommand when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        command: click.Command = importlib.import_module(f"pkanon._cli.collect.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in SUBCOMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = difflib.get_close_matches(args[0].lower(), SUBCOMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise pk.InputError(f"pkanon collect has no command {args[0]}.{hint} See pkanon collect --help.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, SUBCOMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), text) for name, text in commands.items()])


@click.group(cls=_Subcommands, no_args_is_help=True)
def command() -> None:
    """Surveys whose answers are randomised on the device of the person who gives them.

    Nobody can tell for certain which of the answers that arrive are true: not the organiser, not the server.

    \b
    Try it:      pkanon collect demo
    Your survey: pkanon collect new survey.toml --records 5000 --k 20 -o survey
                 pkanon collect pilot survey -o pilot
                 pkanon collect serve survey --database sqlite:///answers.db --admin-token-file admin.token
    Its end:     pkanon collect close https://survey.example.org --admin-token-file admin.token
                 pkanon collect release survey --database sqlite:///answers.db -o out
    """
