"""The package in r/ gives the numbers, errors and intervals of pkanon, for every kind of block, to 1e-9."""

import itertools
import json
import math

import numpy as np
import pytest
import r_package
from r_releases import label, releases

import pkanon as pk

LEVELS = (0.95, 0.8)
TESTED = ((0, "table"), (1, "population"))
TABLES = {
    "retention": [("Region",), ("age", "married"), ("income", "Region"), ("married", "rooms", "age")],
    "joint": [("c",), ("d", "c"), ("e", "a", "d"), ("c", "d", "e")],
    "agreement": [("sex",), ("age", "education"), ("sex", "education"), ("age", 'työ, "laji"', "sex")],
    "matrix": [("a",), ("b", "x"), ("x", "b", "a")],
    "several": [("d",), ("a", "c"), ("b", "f"), ("g", "c", "e"), ("d", "a", "g", "f")],
    "sparse": [("c",), ("a", "c"), ("b", "f"), ("g", "c", "e")],
    "nearly nothing left": [("a",), ("b", "c"), ("c", "a")],
    "less than chance": [("a",), ("b", "a")],
    "everything kept": [("a",), ("b", "a")],
    "values": [("hours",), ("dose", "hours"), ("code", "number"), ("text",)],
    "few": [("c",), ("a", "c"), ("a", "e"), ("e", "c"), ("a", "c", "e")],
}
TOGETHER = {"a": ["y", "z"], "c": ["u", "v"], "e": ["p", "q"]}
"""Values of "few" that are merged."""


def r_text(value):
    return json.dumps(value, ensure_ascii=False)


def r_condition(where):
    """A condition as R takes it, with the labels that the package shows."""
    parts = []
    for name, values in where.items():
        listed = values if isinstance(values, list) else [values]
        texts = ", ".join("NA" if value is None else r_text(label(value)) for value in listed)
        parts.append(f"{r_text(name)} = c({texts})")
    return f"list({', '.join(parts)})"


def conditions(table):
    """Two conditions on the first and the last attribute of a table, and their values."""
    first, last = table.attributes[0], table.attributes[-1]
    some = list(first.labels())[: max(1, first.size - 1)]
    return {first.name: some}, {last.name: [list(last.labels())[-1]]}


class Questions:
    """Lines of R with the numbers they must give."""

    def __init__(self):
        self.lines, self.expected = [], {}
        self.testing = False
        """Whether numbers are also tested: that asks for their intervals at many levels."""

    def ask(self, name, expression, numbers):
        assert name not in self.expected
        self.lines.append(f"answer({r_text(name)}, {expression})")
        self.expected[name] = np.asarray(numbers, float)

    def number(self, name, expression, quantity, level):
        low, high = quantity.interval(level)
        self.ask(
            name,
            f"unlist(as.data.frame({expression}, level = {level})[1:4])",
            [quantity.value, quantity.standard_error, low, high],
        )
        flag = quantity.flag(level) or ""
        self.ask(f"{name} flag", f"as.data.frame({expression}, level = {level})$flag == {r_text(flag)}", [1.0])
        if self.testing:
            self.tests(name, expression, quantity, (low, high))

    def tests(self, name, expression, quantity, limits):
        """Tests against the default, a limit, and values inside and outside of the interval."""
        self.ask(f"{name}, p", f"c(1, test({expression})$p.value)", [1, quantity.test().p_value])
        low, high = limits
        nulls = [low, (quantity.value + high) / 2, 1.2 * high - 0.2 * quantity.value]
        if quantity.scale == "log":
            nulls = [null for null in nulls if null > 0 or quantity.value <= 0]
        if not nulls or not all(map(math.isfinite, nulls)):
            return
        found = [quantity.test(null) for null in nulls]
        listed = ", ".join(map(repr, nulls))
        self.lines.append(f"tests <- lapply(c(numeric(), {listed}), function(null) test({expression}, null))")
        self.ask(f"{name}, z", 'sapply(tests, `[[`, "statistic")', [test.statistic for test in found])
        self.ask(f"{name}, several p", 'sapply(tests, `[[`, "p.value")', [test.p_value for test in found])


def columns_of(frame):
    """The numbers of a data frame, column by column, null where it has none."""
    names = [name for name, kind in frame.schema.items() if kind.is_float()]
    return names, [frame[name].fill_null(math.nan).to_numpy() for name in names]


