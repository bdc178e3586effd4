"""A client for apps and devices: reads a survey, randomises one answer here, and sends it.

True answers stay in this process. They are turned into codes, drawn over, and forgotten; no error, file or request holds
one. A draw is made once: with a store it is written to a file before it is first sent, and whatever happens then, the same
bytes are sent again. A second draw of the same person would have been chosen, and what is chosen is not random. A survey that
is paused or closed is asked first, so that nothing is drawn in vain; one that cannot be asked is drawn for all the same.

The store is a small file that only its owner reads:

    {"survey": digest, "state": "claiming", "code", "token", "inverse", "blinded"}   an invitation is being redeemed
    {"survey": digest, "state": "claimed", "token", "signature"}                     redeemed; the code is forgotten
    {"survey": digest, "state": "drawn", "body"}                                     randomised, not acknowledged yet
    {"survey": digest, "state": "done"}                                              acknowledged; nothing else is kept
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _files
from .._errors import EnvironmentFailure, InputError, PkanonError, RefusedError, did_you_mean
from .._plan import Plan
from .._schema import Attribute, Range, value_to_text
from . import tokens
from .device import Noted, WordSource, draw, system_words
from .invitations import CODE_BYTES
from .private_file import write_private
from .survey import NEEDED, Survey
from .web import Reply, base_address, get, post_until_answered

PATIENCE = 120.0
KEY_BYTES = 16


@dataclass(frozen=True)
class Token:
    """A redeemed invitation: the right to send one answer.

    Parameters
    ----------
    token, signature
        The token, and the issuer's signature of it.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.collect.Token(b"32 random bytes", b"a signature")  # neither is shown: they are as good as the invitation
    Token()
    """

    token: bytes = field(repr=False)
    signature: bytes = field(repr=False)


@dataclass(frozen=True)
class Practice:
    """A draw that is never sent: its words show what happened, so they would reveal a true answer.

    Parameters
    ----------
    words
        The words, by "block/draw/round".
    record
        The codes that would have been sent.
    values
        The same as the values of the schema; None is a missing value.

    Examples
    --------
    >>> import pkanon as pk
    >>> practice = pk.collect.Practice({"0/0/0": "12345"}, (1,), {"smokes": "yes"})
    >>> practice.values["smokes"]
    'yes'
    """

    words: Mapping[str, str]
    record: tuple[int, ...]
    values: Mapping[str, Any]


class Client:
    """Answers one survey; the true answers do not leave this process.

    Parameters
    ----------
    url
        The address of the survey.
    survey
        The survey, if it was read from its folder; else its files are fetched and their hashes checked.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> text = '''
    ... [survey]
    ... title = "Smoking at work"
    ... organiser = "Institute of Health"
    ... contact = "survey@example.org"
    ... [attributes.smokes]
    ... values = ["no", "yes"]
    ... question = "Do you smoke?"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "survey.toml").write_text(text)
    ...     survey = pk.collect.new(Path(folder, "survey.toml"), records=5_000, k=20)
    >>> client = pk.collect.Client("https://survey.example.org", survey)
    >>> client.practice({"smokes": "yes"}).values["smokes"] in ("no", "yes")  # drawn, and never sent
    True
    """

    def __init__(self, url: str, survey: Survey | None = None) -> None:
        self._url = base_address(url)
        if survey is None:
            survey = Survey({name: get(f"{self._url}/{name}") for name in NEEDED})
        self._survey = survey
        self._pending: bytes | None = None

    def __repr__(self) -> str:
        who = "open to everybody" if self.survey.public_key is None else "for invited people"
        waits = "" if self._pending is None else ", with a draw that waits to be acknowledged"
        return f"<Client of survey {self.survey.digest[:12]} at {self._url}, {who}{waits}>"

    @property
    def survey(self) -> Survey:
        """The survey."""
        return self._survey

    @property
    def plan(self) -> Plan:
        """What is done to an answer."""
        return self.survey.plan

    def practice(self, values: Mapping[str, Any], words: WordSource = system_words) -> Practice:
        """A draw for these ``values`` that is never sent, with the ``words`` that led to it.

        Nothing of it is kept, and an answer that is sent has words of its own.
        """
        noted = Noted(words)
        record = draw(self.plan, codes_of(self.plan, values), noted)
        shown = {a.name: a.label(code) for a, code in zip(self.plan.schema.randomised, record)}
        return Practice(noted.words, tuple(record), shown)

    def claim(self, code: str, *, store: str | Path | None = None, patience: float = PATIENCE) -> Token:
        """Redeem an invitation: its ``code``, or the whole link. The issuer does not see the token it signs.

        With a ``store`` the request is kept there until it is answered, so that it can be sent again. Refused: an
        invitation that was used elsewhere. ``patience`` is how many seconds to try.
        """
        key = self.survey.public_key
        if key is None:
            raise InputError("The survey is open to everybody; it needs no invitation.")
        kept = self._read(store)
        if kept.get("state") == "claimed":
            return _token(kept)
        if kept.get("state") in ("drawn", "done"):
            raise RefusedError(f"{store} says that this survey was answered already.")
        code = code.rpartition("#")[2]
        if kept.get("code") != code:
            try:
                tokens.from_text(code, CODE_BYTES)
            except tokens.TokenError:
                raise InputError(
                    "The invitation is not complete: give the whole link, or the 22 characters after its #."
                ) from None
            token = tokens.new_token()
            blinded = tokens.blind(key, token)
            kept = {
                "state": "claiming",
                "code": code,
                "token": tokens.to_text(token),
                "inverse": tokens.to_text(blinded.inverse),
                "blinded": tokens.to_text(blinded.request),
            }
            self._write(store, kept)
        body = _body({"survey": self.survey.digest, "code": kept["code"], "blinded": kept["blinded"]})
        reply = post_until_answered(
            f"{self.survey.issuer or self._url}/claim", body, expected="signature", patience=patience
        )
        answer = _answer(reply, "The invitation was not redeemed")
        signature = tokens.finalize(
            key,
            tokens.from_text(kept["token"]),
            tokens.from_text(kept["inverse"]),
            tokens.from_text(answer.get("signature")),
        )
        redeemed = {"state": "claimed", "token": kept["token"], "signature": tokens.to_text(signature)}
        self._write(store, redeemed)
        return _token(redeemed)

    def answer(
        self,
        values: Mapping[str, Any],
        *,
        token: Token | None = None,
        store: str | Path | None = None,
        patience: float = PATIENCE,
    ) -> bytes:
        """Randomise an answer here and send it until it is acknowledged; the bytes that were sent.

        ``values`` maps every question to a value of the schema, or to that value in writing; None is no answer, where that
        is allowed. A survey with invitations needs a ``token``, or a ``store`` that holds one. Refused: a second answer
        with the same store, a survey that is paused or closed, and anything new while the store, or without one this
        client, holds a draw that was not acknowledged; send that with :meth:`resend`. ``patience`` is how many seconds to try.
        """
        kept = self._read(store)
        self._refuse_done(kept, store)
        if self._waiting(kept, store) is not None:
            raise RefusedError(
                "An answer was drawn before and is not acknowledged yet; send that one first (resend, or the same command "
                "without answers)."
            )
        if kept.get("state") == "claimed":
            token = token or _token(kept)
        ticket = self._ticket(token)
        codes = codes_of(self.plan, values)
        self.check_open()
        body = self._submission(ticket, draw(self.plan, codes))
        self._write(store, {"state": "drawn", "body": body.decode()})
        return self._send(body, store, patience)

    def resend(self, *, store: str | Path | None = None, patience: float = PATIENCE) -> bytes:
        """Send the draw that waits in ``store``, or without one in this client, until it is acknowledged; the bytes that were sent.

        They are the same bytes as before: nothing is drawn again, so no answers are needed. ``patience`` is how many seconds
        to try.
        """
        kept = self._read(store)
        self._refuse_done(kept, store)
        body = self._waiting(kept, store)
        if body is None:
            raise InputError("There is no draw that waits to be acknowledged; give the answers.")
        return self._send(body, store, patience)

    def check_open(self) -> None:
        """Refuse a survey that says it takes no answers now. One that cannot be asked is taken to be open."""
        try:
            status = _files.parse_json(get(f"{self._url}/status").decode())
        except (PkanonError, ValueError):
            return
        state = status.get("state") if isinstance(status, dict) else None
        if state == "paused":
            raise RefusedError("The survey is paused: nothing was drawn or sent; try again later.")
        if state in ("closed", "released"):
            raise RefusedError("The survey is closed: nothing was drawn or sent, and no more answers are taken.")

    def _send(self, body: bytes, store: str | Path | None, patience: float) -> bytes:
        if store is None:
            self._pending = body
        reply = post_until_answered(f"{self._url}/answers", body, expected="stored", patience=patience)
        _answer(reply, "The answer was not acknowledged")
        if store is None:
            self._pending = None
        self._write(store, {"state": "done"})
        return body

    def _waiting(self, kept: Mapping[str, Any], store: str | Path | None) -> bytes | None:
        """The draw that was not acknowledged, if there is one: that of the store, or without one that of this client."""
        if store is None:
            return self._pending
        return kept["body"].encode() if kept.get("state") == "drawn" else None

    def _refuse_done(self, kept: Mapping[str, Any], store: str | Path | None) -> None:
        if kept.get("state") == "done":
            raise RefusedError(f"{store} says that this survey was answered already; an answer is given once.")

    def _submission(self, ticket: Mapping[str, str], record: list[int]) -> bytes:
        """The bytes of an answer. Spaces make all of a survey equally long: TLS hides what is sent, but not its length."""

        def body(codes: list[int]) -> bytes:
            return _body({"survey": self.survey.digest, **ticket, "record": codes})

        longest = [attribute.size - 1 for attribute in self.plan.schema.randomised]
        return body(record).ljust(len(body(longest)))

    def _ticket(self, token: Token | None) -> dict[str, str]:
        """What makes an answer count once: a key of its own, or a token."""
        if self.survey.public_key is None:
            if token is not None:
                raise InputError("The survey is open to everybody; it takes no token.")
            return {"key": os.urandom(KEY_BYTES).hex()}
        if token is None:
            raise InputError("The survey is for invited people: redeem an invitation first.")
        if not self.survey.public_key.verify(token.token, token.signature):
            raise InputError("The token is not one of this survey.")
        return {"token": tokens.to_text(token.token), "signature": tokens.to_text(token.signature)}

    def _read(self, store: str | Path | None) -> dict[str, Any]:
        if store is None or not Path(store).exists():
            return {}
        try:
            kept = _files.parse_json(Path(store).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            kept = None
        if not isinstance(kept, dict) or kept.get("state") not in ("claiming", "claimed", "drawn", "done"):
            raise InputError(f"{store} is not a store of pkanon; name a file that does not exist yet.")
        if kept.get("survey") != self.survey.digest:
            raise InputError(f"{store} belongs to another survey; name a file of its own for this one.")
        return kept

    def _write(self, store: str | Path | None, kept: Mapping[str, str]) -> None:
        if store is not None:
            content = json.dumps({"survey": self.survey.digest, **kept}) + "\n"
            write_private(store, content.encode(), replace=True)


def codes_of(plan: Plan, values: Mapping[str, Any]) -> list[int]:
    """The codes of an answer: every question once; errors name the question and never the value."""
    attributes = plan.schema.randomised
    names = [attribute.name for attribute in attributes]
    for name in values:
        if name not in names:
            raise InputError(f"The survey has no question '{name}'. {did_you_mean(str(name), names)}")
    for attribute in attributes:
        if attribute.name not in values:
            way = (
                f"if it is meant to stay open, give None (--set {attribute.name}=)"
                if attribute.missing == "value"
                else "every question needs one"
            )
            raise InputError(f"The question '{attribute.name}' has no answer; {way}.")
    return [_code(attribute, values[attribute.name]) for attribute in attributes]


def _code(attribute: Attribute, value: Any) -> int:
    """The code of a value as the schema has it, or of a text: the value in writing, a label of a bin, empty if missing."""
    if not isinstance(value, str):
        return attribute.code(value)
    if value in ("", *attribute.missing_values):
        return attribute.code(None)
    if not isinstance(attribute.domain, Range):
        for code, label in enumerate(attribute.labels()):
            if label is not None and value_to_text(label) == value:
                return code
    number = _number(value, attribute.type)
    return attribute.code(value if number is None else number)


def _number(text: str, type: str) -> int | float | None:
    """The number in a text, if the type is one of numbers and it holds one."""
    if type not in ("integer", "number"):
        return None
    try:
        return int(text) if type == "integer" else float(text)
    except ValueError:
        return None


def _token(kept: Mapping[str, str]) -> Token:
    return Token(tokens.from_text(kept["token"]), tokens.from_text(kept["signature"]))


def _body(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()


def _answer(reply: Reply | None, failed: str) -> dict[str, Any]:
    """The JSON of a reply that says yes; what it refuses is an error with its words."""
    if reply is None:
        raise EnvironmentFailure(f"{failed}: the survey did not take it in time; the same bytes can be sent again.")
    try:
        data = _files.parse_json(reply.content.decode())
    except ValueError:
        data = None
    if 200 <= reply.status < 300 and isinstance(data, dict):
        return data
    error = data.get("error") if isinstance(data, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    reason = message if isinstance(message, str) and message.isprintable() else f"status {reply.status}"
    raise RefusedError(f"{failed}: {reason}")
