"""The custodian's own attack: everything that an adversary with the private table could try, against the promise.

The verdict rests on what has a known chance of a false alarm: the exact chances of a small table, which have none; whether
the plan can have made this release of this table, in this order; and hits of rehearsals above the line 1/k. The stated
confidences of a large table are approximate and decide nothing.

Numbers that a release rounds to points at random (``points``) were rounded in a way that nobody knows. Exact chances and counts
reckon with every way. For guesses the numbers are rounded once more, and the adversary is told how: she knows more than anybody.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from ..._errors import DataError, InputError, did_you_mean
from ..._frames import TextFormat, coded_tables, encode, encode_released
from ..._plan import Plan
from ..._progress import Progress, quiet
from ..._release import Release, carries_plan, open_release
from ..._sample import Randomness, System
from ..._schema import Codes
from ..classical import class_of
from ..resemblance import resemblance
from ..shares import lower_share
from .combinations import Whole
from .likeness import Likeness, counts_likeness, order_likeness
from .matching import Cells, Matching
from .mechanism import Mechanism
from .posterior import MOST_STEPS, link_chances, steps
from .rehearsal import Bin, rehearse
from .result import MADE_BY_PLAN, Attack, Links, Posterior, Promise, percent
from .values import guesses
from .ways import Way, mixed_chances, rounded, tables, ways_of

FALSE_ALARM = 1e-6
"""How often an honest release fails, at most; split evenly between counts, order and hits."""
ROUNDING = 1e-9
"""By how much, relatively, an exact chance that was computed in floats may be off."""


def attack(
    private: object,
    release: object,
    *,
    plan: Plan | None = None,
    columns: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    rehearsals: int | None = None,
    randomness: Randomness | None = None,
    text: TextFormat | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Attack a release as somebody would who knows the private table and the plan, and compare with what is promised.

    Nobody knows whose the rows of a release are, so hits are counted in rehearsals: the table is randomised again with the
    same plan and a fresh key. Stated confidences are those in the release that is given.

    Parameters
    ----------
    private
        The private table: a data frame, the path of a file, or a :class:`TableFile`.
    release
        A release, its folder or its Parquet file; or any other published table, for the classical measures only.
    plan
        The plan, if ``release`` is a table that does not carry it.
    columns
        The columns for the classical measures; all by default.
    sensitive
        The attributes to guess; all by default.
    rehearsals
        How often to randomise the table again; by default until there are 100,000 rows, and once at least.
    randomness
        Where the keys of rehearsals come from: the operating system by default.
    text
        Delimiter and encoding, if a table is a text file.
    progress
        Called with the name of a step and the share of it that is done.

    Examples
    --------
    >>> import pkanon as pk
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [31, 31, 42, 42, 57], "smoker": ["yes", "no", "no", "no", "yes"]})
    >>> generalised = pl.DataFrame({"age": ["30-39", "30-39", "40-59", "40-59", "40-59"], "smoker": people["smoker"]})
    >>> pk.attack(people, generalised).resemblance.uniques[-1]
    Uniques(columns=('age', 'smoker'), private=3, published=3)
    """
    progress, text = progress or quiet, text or TextFormat()
    if isinstance(columns, str) or isinstance(sensitive, str):
        raise InputError("Name columns and sensitive attributes as lists.")
    if rehearsals is not None and (isinstance(rehearsals, bool) or not isinstance(rehearsals, int) or rehearsals < 1):
        raise InputError("The number of rehearsals is a whole number, 1 or more.")
    if isinstance(private, (str, os.PathLike)) and Path(private).is_dir():
        raise InputError(f"{private} is a folder; the private table comes first, then the release.")
    opened = _opened(release, plan)
    if opened is None:
        if isinstance(release, (str, os.PathLike)) and Path(release).with_name("certificate.json").is_file():
            raise InputError(
                f"{release} lies in the folder of a release; give the folder {Path(release).parent}, or plan (--plan)."
            )
        if sensitive is not None:
            raise InputError("Guesses of a sensitive attribute need the plan of the release; give plan (--plan).")
        return _without_plan(private, release, columns, text, progress)
    made_by, rows, void = opened
    names = [attribute.name for attribute in made_by.schema.randomised]
    for asked in (*(columns or ()), *(sensitive or ())):
        if asked not in names:
            raise InputError(f"'{asked}' is not a randomised attribute. {did_you_mean(asked, names)}")
    people = encode(private, made_by.schema, text=text, unrounded=True, progress=progress).codes
    return _Room(made_by, people, rows, void, randomness or System(), progress).attacked(
        list(columns or names), list(sensitive or names), rehearsals
    )