def ask_table(questions, key, tab, table, level, given=()):
    frame = table.to_polars(level=level, given=given)
    names, columns = columns_of(frame)
    listed = ", ".join(map(r_text, given))
    questions.lines.append(f"frame <- as.data.frame({tab}, level = {level}, given = c(character(), {listed}))")
    if not given:
        questions.lines[-1] = f"frame <- as.data.frame({tab}, level = {level})"
    results = names[-9:]  # an attribute may be of floats
    for name, column in zip(results, columns[-9:]):
        questions.ask(f"{key} {name}", f"frame[[{r_text(name)}]]", column)
    flags = frame["flag"].fill_null("").to_list()
    questions.ask(f"{key} flags", f"match(frame$flag, {r_vector(sorted(set(flags)))})", [
        sorted(set(flags)).index(flag) + 1 for flag in flags
    ])  # fmt: skip


def r_vector(texts):
    return f"c({', '.join(map(r_text, texts))})"


def ask_numbers(questions, key, tab, table, level):
    one, other = conditions(table)
    both = {**one, **other}
    first, second = r_condition(one), r_condition(other)
    questions.number(f"{key} count", f"count({tab}, {first})", table.count(one), level)
    questions.number(f"{key} all", f"count({tab})", table.count(), level)
    questions.number(f"{key} both", f"count({tab}, {r_condition(both)})", table.count(both), level)
    questions.number(f"{key} share", f"proportion({tab}, {first})", table.proportion(one), level)
    questions.number(f"{key} whole", f"proportion({tab}, {first}, {first})", table.proportion(one, one), level)
    questions.number(f"{key} difference", f"difference({tab}, {first}, {second})", table.difference(one, other), level)
    questions.number(f"{key} ratio", f"ratio({tab}, {first}, {second})", table.ratio(one, other), level)
    if len(table.names) > 1:
        questions.number(f"{key} among", f"proportion({tab}, {first}, {second})", table.proportion(one, other), level)
        rest = {table.names[-1]: list(table.attributes[-1].labels())[:1]}
        questions.number(
            f"{key} gap",
            f"difference(proportion({tab}, {first}, {second}), proportion({tab}, {first}, {r_condition(rest)}))",
            table.proportion(one, other) - table.proportion(one, rest),
            level,
        )
        questions.number(
            f"{key} ratio of shares",
            f"proportion({tab}, {first}, {second}) / proportion({tab}, {first}, {r_condition(rest)})",
            table.proportion(one, other) / table.proportion(one, rest),
            level,
        )
        questions.number(f"{key} odds", f"odds_ratio({tab}, {first}, {second})", table.odds_ratio(one, other), level)
    questions.number(
        f"{key} algebra",
        f"100 * (1 - proportion({tab}, {first})) + 2 * count({tab}, {second}) / 3 - count({tab}) * count({tab}, {second})",
        100 * (1 - table.proportion(one)) + 2 * table.count(other) / 3 - table.count() * table.count(other),
        level,
    )
    for attribute in table.attributes:
        if attribute.type in ("integer", "number", "boolean"):
            name = r_text(attribute.name)
            questions.number(f"{key} mean of {name}", f"mean({tab}, {name})", table.mean(attribute.name), level)
            questions.number(f"{key} sum of {name}", f"total({tab}, {name})", table.sum(attribute.name), level)
            if attribute is not table.attributes[-1]:
                questions.number(
                    f"{key} mean of {name} among",
                    f"mean({tab}, {name}, {second})",
                    table.mean(attribute.name, other),
                    level,
                )
    named = table.attributes[0]
    numbers = {value: float(i**2) for i, value in enumerate(named.labels())} | {next(iter(named.labels())): None}
    listed = ", ".join(f"`{label(v)}` = {'NA' if x is None else x}" for v, x in numbers.items())
    if "`" not in "".join(map(label, numbers)) and "(missing)" not in list(named.labels()):
        questions.number(
            f"{key} mean of given numbers",
            f"mean({tab}, {r_text(named.name)}, values = c({listed}))",
            table.mean(named.name, values=numbers),
            level,
        )


