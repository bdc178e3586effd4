"""Schema files as people read them: what fits on a line is on a line, and nothing changes by it."""

import datetime as dt
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from pkanon._schema.layout import laid_out

SMALL = """\
others = "drop"

[confirmed]
by = "J. Doe"
on = 2026-05-02

[attributes.sex]
values = ["F", "M"]
merge = { F = ["f", "female"] }

[attributes."born in"]
bins = { start = 1900, stop = 2000, width = 10 }

[[bundles]]
attributes = ["sex", "born in"]
forbid = [{ sex = ["F"] }]
"""


def test_short_things_stand_on_one_line():
    assert laid_out(tomllib.loads(SMALL)) == SMALL


def test_long_lists_are_filled_to_the_margin():
    values = [f"value, number {i}" for i in range(60)]
    text = laid_out({"attributes": {"a": {"values": values}, "b": {"merge": {"x y": values, "z": ["1"]}}}})
    assert tomllib.loads(text) == {"attributes": {"a": {"values": values}, "b": {"merge": {"x y": values, "z": ["1"]}}}}
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) < 40
    assert '\n[attributes.b.merge]\n"x y" = [\n' in text


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
scalars = (
    texts
    | st.integers(-(2**63), 2**63 - 1)
    | st.booleans()
    | st.dates(dt.date(1000, 1, 1))
    | st.floats(allow_nan=False)
)
lists = st.lists(scalars, max_size=8)
tables = st.dictionaries(texts, scalars | lists | st.dictionaries(texts, lists, max_size=3), max_size=3)


@settings(max_examples=60)
@given(st.dictionaries(texts, tables, min_size=1, max_size=3), st.lists(tables, min_size=1, max_size=2), scalars)
def test_it_is_read_back_as_it_was_written(attributes, bundles, plain):
    data = {"others": plain, "attributes": attributes, "bundles": bundles}
    assert tomllib.loads(laid_out(data)) == data
