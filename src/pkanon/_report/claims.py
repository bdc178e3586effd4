"""What is promised, what is not, and whether it may be published: the first screen and the first two sections.

Nothing is claimed here on the report's own authority: numbers and sentences are those of the certificate, and a void release
gets none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from .._plan import (
    MADE_UP,
    Collection,
    Readability,
    delta_above,
    level_of,
    one_row_each,
    round_down,
    round_up,
    share_above,
)
from .drawing import level_bar, level_counts
from .markup import Html, aside, bullets, element, label, paragraph, plural, table, together
from .subject import Subject

DO_NOT = "Do not publish as anonymous: this release claims nothing."
LARGEST_FACTOR = 1_000_000
"""From this factor on, epsilon promises nothing that is of use."""
MOST_NAMED = 3
"""Tables that are named on the first screen."""


def answers(subject: Subject, more: Html) -> Html:
    """The four questions of whoever has to decide, on one screen; before them ``more``, which the internal edition measured."""
    stop = "" if subject.certificate.claims else " stop"
    return element(
        "section",
        # on a phone only; whoever has the page read aloud comes to the answers at once
        element("ul", *(element("li", line) for line in _in_a_line(subject)), cls="brief", aria_hidden="true"),
        more,
        answer("What is protected?", *_protected(subject), style=stop),
        answer("What is not?", *_not_protected(subject)),
        answer("May we publish it?", *_publish(subject), style=stop),
        answer("How good are the data now?", *_quality(subject)),
        cls="answers",
        aria_label="In short",
    )


def _in_a_line(subject: Subject) -> Iterator[Html]:
    """The four answers in a line each, for a screen on which the four themselves do not fit."""
    certificate, readable = subject.certificate, subject.readable
    tables = len(readable.tables)
    usable = sum(reading.level in ("good", "fair") for reading in readable.tables)
    protected, other, publish = "nothing.", "every person in the table.", "not as anonymous."
    if certificate.claims:
        confidence = share_above(1 / subject.plan.k_for(certificate.rows))
        protected = f"which row is whose, up to {confidence} confidence."
        other = "what is true of groups; leaks; further releases."
        publish = f"only if all {len(list(conditions(subject)))} conditions below are true."
    lines = {
        "Protected": protected,
        "Not protected": other,
        "Publish": publish,
        "Data now": f"{usable:,} of {plural(tables, 'small table')} read well or fairly well.",
    }
    for question, text in lines.items():
        yield together(element("strong", f"{question}: "), text)


def answer(question: str, lead: str, more: str, *, style: str = "") -> Html:
    """A question and its answer on the first screen."""
    return element("div", element("h2", question), paragraph(lead, cls="lead"), more, cls=f"answer{style}")


def _protected(subject: Subject) -> tuple[str, str]:
    certificate = subject.certificate
    if not certificate.claims:
        return "Nothing that this release could promise.", _small("Why: see the box above and section 1.")
    confidence = share_above(1 / subject.plan.k_for(certificate.rows))
    weak = " This is weak." if any(sentence.startswith("This k is weak") for sentence in certificate.statement) else ""
    gone = (
        "Once the order of the rows is gone"
        if certificate.collection is None
        else "Where nobody noted which answer came from whom"
    )
    return (
        f"{gone}, nobody, not even your own staff, can say with more than {confidence} "
        f"confidence which row is whose.{weak}",
        bullets([*_answers_learned(subject), subject.true_rows]),
    )


def _answers_learned(subject: Subject) -> Iterator[str]:
    """What can be learned about one person's answers, in words."""
    central, row = subject.certificate.central, factor_text(subject.plan.epsilon_ratio)
    seen = "Whatever is seen is at most {} times as likely with a person's answers as with any others in their place"
    if central is not None:
        whole = factor_text(Fraction(math.exp(central.epsilon)) * (1 + Fraction(1, 10**12)))
        yield f"{seen.format(whole)}, give or take 1 chance in {_chances(central.delta)}."
        limit = f"at most {row} times" if row else "without any useful limit"
        yield f"To somebody who knows which row is that person's: {limit}."
    elif row:
        yield f"{seen.format(row)}."
    else:
        yield "There is no useful limit to what can be learned of a person's answers."


def _chances(delta: float) -> str:
    """1/delta with three digits, rounded down."""
    whole = math.floor(1 / Fraction(repr(delta)))
    zeros = max(0, len(str(whole)) - 3)
    return f"{whole // 10**zeros * 10**zeros:,}"


def factor_text(ratio: Fraction | None) -> str | None:
    """A factor rounded up, with at least three digits; None if it is of no use as a bound."""
    if ratio is None or ratio >= LARGEST_FACTOR:
        return None
    digits = 2 if ratio < 10 else 1 if ratio < 100 else 0
    return round_up(ratio, digits) if digits else f"{math.ceil(ratio):,}"