def ask_merged(questions, key, tab, table, level):
    """The first attribute with its first and last value as one group, and the second with all values as one."""
    first = table.attributes[0]
    values = list(first.labels())
    groups = [[values[0], values[-1]], *([value] for value in values[1:-1])]
    names = ", ".join("NA" if value is None else r_text(label(value)) for value in (values[0], values[-1]))
    questions.lines.append(f"merged <- merge_values({tab}, {r_text(first.name)} = list(together = c({names})))")
    questions.lines.append(f"frame <- as.data.frame(merged, level = {level})")
    rest = [list(attribute.labels()) for attribute in table.attributes[1:]]
    cells = [
        {first.name: group, **{a.name: value for a, value in zip(table.attributes[1:], place)}}
        for group in groups
        for place in itertools.product(*rest)
    ]
    counts = [table.count(where) for where in cells]
    low, high = zip(*(count.interval(level) for count in counts))
    percent = f"{100 * level:g}"
    possible = [bool(count.standard_error) or count.value != 0 for count in counts]
    for name, column in (
        ("estimate", [count.value for count in counts]),
        ("std_error", [count.standard_error for count in counts]),
        (f"low_{percent}", np.where(possible, low, 0.0)),
        (f"high_{percent}", np.where(possible, high, 0.0)),
        ("proportion", np.clip([count.value / table.total for count in counts], 0, 1)),
        (f"proportion_high_{percent}", np.clip(np.where(possible, high, 0.0) / table.total, 0, 1)),
    ):
        questions.ask(f"{key} merged {name}", f"frame[[{r_text(name)}]]", column)
    questions.ask(f"{key} merged array", "c(aperm(as.array(merged)))", [count.value for count in counts])
    if len(table.names) == 2:
        second = table.names[1]
        shares = [table.proportion(where, {second: where[second]}) for where in cells]
        questions.lines.append(f"frame <- as.data.frame(merged, level = {level}, given = {r_text(second)})")
        for name, column in (
            ("proportion", [share.value for share in shares]),
            ("proportion_std_error", [share.standard_error for share in shares]),
            (f"proportion_low_{percent}", np.where(possible, [share.interval(level)[0] for share in shares], 0.0)),
        ):
            questions.ask(f"{key} merged given {name}", f"frame[[{r_text(name)}]]", column)


def ask_association(questions, key, tab, table, level):
    try:
        found = table.association()
    except pk.PkanonError as error:  # then R must say the same
        questions.ask(
            f"{key} association",
            f"tryCatch(test({tab})$p.value, error = function(e) -as.numeric(conditionMessage(e) == {r_text(str(error))}))",
            [-1.0],
        )
        return
    low, high = found.cramers_v.interval(level)
    questions.ask(
        f"{key} association",
        f"with(test({tab}), c(statistic, parameter, p.value, estimate, stderr, conf.int))",
        [
            found.chi_square,
            found.degrees_of_freedom,
            found.p_value,
            found.cramers_v.value,
            found.cramers_v.standard_error,
            low,
            high,
        ],
    )


def ask_groups(questions, key, release, names, about, level):
    """Every table of merged values, and their association: groups of few people, impossible and single cells among them."""
    merge = {name: {"together": TOGETHER[name]} for name in names}
    listed = ", ".join(f"{name} = list(together = {r_vector(TOGETHER[name])})" for name in names)
    questions.lines.append(f"grouped <- merge_values(tab, {listed})")
    table = release.crosstab(*names, about=about, level=level, merge=merge)
    for given in dict.fromkeys([(), *((name,) for name in names), names]):
        ask_table(questions, f"{key} given {' x '.join(given)}", "grouped", table, level, given)
    if len(names) == 2 and about == "population":
        ask_association(questions, key, "grouped", table, level)


