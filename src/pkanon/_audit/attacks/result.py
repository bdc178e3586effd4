"""What an attack found, and what it says about the promise."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..._plan import round_down, round_up
from ..._results import Confidence
from ..resemblance import Resemblance
from ..shares import upper_share
from .rehearsal import Bin
from .values import Guess

if TYPE_CHECKING:
    import altair


MADE_BY_PLAN = "made by the plan"
"""The check that the rows fit the private table and the plan."""


@dataclass(frozen=True)
class Promise:
    """One thing that an honest release passes: whether it is ``kept``, and what was found."""

    name: str
    kept: bool
    text: str


@dataclass(frozen=True)
class Posterior:
    """The exact chance of the likeliest link of all; ``whole`` says that it was computed without any rounding."""

    highest: float
    whole: bool


@dataclass(frozen=True)
class Links:
    """Guesses of whose each row is.

    ``stated`` and ``highest`` are the mean and the highest confidence in the release that was given. ``bins`` are guesses in
    ``rehearsals``, in which the order is known. ``columns`` are what the adversary used.
    """

    stated: float
    highest: float
    rehearsals: int
    bins: tuple[Bin, ...]
    columns: tuple[str, ...]

    @property
    def whole(self) -> Bin:
        """All rehearsed guesses together."""
        rows, hits = sum(each.rows for each in self.bins), sum(each.hits for each in self.bins)
        return Bin(sum(each.stated * each.rows for each in self.bins) / rows, rows, hits)


@dataclass(frozen=True)
class Attack:
    """What an adversary who knows the private table gets out of a release, against its promise.

    Attributes
    ----------
    rows
        How many rows were published.
    k
        The k of the plan for these rows; None if there is no plan.
    void
        Whether plan or release is void: then nothing is promised.
    false_alarm
        How often an honest release fails, at most.
    checks
        Each with ``name``, ``kept`` and ``text``.
    posterior
        ``highest``: the exact chance of the likeliest link; None if the table is too large.
    links
        ``stated`` and ``highest`` confidence in this release; ``whole`` and ``bins``: hits in ``rehearsals``; the ``columns`` used.
    guesses
        For each ``attribute`` how often it is guessed: the ``commonest`` value, from the ``others``, from what is ``released``
        too, and the ``bound`` of the certificate.
    resemblance
        The classical measures: ``uniques``, ``equal`` rows, ``nearest`` rows.
    notes
        What was left out, and why.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"sex": ["F", "M"] * 500, "smoker": [True, False, False, False] * 250})
    >>> schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("smoker", [False, True])])
    >>> release = pk.release(people, pk.plan(schema, records=1_000, k=20))
    >>> found = pk.attack(people, release)
    >>> found.kept, found.links.highest <= 1 / found.k
    (True, True)
    """

    rows: int
    k: float | None
    void: bool
    false_alarm: float
    checks: tuple[Promise, ...]
    posterior: Posterior | None
    links: Links | None
    guesses: tuple[Guess, ...] = field(repr=False)
    resemblance: Resemblance = field(repr=False)
    notes: tuple[str, ...]

    @property
    def kept(self) -> bool:
        """Whether every check passed."""
        return all(check.kept for check in self.checks)

    @property
    def misfit(self) -> str:
        """Why the rows do not fit the private table and the plan; "" if nothing speaks against it."""
        return next((check.text for check in self.checks if check.name == MADE_BY_PLAN and not check.kept), "")

    @property
    def line(self) -> float | None:
        """1/k: nobody may be more confident of a link."""
        return None if self.k is None else 1 / self.k

    def chart(self) -> altair.LayerChart | altair.FacetChart:
        """Hit rate against stated confidence, with the line 1/k. Needs the extra ``charts``."""
        from ..._errors import InputError

        if self.links is None or self.line is None:
            raise InputError("There is nothing to draw: without a plan no confidence can be stated.")
        from ..._results.charts import confidence_chart

        points = [Confidence(each.stated, each.hit_rate, *each.interval(), each.rows) for each in self.links.bins]
        return confidence_chart(points, self.line, self.links.highest, self.rows)

    def to_json(self) -> dict[str, Any]:
        """Every number, for a JSON document."""
        links = None
        if self.links is not None:
            whole = self.links.whole
            links = {
                "columns": list(self.links.columns),
                "stated": self.links.stated,
                "stated_highest": self.links.highest,
                "rehearsals": self.links.rehearsals,
                "guesses": whole.rows,
                "hits": whole.hits,
                "hit_rate": whole.hit_rate,
                "hit_rate_at_most": float(upper_share(whole.hits, whole.rows, 0.05)),
                "bins": [
                    {"stated": b.stated, "guesses": b.rows, "hits": b.hits, "hit_rate": b.hit_rate}
                    for b in self.links.bins
                ],
            }
        return {
            "kept": self.kept,
            "rows": self.rows,
            "k": self.k,
            "void": self.void,
            "line": self.line,
            "false_alarm": self.false_alarm,
            "checks": [asdict(check) for check in self.checks],
            "posterior": None if self.posterior is None else asdict(self.posterior),
            "links": links,
            "guesses": [asdict(guess) for guess in self.guesses],
            "classical": asdict(self.resemblance),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        if self.k is None:
            return f"Attack on {self.rows:,} rows without a plan: nothing is promised, classical measures only"
        if self.kept:
            verdict = "nothing breaks the promise"
        elif self.misfit:
            verdict = "the rows do NOT fit this table and this plan"
        else:
            verdict = "the promise is NOT kept"
        promised = (
            "of a void release, which promises nothing" if self.void else f"with k = {round_down(Fraction(self.k))}"
        )
        return f"Attack on {self.rows:,} rows {promised}: {verdict}"

    def __repr__(self) -> str:
        return f"<{self}>"


def percent(share: float | Fraction) -> str:
    """A share in percent with about three digits, rounded up."""
    value = Fraction(share) * 100
    digits = 1 if value >= 10 else 2 if value >= 1 else 3 if value >= Fraction(1, 10) else 5
    return f"{round_up(value, digits)}%"
