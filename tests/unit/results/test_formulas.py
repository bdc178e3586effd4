"""Formulas of regressions: what they mean, and what is said of wrong ones."""

import pytest

import pkanon as pk
from pkanon._results.regression.coding import code
from pkanon._results.regression.formula import read_formula

SCHEMA = pk.Schema(
    [
        pk.Attribute("a", ["x", "y", "z"]),
        pk.Attribute("b", ["p", "q"]),
        pk.Attribute.ranged("n", 0, 9),
        pk.Attribute.ranged("m", 1, 4),
        pk.Attribute.binned("age", edges=[0, 18, 65], open="high"),
        pk.Attribute("income (yearly)", ["<=50K", ">50K", "o'dd", "a]b"]),
        pk.Attribute("flag", [False, True]),
        pk.Attribute("grade", ["low", "high"], missing="value"),
    ]
)


def names(formula, **more):
    return list(code(read_formula(formula), SCHEMA, more.get("values", {}), more.get("missing", "exclude")).names)


def everything(formula):
    """Columns, their numbers and those of the response; they are calculated when they are asked for."""
    coding = code(read_formula(formula), SCHEMA, {}, "exclude")
    return coding.design(), coding.response.numbers


@pytest.mark.parametrize(
    ("formula", "columns"),
    {
        "n ~ 1": ["Intercept"],
        "n ~ m": ["Intercept", "m"],
        "n ~ a + m": ["Intercept", "a[T.y]", "a[T.z]", "m"],
        "n ~ m:b + a": ["Intercept", "a[T.y]", "a[T.z]", "m:b[p]", "m:b[q]"],
        "n ~ a*m": ["Intercept", "a[T.y]", "a[T.z]", "m", "a[T.y]:m", "a[T.z]:m"],
        "n ~ a + m + a:m + a": ["Intercept", "a[T.y]", "a[T.z]", "m", "a[T.y]:m", "a[T.z]:m"],
        "n ~ m:a + a:m - m:a": ["Intercept"],
        "n ~ 0 + b": ["b[p]", "b[q]"],
        "n ~ b - 1": ["b[p]", "b[q]"],
        "n ~ -1 + b + m": ["b[p]", "b[q]", "m"],
        "n ~ 0 + m": ["m"],
        "n ~ 0 + 1 + m": ["Intercept", "m"],
        "n ~ 0 + a:b": ["a[x]:b[p]", "a[x]:b[q]", "a[y]:b[p]", "a[y]:b[q]", "a[z]:b[p]", "a[z]:b[q]"],
        "n ~ (b + m)**2": ["Intercept", "b[T.q]", "m", "b[T.q]:m"],
        "n ~ (b + m)^1": ["Intercept", "b[T.q]", "m"],
        "n ~ (b + m):flag": [
            *("Intercept", "flag[T.True]", "b[T.q]:flag[False]", "b[T.q]:flag[True]", "m:flag[False]", "m:flag[True]"),
        ],
        "n ~ C(m)": ["Intercept", "C(m)[T.2]", "C(m)[T.3]", "C(m)[T.4]"],
        "n ~ C(a, ref='y')": ["Intercept", "C(a, ref='y')[T.x]", "C(a, ref='y')[T.z]"],
        "n ~ C(m, 3)": ["Intercept", "C(m, 3)[T.1]", "C(m, 3)[T.2]", "C(m, 3)[T.4]"],
        "n ~ C(b, Treatment(reference='q'))": ["Intercept", "C(b, Treatment(reference='q'))[T.p]"],
        "n ~ `income (yearly)`": ["Intercept"] + [f"income (yearly)[T.{x}]" for x in (">50K", "o'dd", "a]b")],
        "n ~ I(m**2) + log(m)": ["Intercept", "I(m**2)", "log(m)"],
        "n ~ age": ["Intercept", "age"],
        "n ~ a == 'y'": ["Intercept", "a == 'y'"],
        "n ~ a[y] + b": ["Intercept", "a[y]", "b[T.q]"],
        "n ~ a in ('x', 'y')": ["Intercept", "a in ('x', 'y')"],
        "n ~ I(age >= 18)": ["Intercept", "I(age >= 18)"],
        "n ~ grade": ["Intercept", "grade[T.high]"],
    }.items(),
)
def test_columns_of_a_formula(formula, columns):
    assert names(formula) == columns


