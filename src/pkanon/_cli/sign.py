"""pkanon sign: sign a release folder."""

from __future__ import annotations

import os
import sys

import click

import pkanon as pk

from . import private
from .options import json_option
from .printing import print_json, say
from .progress import progress_bar

PASSWORD = "PKANON_KEY_PASSWORD"


def key_password(key: str) -> bytes | None:
    """The password of a key file, if it needs one: from the environment, or asked for on a terminal.

    A key that cannot be used is refused here, before anything is computed.
    """
    if not private.needs_password(key):
        return None
    text = os.environ.get(PASSWORD)
    if text is None:
        if not sys.stdin.isatty():
            raise pk.InputError(f"{key} is encrypted: give its password in the environment variable {PASSWORD}.")
        text = click.prompt(f"Password of {key}", hide_input=True, err=True)
    password = str(text).encode()
    private.check_password(key, password)
    return password


@click.command()
@click.argument("release", metavar="RELEASE", type=click.Path())
@click.option("--key", required=True, type=click.Path(), help="Your private Ed25519 key: a PEM or OpenSSH file.")
@json_option
def command(release: str, key: str, as_json: bool) -> None:
    """Sign the folder of a release, so that others can check who vouches for it.

    Writes datapackage.json.sig into the folder. The password of an encrypted key is asked for, or taken from the environment
    variable PKANON_KEY_PASSWORD.

    \b
    A key pair: openssl genpkey -algorithm ed25519 -out key.pem
                openssl pkey -in key.pem -pubout -out public.pem
    Example:    pkanon sign out --key key.pem
    """
    password = key_password(key)
    with progress_bar() as progress:
        progress("signing", 0)
        pk.sign(release, key, password=password)
        progress("signing", 1)
    if as_json:
        print_json({"signed": release, "signature": "datapackage.json.sig"})
    else:
        say(f"Signed {release}. Whoever has your public key can check it: pkanon verify {release} --key public.pem")
