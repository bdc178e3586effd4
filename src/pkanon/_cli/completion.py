"""pkanon completion: the shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for SHELL.

    \b
    Example: eval "$(pkanon completion bash)"
    """
    from . import cli

    completion = get_completion_class(shell)
    if completion is not None:
        click.echo(completion(cli, {}, "pkanon", "_PKANON_COMPLETE").source())