def _not_protected(subject: Subject) -> tuple[str, str]:
    certificate = subject.certificate
    passed = [attribute.name for attribute in subject.plan.schema.passed]
    lead = "What is true of groups, and whatever was published elsewhere about the same people."
    if passed:
        columns = "The column released as it is" if len(passed) == 1 else "The columns released as they are"
        lead = f"{columns}: {', '.join(passed)}."
    elif not certificate.claims:
        lead = "Every person in the table."
    several = ["People with several rows: the promise is for one row each."]
    if subject.plan.schema.repeating is not None:  # one row of each was drawn
        several = []
    count = len(certificate.outside) + len(certificate.assumptions)
    leak = "A leak: the order of the rows shows whose they are, and the key undoes everything."
    if certificate.collection is not None:
        leak = (
            "A note of when or from where an answer came: it shows whose row it is. Epsilon still holds then, because no one ever "
            "had the true answers."
        )
    return (
        lead,
        bullets(
            [
                *several,
                leak,
                "Every further release of the same people weakens the promise.",
                aside(
                    "Statistics about many people are meant to be learned, also about members of a group who are not in "
                    f"the table. Section 2 lists {plural(count, 'limit')}."
                ),
            ]
        ),
    )


def _publish(subject: Subject) -> tuple[str, str]:
    certificate = subject.certificate
    if not certificate.claims:
        return DO_NOT, bullets(certificate.void)
    return (
        "Only if all of these are true:",
        together(
            bullets(conditions(subject), cls="check"),
            _small("Then the promise holds. Whether it is enough is for you to decide; no file shows these things."),
        ),
    )


def conditions(subject: Subject) -> Iterator[str]:
    """What must be true before the promise holds, and cannot be seen in a release."""
    certificate = subject.certificate
    by = f"confirmed by {certificate.confirmed_by}" if certificate.confirmed_by else "nobody's name is recorded"
    if certificate.collection is None:
        yield f"The values are public knowledge ({by}), and nobody looked at the table to choose columns or targets."
    else:
        yield f"The lists of values were public knowledge before ({by})."
    if certificate.collection is not None and certificate.collection.simulated:
        yield "Everybody who reads it is told that the answers were simulated."
        return
    if certificate.collection is not None:
        yield from _conditions_of_devices(certificate.collection)
        return
    row = (
        f"rows are stated to be: {certificate.rows_are}" if certificate.rows_are else "what the rows are was not stated"
    )
    drawn = subject.plan.schema.repeating
    if drawn is None:
        yield f"Nobody has more than one row ({row})."
    else:
        yield f"Each value of {drawn.name} stands for one person, and one row of each was drawn ({row})."
    yield "Nobody kept the order of the rows or the key, and the program was unchanged."
    yield from _conditions_of_all()


def _conditions_of_devices(collection: Collection) -> Iterator[str]:
    enforced = (
        "an invitation was good for one answer" if collection.invited else "the link was open, nothing enforced it"
    )
    yield f"Nobody answered more than once ({enforced})."
    yield "Nobody noted when or from where answers arrived: no service, proxy, provider, log or backup."
    yield "Devices and service ran the published programs, unchanged."
    if collection.linkable:
        yield "Whoever ran the service has not matched answers with invitations by their times or addresses."
    elif collection.invited:
        yield "Invitations were redeemed apart from the answers, in time or place, as the organiser declared."
    yield from _conditions_of_all()


def _conditions_of_all() -> Iterator[str]:
    yield "Releases of the same people, added up, stay within your limit."
    yield "pkanon verify passes on the folder that you publish."


def _quality(subject: Subject) -> tuple[str, str]:
    readable = subject.readable
    singles, pairs = readable.counts(1), readable.counts(2)
    lead = f"{_usable(singles)} of {plural(len(subject.names), 'single column')}"
    if sum(pairs.values()):
        lead += f" and {_usable(pairs)} of {plural(sum(pairs.values()), 'two-column table')}"
    lead += " read well or fairly well."
    parts = [] if subject.plan.schema.repeating is None else [_small(one_row_each(subject.plan))]
    parts.append(_levels("Single columns", singles))
    parts += [_levels("Two columns", pairs)] if sum(pairs.values()) else []
    return lead, together(*parts, _small(together(*_weakest(readable))))


def _levels(words: str, counts: dict[str, int]) -> Html:
    return element(
        "div",
        paragraph(f"{words}: ", level_counts(counts), cls="levels"),
        level_bar(counts, f"{words}, by how they read"),
    )


def _weakest(readable: Readability) -> Iterator[str]:
    """The tables that read worst, in words."""
    order = sorted(readable.tables, key=lambda reading: (-reading.l1, reading.name))
    level = order[0].level
    same = [reading for reading in order if reading.level == level]
    if level == "good":
        yield "Every table of one or two columns reads well."
    else:
        for place, reading in enumerate(same[:MOST_NAMED]):
            yield "" if not place else " and " if place == len(same) - 1 else ", "
            yield label(reading.name)
        more = len(same) - MOST_NAMED
        yield f" and {more:,} more" if more > 0 else ""
        yield {"not readable": " cannot be read", "poor": " read poorly" if len(same) > 1 else " reads poorly"}.get(
            level, " read only fairly well" if len(same) > 1 else " reads only fairly well"
        )
        yield "."
    yield " Counts must be corrected first (section 7). Section 5 has every table."


