"""The report of a release: self-contained, inert labels, honest answers, numbers that are those of the release."""

import datetime as dt
import html
import math
import re
import stat
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import pkanon as pk
from pkanon._report.claims import _chances, factor_text
from pkanon._report.drawing import share_mark, share_scale
from pkanon._report.page import INTERNAL
from pkanon._report.subject import number, percent

ROWS = 2_000
SCHEMA = pk.Schema(
    [
        pk.Attribute("sex", ["F", "M"]),
        pk.Attribute("job", ["farmer", "nurse", "pilot"], other="other", missing="value"),
        pk.Attribute.ranged("rooms", 1, 300),
    ],
    confirmed_by="R. Officer",
    rows_are="one resident",
)


@pytest.fixture(scope="module")
def people():
    draw = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "sex": draw.choice(["F", "M"], ROWS, p=[0.3, 0.7]),
            "job": [["farmer", "nurse", "clerk", None][code] for code in draw.integers(0, 4, ROWS)],
            "rooms": draw.integers(1, 300, ROWS),
        }
    )


@pytest.fixture(scope="module")
def release(people):
    return pk.release(people, pk.plan(SCHEMA, records=ROWS, k=20))


class Page(HTMLParser):
    """The elements of a page, its text, and whether every element is closed where it was opened."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.open, self.torn = [], [], [], []
        self.feed(text)
        self.close()
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.torn.append(tag)

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def page_of(release, **more):
    return Page(pk.report(release, **more).html)


def problems(text):
    """Whatever in a page could run or be loaded."""
    page = Page(text)
    found = [
        tag for tag, _ in page.elements if tag in ("script", "link", "iframe", "img", "object", "embed", "base", "form")
    ]
    for _, attributes in page.elements:
        found += [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "xlink:href")]
        found += [value for name, value in attributes.items() if name == "href" and not value.startswith("#")]
        found += [value for name, value in attributes.items() if name == "style" and "url" in value]
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    found += re.findall(r"url\(|@import|https?:", style)
    return found + page.torn + page.open


def test_nothing_is_loaded_and_nothing_runs(release, people):
    for private in (None, people):
        assert (
            problems(pk.report(release, private=private, attack=False, title="A title", contact="x@example.org").html)
            == []
        )


@pytest.mark.parametrize(
    "wrong",
    [
        "<script></script>",
        "<img src='x'>",
        "<a href='https://example.org'>",
        "<b onclick='x'></b>",
        "<b style='background:url(x)'></b>",
        "<b>",
    ],
)
def test_a_page_that_loads_something_would_be_noticed(release, wrong):
    text = pk.report(release).html.replace("<main>", "<main>" + wrong)
    assert problems(text) != []


def test_the_policy_forbids_loading(release):
    policies = [meta["content"] for meta in page_of(release).all("meta") if meta.get("http-equiv")]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><script>alert(2)</script>",
    "<!-- ",
    "&lt;b&gt;",
    "nul \x01 esc \x1b",
]


def test_hostile_labels_are_text():
    schema = pk.Schema(
        [pk.Attribute(HOSTILE[0], HOSTILE), pk.Attribute(HOSTILE[1], HOSTILE[:2])],
        [pk.Bundle(HOSTILE[:2], forbid=[{HOSTILE[0]: HOSTILE[2:3], HOSTILE[1]: HOSTILE[:1]}])],
        confirmed_by=HOSTILE[2],
        rows_are=HOSTILE[3],
    )
    people = pl.DataFrame({HOSTILE[0]: HOSTILE[:2] * 300, HOSTILE[1]: HOSTILE[:2] * 300})
    release = pk.release(people, pk.plan(schema, records=600, k=5, design="equal-rho"))
    texts = {"title": HOSTILE[0], "organisation": HOSTILE[1], "contact": HOSTILE[2]}
    text = pk.report(release, private=people, attack=False, **texts).html
    assert problems(text) == []
    page = Page(text)
    for label in HOSTILE[:5]:
        assert label in html.unescape(text)
        assert label.strip() in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", text)


def test_labels_are_isolated(release):
    """A label that is written from right to left does not turn what stands beside it."""
    text = pk.report(release).html
    for label in ("farmer", "job"):
        assert f"<bdi>{label}</bdi>" in text


def test_four_questions_come_first(release):
    text = pk.report(release).html
    places = [text.index(f"<h2>{question}</h2>") for question in (
        "What is protected?", "What is not?", "May we publish it?", "How good are the data now?",
    )]  # fmt: skip
    assert places == sorted(places)
    assert places[-1] < text.index('id="section-1"')


def in_a_line(release):
    """The four answers as a phone shows them first."""
    return Page(
        pk.report(release).html.partition('<ul class="brief" aria-hidden="true">')[2].partition("</ul>")[0]
    ).text


def test_a_phone_shows_four_answers_in_a_line_each(release):
    text = in_a_line(release)
    assert f"which row is whose, up to {100 / release.certificate.k:.3g}% confidence." in text
    assert "Publish: only if all 5 conditions below are true." in text
    assert "small tables read well or fairly well." in text


def test_the_conditions_leave_out_nothing_that_the_promise_rests_on(release):
    """ "Then the promise holds" is said below them: values, targets, rows, order, key and program are all there."""
    text = Page(pk.report(release).html).text.partition("Only if all of these are true:")[2].partition("Then the")[0]
    for word in (
        "values",
        "targets",
        "more than one row",
        "order",
        "key",
        "program was unchanged",
        "Releases of the same",
    ):
        assert word in text


def test_a_void_release_is_not_made_better_in_a_line(people):
    text = in_a_line(pk.release(people, pk.plan(SCHEMA, records=ROWS, k=20), randomness=pk.Seeded(1)))
    assert "Protected: nothing." in text
    assert "Publish: not as anonymous." in text
    assert "confidence" not in text


def answer_to(release, question, **more):
    """The text of one answer on the first screen."""
    return Page(
        pk.report(release, **more).html.partition(f"<h2>{question}</h2>")[2].partition("</div></section>")[0]
    ).text


def test_what_is_protected_is_said_without_symbols(release):
    text = answer_to(release, "What is protected?").partition("What is not?")[0]
    certificate, plan = release.certificate, release.plan
    assert f"with more than {100 / certificate.k:.3g}% confidence which row is whose" in text
    whole = float(re.search(r"is at most ([0-9.]+) times as likely with a person's answers", text)[1])
    assert math.exp(certificate.central.epsilon) <= whole < math.exp(certificate.central.epsilon) + 0.0101
    chances = int(re.search(r"give or take 1 chance in ([0-9,]+)\.", text)[1].replace(",", ""))
    assert 0.99 / certificate.central.delta < chances <= 1 / certificate.central.delta
    row = float(re.search(r"which row is that person's: at most ([0-9.]+) times", text)[1])
    assert plan.epsilon_ratio <= row < float(plan.epsilon_ratio) + 0.101
    assert f"About {round(ROWS * plan.unchanged[0]):,} of 2,000 rows have every answer as given." in text
    assert "epsilon" not in text


def test_without_a_central_epsilon_the_row_counts(people):
    plan = pk.plan(SCHEMA, records=1_500, k=20, hide_count="9/10")
    text = answer_to(pk.release(people, plan), "What is protected?").partition("What is not?")[0]
    row = float(re.search(r"is at most ([0-9.]+) times as likely", text)[1])
    assert plan.epsilon_ratio <= row < float(plan.epsilon_ratio) + 0.101
    assert "chance in" not in text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Fraction(10011, 10000), "1.01"),
        (Fraction(178, 10), "17.8"),
        (Fraction(12344, 10) + Fraction(1, 100), "1,235"),
        (Fraction(10**6), None),
        (None, None),
    ],
)
def test_factors_are_rounded_up(ratio, text):
    assert factor_text(ratio) == text


def test_what_is_not_protected_names_several_rows_and_leaks(release):
    text = answer_to(release, "What is not?").partition("May we publish it?")[0]
    assert "several rows" in text
    assert "the key undoes everything" in text


def test_bars_have_counts_and_the_worst_tables_are_named(release):
    text = answer_to(release, "How good are the data now?")
    readable = release.plan.readable()
    for size, words in ((1, "Single columns:"), (2, "Two columns:")):
        counts = ", ".join(f"{count} {level}" for level, count in readable.counts(size).items() if count)
        assert f"{words} {counts.replace(',', '')}" in text
    assert readable.worst.level == "not readable"
    assert f"{readable.worst.name}" in text.partition("cannot be read")[0]
    assert "%" not in text


def test_the_line_to_sign_stands_below_the_answers(release):
    text = pk.report(release).html
    assert text.index("How good are the data now?") < text.index("Decided by") < text.index("<h2>Contents</h2>")
    assert text.count("Decided by") == 1


def test_the_promise_is_the_certificate(release):
    page = page_of(release)
    certificate = release.certificate
    for sentence in (*certificate.statement, *certificate.assumptions, *certificate.outside):
        assert sentence in page.text
    assert "confirmed by R. Officer" in page.text
    assert "one resident" in page.text
    for digest in certificate.digests.values():
        assert digest in page.text


def test_publishing_is_never_answered_with_yes(release):
    text = pk.report(release).html
    answer = text.partition("<h2>May we publish it?</h2>")[2].partition("</div>")[0]
    assert "Only if all of these are true:" in answer
    assert "is for you to decide" in answer
    assert answer.count("<li>") == 5
    assert not re.search(r"\byes\b", answer, re.I)


def test_what_nobody_stated_is_said():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    plan = pk.plan(schema, records=100, k=5)
    page = page_of(pk.release(pl.DataFrame({"sex": ["F", "M"] * 50}), plan))
    assert "nobody's name is recorded" in page.text
    assert "what the rows are was not stated" in page.text


def void_releases():
    people = pl.DataFrame({"sex": ["F", "M"] * 100, "zip": [1, 2] * 100})
    sex, zip_ = pk.Attribute("sex", ["F", "M"]), pk.Attribute("zip", role="pass")
    plain = pk.Schema([sex])
    yield "seeded", pk.release(people.select("sex"), pk.plan(plain, records=200, k=5), randomness=pk.Seeded(1))
    passed = pk.plan(pk.Schema([sex, zip_]), records=200, k=5)
    yield "passed", pk.release(people, passed, allow_pass=True)
    matrix = pk.TransitionMatrix.invariant([1, 1], 0.2)
    dependent = pk.plan(plain, records=200, matrices={"sex": matrix})
    yield "data-dependent", pk.release(people.select("sex"), dependent, data_dependent=True)


@pytest.mark.parametrize(
    ("name", "release"), list(void_releases()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_void_release_says_so_and_states_no_number(name, release):
    report = pk.report(release)
    assert not report.claims
    page = Page(report.html)
    assert page.text.count("Do not publish as anonymous: this release claims nothing.") >= 3
    for reason in release.certificate.void:
        assert reason in page.text
    assert "Only if all of these are true" not in page.text
    assert not re.search(r"\bk = [0-9]|epsilon = [0-9]|Pk-anonymous|confidence", page.text)
    assert problems(report.html) == []


def test_charts_show_what_crosstab_says(release):
    page = page_of(release)
    estimate = release.crosstab("sex")
    low, high = estimate.interval()
    for value, a, b in zip(estimate.counts, low, high):
        assert f"{number(value)} ({number(a)} to {number(b)})" in page.text
    assert "every whole number from 1 to 300" in page.text
    assert "The 300 values are shown in groups." in page.text
    groups = release.crosstab("rooms").count(rooms=list(range(21, 41)))
    low, high = groups.interval()
    found = re.search(
        rf"21 to 40 (\S+)% {re.escape(f'{number(groups.value)} ({number(low)} to {number(high)})')}", page.text
    )
    assert float(found[1]) == pytest.approx(100 * groups.value / ROWS, abs=0.051)


def test_the_worked_number_is_right(release):
    page = page_of(release)
    found = re.search(r"So ([0-9,.-]+) ± ([0-9,.]+) people, where the raw count says ([0-9,]+)", page.text)
    estimate, error, raw = (float(text.replace(",", "")) for text in found.groups())
    women = (release.table["sex"] == "F").sum()
    code = 0 if raw == women else 1
    assert raw == (release.table["sex"] == ["F", "M"][code]).sum()
    assert estimate == pytest.approx(release.crosstab("sex").counts[code], abs=0.06)
    assert error == pytest.approx(release.crosstab("sex").standard_errors[code], abs=0.06)


def test_probabilities_are_those_of_the_plan(release):
    page = page_of(release)
    for name, rho in release.plan.rho.items():
        assert re.search(rf"{name} [0-9.]+% [0-9.]+% {re.escape(f'{rho:.4g}')}", page.text)
    for step in release.plan.steps:
        assert step in page.text


def test_matrices_are_printed():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"]), pk.Attribute("job", ["a", "b", "c"])])
    people = pl.DataFrame({"sex": ["F", "M"] * 300, "job": ["a", "b"] * 300})
    alone = pk.TransitionMatrix([[0.91, 0.09], [0.2, 0.8]])
    plan = pk.plan(schema, records=600, k=3, matrices={"sex": alone})
    page = page_of(pk.release(people, plan))
    assert "F 91% 9%" in page.text
    assert "M 20% 80%" in page.text
    unit = pk.Unit(("sex", "job"), (2, 3))
    both = pk.TransitionMatrix(np.full((6, 6), 0.1) + 0.4 * np.eye(6)).to_block(unit, 32)
    page = page_of(pk.release(people, pk.Plan(schema, (both,), 600)))
    assert "F + a 50% 10%" in page.text
    assert "depends on the other columns" in page.text
    assert "No column has a formula for a pocket calculator." in page.text
    large = pk.Schema([pk.Attribute.ranged("n", 1, 20)])
    plan = pk.plan(large, records=600, matrices={"n": np.full((20, 20), 0.025) + 0.5 * np.eye(20)})
    page = page_of(pk.release(pl.DataFrame({"n": [1, 2] * 300}), plan))
    assert "has 20 rows and columns; plan.json has its integers" in page.text


@pytest.mark.parametrize("design", ["equal-rho", "joint", "optimal"])
def test_bundles_and_forbidden_combinations(design):
    schema = pk.Schema(
        [
            pk.Attribute("age", ["young", "old"]),
            pk.Attribute("school", ["none", "degree"]),
            pk.Attribute("sex", ["F", "M"]),
        ],
        [pk.Bundle(["age", "school"], forbid=[{"age": ["young"], "school": ["degree"]}])],
    )
    people = pl.DataFrame({"age": ["old"] * 600, "school": ["none", "degree"] * 300, "sex": ["F", "M"] * 300})
    report = pk.report(
        pk.release(people, pk.plan(schema, records=600, k=3, design=design)), private=people, attack=False
    )
    page = Page(report.html)
    assert "age = young with school = degree" in page.text
    assert "not possible" not in page.text.rpartition("Internal: other designs")[2]


@pytest.mark.parametrize(
    ("delta", "text"),
    [(1 / 24_582_850, "24,500,000"), (1e-6, "1,000,000"), (1 / 20_010, "20,000"), (0.013, "76"), (0.3, "3")],
)
def test_chances_are_rounded_down(delta, text):
    assert _chances(delta) == text


def test_numbers_at_points_and_of_drawn_rows_are_called_so():
    schema = pk.Schema(
        [
            pk.Attribute("id", role="id", repeats="one at random"),
            pk.Attribute.pointed("cost", [0, 10, 50], type="number"),
        ]
    )
    visits = pl.DataFrame({"id": [str(i % 300) for i in range(500)], "cost": [float(i % 50) for i in range(500)]})
    text = page_of(pk.release(visits, pk.plan(schema, records=300, k=5))).text
    assert "they estimate how many of the rows drawn, one of each person, have each value" in text
    assert "so these are not counts of equal numbers" in text


def test_a_hidden_count_is_explained(people):
    plan = pk.plan(SCHEMA, records=1_500, k=20, hide_count="9/10")
    release = pk.release(people, plan)
    page = page_of(release, private=people, attack=False)
    assert "some of which are dummies" in page.text
    assert f"who is in the table {plan.epsilon_unbounded + 5e-5:.4f}"[:-1] in page.text
    assert "central epsilon is not computed for a hidden record count" in page.text


def test_types_and_missing_values_have_texts():
    schema = pk.Schema(
        [
            pk.Attribute("yes", [True, False], missing="value"),
            pk.Attribute("number", [1.5, 2.5]),
            pk.Attribute("(missing)", ["(missing)", "x"], missing="value"),
            pk.Attribute.binned("when", edges=[dt.date(2020, 1, 1), dt.date(2021, 1, 1)], open="both"),
        ]
    )
    people = pl.DataFrame(
        {
            "yes": [True, None] * 200,
            "number": [1.5, 2.5] * 200,
            "(missing)": ["x", None] * 200,
            "when": [dt.date(2020, 5, 1)] * 400,
        }
    )
    page = page_of(pk.release(people, pk.plan(schema, records=400, k=3)))
    assert "true | false | (missing)" in page.text
    assert "(missing) | x | (no value)" in page.text
    assert "before 2020-01-01" in page.text


def test_a_column_of_ten_thousand_values_is_cut_short():
    towns = [f"town {i}" for i in range(10_000)]
    schema = pk.Schema(
        [pk.Attribute("town", towns), pk.Attribute.ranged("zip", 0, 99_999), pk.Attribute("sex", ["F", "M"])]
    )
    people = pl.DataFrame({"town": towns[:2] * 500, "zip": list(range(1_000)), "sex": ["F", "M"] * 500})
    report = pk.report(
        pk.release(people, pk.plan(schema, records=1_000, k=3, design="equal-rho")), private=people, attack=False
    )
    page = Page(report.html)
    assert len(report.html) < 1_000_000
    assert "and 9,960 more, listed in datapackage.json" in page.text
    assert "Shown are the 40 largest estimates of 10,000" in page.text
    assert "all 9,960 other values" in page.text


def test_sixty_columns_fit():
    schema = pk.Schema([pk.Attribute.ranged(f"column {i}", 1, 2 + i % 9) for i in range(60)])
    people = pl.DataFrame({attribute.name: [1, 2] * 300 for attribute in schema.attributes})
    report = pk.report(pk.release(people, pk.plan(schema, records=600, k=3, design="equal-rho")))
    assert len(report.html) < 2_000_000
    assert report.html.count("<rect") >= 60 * 60  # every pair is on the map
    assert "The pairs with the least error" in report.html


def test_a_destroyed_column_is_said_to_be_gone():
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    plan = pk.Plan(schema, (pk.Retention(pk.Unit(("sex",), (2,)), replace=2**31),), 400)
    page = page_of(pk.release(pl.DataFrame({"sex": ["F", "M"] * 200}), plan))
    assert "sex cannot be read. Counts must be corrected" in page.text
    assert "the plan leaves nothing of sex in the released rows" in page.text


def test_the_internal_edition_is_marked_everywhere(release, people):
    external, internal = pk.report(release), pk.report(release, private=people, attack=False)
    assert (external.internal, internal.internal) == (False, True)
    assert INTERNAL not in external.html
    assert "Internal" not in external.html
    assert f'@top-left {{ content: "{INTERNAL}"' in internal.html  # on every printed page
    assert '<div class="paper" aria-hidden="true">INTERNAL</div>' in internal.html
    assert Page(internal.html).text.count(INTERNAL) >= 2


def test_the_external_edition_knows_nothing_of_the_private_table(release, people):
    """Its sections stand unchanged in internal editions, whatever the private table is."""
    cut = lambda text: re.findall(r'<section id="section-[1-8]">.*?</section>', text, re.S)  # noqa: E731
    external = cut(pk.report(release).html)
    assert len(external) == 8
    for private in (people, people.reverse().with_columns(sex=pl.lit("F"))):
        assert cut(pk.report(release, private=private, attack=False).html) == external


def test_measured_errors_are_right(release, people):
    page = page_of(release, private=people, attack=False)
    table = page.text.partition("Table by table")[2]
    estimate = release.crosstab("sex")
    true = np.array([(people["sex"] == value).sum() for value in ("F", "M")])
    l1 = np.abs(estimate.counts - true).sum() / ROWS
    low, high = estimate.interval()
    held = int(((low <= true) & (true <= high)).sum())
    found = re.search(r"sex 2 ([0-9.]+)% ([0-9.]+)% ([0-9]) of 2", table)
    assert float(found[2]) == pytest.approx(100 * l1, rel=0.01)
    assert int(found[3]) == held
    assert float(found[1]) == pytest.approx(100 * release.plan.predict("sex").l1, rel=0.01)


def test_designs_stand_beside_each_other(release, people):
    text = page_of(release, private=people, attack=False).text.rpartition("Internal: other designs")[2]
    for design in ("optimal*", "equal-rho", "equal-epsilon", "joint"):
        other = pk.plan(SCHEMA, records=ROWS, k=20, design=design.rstrip("*"))
        assert f"{design} {other.k_text} {other.epsilon_text}" in text


def test_attacks_stand_against_the_promise(release, people):
    text = page_of(release, private=people).text.rpartition("Internal: attacks")[2]
    assert "with k = 20: nothing breaks the promise." in text
    assert "The dashed red line is 1/k = 5%." in text
    assert re.search(r"The axis goes from 0\.0*1% to 10%", text)
    for heading in ("Whose is a row?", "What is a person's answer?", "Classical measures"):
        assert heading in text
    assert "Internal: attacks" not in page_of(release, private=people, attack=False).text


def test_an_attack_on_a_void_release_names_no_promise(people):
    release = pk.release(people, pk.plan(SCHEMA, records=ROWS, k=20), randomness=pk.Seeded(3))
    text = page_of(release, private=people).text.rpartition("Internal: attacks")[2]
    assert "1/k =" not in text.partition("what was found")[0]
    assert "red line" not in text


def test_the_internal_edition_says_first_what_was_measured(release, people):
    question = "What did we measure against the private table?"
    assert question not in pk.report(release).html
    text = answer_to(release, question, private=people).partition("What is protected?")[0]
    assert "The attack found nothing against the promise" in text
    assert "at most 5% is promised" in text
    whole = Page(pk.report(release, private=people, attack=False).html).text
    found = re.search(r"Measured error by predicted error: ([0-9.]+) for single columns and ([0-9.]+) for two", whole)
    summary = re.search(r"single columns 3 ([0-9.]+) [0-9.]+% two columns 3 ([0-9.]+) [0-9.]+%", whole)
    assert found.groups() == summary.groups()
    assert re.search(r"[0-9.]+% of the 95% intervals hold the true number\.", whole)
    assert "No attack was made" in whole
    assert "does not fit" not in whole


@pytest.mark.parametrize("attack", [True, False])
def test_another_private_table_is_noticed_on_the_first_screen(people, attack):
    two = people.select("sex", "job")
    release = pk.release(two, pk.plan(pk.Schema(SCHEMA.attributes[:2]), records=ROWS, k=5))
    other = two.with_columns(sex=pl.lit("F"))
    why = "plan makes of this table" if attack else "The error of sex is "
    for private, reason in ((other, why), (two.head(1_500), "It has 1,500 rows and the release has 2,000.")):
        text = pk.report(release, private=private, attack=attack).html.partition('id="section-1"')[0]
        assert "The private table does not fit this release." in text
        assert reason in text
        assert "found nothing against" not in text
    assert "does not fit" not in pk.report(release, private=two, attack=attack).html


@pytest.mark.parametrize(
    ("shares", "ends"),
    [([0.002, 0.05], (0.001, 0.1)), ([0.0, 0.05], (0.01, 0.1)), ([0.0], (0.1, 1.0)), ([0.01], (0.001, 0.01))],
)
def test_a_logarithmic_axis_holds_all_shares(shares, ends):
    assert share_scale(shares) == pytest.approx(ends)


def test_marks_stand_where_their_logarithms_are():
    places = [
        float(x) for x in re.findall(r'class="mark-share"|x="([0-9.]+)"', share_mark(0.01, 0, 1, (1e-4, 1.0))) if x
    ]
    assert places == [pytest.approx(50 - 0.7)]


def test_another_table_than_the_private_one_is_refused(release):
    with pytest.raises(pk.PkanonError):
        pk.report(release, private=pl.DataFrame({"sex": ["F", "X"]}))


def test_files(release, people, tmp_path):
    release.save(tmp_path / "out")
    external = pk.report(tmp_path / "out", tmp_path / "out" / "report.html", contact="a@example.org")
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == external.html
    assert "a@example.org" in external.html
    assert "digest of datapackage.json" in external.html
    assert pk.open_release(tmp_path / "out").rows == ROWS  # a report in the folder does not disturb it
    with pytest.raises(pk.InputError, match="never overwritten"):
        external.save(tmp_path / "out" / "report.html")
    for path in (tmp_path / "out" / "internal.html", tmp_path / "out" / ".." / "out" / "x.html"):
        with pytest.raises(pk.RefusedError, match="inside a release folder"):
            pk.report(tmp_path / "out", path, private=people, attack=False)
        assert not path.exists()
    pk.report(tmp_path / "out" / "data.parquet", tmp_path / "internal.html", private=people, attack=False)
    assert stat.S_IMODE((tmp_path / "internal.html").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "out" / "report.html").stat().st_mode) & 0o400


def test_the_signature_is_mentioned(release, tmp_path):
    release.save(tmp_path / "out")
    assert "none when this report was made" in pk.report(tmp_path / "out").html
    (tmp_path / "out" / "datapackage.json.sig").write_bytes(bytes(64))
    assert "this report has not checked it" in pk.report(tmp_path / "out").html


def test_wrong_arguments(release):
    with pytest.raises(pk.InputError, match="a release or its folder"):
        pk.report(7)
    with pytest.raises(pk.InputError, match="characters"):
        pk.report(release, title="x" * 301)
    assert "<title>Randomised microdata</title>" in pk.report(release, title=" ").html


@pytest.mark.parametrize(
    ("value", "text"), [(1234.6, "1,235"), (99.95, "100.0"), (-12.34, "-12.3"), (7.0, "7"), (-0.01, "0.0"), (0.0, "0")]
)
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (1e-9, "less than 0.001%"),
        (0.12345, "12.3%"),
        (0.99999, "99.999%"),
        (1.0, "100%"),
        (10.9, "1,090%"),
    ],
)
def test_percentages(share, text):
    assert percent(share) == text


def test_a_design_that_is_not_possible_is_said_to_be():
    """All columns as one unit would have more than 2^31 values."""
    schema = pk.Schema([pk.Attribute.ranged(name, 1, 100) for name in "abcdef"])
    people = pl.DataFrame({name: [1, 2] * 200 for name in "abcdef"})
    plan = pk.plan(schema, records=400, k=3, design="equal-rho")
    text = page_of(pk.release(people, plan), private=people, attack=False).text.rpartition("Internal: other designs")[2]
    assert "joint not possible here" in text
    assert "equal-rho*" in text


def test_a_release_of_no_rows_has_a_report(tmp_path):
    """A hidden count can be noised down to nothing."""
    people = pl.DataFrame({"sex": ["F", "M"]})
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"])]), records=1, epsilon=8, hide_count="99/100")
    release = pk.release(people, plan, randomness=pk.Seeded(195))
    assert release.rows == 0
    release.save(tmp_path / "out")
    text = page_of(tmp_path / "out", private=people, attack=False).text
    assert "No rows were released, so there is nothing to reconstruct." in text
    assert "A table of 0 rows." in (tmp_path / "out" / "README.txt").read_text()


def test_numbers_rounded_at_random_are_compared_with_what_they_are_on_average():
    """Rounded to the nearest point, the private table would not fit the release."""
    draw = np.random.default_rng(4)
    people = pl.DataFrame({"sex": draw.choice(["F", "M"], ROWS), "weight": draw.gamma(4, 25, ROWS).clip(0, 800)})
    weight = pk.Attribute.pointed("weight", [0, 200, 800], type="number")
    plan = pk.plan(pk.Schema([pk.Attribute("sex", ["F", "M"]), weight]), records=ROWS, k=2)
    release = pk.release(people, plan, randomness=pk.Seeded(2))
    page = page_of(release, private=people)
    assert "does not fit" not in page.text
    assert "A number between two points counts at both of them" in page.text
    claiming = page_of(pk.release(people, plan)).text
    assert "rows have every answer as given, but for numbers rounded to points." in claiming
    assert "numbers rounded to points" in claiming.partition("rows that have every answer as it was given")[2][:60]
    expected = np.array([np.interp(people["weight"], [0, 200, 800], row).sum() for row in np.eye(3)])
    l1 = np.abs(release.crosstab("weight").counts - expected).sum() / ROWS
    found = re.search(r"weight 3 [0-9.]+% ([0-9.]+)% [0-9] of 3", page.text.partition("Table by table")[2])
    assert float(found[1]) == pytest.approx(100 * l1, rel=0.01)