@pytest.fixture(scope="module")
def answers(tmp_path_factory, seed):
    """Every question, its numbers from Python, and those from R."""
    folder = tmp_path_factory.mktemp("r")
    library = r_package.install(folder / "library")
    questions = Questions()
    for name, release in releases(seed).items():
        release.save(folder / name, format="csv")
        questions.lines.append(f"release <- read_release({r_text(name)})")
        for (place, names), about in itertools.product(enumerate(TABLES[name]), ("table", "population")):
            level = LEVELS[place % 2]
            questions.testing = (place, about) in TESTED
            key = f"{name}: {' x '.join(names)} {about}"
            listed = ", ".join(map(r_text, names))
            questions.lines.append(f"tab <- crosstab(release, {listed}, about = {r_text(about)}, level = {level})")
            table = release.crosstab(*names, about=about, level=level)
            ask_table(questions, key, "tab", table, level)
            for given in (names[:1], names[1:], names) if len(names) > 1 else ():
                ask_table(questions, f"{key} given {' x '.join(given)}", "tab", table, level, given)
            ask_numbers(questions, key, "tab", table, level)
            ask_merged(questions, key, "tab", table, level)
            if len(names) == 2 and about == "population":
                ask_association(questions, key, "tab", table, level)
            if name == "few":
                ask_groups(questions, f"{key} in groups", release, names, about, level)
    text = "\n".join(
        [
            'file <- file("answers.txt", "w", encoding = "UTF-8")',
            "answer <- function(name, numbers) {",
            '  cat(name, sprintf("%.17g", as.numeric(numbers)), sep = "\\t", file = file)',
            '  cat("\\n", file = file)',
            "}",
            *questions.lines,
            "close(file)",
        ]
    )
    code, printed = r_package.script(text, folder, library)
    assert code == 0, printed
    given = {}
    for line in (folder / "answers.txt").read_text(encoding="utf-8").splitlines():
        name, *numbers = line.split("\t")
        given[name] = np.array([math.nan if text == "NA" else float(text) for text in numbers])
    return questions.expected, given


@pytest.mark.parametrize("name", TABLES)
def test_numbers_are_equal(answers, name):
    expected, given = answers
    asked = [key for key in expected if key.startswith(f"{name}: ")]
    assert len(asked) > 20
    wrong = [key for key in asked if not equal(given[key], expected[key])]
    assert not wrong, [(key, given[key].tolist(), expected[key].tolist()) for key in wrong[:5]]


def equal(given, expected):
    """To 1e-9 of each number, or of the largest in its column."""
    if given.shape != expected.shape or (np.isnan(given) != np.isnan(expected)).any():
        return False
    finite = np.isfinite(expected)
    if not (given[~finite & ~np.isnan(expected)] == expected[~finite & ~np.isnan(expected)]).all():
        return False
    scale = float(np.abs(expected[finite]).max(initial=0.0))
    return np.allclose(given[finite], expected[finite], rtol=1e-9, atol=1e-9 * scale)


def test_what_is_not_equal_is_seen(answers):
    expected, _ = answers
    for numbers in expected.values():
        if np.isfinite(numbers).any() and np.abs(numbers[np.isfinite(numbers)]).max() > 0:
            assert not equal(numbers * (1 + 1e-8), numbers)
    assert not equal(np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    assert not equal(np.array([1.0]), np.array([1.0, 2.0]))


def test_every_way_to_an_interval_is_taken(answers):
    """Else equal numbers would say little: flags of all kinds occur, and limits that are not plus or minus z errors."""
    expected, _ = answers
    kinds = set()
    for key in [key for key in expected if key.endswith("flags")]:
        kinds |= {len(set(expected[key].tolist()))}
    assert len(kinds) > 1
    plain = []
    for key in [key for key in expected if key.endswith(" estimate") and "merged" not in key]:
        stem = key.removesuffix("estimate")
        level = 95 if f"{stem}low_95" in expected else 80
        low, high = expected[f"{stem}low_{level}"], expected[f"{stem}high_{level}"]
        plain += np.isclose((low + high) / 2, expected[key], rtol=0, atol=1e-9 * np.abs(expected[key]).max()).tolist()
    assert 0.05 < np.mean(plain) < 0.95


def test_values_are_tested_on_every_scale_and_by_inverted_intervals(answers):
    expected, _ = answers
    inverted = []
    for key in [key for key in expected if key.endswith((" count, z", " both, z", " share, z", " among, z"))]:
        value, error, _, high = expected[key.removesuffix(", z")]
        half = (value + high) / 2
        inverted.append(not math.isclose(expected[key][1] * error, value - half, rel_tol=1e-6, abs_tol=1e-12))
    assert len(inverted) > 20
    assert 0.05 < np.mean(inverted) < 0.95
    for kind in ("count", "share", "among", "gap", "odds", "ratio", "difference"):
        assert any(key.endswith(f" {kind}, several p") for key in expected), kind
