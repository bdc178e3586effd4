"""Tables for papers: right numbers, rounded; texts that each format prints as they are; a flag in every format."""

import html.parser
import io
import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from markdown_it import MarkdownIt

import pkanon as pk
from pkanon._results.charts import crosstab_chart
from pkanon._results.paper import MARKS, PaperTable, rounded_interval, rounded_number
from pkanon._results.paper.latex import MOST_ROWS, escaped
from pkanon._results.paper.table import Cell

NASTY = [r"a\b{c}$d&e#f%g_h^i~j", '<script>alert("x|y")</script>', "*bold* _it_ `code` [link](x) --- @me", "=1+1"]
ROWS = 40


@pytest.fixture(scope="module")
def made():
    """A release with all four flags: rare and forbidden values, few rows."""
    schema = pk.Schema(
        [
            pk.Attribute("kind of|thing", NASTY),
            pk.Attribute("size", [1, 2, 3, 4], type="integer", missing="value"),
            pk.Attribute("where", ["here", "there"]),
        ],
        [pk.Bundle(["kind of|thing", "where"], forbid=[{"kind of|thing": [NASTY[0]], "where": ["there"]}])],
    )
    draw = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "kind of|thing": [NASTY[i] for i in draw.choice(4, ROWS, p=[0.55, 0.35, 0.1, 0])],
            "size": draw.choice([1, 2, 3, 4, None], ROWS, p=[0.6, 0.2, 0.1, 0.05, 0.05]).tolist(),
            "where": ["here"] * ROWS,
        }
    )
    return pk.release(table, pk.plan(schema, records=ROWS, epsilon=5, design="equal-rho"), randomness=pk.Seeded(4))


@pytest.fixture(scope="module")
def papers(made):
    """Tables for papers of every kind of result, each with the flags of the numbers that it shows."""
    kinds, sizes = made.crosstab("kind of|thing", "where"), made.crosstab("kind of|thing", "size")
    described = made.describe("size", by="kind of|thing")
    answer = made.query('SELECT "kind of|thing" AS k, COUNT(*) AS n, AVG(size) AS m FROM release GROUP BY k')
    shares = sizes.to_polars(given=["kind of|thing"])["flag"].to_list()
    counts = kinds.flags_of().to_list()
    return {
        "cross": (kinds.paper(totals=False), counts),
        "shares": (sizes.paper(given="kind of|thing"), shares),
        "long": (sizes.paper(layout="long", given="kind of|thing"), [*sizes.flags_of().to_list(), *shares]),
        "interval": (kinds.paper(interval=True, totals=False), counts),
        "describe": (described.paper(), described.to_polars()["flag"].to_list()),
        "describe long": (described.paper(layout="long"), described.to_polars()["flag"].to_list()),
        "query": (answer.paper(), [*answer.frame["n_flag"].to_list(), *answer.frame["m_flag"].to_list()]),
        "correlations": (made.correlations().paper(), made.correlations().to_polars()["flag"].to_list()),
        "association": (sizes.association().paper(), []),
    }


KINDS = [
    *("cross", "shares", "long", "interval", "describe", "describe long", "query", "correlations", "association"),
]


