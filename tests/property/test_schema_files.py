"""schema.toml: what is written is read back equal, whatever keys a schema has, and encodes every value alike."""

import datetime as dt
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

import pkanon as pk
from pkanon._schema import Points
from pkanon._schema.toml import parse

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
DATES = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
VALUES = {
    "text": TEXTS,
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
    "date": DATES,
}
NOTATIONS = {
    "text": [{}],
    "integer": [{}, {"thousands": "."}, {"thousands": "\u202f"}],
    "number": [{}, {"decimal": ","}, {"decimal": ",", "thousands": "."}, {"thousands": "'"}],
    "date": [{}, {"date_format": "%d/%m/%Y"}, {"date_format": "%d %B %Y %H:%M"}],
}


@st.composite
def _common(draw, kind, texts_taken=()):
    missing_values = draw(st.lists(st.text(max_size=3).filter(lambda t: t not in texts_taken), max_size=2, unique=True))
    return {
        "missing": draw(st.sampled_from(["reject", "value"])),
        "missing_values": missing_values,
        **draw(st.sampled_from(NOTATIONS[kind])),
    }


@st.composite
def listed(draw, name):
    kind = draw(st.sampled_from(list(VALUES)))
    pool = draw(st.lists(VALUES[kind], min_size=3, max_size=9, unique=True))
    size = draw(st.integers(2, len(pool)))
    values, raws = pool[:size], pool[size:]
    merge = {}
    for raw in raws:
        merge.setdefault(draw(st.sampled_from(values)), []).append(raw)
    other = None
    if raws and draw(st.booleans()):
        other = raws[-1]
        merge = {label: kept for label, members in merge.items() if (kept := [m for m in members if m != other])}
    return pk.Attribute(
        name,
        values,
        type=kind,
        ordered=draw(st.booleans()),
        merge=merge or None,
        other=other,
        **draw(_common(kind, tuple(str(value) for value in pool))),
    )


@st.composite
def binned(draw, name):
    kind = draw(st.sampled_from(["integer", "number", "date"]))
    edges = sorted(draw(st.lists(VALUES[kind], min_size=2, max_size=5, unique=True)))
    return pk.Attribute.binned(
        name,
        edges=edges,
        type=kind,
        open=draw(st.sampled_from(["low", "high", "both"])),
        other=draw(st.sampled_from([None, "something else"])),
        **draw(_common(kind)),
    )


@st.composite
def ranged(draw, name):
    low = draw(st.integers(-1000, 1000))
    return pk.Attribute.ranged(name, low, low + draw(st.integers(1, 99)), **draw(_common("integer")))


@st.composite
def pointed(draw, name):
    kind = draw(st.sampled_from(["integer", "number"]))
    points = sorted(draw(st.lists(VALUES[kind], min_size=2, max_size=5, unique=True)))
    return pk.Attribute.pointed(name, points, type=kind, open=draw(st.sampled_from(["none", "low", "high", "both"])))


@st.composite
def from_hierarchy(draw, name):
    if draw(st.booleans()):
        codes = pk.code_list(draw(st.sampled_from(list(pk.code_lists()))))
        return pk.Attribute(name, hierarchy=codes, level=draw(st.integers(0, len(codes.levels) - 1)))
    raws = draw(st.lists(TEXTS, min_size=2, max_size=6, unique=True))
    cut = draw(st.integers(1, len(raws) - 1))
    rows = [(raw, "the first ones" if place < cut else "the last ones") for place, raw in enumerate(raws)]
    return pk.Attribute(name, hierarchy=pk.Hierarchy(rows, ordered=draw(st.booleans())), level=1)


def dropped(name):
    roles = st.sampled_from(["drop", "id", "pass"])
    return st.builds(lambda role, kind: pk.Attribute(name, role=role, type=kind), roles, st.sampled_from(list(VALUES)))


@st.composite
def schemas(draw):
    names = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    kinds = [listed, binned, ranged, pointed, from_hierarchy, dropped]
    attributes = [
        draw(draw(st.sampled_from(kinds[:5] if place == 0 else kinds))(name)) for place, name in enumerate(names)
    ]
    drafted = draw(st.booleans())
    lines = st.none() | st.sampled_from(["J. Doe", "an office, 2 May"])
    chosen = [a.name for a in attributes if a.role == "randomise" and not isinstance(a.domain, Points)]
    bundles = [pk.Bundle(chosen[:2])] if len(chosen) > 1 and draw(st.booleans()) else []
    return pk.Schema(
        attributes,
        bundles,
        drafted=drafted,
        confirmed_by=None if drafted else draw(lines),
        rows_are=draw(lines),
        others=draw(st.sampled_from(["refuse", "drop"])),
    )


@settings(max_examples=150, deadline=None)
@given(schemas())
def test_what_is_written_is_read_back_equal(schema):
    text = schema.to_toml()
    again = parse(text)
    assert again == schema
    assert again.digest == schema.digest
    assert again.to_toml() == text
    for one, two in zip(schema.attributes, again.attributes):
        assert one.to_json() == two.to_json()
        assert (one.ordered, one.merge) == (two.ordered, two.merge)
        if one.hierarchy is not None and one.hierarchy.codes is not None:
            assert (one.hierarchy, one.level) == (two.hierarchy, two.level)
        assert one == pk.Attribute.from_json(one.to_json())
    assert set(tomllib.loads(text)["attributes"]) == set(schema.names)