def error_text(l1: float) -> str:
    """An L1 error for people to read."""
    return "nothing left" if math.isinf(l1) else f"error {_percent(l1)}"


def _percent(l1: float) -> str:
    text = f"{100 * l1:.2g}" if l1 < 0.1 else f"{100 * l1:.0f}"
    if level_of(float(text) / 100) != level_of(l1):  # 29.7% is fair, and must not be shown as 30%
        return f"{math.floor(1e4 * l1) / 100:g}%"
    return f"{float(text):,.0f}%" if l1 >= 0.1 else f"{text}%"


def _usable(counts: dict[str, int]) -> str:
    return f"{counts['good'] + counts['fair']:,}"


def _small(content: str) -> Html:
    return paragraph(content, cls="more")


def void_box(subject: Subject) -> Html:
    """The warning above everything else; nothing for a release that claims something."""
    if subject.certificate.claims:
        return Html("")
    return element(
        "section",
        element("h2", DO_NOT),
        bullets(subject.certificate.void),
        cls="void",
        role="note",
    )


def simulated_box(subject: Subject) -> Html:
    """The warning above the answers of a survey that was only tried; nothing for any other release."""
    collection = subject.certificate.collection
    if collection is None or not collection.simulated:
        return Html("")
    return element("section", element("h2", "Simulated."), paragraph(MADE_UP), cls="void", role="note")


def promise(subject: Subject) -> Html:
    """The promise in plain words, and its numbers."""
    certificate = subject.certificate
    if not certificate.claims:
        return together(
            paragraph(element("strong", DO_NOT)),
            paragraph("Why:"),
            bullets(certificate.void),
            paragraph("So no k and no epsilon are stated in this report. What was done to the rows is in section 4."),
        )
    return together(
        *(paragraph(sentence) for sentence in certificate.statement),
        paragraph(
            "How to read it. 1/k bounds the confidence with which a row can be said to be a given person's: 50% is a "
            "coin toss, 1% is one chance in a hundred. Epsilon bounds how much one person's answers can change what "
            "is published: a factor near 1 is strong protection, a factor of several hundred is weak, and then the "
            "promise rests on k."
        ),
        table(["", ""], list(_numbers(subject)), cls="plain"),
    )


def _numbers(subject: Subject) -> Iterator[tuple[str, str]]:
    certificate, asked = subject.certificate, subject.plan.asked
    assert certificate.k is not None
    assert certificate.epsilon is not None
    if asked.k is not None:
        yield "k asked for", asked.k
    if certificate.rows != certificate.planned and certificate.k_planned is not None:
        yield f"k for the {certificate.planned:,} rows planned", round_down(Fraction(certificate.k_planned))
    yield f"k for the {certificate.rows:,} rows released", round_down(Fraction(certificate.k))
    if asked.epsilon is not None:
        yield "epsilon asked for", asked.epsilon
    yield "epsilon reached", round_up(certificate.epsilon)
    if certificate.epsilon_unbounded is not None:
        yield "epsilon, if it is also to hide who is in the table", round_up(certificate.epsilon_unbounded)
    if certificate.central is not None:
        central = f"epsilon {round_up(certificate.central.epsilon)}, delta {delta_above(certificate.central.delta)}"
        yield "central epsilon, of the shuffled release as a whole", central
    elif certificate.central_absent:
        yield "central epsilon, of the shuffled release as a whole", f"not stated: {certificate.central_absent}"
    yield "design", asked.design or "made by hand"
    yield "rows that have every answer as it was given", subject.as_given
    yield "values confirmed as public knowledge by", certificate.confirmed_by or "not stated"
    if certificate.confirmed_on:
        yield "confirmed on", certificate.confirmed_on
    yield "what the rows are", certificate.rows_are or "not stated"


def limits(subject: Subject) -> Html:
    """What the promise rests on and what it does not cover."""
    certificate = subject.certificate
    parts = []
    if not certificate.claims:
        parts.append(paragraph("The release promises nothing. What follows would limit a promise too."))
    if certificate.assumptions:
        parts += [element("h3", "What the promise rests on"), bullets(certificate.assumptions)]
    parts += [element("h3", "Outside of any promise"), bullets(certificate.outside)]
    if subject.release.remarks:
        remarks = [remark[:1].upper() + remark[1:] for remark in subject.release.remarks]
        parts += [element("h3", "What the numbers do not account for"), bullets(remarks)]
    if certificate.claims:
        parts += [element("h3", "Before you publish"), bullets(conditions(subject), cls="check")]
    return together(*parts)
