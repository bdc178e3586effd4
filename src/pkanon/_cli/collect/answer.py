"""pkanon collect answer: randomise an answer on this machine and send it, or practise."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

import pkanon as pk

from .. import private
from ..options import json_option
from ..printing import print_json, say
from ..progress import progress_bar


@click.command()
@click.argument("url")
@click.option("--set", "given", multiple=True, metavar="QUESTION=VALUE", help="One answer; repeatable.")
@click.option("--values", type=click.Path(), metavar="FILE", help="All answers, a JSON object; - is standard input.")
@click.option("--invitation", metavar="CODE", help="The code of an invitation, or its whole link; needs --store.")
@click.option("--redeem", is_flag=True, help="Redeem the invitation now and answer later, with the same --store.")
@click.option("--store", type=click.Path(), metavar="FILE", help="Keep the draw here until it is acknowledged.")
@click.option("--practice", is_flag=True, help="A draw that is never sent; its words are shown.")
@click.option(
    "--words", type=click.Path(), metavar="FILE", help="With --practice: an earlier draw, as --json showed it."
)
@json_option
def command(
    url: str,
    given: tuple[str, ...],
    values: str | None,
    invitation: str | None,
    redeem: bool,
    store: str | None,
    practice: bool,
    words: str | None,
    as_json: bool,
) -> None:
    """Randomise an answer to the survey at URL on this machine, and send it until it is acknowledged.

    True answers do not leave this machine, and no file holds them; but what is typed with --set may stay in the history of
    the shell, and other users of the machine can see it while the command runs. So prefer --values - for your own. With
    --store the draw is kept until it is acknowledged, and a second answer is refused. After a failure the same command
    without answers sends the same bytes again. The bytes are shown when they are acknowledged, not before.

    \b
    Examples: pkanon collect answer https://survey.example.org --set smokes=yes --set age=34 --store answer.json
              pkanon collect answer https://survey.example.org --store answer.json
              pkanon collect answer https://survey.example.org --set smokes=yes --set age=34 --practice
    """
    if practice and (invitation is not None or store is not None):
        raise pk.InputError("A practice draw is never sent: leave out --invitation and --store.")
    if words is not None and not practice:
        raise pk.InputError("--words needs --practice: words that somebody knows would reveal an answer that is sent.")
    if invitation is not None and store is None:
        raise pk.InputError("An invitation works once: name a file for what is under way with --store.")
    if redeem:
        _redeem(url, invitation, store, bool(given or values), as_json)
        return
    again = store is not None and not practice and invitation is None and not given and values is None
    answers = {} if again else _answers(given, values)
    with progress_bar() as progress:
        progress("reading", 0)
        client = pk.collect.Client(url)
        if practice:
            draw = client.practice(answers) if words is None else client.practice(answers, _words(words))
        else:
            progress("sending", 0)
            if invitation is not None:
                client.check_open()  # an invitation is not used for an answer that nobody takes
                client.claim(invitation, store=store)
            sent = client.resend(store=store) if again else client.answer(answers, store=store)
    if practice:
        _show(draw, as_json)
    elif as_json:
        print_json({"acknowledged": True, "sent": json.loads(sent)})
    else:
        say("Acknowledged. This was sent, after it was randomised:")
        say(f"  {sent.decode()}")


def _redeem(url: str, invitation: str | None, store: str | None, answered: bool, as_json: bool) -> None:
    """Redeem an invitation and no more, so that nobody can join it with the answer by its time."""
    if invitation is None or answered:
        raise pk.InputError(
            "--redeem takes --invitation and --store, and no answers; answer later, with the same --store."
        )
    with progress_bar() as progress:
        progress("redeeming", 0)
        pk.collect.Client(url).claim(invitation, store=store)
    if as_json:
        print_json({"redeemed": True, "store": store})
    else:
        say(f"Redeemed. Answer later, with --store {store} and without the invitation.")


def _show(draw: pk.collect.Practice, as_json: bool) -> None:
    plain = (str, int, float, type(None))
    shown = {name: value if isinstance(value, plain) else str(value) for name, value in draw.values.items()}
    if as_json:
        print_json({"sent": False, "words": dict(draw.words), "record": list(draw.record), "values": shown})
        return
    say("Practice: this draw was not sent, and never can be.")
    for name, value in shown.items():
        say(f"  {name}: {'(no answer)' if value is None else value}")
    say("Words (block/draw/round):")
    for place, word in draw.words.items():
        say(f"  {place}: {word}")


def _answers(given: tuple[str, ...], values: str | None) -> dict[str, Any]:
    """The answers that were typed; errors name questions, never what was answered."""
    answers: dict[str, Any] = {}
    if values is not None:
        data = _json(values)
        answers |= data
    for text in given:
        name, found, value = text.partition("=")
        if not found:
            raise pk.InputError("--set is written QUESTION=VALUE, such as --set smokes=yes.")
        if name in answers:
            raise pk.InputError(f"The question '{name}' is answered twice.")
        answers[name] = value
    if not answers:
        raise pk.InputError("Give an answer to every question with --set QUESTION=VALUE, or all of them with --values.")
    return answers


def _words(path: str) -> Any:
    """The words in a file: by themselves, or in what --practice --json printed."""
    data = _json(path)
    words = data.get("words")
    return private.listed_words(words if isinstance(words, dict) else data)


def _json(path: str) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        data = json.loads(text)
    except OSError as error:
        raise pk.InputError(f"Cannot read {path}: {error.strerror}.") from None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise pk.InputError(f"{path} is not a JSON object.")
    return data