def _opened(release: object, plan: Plan | None) -> tuple[Plan, Mapping[str, Codes], Sequence[str]] | None:
    """The plan, the released codes and what voids them; None if there is no plan."""
    if isinstance(release, Release):
        if plan is not None and plan.digest != release.plan.digest:
            raise InputError("The release has a plan of its own, and it is another one; leave out plan (--plan).")
        return release.plan, release.codes, release.certificate.void
    if plan is not None:
        return plan, encode_released(release, plan.schema).codes, plan.void_reasons
    if isinstance(release, (str, os.PathLike)) and (Path(release).is_dir() or carries_plan(Path(release))):
        found = open_release(Path(release))
        return found.plan, found.codes, found.certificate.void
    return None


def _without_plan(
    private: object, published: object, columns: Sequence[str] | None, text: TextFormat, progress: Progress
) -> Attack:
    progress("reading", 0)
    ours, theirs = coded_tables([private, published], columns, text)
    progress("comparing", 0)
    found = resemblance(ours.columns, theirs.columns)
    note = (
        "The published table has no plan, so nothing is known about how its rows were made: there are classical measures "
        "only. They are risks where rows are generalised, swapped or copied."
    )
    return Attack(theirs.rows, None, False, FALSE_ALARM, (), None, None, (), found, (note,))


