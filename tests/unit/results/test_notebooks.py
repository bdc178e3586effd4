"""What a notebook shows: every number with its error, every label escaped, and nothing that looks better than the text."""

import math
import re
from html.parser import HTMLParser

import polars as pl
import pytest

import pkanon as pk
from pkanon._plan import notebook
from pkanon._results.paper import rounded_number
from pkanon._results.text import aligned, interval_text, with_error

EVIL = "<script>alert('x')</script> & \"q\""
ROWS = 3000
ATTRIBUTES = [
    pk.Attribute(EVIL, ["F", "<b>M</b>"]),
    pk.Attribute.binned("age", start=0, stop=40, width=10),
    pk.Attribute("edu", ["none", "<i>", "degree"], missing="value"),
    pk.Attribute("year", range(1990, 2060)),
    pk.Attribute("minor", ["yes", "no"]),
]
SCHEMA = pk.Schema(ATTRIBUTES, [pk.Bundle(["edu", "minor"], [{"edu": ["degree"], "minor": ["yes"]}])])
PASSING = pk.Schema([*ATTRIBUTES, pk.Attribute("<u>w</u>", role="pass", type="number")])
FRAME = pl.DataFrame(
    {
        EVIL: ["F", "<b>M</b>"] * (ROWS // 2),
        "age": [i % 40 for i in range(ROWS)],
        "edu": ["none", "<i>", None] * (ROWS // 3),
        "year": [1990 + i % 70 for i in range(ROWS)],
        "minor": ["no"] * ROWS,
    }
)


class Reader(HTMLParser):
    """The elements of a piece of HTML, its texts, its tables; refuses what is not closed."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.open, self.texts, self.rows = set(), set(), [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def made(seed):
    return pk.release(FRAME, pk.plan(SCHEMA, records=ROWS, k=3), randomness=pk.Seeded(seed))


@pytest.fixture(scope="module")
def private():
    return pk.release(FRAME, pk.plan(SCHEMA, records=ROWS, k=3))


@pytest.fixture(scope="module")
def passing():
    frame = FRAME.with_columns(pl.lit(2.0).alias("<u>w</u>"))
    return pk.release(frame, pk.plan(PASSING, records=ROWS, k=3), allow_pass=True)


@pytest.fixture(scope="module")
def shown(made, private, passing):
    """One of everything that a notebook shows."""
    table = made.crosstab(EVIL, "edu")
    return {
        "plan": private.plan,
        "void plan": passing.plan,
        "certificate": private.certificate,
        "void certificate": passing.certificate,
        "seeded certificate": made.certificate,
        "release": private,
        "void release": passing,
        "estimate": table,
        "weighted": passing.crosstab(EVIL, weights="<u>w</u>"),
        "long estimate": made.crosstab("year", "edu"),
        "impossible": made.crosstab("edu", "minor"),
        "em": made.crosstab("edu", method="em", level=0.9),
        "quantity": table.count(edu="none"),
        "answer": made.query('SELECT edu, COUNT(*) AS "n <b>" FROM release GROUP BY edu'),
        "description": made.describe("age", by=["edu"]),
        "correlations": made.correlations(),
        "tradeoff": pk.tradeoff(SCHEMA, records=ROWS, k=3, designs=["equal-rho"]),
    }


NAMES = [
    *("plan", "void plan", "certificate", "void certificate", "seeded certificate", "release", "void release"),
    *("estimate", "weighted", "long estimate", "impossible", "em", "quantity"),
    *("answer", "description", "correlations", "tradeoff"),
]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_it_reaches_the_rest_of_the_page(shown, name):
    page = Reader(shown[name]._repr_html_())
    assert page.tags <= {"p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}
    assert page.attributes <= {"style"}


@pytest.mark.parametrize("name", NAMES)
def test_reprs_are_short_and_of_one_line(shown, name):
    assert len(repr(shown[name])) < 150
    assert "\n" not in repr(shown[name])
    assert repr(shown[name]).startswith(f"<{type(shown[name]).__name__} ")


@pytest.mark.parametrize("name", ["plan", "release", "estimate", "correlations"])
def test_labels_arrive_as_they_are(shown, name):
    assert EVIL in {cell for row in Reader(shown[name]._repr_html_()).rows for cell in row}


def test_labels_of_every_result_are_escaped(shown):
    cells = [cell for name in NAMES for row in Reader(shown[name]._repr_html_()).rows for cell in row]
    assert {EVIL, "<b>M</b>", "<i>", "n <b>", "<u>w</u>", "(missing)"} <= set(cells)


def test_an_estimate_shows_errors_intervals_flags_and_its_caption(shown):
    table = shown["estimate"]
    header, *rows = Reader(table._repr_html_()).rows
    assert header == [EVIL, "edu", "people", "95% interval", "% of all", ""]
    assert len(rows) == table.counts.size
    for row, count, error, low, high in zip(
        rows, table.counts.flat, table.standard_errors.flat, *(limit.flat for limit in table.interval())
    ):
        digits = max(1 - math.floor(math.log10(error)), 0)
        number, spread = row[2].replace(",", "").split(" ± ")
        assert float(number) == pytest.approx(round(count, digits), abs=0.51 * 10**-digits)
        assert float(spread) == pytest.approx(round(error, digits), abs=0.51 * 10**-digits)
        limits = [float(part) for part in row[3].replace(",", "").split(" to ")]
        assert limits == pytest.approx([low, high], abs=0.51 * 10**-digits)
        share, spread = (float(part) for part in row[4].split(" ± "))
        assert share == pytest.approx(max(100 * count / ROWS, 0), abs=0.1)  # a share is cut to 0
        assert spread == pytest.approx(100 * error / ROWS, abs=0.1)
    assert "Counts from 3,000 released rows" in table._repr_html_()
    flags = [row[-1] for row in rows]
    assert flags == [flag or "" for flag in table.to_polars()["flag"]]
    assert "near zero" in " ".join(row[-1] for row in Reader(shown["long estimate"]._repr_html_()).rows)
    assert "impossible" in " ".join(row[-1] for row in Reader(shown["impossible"]._repr_html_()).rows)
    assert Reader(shown["em"]._repr_html_()).rows[0][2] == "90% interval"
    assert "people (weighted)" in shown["weighted"]._repr_html_()


def test_a_long_table_is_cut_and_says_so(shown):
    page = Reader(shown["long estimate"]._repr_html_())
    assert len(page.rows) == 61
    assert "... and 220 more rows that are not shown here." in page.texts
    assert "more rows" not in shown["estimate"]._repr_html_()
    many = pk.Schema([pk.Attribute(f"a{i}", ["x", "y"]) for i in range(75)])
    page = Reader(pk.plan(many, records=ROWS, k=3, design="equal-rho")._repr_html_())
    assert len(page.rows) == 61
    assert "... and 15 more rows that are not shown here." in page.texts


def test_a_large_table_is_shown_without_making_all_of_its_rows(monkeypatch):
    schema = pk.Schema([pk.Attribute.ranged(name, 0, 299) for name in "ab"])
    plan = pk.Plan(schema, tuple(pk.Retention(unit, replace=2**20) for unit in schema.units), records=4)
    table = pk.release(pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}), plan).crosstab("a", "b")
    monkeypatch.setattr(pk.Estimate, "to_polars", None)
    assert len(table.text_table(60).rows) == 60
    assert table.text_table(60).hidden == 90_000 - 60


def test_not_reached_by_em_is_said(shown):
    from dataclasses import replace

    table = shown["em"]
    late = replace(table, convergence=replace(table.convergence, converged=False, passes=1234))
    assert "not quite reached in 1,234 steps" in late._repr_html_()
    assert "not quite reached" not in table._repr_html_()


@pytest.mark.parametrize("name", ["void plan", "void certificate", "seeded certificate", "void release"])
def test_what_makes_a_claim_void_comes_first(shown, name):
    page = shown[name]._repr_html_()
    texts = Reader(page).texts
    assert re.match(r"Void: this release claims nothing|Plan for 3,000 records: void, it promises nothing", texts[0])
    thing = shown[name].certificate if name == "void release" else shown[name]
    reasons = list(thing.void_reasons if name == "void plan" else thing.void)
    assert texts[1 : 1 + len(reasons)] == reasons
    assert "void" in repr(shown[name])
    assert "k = " not in repr(shown[name])
    assert "k = " not in page
    assert "epsilon =" not in page


@pytest.mark.parametrize("name", ["certificate", "void certificate", "seeded certificate"])
def test_a_certificate_says_in_html_what_it_says_in_text(shown, name):
    certificate = shown[name]
    texts = Reader(certificate._repr_html_()).texts
    said = certificate.void or certificate.statement
    assert texts.index("Outside of any claim:") > max(texts.index(sentence) for sentence in said)
    assert set(certificate.outside) <= set(texts)


def test_a_plan_that_protects_nobody_says_so(shown):
    weak = pk.Plan(SCHEMA, tuple(pk.Retention(unit, replace=0) for unit in SCHEMA.units), records=100)
    texts = Reader(weak._repr_html_()).texts
    assert "void" in texts[0]
    assert "k is 1" in texts[1]
    assert repr(weak) == "<Plan for 100 records of 5 attributes: void, it promises nothing as it stands>"
    drafted = pk.Plan(pk.Schema(SCHEMA.attributes, drafted=True), weak.blocks, records=100)
    assert Reader(drafted._repr_html_()).texts[1] == drafted.void_reasons[0]


def test_a_hidden_count_is_said_with_the_release():
    plan = pk.plan(pk.Schema(ATTRIBUTES[:2]), records=1000, k=3, hide_count="9/10")
    hidden = pk.release(FRAME.select(EVIL, "age"), plan)
    (remark,) = hidden.remarks
    assert remark[:1].upper() + remark[1:] in Reader(hidden._repr_html_()).texts


def test_a_quantity_shows_its_error(shown):
    people = shown["quantity"]
    assert repr(people) == f"<Quantity {people}>"
    number, *limits = re.fullmatch(r"<p>(.*) \(95% interval: (.*) to (.*)\)</p>", people._repr_html_()).groups()
    assert number == str(people)
    assert [float(limit.replace(",", "")) for limit in limits] == pytest.approx(people.interval(0.95), rel=1e-3)
    unknown = people / (people - people.value)
    assert math.isnan(unknown.standard_error)
    assert unknown._repr_html_() == "<p>no value (small group)</p>"


def test_columns_are_aligned():
    lines = aligned(["name", "n"], [["a", "10"], ["longer", "2"]], [True, False])
    assert lines == ["name     n", "------  --", "a       10", "longer   2"]


def test_an_answer_is_the_same_table_in_text_and_in_html(shown):
    answer = shown["answer"]
    header, *rows = Reader(answer._repr_html_()).rows
    assert [header, *rows] == [answer.rows_as_text()[0], *answer.rows_as_text()[1]]
    words = str(answer).split()
    assert all(word in words for row in rows for cell in row for word in cell.split())
    assert set(answer.notes) <= set(Reader(answer._repr_html_()).texts)


def test_what_cannot_be_said_is_a_dash():
    nothing = math.nan
    assert [with_error(x, 1.0) for x in (None, nothing)] == ["-", "-"]
    assert [with_error(12.0, x) for x in (None, nothing)] == ["12 ± -", "12 ± -"]  # unknown, which is not zero
    assert with_error(12.0, 0.0) == "12 ± 0"
    assert [interval_text(x, 3.0, 1.0) for x in (None, nothing)] == ["-", "-"]
    assert [interval_text(3.0, x, 1.0) for x in (None, nothing)] == ["-", "-"]
    assert with_error(1234.567, 56.7) == "1,235 ± 57"
    assert with_error(0.12345, math.inf) == "0.12345 ± inf"


def test_errors_beyond_six_decimals_have_an_exponent():
    for text in (with_error, rounded_number):
        assert text(6.309e-10, 1.706e-10) == "6.3e-10 ± 1.7e-10"
        assert text(-1.2345e-7, 2.5e-9) == "-1.235e-07 ± 2.5e-09"
        assert text(0.0, 2.5e-9) == "0 ± 2.5e-09"
        assert text(0.123456, 1e-15) == "0.123456 ± 0.000000"  # lost digits are no error
        assert text(0.00001234, 0.0000025) == "0.000012 ± 0.000003"
    assert interval_text(2.965e-10, 9.653e-10, 1.706e-10) == "3.0e-10 to 9.7e-10"


def test_a_printed_table_has_its_numbers(made):
    found = made.crosstab("edu", "age")
    text = str(found)
    assert text.splitlines()[0].split()[:3] == ["edu", "age", "people"]
    assert "\n".join(found.text_table().lines()) in text
    assert text.splitlines()[-1].startswith("Counts from ")
    assert "mean" in str(made.describe("age"))
    assert " ± " in str(made.describe("age"))


def test_a_long_printed_table_is_cut_and_says_so(made):
    found = made.crosstab("year")
    assert found.counts.size > notebook.MOST_ROWS
    assert f"... and {found.counts.size - notebook.MOST_ROWS} more rows" in str(found).splitlines()


def test_a_condition_may_be_named_by_its_attributes(made):
    table = made.crosstab("age", "minor", "edu")
    where = {"minor": "no", "edu": ["none", None]}
    for ask in (table.mean, table.sum, table.deviation, lambda *a, **more: table.quantile(a[0], 0.5, *a[1:], **more)):
        one, other = ask("age", where), ask("age", {"minor": "no"}, edu=["none", None])
        assert (one.value, one.interval()) == (other.value, other.interval())
        assert one.value != ask("age").value
