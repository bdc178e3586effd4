"""What a finished release may claim (docs/why/theory.md 9).

k is stated for the rows actually released. Whatever voids the guarantee is listed, and then nothing
is claimed. Numbers are written as texts, k rounded down and eps rounded up. ``certificate.schema.json``
describes the file; a new version of the format gets a new file and a new name.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .. import __version__, _files, _plan
from .._errors import PlanError, TargetError
from .._estimate import pieces_of
from .._plan import (
    MADE_UP,
    Asked,
    Central,
    Collection,
    Plan,
    assumptions,
    default_delta,
    exact,
    float_below,
    outside,
    promises,
    round_down,
    round_up,
    void_reasons,
)
from .._schema import Codes, code_dtype

FORMAT = "pkanon-certificate/2"
SENTENCES = ("statement", "assumptions", "void", "outside")
"""The entries that are lists of sentences."""
DIGITS = 6
SEEDED = (
    "The key was not the operating system's own, but for example a seed: whoever has it can undo the randomisation."
)


class _Digests(Mapping[str, str]):
    """The digests of a certificate; that of the rows is computed when somebody looks, for rows that stay as they are."""

    def __init__(self, known: Mapping[str, str], data: str | Callable[[], str]) -> None:
        self._known, self._data = known, data

    def __getitem__(self, name: str) -> str:
        if name != "data":
            return self._known[name]
        if not isinstance(self._data, str):
            self._data = self._data()
        return self._data

    def __iter__(self) -> Iterator[str]:
        return iter((*self._known, "data"))

    def __len__(self) -> int:
        return len(self._known) + 1

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(frozen=True, repr=False)
class Certificate:
    """The claim of one release.

    Attributes
    ----------
    digests
        SHA-256 of the ``plan``, of the attributes in it (``schema``), and of the released rows (``data``).
    planned, rows
        How many rows the plan was made for, and how many were released.
    asked
        The design and the targets as they were asked for.
    k, k_planned
        k for the rows released, and for the planned number; None when something in ``void`` takes the guarantee away.
    epsilon
        What is claimed of every row by itself; None like k.
    epsilon_unbounded
        eps when neighbours differ by one record more or less; None unless the count is hidden.
    central
        (epsilon, delta) of the shuffled release as a whole; None if it is not stated.
    central_absent
        Why no central epsilon is stated; None if one is, or if nothing is claimed.
    confirmed_by, confirmed_on, rows_are
        Who has confirmed that the declared values are public, when, and what the rows are, as the schema says; None if it
        does not.
    statement
        The claim in sentences.
    assumptions
        What the claim rests on and the files cannot show, a sentence or two each.
    void
        What takes the guarantee away, a sentence each; empty if nothing does.
    outside
        What is outside of any claim, a sentence or two each.
    date, software
        When and with what the release was made.
    without_passed
        What holds for somebody who ignores the passed columns, where those are the only reason in ``void``.
    collection
        How the rows came in, if the people's own devices have randomised them; None for a custodian's table.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1_000, k=20)
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500})
    >>> pk.release(people, plan).certificate.summary
    'k = 20, epsilon = 1.9812'
    >>> pk.release(people, plan, randomness=pk.Seeded(7)).certificate.summary
    'void, it claims nothing'
    """

    digests: Mapping[str, str]
    planned: int
    rows: int
    asked: Asked
    k: float | None
    k_planned: float | None
    epsilon: float | None
    epsilon_unbounded: float | None
    central: Central | None
    central_absent: str | None
    confirmed_by: str | None
    confirmed_on: str | None
    rows_are: str | None
    statement: tuple[str, ...]
    assumptions: tuple[str, ...]
    void: tuple[str, ...]
    outside: tuple[str, ...]
    date: str
    software: str
    without_passed: Mapping[str, str] = field(default_factory=dict)
    collection: Collection | None = None

    @property
    def claims(self) -> bool:
        """Whether the release claims anything."""
        return not self.void

    @classmethod
    def of(
        cls,
        plan: Plan,
        rows: int,
        data_digest: str | Callable[[], str],
        central: Central | str | None,
        *,
        private: bool,
        collection: Collection | None = None,
    ) -> Certificate:
        """The certificate of ``rows`` rows released with ``plan``; ``private`` as the randomness says.

        ``data_digest`` is the digest of the rows, or computes it when somebody looks. ``central`` is what :func:`central_of`
        gives; it is left out if nothing is claimed. ``collection`` says how rows came in that devices have randomised.
        """
        claim = _claim(plan.digest, plan, rows, central, private, collection)
        today = datetime.now(UTC).date().isoformat()
        return replace(claim, digests=_Digests(claim.digests, data_digest), date=today)

    @classmethod
    def _of(
        cls, plan: Plan, rows: int, central: Central | str | None, private: bool, collection: Collection | None
    ) -> Certificate:
        """The certificate without the digest of its rows and its date."""
        void = void_reasons(plan)
        if not private:
            void.append(SEEDED)
        only_passed = bool(plan.schema.passed) and len(void) == 1
        stated = central if isinstance(central, Central) and not void else None
        statement = (
            ["This release claims nothing."]
            if void
            else [*promises(plan, rows, stated), *_missed_targets(plan, rows, stated)]
        )
        if collection is not None and collection.simulated:
            statement = [MADE_UP, *statement]
        return cls(
            digests={
                "plan": plan.digest,
                "schema": _files.digest({"attributes": plan.schema.to_json()}),
            },
            planned=plan.records,
            rows=rows,
            asked=plan.asked,
            k=None if void else float_below(plan.k_for(rows)),
            k_planned=None if void else float_below(plan.k_for(plan.records)),
            epsilon=None if void else plan.epsilon,
            epsilon_unbounded=None if void else plan.epsilon_unbounded,
            central=stated,
            central_absent=central if isinstance(central, str) and not void else None,
            confirmed_by=plan.schema.confirmed_by,
            confirmed_on=plan.schema.confirmed_on,
            rows_are=plan.schema.rows_are,
            statement=tuple(statement),
            assumptions=() if void else tuple(assumptions(plan, rows, collection)),
            void=tuple(void),
            outside=tuple(outside(plan, rows, collection, claims=not void)),
            date="",
            software=f"pkanon {__version__}",
            without_passed=_numbers(plan, rows) if only_passed else {},
            collection=collection,
        )

    def to_json(self) -> dict[str, Any]:
        """The certificate as ``certificate.json`` holds it."""
        return {
            "format": FORMAT,
            "date": self.date,
            "software": self.software,
            "digests": dict(self.digests),
            "rows": {"planned": self.planned, "released": self.rows},
            "asked": self.asked.to_json(),
            "claims": self._claims(),
            "confirmed": {"by": self.confirmed_by, "on": self.confirmed_on, "rows_are": self.rows_are},
            "collection": None if self.collection is None else self.collection.to_json(),
            "statement": list(self.statement),
            "assumptions": list(self.assumptions),
            "void": list(self.void),
            "outside": list(self.outside),
            "without_passed": dict(self.without_passed),
        }

    def _claims(self) -> dict[str, Any] | None:
        if self.k is None or self.k_planned is None or self.epsilon is None:
            return None
        central = None
        if self.central is not None:
            central = {
                "epsilon": round_up(Fraction(repr(self.central.epsilon)), DIGITS),
                "delta": repr(self.central.delta),
            }
        return {
            "k": _number(self.k, up=False),
            "k_planned": _number(self.k_planned, up=False),
            "epsilon": _number(self.epsilon, up=True),
            "epsilon_unbounded": None if self.epsilon_unbounded is None else _number(self.epsilon_unbounded, up=True),
            "central": central,
            "central_absent": self.central_absent,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], plan: Plan) -> Certificate:
        """The certificate in ``data``, which must belong to ``plan`` and claim exactly what the plan supports.

        Everything is computed anew and compared, but for two things: central epsilon takes long, so it is only checked to
        be possible; and sentences are written anew, because another version may have worded them otherwise. ``verify``
        checks both.
        """
        problem = "is damaged"
        try:
            if data["format"] != FORMAT:
                problem = f"has the format {data['format']!r}; this version reads '{FORMAT}' only"
            elif data["digests"]["plan"] != plan.digest:
                problem = "belongs to another plan"
            else:
                rows, digest = data["rows"]["released"], data["digests"]["data"]
                central = _stated_central(data["claims"], plan, rows)
                collection = Collection.from_json(data["collection"])
                for private in (True, False):
                    supported = cls.of(plan, rows, digest, central, private=private, collection=collection)
                    if _checkable(supported.to_json()) == _checkable(data):
                        return replace(supported, date=str(data["date"]), software=str(data["software"]))
                problem = "claims something else than its plan supports"
        except (KeyError, TypeError, ValueError, ArithmeticError):
            pass
        raise PlanError(f"The certificate {problem}; do not rely on this release.")

    def __str__(self) -> str:
        lines = [*self.statement, *(f"Void: {reason}" for reason in self.void)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Certificate of {self.rows:,} rows: {self.summary}>"

    @property
    def summary(self) -> str:
        """The claim in a few words."""
        if self.k is None or self.epsilon is None:
            return "void, it claims nothing"
        return f"k = {round_down(Fraction(self.k))}, epsilon = {round_up(self.epsilon)}"

    def _repr_html_(self) -> str:
        """The claim, or first of all what makes it void; then what it rests on and what is outside of it."""
        notebook = _plan.notebook
        if self.void:
            claim = [
                notebook.paragraph("Void: this release claims nothing.", strong=True),
                notebook.bullets(self.void),
            ]
        else:
            first, *others = self.statement
            claim = [
                notebook.paragraph(first, strong=True),
                *map(notebook.paragraph, others),
                notebook.paragraph("What this rests on:"),
                notebook.bullets(self.assumptions),
            ]
        return "".join(
            [
                *claim,
                notebook.paragraph("Outside of any claim:"),
                notebook.bullets(self.outside),
                notebook.paragraph(
                    f"{self.rows:,} rows, {self.date}, {self.software}, plan {self.digests['plan'][:12]}..."
                ),
            ]
        )


@lru_cache(maxsize=8)
def _claim(
    digest: str,
    plan: Plan,
    rows: int,
    central: Central | str | None,
    private: bool,
    collection: Collection | None,
) -> Certificate:
    """Once for many releases with one plan. The ``digest`` tells plans apart whose values are equal in Python: 1 and True."""
    return Certificate._of(plan, rows, central, private, collection)


@lru_cache(maxsize=8)
def central_of(plan: Plan, rows: int) -> Central | str:
    """(epsilon, delta) of ``rows`` rows released with ``plan``, or a sentence that says why none is stated.

    delta is the one that was asked for, where it is below 1/rows; else 1/(10 rows). It takes a while, and many small releases
    with one plan need it once.
    """
    if plan.count_noise is not None:
        return "A central epsilon is not computed for a hidden record count."
    try:
        delta = _central_delta(plan, rows)
        above = float(round_up(_plan.central_epsilon(plan.blocks, rows, delta), DIGITS))
        asked = _asked_central(plan)
        if asked is not None and above > asked == float(round_up(Fraction(repr(asked)), DIGITS)):
            # the search for the smallest one may end a little above what was asked for, which is proved all the same
            proved = _plan.central_delta(plan.blocks, rows, math.nextafter(asked, 0.0)) <= delta
            above = asked if proved else above
        return Central(above, delta, 0.0)
    except TargetError as error:
        return str(error)


def _central_delta(plan: Plan, rows: int) -> float:
    asked = None if plan.asked.delta is None else float(exact(plan.asked.delta, "delta", up=False))
    return asked if asked is not None and 0 < asked < 1 / max(rows, 1) else default_delta(rows)


def misses_central_target(plan: Plan, central: Central | str | None) -> bool:
    """Whether a central epsilon was asked for, and these rows have a larger one."""
    asked = _asked_central(plan)
    if asked is None:
        return False
    return not isinstance(central, Central) or central.epsilon > asked


def _asked_central(plan: Plan) -> float | None:
    """The central epsilon that was asked for."""
    wanted = plan.asked.central_epsilon
    return None if wanted is None else float(exact(wanted, "central epsilon", up=False))


def _missed_targets(plan: Plan, rows: int, central: Central | None) -> list[str]:
    if rows == plan.records or not misses_central_target(plan, central):
        return []
    return [
        f"The central epsilon that was asked for, {plan.asked.central_epsilon}, was planned for {plan.records:,} rows and is "
        f"not reached with {rows:,}."
    ]


def _stated_central(claims: Mapping[str, Any] | None, plan: Plan, rows: int) -> Central | str | None:
    """What a file says of the central epsilon, if that is possible; a ValueError if it is not."""
    if claims is None:
        return None
    if claims["central"] is None:
        return str(claims["central_absent"])
    epsilon, delta = float(claims["central"]["epsilon"]), float(claims["central"]["delta"])
    if not 0 <= epsilon <= float(_number(plan.epsilon, up=True)) or delta != _central_delta(plan, rows):
        raise ValueError("not a central epsilon of this plan")
    return Central(epsilon, delta, 0.0)


def _checkable(data: Mapping[str, Any]) -> dict[str, Any]:
    """All but the wording, and when and with what it was made."""
    if type(data["rows"]["released"]) is not int or not all(isinstance(data[key], list) for key in SENTENCES):
        raise ValueError("not a certificate")
    rest = {key: value for key, value in data.items() if key not in (*SENTENCES, "date", "software")}
    if rest["claims"] is not None and rest["claims"]["central_absent"] is not None:
        rest["claims"] = {**rest["claims"], "central_absent": "worded by another version, perhaps"}
    return rest | {"void": len(data["void"])}


def _number(value: float, *, up: bool) -> str:
    return round_up(value, DIGITS) if up else round_down(Fraction(value), DIGITS)


def _numbers(plan: Plan, rows: int) -> dict[str, str]:
    return {"k": round_down(plan.k_for(rows), DIGITS), "epsilon": round_up(plan.epsilon, DIGITS)}


def data_digest(plan: Plan, codes: Mapping[str, Codes]) -> str:
    """SHA-256 of the released rows, the same whatever file holds them.

    Hashed are the bytes of ``pkanon-data/1``, a newline, the canonical JSON of the names of the randomised columns, a newline,
    and the codes of one column after the other: 1, 2 or 4 bytes each, the fewest that hold every code, little-endian.
    Passed columns are not in it; ``datapackage.json`` has the hash of the whole file.
    """
    names = [attribute.name for attribute in plan.schema.randomised]
    digest = hashlib.sha256(b"pkanon-data/1\n" + _files.canonical(names) + b"\n")
    for attribute in plan.schema.randomised:
        for (piece,) in pieces_of(codes, (attribute.name,)):
            column = piece.astype(code_dtype(attribute.size), copy=False)
            digest.update(column.astype(column.dtype.newbyteorder("<"), order="C", copy=False).data)
    return digest.hexdigest()


def parse_certificate(text: str, plan: Plan) -> Certificate:
    """The certificate in a JSON text."""
    try:
        data = _files.parse_json(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise PlanError(
            "The certificate is damaged: it is not a JSON object with each key once; do not rely on this release."
        )
    return Certificate.from_json(data, plan)