class Read(html.parser.HTMLParser):
    """The texts of each cell, and all tags."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.inside = [], set(), False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data.strip("\n")


def body(table):
    """The cells of a table as texts, marks included."""
    return [[cell.text + cell.marks for cell in row] for row in table.rows]


def test_all_flags_are_in_the_tables_that_follow(papers):
    seen = {word for _, flags in papers.values() for flag in flags if flag for word in flag.split(", ")}
    assert seen == {"near zero", "predicted error", "small group", "impossible"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_number_is_without_its_flag(papers, kind):
    """In every format: as many marks as there are flags, and a note on each."""
    table, flags = papers[kind]
    expected = {
        word: sum(word in (flag or "") and (flag == word or flag != "impossible") for flag in flags) for word in MARKS
    }
    labels = len(table.stub)
    numbers = "".join(text for row in body(table) for text in row[labels:])
    for word, mark in MARKS.items():
        assert numbers.count(mark) == expected[word]
        noted = [note for note in table.all_notes if note.startswith(f"{mark} {word}: ")]
        assert len(noted) == (expected[word] > 0)
    # what each format holds
    parts = {
        "markdown": (table.to_markdown(), MARKS),
        "html": ("\n".join(text for row in Read(table.to_html()).rows for text in row), MARKS),
        "latex": (table.to_latex(), {word: escaped(mark) for word, mark in MARKS.items()}),
        "excel": (
            "\n".join(map(str, pl.read_excel(io.BytesIO(table.excel_bytes()), has_header=False).rows())),
            MARKS,
        ),
    }
    for text, marks in parts.values():
        for word, mark in marks.items():
            assert text.count(mark) == expected[word] + (expected[word] > 0)


@pytest.mark.parametrize("kind", KINDS)
def test_html_shows_every_text_as_it_is(papers, kind):
    table, _ = papers[kind]
    read = Read(table.to_html())
    assert read.tags <= {"table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "sup"}
    body_rows = read.rows[1 + (table.span is not None) :][: len(table.rows)]
    assert [[text.replace("−", "-") for text in row] for row in body_rows] == body(table)
    assert [row[0] for row in read.rows[-len(table.all_notes) :]] == list(table.all_notes)
    assert len({len(row) for row in body_rows}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_shows_every_text_as_it_is(papers, kind):
    table, _ = papers[kind]
    rendered = Read(MarkdownIt("gfm-like", {"linkify": False}).render(table.to_markdown()))
    assert rendered.tags <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert rendered.rows[1 : len(table.rows) + 1] == [[" ".join(text.split()) for text in row] for row in body(table)]


@pytest.mark.parametrize("kind", KINDS)
def test_latex_has_equal_rows_and_closed_braces(papers, kind):
    table, _ = papers[kind]
    text = table.to_latex(label="tab:a b")
    assert r"\label{tab:a-b}" in text
    inner = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    lines = [line for line in inner.splitlines() if line and line != r"\addlinespace"]
    assert len(lines) == len(table.rows)
    for line in lines:
        assert line.endswith(r" \\")
        assert not line.startswith(("[", "*"))
        assert len(re.findall(r"(?<!\\)&", line)) == len(table.stub) + len(table.header) - 1
    plain = re.sub(r"\\[\\{}$&#%_]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert not re.search(r"[~^<>|\"±†‡§]", plain.replace(r"\ifdim\width>\linewidth", ""))
    wide = r"\resizebox" in text
    comment, *others = re.findall("%.*", plain)
    assert comment == (r"% needs \usepackage{booktabs,graphicx}" if wide else r"% needs \usepackage{booktabs}")
    assert others == (["%"] if wide else [])


def made_up(rows, columns, labels=2):
    cells = [
        (
            *(Cell(f"{'ab'[2 * row // rows]}" if place == 0 else f"{row}") for place in range(labels)),
            *[Cell("1,000 ± 10")] * columns,
        )
        for row in range(rows)
    ]
    return PaperTable(
        "What is shown", ("one", "two")[:labels], tuple(f"c{i}" for i in range(columns)), tuple(cells), ("A note.",)
    )


def test_latex_of_a_long_table_goes_over_pages():
    short, long = made_up(MOST_ROWS, 2).to_latex(), made_up(MOST_ROWS + 1, 2).to_latex(label="tab:long")
    assert r"\begin{table}" in short
    assert "longtable" not in short
    assert long.startswith(
        "% needs \\usepackage{booktabs,longtable}\n\\begin{longtable}{llrr}\n\\caption{What is shown}\\label{tab:long} "
    )
    assert r"\begin{table}" not in long
    assert long.count(r"one & two & c0 & c1 \\") == 2  # on the first page and on all others
    assert long.count(r" & 1,000 $\pm$ 10 & 1,000 $\pm$ 10 \\") == MOST_ROWS + 1
    assert long.index(r"\end{longtable}") < long.index("A note.")


def test_latex_of_a_long_and_wide_table_is_set_smaller():
    table = made_up(MOST_ROWS + 1, 9)
    assert r"\begingroup\footnotesize" in table.to_latex()
    assert r"\begin{longtable}{llrrrrrrrrr}" in table.to_latex()
    named = replace(table, rows=tuple((Cell("a long label " * 3), *row[1:]) for row in table.rows)).to_latex()
    assert r"\begin{longtable}{p{0.17\linewidth}lrrrrrrrrr}" in named
    assert named.count(r"\begingroup") == named.count(r"\endgroup") == 1


def test_latex_of_a_wide_table_is_made_to_fit():
    assert r"\resizebox" not in made_up(3, 2).to_latex()
    wide = made_up(3, 9).to_latex()
    assert wide.startswith(r"% needs \usepackage{booktabs,graphicx}")
    assert r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%" in wide
    assert r"\end{tabular}}" in wide


def test_latex_prints_the_first_label_where_it_changes():
    rows = made_up(4, 1).to_latex().partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    assert [row.split(" &")[0] for row in rows] == ["a", "", r"\addlinespace", "b", ""]
    alone = (
        made_up(4, 1, labels=1).to_latex().partition(r"\midrule")[2].partition(r"\bottomrule")[0].strip().splitlines()
    )
    assert [row.split(" &")[0] for row in alone] == ["a", "a", "b", "b"]


def test_latex_specials():
    assert escaped(r"\{}$&#%_^~<>|") == (
        r"\textbackslash{}\{\}\$\&\#\%\_\textasciicircum{}\textasciitilde{}\textless{}\textgreater{}\textbar{}"
    )
    assert escaped("a--b---c-d") == "a-{}-b-{}-{}-c-d"  # no dashes


@pytest.mark.parametrize("kind", KINDS)
def test_excel_has_the_numbers_in_full_and_no_formulas(papers, kind, tmp_path):
    table, _ = papers[kind]
    table.to_excel(tmp_path / "t.xlsx")
    numbers = pl.read_excel(tmp_path / "t.xlsx", sheet_name="numbers")
    assert numbers.columns == table.numbers.columns
    for name in numbers.columns:
        expected = table.numbers[name]
        if expected.dtype == pl.Float64 and expected.count():
            assert numbers[name].to_list() == pytest.approx(expected.to_list(), nan_ok=True)
        elif expected.dtype in (pl.String, pl.Enum):
            assert numbers[name].cast(pl.String).to_list() == expected.cast(pl.String).to_list()
    printed = pl.read_excel(tmp_path / "t.xlsx", sheet_name="table", has_header=False)
    assert printed.item(0, 0) == table.caption
    with pytest.raises(pk.InputError, match="exists already"):
        table.to_excel(tmp_path / "t.xlsx")
    with pytest.raises(pk.InputError, match=r"written as \.xlsx"):
        table.to_excel(tmp_path / "t.ods")


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (606_412, 896, "606,410 ± 900"),
        (606_412, 9_960, "606,400 ± 10,000"),
        (606_412, 12, "606,412 ± 12"),
        (0.12345, 0.0123, "0.123 ± 0.012"),
        (0.12345, 0.0996, "0.123 ± 0.100"),
        (-3, 577, "0 ± 580"),
        (-584.4, 577, "-580 ± 580"),
        (1234.5678, 0, "1,234.5678"),
        (0.5, None, "0.5 ± ?"),
        (0.5, float("nan"), "0.5 ± ?"),
        (None, None, "n/a"),
        (float("nan"), 1, "n/a"),
    ],
)
def test_numbers_are_rounded_to_two_digits_of_their_errors(value, error, text):
    assert rounded_number(value, error) == text


def test_limits_are_rounded_like_their_number():
    assert rounded_interval(-1714.2, 547.3, 577) == "-1,710 to 550"
    assert rounded_interval(0, 1, None) == "0.00 to 1.00"
    assert rounded_interval(None, 1, 1) == "n/a"
    assert rounded_interval(0.0, float("inf"), 0.12) == "0.00 to infinity"


def test_a_cross_table_has_the_numbers_of_its_cells_and_marginals(made):
    table = made.crosstab("kind of|thing", "size")
    paper = table.paper()
    assert paper.caption == "Number of people by kind of|thing and size (estimate ± standard error)"
    assert (paper.stub, paper.span, paper.spanned) == (("kind of|thing",), "size", 5)
    assert paper.header == ("1", "2", "3", "4", "(missing)", "all")
    for i, row in enumerate(paper.rows[:-1]):
        assert row[0].text == NASTY[i]
        for j, cell in enumerate(row[1:-1]):
            assert cell.text == rounded_number(table.counts[i, j], table.standard_errors[i, j])
        side = table.marginal("kind of|thing")
        assert row[-1].text == rounded_number(side.counts[i], side.standard_errors[i])
    below = table.marginal("size")
    assert [cell.text for cell in paper.rows[-1]] == [
        "all",
        *(rounded_number(*pair) for pair in zip(below.counts, below.standard_errors)),
        "40",
    ]
    shares = table.paper(show="shares")
    assert shares.caption.startswith("Share of all people by kind of|thing and size, in percent")
    assert shares.rows[-1][-1].text == "100"
    given = table.paper(given="kind of|thing")
    assert given.caption.startswith("Share of people by size within kind of|thing, in percent")
    found = table.shares(("kind of|thing",))
    assert given.rows[1][2].text == rounded_number(100 * found.shares[1, 1], 100 * found.standard_errors[1, 1])
    assert given.header == ("1", "2", "3", "4", "(missing)")  # no totals
    spread = table.paper(interval=True, level=0.8)
    assert "(estimate and 80% interval)" in spread.caption
    low, high = (end[0, 0] for end in table.interval(0.8))
    number = rounded_number(table.counts[0, 0], table.standard_errors[0, 0]).partition(" ")[0]
    assert spread.rows[0][1].text == f"{number} ({rounded_interval(low, high, table.standard_errors[0, 0])})"


def test_layouts(made):
    one = made.crosstab("size").paper()
    assert (one.stub, one.span) == (("size",), None)
    three = made.crosstab("where", "kind of|thing", "size").paper()
    assert (three.stub, len(three.rows)) == (("where", "kind of|thing"), 8)
    assert three.header[-1] == "(missing)"
    wide = pk.Schema([pk.Attribute("a", ["x", "y"]), pk.Attribute.ranged("b", 1, 13)])
    people = pl.DataFrame({"a": ["x", "y"] * 50, "b": [1] * 100})
    table = pk.release(people, pk.plan(wide, records=100, k=3), randomness=pk.Seeded(1)).crosstab("a", "b")
    assert table.paper().stub == ("a", "b")  # too wide for a page
    assert len(table.paper(layout="cross").header) == 14
    assert table.paper(caption="My words").caption == "My words"
    matrix = made.correlations().paper()
    assert (matrix.header, [row[0].text for row in matrix.rows]) == (("kind of|thing", "size"), ["size", "where"])
    assert made.correlations().paper(layout="long").stub == ("first", "second", "measure")
    for wrong, sentence in [
        ({"show": "means"}, "show is 'counts' or 'shares'"),
        ({"layout": "tall"}, "layout is 'cross' or 'long'"),
        ({"totals": True, "given": "a"}, "Totals belong to"),
        ({"totals": True, "layout": "long"}, "Totals belong to"),
    ]:
        with pytest.raises(pk.InputError, match=sentence):
            table.paper(**wrong)
    with pytest.raises(pk.InputError, match="two attributes or more"):
        table.marginal("a").paper(layout="cross")
    for result in (made.correlations(), made.describe("size")):
        with pytest.raises(pk.InputError, match="layout is"):
            result.paper(layout="tall")


def test_every_result_is_a_table_for_a_paper_and_for_a_notebook(made, tmp_path):
    table = made.crosstab("size", "kind of|thing")
    results = [
        table,
        made.describe("size"),
        made.correlations(),
        table.association(),
        made.query("SELECT COUNT(*) FROM release"),
    ]
    results.append(pk.tradeoff(made.plan.schema, records=100, k=3, designs=["equal-rho"]))
    results.append(pk.choices(made.plan.schema, records=100, ks=[2, 3], design="equal-rho"))
    for number, result in enumerate(results):
        assert isinstance(result.paper(), PaperTable)
        assert result.to_latex().count(r"\begin{table}") == result.to_html().count("<table") == 1
        assert result.to_markdown().startswith("**")
        assert "<table" in result._repr_html_()
        assert result.paper()._repr_html_() == result.to_html()
        for ending in ("tex", "html", "md", "xlsx"):
            result.save(tmp_path / f"{number}.{ending}")
        page = (tmp_path / f"{number}.html").read_text(encoding="utf-8")
        assert page.startswith("<!DOCTYPE html>")
        assert 'charset="utf-8"' in page
        assert result.to_html() in page
        assert (tmp_path / f"{number}.md").read_text(encoding="utf-8") == f"{result.paper()}\n"
    result = table.association().cramers_v
    assert f"{result.value:.4g}" in result._repr_html_()


def test_remarks_are_notes_of_every_table(made):
    """Of a table that the plan predicts not to be readable."""
    names = ("kind of|thing", "size", "where")
    table = made.crosstab(*names)
    remark = table.unreadable
    assert made.plan.readable([names], records=ROWS).named[0].level == "not readable"
    assert remark.startswith("this table cannot be read: the plan predicts an error of ")
    assert "or merge values." in remark or "merge values." in remark
    assert table.to_json()["remarks"] == [remark[:1].upper() + remark[1:]]
    assert remark[:1].upper() + remark[1:] in table.paper().notes
    assert not any("cannot be read" in line for line in made.crosstab(*names[:2]).association()._captions())
    assert remark[1:] in table._repr_html_().replace("&gt;", ">").replace("&#x27;", "'")
    answer = made.query(
        "SELECT COUNT(*) FROM release WHERE \"kind of|thing\" = '=1+1' AND size = 1 AND \"where\" = 'here'"
    )
    assert any(note.startswith("The query needs the table ") and "cannot be read" in note for note in answer.notes)
    assert json.loads(answer.to_bytes("json"))["notes"] == list(answer.notes)
    schema = pk.Schema([pk.Attribute("where", ["here", "there"])])
    people = pl.DataFrame({"where": ["here", "there"] * 500})
    good = pk.release(people, pk.plan(schema, records=1_000, k=5), randomness=pk.Seeded(1))
    assert good.crosstab("where").unreadable is None
    assert good.crosstab("where").all_remarks == ()


def test_the_marks_of_flags_are_in_charts(made):
    table = made.crosstab("kind of|thing", "size")
    flags = table.to_polars(given=["kind of|thing"])["flag"].to_list()
    for kind in ("bars", "heat", "line"):
        chart = crosstab_chart(table.grid(given="kind of|thing"), kind).to_dict()
        rows = max(chart["datasets"].values(), key=len)
        assert [row["marks"] for row in rows] == [
            "".join(MARKS[word] for word in ("predicted error", "small group") if word in (flag or ""))
            for flag in flags
        ]
        assert any(row["marks"] for row in rows)
        texts = [layer for layer in chart["layer"] if layer["mark"]["type"] == "text"]
        assert any(layer["encoding"].get("text", {}).get("field") == "marks" for layer in texts)
        assert any("§ small group: " in line for line in chart["title"]["subtitle"])
        assert chart["title"]["text"] == ["Share of people by size within kind of|thing, in percent"]


def test_lines_join_values_in_their_order(made, tmp_path):
    chart = made.crosstab("size").chart("line").to_dict()
    assert [layer["mark"]["type"] for layer in chart["layer"]] == ["area", "line", "rule", "point", "text", "rule"]
    rows = max(chart["datasets"].values(), key=len)
    assert [row["apart"] for row in rows] == [False] * 4 + [True]  # no line leads to the missing value
    area, line, alone, point, *_ = (layer["encoding"] for layer in chart["layer"])
    assert (area["y"]["field"], area["y2"]["field"], line["y"]["field"]) == ("low", "high", "estimate")
    assert (alone["y"]["field"], point["y"]["field"]) == ("low", "estimate")
    two = made.crosstab("where", "size").chart("line").to_dict()
    assert [layer["mark"]["type"] for layer in two["layer"]] == ["line", "rule", "point", "text", "rule"]
    encoding = two["layer"][0]["encoding"]
    assert (encoding["x"]["title"], encoding["color"]["title"]) == ("size", "where")
    pk.save_chart(made.crosstab("size").chart("line"), tmp_path / "c.pdf")
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(pk.InputError, match="'where' has none"):
        made.crosstab("where").chart("line")
    with pytest.raises(pk.InputError, match="shows 1 or 2 attributes"):
        made.crosstab("where", "size", "kind of|thing").chart("line")
