"""Formulas: ``income ~ sex * age + C(region, ref='north')``, as R, patsy and formulaic write them.

    formula   response ~ terms
    terms     a + b, a - b, a:b, a*b (= a + b + a:b), (a + b)**2, 0 or -1 (no intercept), 1
    factor    name, `a name with spaces`, C(name), C(name, ref='label'), name[label], name == 'label',
              I(expression), log(name), sqrt(name), exp(name)

An expression calculates with one attribute: + - * / ** ( ), numbers, comparisons, ``in ('a', 'b')``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ..._errors import InputError
from .expressions import Expression, compared, constant, function, listed, negated, number_of, operation
from .tokens import Token, tokens_of

FUNCTIONS = ("log", "sqrt", "exp")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Factor:
    """A factor of a term: one attribute, ``text`` as it was written.

    ``categories``: by C(). ``reference``: the label that others are compared with. ``expression``: it is calculated.
    """

    text: str
    attribute: str
    categories: bool = False
    reference: str | None = None
    expression: Expression | None = field(default=None, compare=False)


Term: TypeAlias = tuple[Factor, ...]
"""Factors whose product counts; without any it is the intercept."""


@dataclass(frozen=True)
class Formula:
    """A formula that was read: the response, and the terms in the order of columns."""

    text: str
    response: Factor
    terms: tuple[Term, ...]


def read_formula(text: str) -> Formula:
    """The formula in ``text``."""
    if not isinstance(text, str):
        raise InputError(f'A formula is a text such as "income ~ sex + age", not {type(text).__name__}.')
    return _Reader(text).formula()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._place = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _is(self, *signs: str) -> bool:
        return self._next.kind == "sign" and self._next.text in signs

    def _take(self) -> Token:
        token = self._next
        self._place += 1
        return token

    def _expect(self, sign: str, where: str) -> Token:
        if not self._is(sign):
            raise self._wrong(f"'{sign}' is expected {where}")
        return self._take()

    def _wrong(self, what: str) -> InputError:
        rest = self._text[self._next.start :].strip()
        return InputError(f"The formula cannot be read at {repr(rest[:20]) if rest else 'its end'}: {what}.")

    def formula(self) -> Formula:
        if not any(token.kind == "sign" and token.text == "~" for token in self._tokens):
            raise InputError('A formula has a response and predictors, with ~ between them: "income ~ sex + age".')
        if self._is("~"):
            raise InputError("The formula has no response before ~.")
        response = self._factor()
        self._expect("~", "after the response")
        terms = self._sum(((),))
        if self._next.kind != "end":
            raise self._wrong("this is not expected here")
        if not terms:
            raise InputError("The formula has no predictors and no intercept.")
        for term in terms:
            if any(factor.attribute == response.attribute for factor in term):
                raise InputError(f"'{response.attribute}' is the response; it cannot be a predictor too.")
        return Formula(self._text.strip(), response, tuple(sorted(terms, key=len)))

    def _sum(self, terms: tuple[Term, ...]) -> tuple[Term, ...]:
        """Terms added to and taken from those that there are already."""
        sign = self._take().text if self._is("+", "-") else "+"
        while True:
            if self._next.kind == "number" and self._next.text in ("0", "1"):
                one = self._take().text == "1"
                others: tuple[Term, ...] = ((),)
                adding = one == (sign == "+")
            else:
                others, adding = self._crossed(), sign == "+"
            terms = _union(terms, others) if adding else tuple(term for term in terms if term not in others)
            if not self._is("+", "-"):
                return terms
            sign = self._take().text

    def _crossed(self) -> tuple[Term, ...]:
        """a * b."""
        terms = self._joined()
        while self._is("*", "/"):
            if self._take().text == "/":
                raise self._wrong("a/b is not a sign of terms here; write a + a:b, or I(a / 10) to calculate")
            others = self._joined()
            terms = _union(_union(terms, others), _products(terms, others))
        return terms

    def _joined(self) -> tuple[Term, ...]:
        """a : b."""
        terms = self._power()
        while self._is(":"):
            self._take()
            terms = _products(terms, self._power())
        return terms

    def _power(self) -> tuple[Term, ...]:
        """(a + b) ** 2: all products of up to two."""
        terms = self._group()
        if not self._is("**", "^"):
            return terms
        self._take()
        token = self._take()
        if token.kind != "number" or not token.text.isdecimal() or not 1 <= int(token.text) <= 9:
            raise InputError("In (a + b)**2 the power is a whole number from 1 to 9; I(a**2) calculates a square.")
        result = terms
        for _ in range(int(token.text) - 1):
            result = _union(result, _products(result, terms))
        return result

    def _group(self) -> tuple[Term, ...]:
        if self._is("("):
            self._take()
            terms = self._sum(())
            self._expect(")", "here")
            return terms
        if self._next.kind == "number":
            raise self._wrong("only 0 and 1 can be terms; calculate inside I(...)")
        return ((self._factor(),),)

    def _factor(self) -> Factor:
        token = self._next
        if token.kind != "name":
            raise self._wrong("the name of an attribute is expected")
        called = self._tokens[self._place + 1]
        if called.kind == "sign" and called.text == "(" and not self._text.startswith("`", token.start):
            name = token.text.removeprefix("np.")
            if name == "C":
                return self._categories()
            if name == "I" or name in FUNCTIONS:
                return self._calculated(self._call)
            raise InputError(f"A formula has no function {token.text}; there are C, I, {', '.join(FUNCTIONS)}.")
        following = self._tokens[self._place + 1]
        if following.text in ("[", *COMPARISONS, "in") and following.kind in ("sign", "name"):
            return self._calculated(self._comparison)
        self._take()
        return Factor(token.text, token.text)

    def _categories(self) -> Factor:
        start = self._take().start
        self._take()
        name = self._take()
        if name.kind != "name":
            raise InputError("C(...) takes the name of an attribute: C(region), or C(region, ref='north').")
        reference = None
        if self._is(","):
            self._take()
            reference = self._reference()
        end = self._expect(")", "after C(" + name.text).end
        return Factor(self._text[start:end], name.text, categories=True, reference=reference)

    def _reference(self) -> str:
        """'north', ref='north', or Treatment(reference='north') as patsy has it."""
        if self._next.kind == "name" and self._next.text == "Treatment":
            self._take()
            self._expect("(", "after Treatment")
            reference = self._reference()
            self._expect(")", "after the reference")
            return reference
        if self._next.kind == "name" and self._next.text in ("ref", "reference"):
            self._take()
            self._expect("=", "after ref")
        token = self._take()
        if token.kind not in ("text", "number"):
            raise InputError("The reference of C(...) is a label in quotes: C(region, ref='north').")
        return token.text

    def _calculated(self, read: Callable[[], tuple[Expression, set[str]]]) -> Factor:
        start = self._next.start
        expression, names = read()
        text = self._text[start : self._tokens[self._place - 1].end]
        if len(names) != 1:
            raise InputError(
                f"{text} must calculate with one attribute, and has {len(names)}; the product of two is a term, a:b."
            )
        return Factor(text, names.pop(), expression=expression)

    def _call(self) -> tuple[Expression, set[str]]:
        name = self._take().text.removeprefix("np.")
        self._take()
        inside, names = self._comparison()
        self._expect(")", f"after {name}(")
        return (inside if name == "I" else function(name, inside)), names

    def _comparison(self) -> tuple[Expression, set[str]]:
        if self._next.kind == "name" and self._tokens[self._place + 1].text in (*COMPARISONS, "[", "in"):
            name = self._take().text
            sign = self._take().text
            if sign == "[":
                label = self._label()
                self._expect("]", "after the label")
                return compared("==", label), {name}
            if sign == "in":
                return listed(self._labels()), {name}
            return compared(sign, self._label()), {name}
        return self._added()

    def _label(self) -> str | float:
        negative = bool(self._is("-") and self._take())
        token = self._take()
        if token.kind == "number":
            return -number_of(token.text) if negative else number_of(token.text)
        if token.kind == "text" and not negative:
            return token.text
        self._place -= 1
        raise self._wrong("a label in quotes, or a number, is expected")

    def _labels(self) -> list[str | float]:
        if not self._is("(", "["):
            raise self._wrong("a list of labels is expected: in ('a', 'b')")
        end = ")" if self._take().text == "(" else "]"
        labels = [self._label()]
        while self._is(","):
            self._take()
            labels.append(self._label())
        self._expect(end, "after the labels")
        return labels

    def _added(self) -> tuple[Expression, set[str]]:
        return self._chain(self._multiplied, ("+", "-"))

    def _multiplied(self) -> tuple[Expression, set[str]]:
        return self._chain(self._signed, ("*", "/"))

    def _chain(
        self, part: Callable[[], tuple[Expression, set[str]]], signs: tuple[str, ...]
    ) -> tuple[Expression, set[str]]:
        left, names = part()
        while self._is(*signs):
            sign = self._take().text
            right, more = part()
            left, names = operation(sign, left, right), names | more
        return left, names

    def _signed(self) -> tuple[Expression, set[str]]:
        if self._is("-"):
            self._take()
            inside, names = self._signed()
            return negated(inside), names
        base, names = self._atom()
        if self._is("**", "^"):
            self._take()
            power, more = self._signed()
            return operation("**", base, power), names | more
        return base, names

    def _atom(self) -> tuple[Expression, set[str]]:
        token = self._next
        if self._is("("):
            self._take()
            inside = self._comparison()
            self._expect(")", "here")
            return inside
        if token.kind == "number":
            self._take()
            return constant(number_of(token.text)), set()
        if token.kind == "name":
            following = self._tokens[self._place + 1]
            if following.kind == "sign" and following.text == "(":
                if token.text.removeprefix("np.") not in ("I", *FUNCTIONS):
                    raise InputError(f"I(...) has no function {token.text}; there are {', '.join(FUNCTIONS)}.")
                return self._call()
            self._take()
            return (lambda values: values.numbers), {token.text}
        raise self._wrong("a number or the name of an attribute is expected")


def _union(terms: tuple[Term, ...], others: tuple[Term, ...]) -> tuple[Term, ...]:
    """Terms of both, each once; the order of factors does not matter."""
    known = {frozenset(term) for term in terms}
    result = list(terms)
    for term in others:
        if frozenset(term) not in known:
            known.add(frozenset(term))
            result.append(term)
    return tuple(result)


def _products(terms: tuple[Term, ...], others: tuple[Term, ...]) -> tuple[Term, ...]:
    result: tuple[Term, ...] = ()
    for left in terms:
        for right in others:
            result = _union(result, (tuple(dict.fromkeys((*left, *right))),))
    return result
