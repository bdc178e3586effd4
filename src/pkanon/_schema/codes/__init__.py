"""Ready code lists, as hierarchies: facts that are public and free.

iso3166-1.csv     countries of ISO 3166-1 with alpha-2, alpha-3 and numeric code; sub-regions and regions of UN M49
iso5218.csv       sexes of ISO/IEC 5218
isced2011.csv     levels of education of ISCED 2011, as ISCED numbers them and as Eurostat codes them
eurostat-age.csv  years of age, and the age classes of Eurostat

A list takes some columns of a file, finest first. A file is read when a list of it is first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ..._errors import SchemaError, did_you_mean
from ..hierarchy import Hierarchy, rows_of, traced


@dataclass(frozen=True)
class _CodeList:
    """Which columns of which file; whether the values have an order; what the values are; what each level is."""

    file: str
    columns: tuple[int, ...]
    ordered: bool
    subject: str
    levels: tuple[str, ...]


_REGIONS = ("sub-regions (UN M49)", "regions (UN M49)")
_LISTS = {
    "iso3166-1-alpha2": _CodeList("iso3166-1", (0, 3, 4), False, "countries (ISO 3166-1)", ("two letters", *_REGIONS)),
    "iso3166-1-alpha3": _CodeList(
        "iso3166-1", (1, 3, 4), False, "countries (ISO 3166-1)", ("three letters", *_REGIONS)
    ),
    "iso3166-1-numeric": _CodeList(
        "iso3166-1", (2, 3, 4), False, "countries (ISO 3166-1)", ("three digits", *_REGIONS)
    ),
    "iso5218": _CodeList(
        "iso5218", (0,), False, "sexes (ISO/IEC 5218)", ("0 unknown, 1 male, 2 female, 9 not applicable",)
    ),
    "isced2011": _CodeList("isced2011", (0, 2), True, "education (ISCED 2011)", ("levels 0 to 8", "0-2, 3-4, 5-8")),
    "isced2011-eurostat": _CodeList(
        "isced2011", (1, 3), True, "education (ISCED 2011)", ("ED0 to ED8", "ED0-2, ED3_4, ED5-8")
    ),
    "eurostat-age": _CodeList(
        "eurostat-age",
        (0, 1, 2, 3),
        True,
        "age in years",
        ("0 to 120", "five years, Y_LT5 to Y_GE85", "six classes, Y_LT15 to Y_GE80", "Y_LT15, Y15-64, Y_GE65"),
    ),
    "eurostat-age5": _CodeList(
        "eurostat-age",
        (1, 2, 3),
        True,
        "age classes (Eurostat)",
        ("five years, Y_LT5 to Y_GE85", "six classes, Y_LT15 to Y_GE80", "Y_LT15, Y15-64, Y_GE65"),
    ),
}


def code_lists() -> dict[str, str]:
    """The names of the ready code lists, and what each holds, level by level.

    Examples
    --------
    >>> import pkanon as pk
    >>> pk.code_lists()["isced2011"]
    'education (ISCED 2011): level 0 levels 0 to 8; level 1 0-2, 3-4, 5-8'
    """
    return {
        name: f"{entry.subject}: " + "; ".join(f"level {number} {level}" for number, level in enumerate(entry.levels))
        for name, entry in _LISTS.items()
    }


def code_list(name: str) -> Hierarchy:
    """A ready code list: countries, sexes, age classes, levels of education.

    Parameters
    ----------
    name
        One of :func:`code_lists`.

    Examples
    --------
    >>> import pkanon as pk
    >>> countries = pk.code_list("iso3166-1-alpha2")
    >>> [len(level) for level in countries.levels]
    [249, 18, 6]
    >>> pk.Attribute("born_in", hierarchy=countries, level=2).label(0)
    'Europe'
    """
    if name not in _LISTS:
        raise SchemaError(f"There is no code list {name!r}. {did_you_mean(str(name), list(_LISTS))}")
    return _read(name)


@cache
def _read(name: str) -> Hierarchy:
    from importlib import resources  # slow to load, and few schemas need it

    entry = _LISTS[name]
    text = resources.files(__package__).joinpath(f"{entry.file}.csv").read_text(encoding="utf-8")
    rows = dict.fromkeys(tuple(row[column] for column in entry.columns) for row in rows_of(text, entry.file))
    return traced(Hierarchy(rows, ordered=entry.ordered, source=f"the code list {name}"), codes=name)