class _Room:
    """One attack: the plan, the people and the rows, as codes of attributes and of units."""

    def __init__(
        self,
        plan: Plan,
        people: Mapping[str, Codes],
        rows: Mapping[str, Codes],
        void: Sequence[str],
        randomness: Randomness,
        progress: Progress,
    ) -> None:
        self.plan, self.places, self.rows, self.void = plan, people, rows, void
        self.randomness, self.progress = randomness, progress
        self.pointed = [attribute.name for attribute in plan.schema.pointed]
        self.people = known = rounded(plan, people, randomness) if self.pointed else people
        self.known = [unit.join([known[name] for name in unit.attributes]) for unit in plan.units]
        self.ways = ways_of(plan, people) if self.pointed else [[Way(column)] for column in self.known]
        self.made = [unit.join([rows[name] for name in unit.attributes]) for unit in plan.units]
        self.persons, self.count = len(self.known[0]), len(self.made[0])
        hidden = plan.count_noise is not None
        if self.persons != self.count and not hidden:
            raise DataError(
                f"The private table has {self.persons:,} rows and the release {self.count:,}: it was not made of this table."
            )
        self.square = not hidden
        self.k = plan.k_for(self.count)
        self.mechanism = Mechanism.of(plan, [self.known, self.made])

    def attacked(self, columns: list[str], sensitive: list[str], rehearsals: int | None) -> Attack:
        self.progress("matching", 0)
        numbers = self.mechanism.numbers
        matching = Matching.of(self.mechanism, Cells.of(numbers(self.known)), Cells.of(numbers(self.made)))
        checks, notes, posterior, links = self._honest(matching), self._notes(), None, None
        self.progress("matching", 1)
        if matching.possible:
            posterior = self._exact(matching)
            if posterior is not None:
                checks.append(self._judged(posterior))
            line = 1 / float(self.k)
            count, bins = rehearse(self.plan, self.known, rehearsals, self.randomness, line, self.progress)
            stated = matching.stated
            names = tuple(n for unit in self.mechanism.units for n in self.plan.units[unit].attributes)
            mean = float((stated * matching.rows.counts).sum() / self.count)
            links = Links(mean, float(stated.max()), count, tuple(bins), names)
            checks.append(self._hits(links))
        self.progress("guessing", 0)
        guessed = guesses(self.plan, self.people, matching, sensitive) if matching.possible else []
        self.progress("comparing", 0)
        alike = resemblance({n: self.people[n] for n in columns}, {n: self.rows[n] for n in columns})
        if matching.possible and len(guessed) < len(sensitive):
            notes.append("Some attributes were not guessed: too many combinations of values, or no other attribute.")
        return Attack(
            rows=self.count,
            k=float(self.k),
            void=bool(self.void),
            false_alarm=FALSE_ALARM,
            checks=tuple(checks),
            posterior=posterior,
            links=links,
            guesses=tuple(guessed),
            resemblance=alike,
            notes=tuple(notes),
        )

    def _notes(self) -> list[str]:
        notes = [
            f"The release is void, so no k is promised; the line is that of its probabilities. {reason}"
            for reason in self.void[:1]
        ]
        if self.pointed:
            notes.append(
                f"Numbers of {', '.join(self.pointed)} were rounded at random for the release, and nobody knows how. For guesses, "
                "confidences and classical measures they were rounded anew, and the adversary is told how, which is more than "
                "anybody can know."
            )
        if not self.mechanism.complete:
            notes.append(
                "The columns have too many combinations for one attack; the adversary uses those that tell most."
            )
        if not all(self.ways) and self.square:
            notes.append(
                "The numbers can have been rounded in too many ways, so neither exact chances nor a check of counts are made."
            )
        if not self.square:
            notes.append(
                "The record count is hidden: rows were dropped or added, so neither exact chances nor checks of counts and "
                "order are made."
            )
        return notes

    def _honest(self, matching: Matching) -> list[Promise]:
        """Whether the plan made these rows of these people, in a random order."""
        if not matching.possible and not self.pointed:  # rounded in another way, they may be possible
            text = "The plan cannot have made these rows of this table: some of them have a chance of 0."
            return [Promise(MADE_BY_PLAN, False, text)]
        if not self.square:
            return []
        counts = self._counts()
        order = order_likeness(self.mechanism, self.known, self.made)
        made = [] if counts is None else [
            self._likely(
                MADE_BY_PLAN, counts, "The released counts are such as the plan makes of this table, or of one like it",
                "The released counts are not what the plan makes of this table: it was not randomised, or with another "
                "plan, or it is another table",
            ),
        ]  # fmt: skip
        return [
            *made,
            self._likely(
                "random order", order, "The rows are in no order that the private table knows",
                "Too many rows stand where their people stand in the private table: they were not shuffled",
            ),
        ]  # fmt: skip

    def _counts(self) -> Likeness | None:
        """None if the numbers can have been rounded in too many ways."""
        if not self.pointed:
            return counts_likeness(self.mechanism, self.known, self.made)
        if not all(self.ways):
            return None
        mechanism = Mechanism.of(self.plan, [*tables(self.ways), self.made])
        return counts_likeness(mechanism, self.known, self.made, self.ways)

    def _likely(self, name: str, found: Likeness, good: str, bad: str) -> Promise:
        kept = found.chance >= FALSE_ALARM / 3
        if kept:
            return Promise(name, True, f"{good}.")
        chance = f"below {max(found.chance, 1e-300):.0e}"
        return Promise(name, False, f"{bad} (most of all {', '.join(found.where)}; chance {chance}).")

    def _exact(self, matching: Matching) -> Posterior | None:
        """The exact chances, if the table is small enough."""
        if not self.square or not self.mechanism.complete or not all(self.ways):
            return None
        people, rows = self._alike(matching)
        counts = matching.rows.counts.tolist()
        if steps(people.tolist(), counts) > MOST_STEPS:
            return None
        first = np.unique(matching.rows.where, return_index=True)[1]
        made = [[int(column[row]) for column in self.made] for row in first]
        found = link_chances(mixed_chances(self.plan, self.ways, rows.tolist(), made), people.tolist(), counts)
        if found is None:
            return None
        highest = found.max()
        return Posterior(float(highest), isinstance(highest, Fraction))

    def _alike(self, matching: Matching) -> tuple[Whole, Whole]:
        """How many people of each kind there are, and the row of one of them; kinds differ by what the plan makes of them."""
        if not self.pointed:
            return matching.people.counts, np.unique(matching.people.where, return_index=True)[1]
        where = class_of([self.places[attribute.name] for attribute in self.plan.schema.randomised])
        return np.bincount(where), np.unique(where, return_index=True)[1]

    def _judged(self, posterior: Posterior) -> Promise:
        kept = posterior.highest <= (1 + ROUNDING) / float(self.k)
        text = f"The likeliest link of all has a chance of {percent(posterior.highest)}; 1/k is {percent(1 / self.k)}."
        return Promise("exact chances", kept, text)

    def _hits(self, links: Links) -> Promise:
        """Whether hits are above 1/k beyond chance, over all guesses or in any bin of confidence."""
        tried: list[Bin] = [links.whole, *links.bins]
        surely = max(float(lower_share(each.hits, each.rows, FALSE_ALARM / 3 / len(tried))) for each in tried)
        whole, kept = links.whole, surely <= 1 / float(self.k)
        text = f"{whole.hits:,} of {whole.rows:,} guesses were right; 1/k is {percent(1 / self.k)}."
        if not kept:
            text = f"Guesses are right in more than {percent(surely)} of the rows; 1/k is {percent(1 / self.k)}."
        return Promise("hits in rehearsals", kept, text)
