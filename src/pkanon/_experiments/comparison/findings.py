"""Who wins where, in words that follow from the numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from ..document import number
from .measure import AS_IS, COMMONEST, DESIGNS, INDEPENDENT, METHODS, MODEL, MONDRIAN, OTHERS, RAW, USES

TITLES = {
    "l1_1": "Tables of one attribute",
    "l1_2": "Tables of two attributes",
    "l1_3": "Tables of three attributes",
    "l1_first4": "The table of the first four attributes",
    "query_error": "Counting queries (mean absolute error)",
    "query_relative": "Counting queries (median relative error)",
    "cramers_v": "Cramér's V of all pairs",
    "accuracy": "A classifier's accuracy on new people",
    "log_loss": "A classifier's log-loss on new people",
    "linkage": "The share of people whose own row is picked by somebody who knows everybody's values",
    "linkage_highest": "The highest confidence in any pick",
    "inference": "The share of people whose target is guessed by somebody who knows their other values",
    "certain": "The share of people whose target is certain, because only one value is left",
}
OVERALL = "overall"
HIGHER = ("accuracy",)
RANDOMISED = [f"{design} {method}" for design in DESIGNS for method in (*METHODS, MODEL)]
ATTACKED = (MONDRIAN, AS_IS, *DESIGNS)
NAMES = {MONDRIAN: "Mondrian", AS_IS: "Mondrian with the target as it is"}


@dataclass(frozen=True)
class Finding:
    """The result of one measure. ``best`` names the best way at each k, where there is one."""

    measure: str
    text: str
    best: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Numbers:
    """The values of a comparison by measure, k and way."""

    frame: pl.DataFrame

    def value(self, measure: str, k: int | None, way: str) -> float | None:
        """One of them; None if it was not measured."""
        found = self.frame.filter(
            (pl.col("measure") == measure) & (pl.col("way") == way) & pl.col("k").eq_missing(pl.lit(k, pl.Int64))
        )["value"].to_list()
        return found[0] if found else None

    @property
    def ks(self) -> list[int]:
        """All k that were compared."""
        return sorted(set(self.frame.drop_nulls("k")["k"].to_list()))

    @property
    def ends(self) -> list[int]:
        """The smallest and the largest of them."""
        return list(dict.fromkeys((self.ks[0], self.ks[-1])))

    def at(self, measure: str, k: int, ways: Sequence[str]) -> dict[str, float]:
        """What these ways have at one k."""
        found = ((way, self.value(measure, k, way)) for way in ways)
        return {way: value for way, value in found if value is not None}

    def over(self, measure: str, way: str, limit: Callable[[int], float]) -> list[int]:
        """Where a way has more than a limit, rounding aside."""
        return [k for k in self.ks for value in self.at(measure, k, [way]).values() if value > limit(k) * (1 + 1e-9)]

    def said(self, measure: str) -> str:
        """What an adversary gets at both ends."""
        return "; ".join(f"k = {k:,}: {_values(self.at(measure, k, ATTACKED))}" for k in self.ends)


def findings(frame: pl.DataFrame) -> list[Finding]:
    """All of them: what the published is good for, then what it gives away."""
    numbers = Numbers(frame)
    used = [finding for finding in (_use(numbers, measure) for measure in USES) if finding]
    risks = (_linkage(numbers), _highest(numbers), _inference(numbers), _certain(numbers))
    return [_overall(numbers, used), *used, *(finding for finding in risks if finding)]


def _overall(numbers: Numbers, used: Sequence[Finding]) -> Finding:
    """Everything in two sentences."""
    wins = ", ".join(f"in {sum(finding.best.get(k) == MONDRIAN for finding in used)} at k = {k:,}" for k in numbers.ks)
    k = numbers.ks[0]
    picked = numbers.at("linkage", k, [MONDRIAN, *DESIGNS])
    return Finding(
        OVERALL,
        f"Of {len(used)} measures of use Mondrian is best {wins}; a randomised way is best in the others. (Mondrian with all "
        f"attributes generalised; with the target as it is, less is protected.) At k = {k:,} somebody who knows everybody's values "
        f"picks the right row of this share of the people: {_values(picked)}.",
    )


def _use(numbers: Numbers, measure: str) -> Finding | None:
    """Mondrian with everything generalised against the randomised ways, which protect everything too.

    Numbers of a randomised design are those of its best reading.
    """
    sign = -1 if measure in HIGHER else 1
    best: dict[int, str] = {}
    for k in numbers.ks:
        found = numbers.at(measure, k, [MONDRIAN, *RANDOMISED])
        if found:
            best[k] = min(found, key=lambda way: sign * found[way])
    if not best:
        return None
    places: dict[str, list[int]] = {}
    for k, way in best.items():
        places.setdefault(way, []).append(k)
    won = "; ".join(f"{NAMES.get(way, way)} at k = {_list(ks)}" for way, ks in places.items())
    parts = []
    for k in numbers.ends:
        found = numbers.at(measure, k, [MONDRIAN, AS_IS])
        for design in DESIGNS:
            readings = numbers.at(measure, k, [f"{design} {method}" for method in (*METHODS, MODEL)])
            found |= {design: sign * min(sign * value for value in readings.values())} if readings else {}
        parts.append(f"k = {k:,}: {_values(found)}")
    beside = "".join(
        f" {said}: {number(value)}."
        for way, said in (
            (RAW, "The raw data"),
            (COMMONEST, "Naming the commonest value"),
            (INDEPENDENT, "As if all were independent"),
        )
        if (value := numbers.value(measure, None, way)) is not None
    )
    return Finding(measure, f"{TITLES[measure]}. Best: {won}. {'; '.join(parts)}.{beside}", best)


def _linkage(numbers: Numbers) -> Finding:
    promised = ", ".join(number(1 / k) for k in numbers.ends)
    return Finding(
        "linkage",
        f"{TITLES['linkage']}. {numbers.said('linkage')}. 1/k is {promised}.",
    )


def _highest(numbers: Numbers) -> Finding:
    kept = not any(numbers.over("linkage_highest", way, _promise) for way in (MONDRIAN, *DESIGNS))
    broken = numbers.over("linkage_highest", AS_IS, _promise)
    text = (
        f"{TITLES['linkage_highest']}. {numbers.said('linkage_highest')}. "
        f"At most 1/k {'everywhere' if kept else 'NOT everywhere'} where all attributes are protected."
    )
    if broken:
        text += f" With the target as it is, somebody who knows the target's value too exceeds 1/k (at k = {_list(broken)})."
    return Finding("linkage_highest", text)


def _inference(numbers: Numbers) -> Finding | None:
    commonest, others = (numbers.value("inference", None, way) for way in (COMMONEST, OTHERS))
    if commonest is None or others is None or not numbers.at("inference", numbers.ks[0], ATTACKED):
        return None
    above = {way: numbers.over("inference", way, lambda _: others) for way in ATTACKED}
    parts = [f"{NAMES.get(way, way)} at k = {_list(ks)}" for way, ks in above.items() if ks]
    more = f"More than that is learnt from {' and '.join(parts)}" if parts else "No way lets more be guessed than that"
    return Finding(
        "inference",
        f"{TITLES['inference']}. Naming the commonest value is right for {number(commonest)} of the people, the data of all other "
        f"people guess {number(others)} right. {more}. {numbers.said('inference')}.",
    )


def _certain(numbers: Numbers) -> Finding | None:
    others = numbers.value("certain", None, OTHERS)
    if others is None or not numbers.at("certain", numbers.ks[0], ATTACKED):
        return None
    return Finding(
        "certain",
        f"{TITLES['certain']}. {numbers.said('certain')}. In the true "
        f"table, {number(others)} of the people have the target of all others with the same known values: so much follows from "
        "the kind of people they are. After randomisation every value stays possible for everybody.",
    )


def _promise(k: int) -> float:
    return 1 / k


def _values(found: dict[str, float]) -> str:
    return ", ".join(f"{NAMES.get(way, way)} {number(value)}" for way, value in found.items())


def _list(ks: list[int]) -> str:
    return ", ".join(f"{k:,}" for k in ks)