def test_missing_answers_can_be_a_category_and_labels_can_be_numbers():
    assert names("n ~ grade", missing="category") == ["Intercept", "grade[T.high]", "grade[T.(missing)]"]
    assert names("n ~ b", values={"b": {"p": 1, "q": 5}}) == ["Intercept", "b"]


@pytest.mark.parametrize(
    ("factor", "numbers"),
    {
        "m": [1, 2, 3, 4],
        "I(m**2 - 2*m/4 + (1))": [1.5, 4, 8.5, 15],
        "I(-m**2)": [-1, -4, -9, -16],
        "I(2**-m)": [0.5, 0.25, 0.125, 0.0625],
        "np.sqrt(m)": [1, 2**0.5, 3**0.5, 2],
        "exp(I(m - 1)*0)": [1, 1, 1, 1],
        "I(m >= 3)": [0, 0, 1, 1],
        "m != 2": [1, 0, 1, 1],
        "m in [1, 4]": [1, 0, 0, 1],
        "age": [8.5, 41, 88],
        "I(age < 65)": [1, 1, 0],
        "flag": [0, 1],
        "`income (yearly)`[>50K]": [0, 1, 0, 0],
        "`income (yearly)` == 'o\\'dd'": [0, 0, 1, 0],
        "`income (yearly)`['a]b']": [0, 0, 0, 1],
    }.items(),
)
def test_numbers_of_a_response(factor, numbers):
    response = code(read_formula(f"{factor} ~ a"), SCHEMA, {}, "exclude").response
    assert response.numbers.tolist() == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("formula", "sentence"),
    {
        "n + a": "with ~ between them",
        "~ a": "no response before ~",
        "n ~": "at its end: the name of an attribute is expected",
        "n ~ a +": "the name of an attribute is expected",
        "n ~ a b": "cannot be read at 'b': this is not expected here",
        "n ~ (a": "'\\)' is expected here",
        "n ~ a / b": "write a \\+ a:b",
        "n ~ 2": "only 0 and 1 can be terms",
        "n ~ 0": "no predictors and no intercept",
        "n ~ a**0": "whole number from 1 to 9",
        "n ~ poly(m)": "no function poly; there are C, I, log, sqrt, exp",
        "n ~ I(poly(m))": "no function poly",
        "n ~ I(m * age)": "one attribute, and has 2",
        "n ~ I(3)": "one attribute, and has 0",
        "n ~ C(3)": "takes the name of an attribute",
        "n ~ C(a, ref=b)": "a label in quotes",
        "n ~ a[y": "without its \\]",
        "n ~ a == b": "a label in quotes, or a number, is expected",
        "n ~ a in 'x'": "a list of labels",
        "n ~ a; b": "cannot be read at '; b'",
        "n ~ nn": "no randomised attribute 'nn'",
        "mm ~ a": "Did you mean 'm'",
        "n ~ n": "it cannot be a predictor too",
        "a ~ n": "write one of them, a == 'z', or say which number stands for each",
        "C(n) ~ a": "has categories, not numbers",
        "n ~ a == 'w'": "'w' is not a value of 'a'",
        "n ~ C(a, ref='w')": "'w' is not a value of 'a'",
        "n ~ I(a + 1)": "say which number stands for each value",
        "n ~ I(a < 'y')": "needs a number",
        "n ~ I(age > 18)": "compare by < or >= with one of their edges: 0, 18, 65",
        "n ~ I(age >= 20)": "compare by < or >=",
        "log(n) ~ a": "log\\(n\\) has no number for some values",
    }.items(),
)
def test_wrong_formulas_are_refused_with_a_sentence(formula, sentence):
    with pytest.raises(pk.InputError, match=sentence):
        everything(formula)


def test_more_coefficients_than_anybody_reads():
    schema = pk.Schema(
        [
            pk.Attribute.ranged("n", 0, 20),
            *(pk.Attribute.ranged(x, 1, 500) for x in "ab"),
            pk.Attribute.ranged("c", 1, 50),
        ]
    )
    with pytest.raises(pk.InputError, match="'a' has 500 values, too many"):
        code(read_formula("n ~ C(a)"), schema, {}, "exclude")
    with pytest.raises(pk.InputError, match="more than 200 coefficients"):
        code(read_formula("a ~ C(n) * C(c)"), schema, {}, "exclude")
    with pytest.raises(pk.InputError, match="A formula is a text"):
        read_formula(3)
