"""schema.toml in and out.

    others = "drop"                               # columns without an entry: refuse (default) | drop
    [confirmed]
    by = "J. Doe: values as in the questionnaire"
    on = 2026-05-02                               # a date, or a text
    rows_are = "persons"
    [attributes.age]
    type = "integer"                              # text | integer | number | boolean | date
    bins = { start = 0, stop = 90, width = 5 }    # [a, b); or edges = [...], labels = [...]
    open = "high"                                 # none | low | high | both
    [attributes.education]
    values = ["none", "school", "degree"]
    ordered = true                                # neighbours in the list are neighbouring values
    merge = { "school" = ["9th", "10th"] }        # raw values that become a declared one while reading
    missing = "value"
    missing_values = ["", "NA"]
    other = "other"
    [attributes.job]
    hierarchy = { file = "job.csv", level = 1 }   # beside this file; one row per value, one column per level
    [attributes.country]
    codes = "iso3166-1-alpha2"                    # a ready list; or { list = "iso3166-1-alpha2", level = 1 }
    [attributes.admitted]
    type = "date"
    bins = { edges = [2024-01-01, 2024-07-01, 2025-01-01] }
    date_format = "%d/%m/%Y"                      # how a text file writes it; decimal = "," and thousands = "." for numbers
    [attributes.zip]
    range = [0, 99999]
    [attributes.weight]
    points = [100, 200, 400, 800]                 # rounded at random to one of two neighbours; open as for bins
    [attributes.patient]
    role = "id"                                   # randomise | id | drop | pass | undecided
    repeats = "one at random"                     # refuse | one at random
    [[bundles]]
    attributes = ["age", "education"]
    forbid = [{ age = ["0-4", "5-9"], education = ["degree"] }]

An attribute whose values were read off the data says ``drafted = true`` until somebody confirms it; ``[confirmed]``
says who did, when, and what the rows are. Older files say ``domains = "drafted"`` (of every attribute) or
``domains = "confirmed"``, ``confirmed_by`` and ``row_is`` at the top; they are read and no longer written. Unknown keys
are refused, never skipped.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._errors import InputError, SchemaError, did_you_mean
from .attribute import Attribute, marked, undecided
from .codes import code_list
from .declaring import WITH_VALUES
from .domain import Bins, Listed, Points, Range, equal_width, value_to_text
from .hierarchy import named_hierarchy
from .layout import laid_out
from .schema import Bundle, Schema

_TOP = ("others", "confirmed", "attributes", "bundles", "domains", "confirmed_by", "row_is")
_CONFIRMED = ("by", "on", "rows_are")
_ATTRIBUTE = (
    *("type", "role", "values", "bins", "open", "range", "points", "hierarchy", "codes"),
    *("ordered", "merge", "missing", "missing_values", "other", "date_format", "decimal", "thousands"),
    *("repeats", "drafted"),
)
HERE = Path()
_BINS = ("start", "stop", "width", "edges", "labels")
_DOMAINS = ("values", "bins", "range", "points", "hierarchy", "codes")
_NOTATION = ("date_format", "decimal", "thousands")
_BUNDLE = ("attributes", "forbid")


def read_schema(path: str | Path) -> Schema:
    """The schema in a TOML file.

    Refused: unknown keys, and attributes or bundles that cannot be used.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pkanon as pk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.toml")
    ...     _ = file.write_text('attributes.sex.values = ["F", "M"]')
    ...     schema = pk.read_schema(file)
    >>> schema.names
    ('sex',)
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read the schema {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SchemaError(f"The schema {path} is not UTF-8 text.") from None
    return parse(text, str(path), Path(path).parent)


def parse(text: str, source: str = "the schema", folder: Path = HERE) -> Schema:
    """The schema in a TOML text; ``source`` is what errors call it, ``folder`` where its hierarchies are."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{source} is not valid TOML: {error}.") from None
    return schema_of(data, source, folder)


def schema_of(data: Mapping[str, Any], source: str, folder: Path = HERE) -> Schema:
    """The schema in the tables of a TOML file; ``source`` and ``folder`` as in :func:`parse`."""
    _known(data, _TOP, source)
    domains = data.get("domains", "confirmed")
    if domains not in ("drafted", "confirmed"):
        raise SchemaError(f'{source}: domains must be "drafted" or "confirmed".')
    tables = data.get("attributes")
    if not isinstance(tables, Mapping) or not tables:
        raise SchemaError(f"{source} declares no attributes; write one table [attributes.NAME] for each column.")
    attributes = [_attribute(name, table, folder) for name, table in tables.items()]
    bundles = []
    listed = data.get("bundles", [])
    if not isinstance(listed, list):
        raise SchemaError(f"{source}: write each bundle as a table [[bundles]].")
    for bundle in listed:
        _known(bundle, _BUNDLE, "[[bundles]]")
        bundles.append(Bundle(_list(bundle, "attributes", "[[bundles]]"), _list(bundle, "forbid", "[[bundles]]", [])))
    return Schema(
        attributes,
        bundles,
        drafted=domains == "drafted",
        others=data.get("others", "refuse"),
        **_statements(data, source),
    )


def _statements(data: Mapping[str, Any], source: str) -> dict[str, Any]:
    """What a person says about the schema, from [confirmed] or from the keys that older files have."""
    old = {"confirmed_by": data.get("confirmed_by"), "rows_are": data.get("row_is")}
    if "confirmed" not in data:
        return old
    if any(text is not None for text in old.values()):
        raise SchemaError(f"{source}: [confirmed] replaces confirmed_by and row_is; remove those two.")
    table = data["confirmed"]
    _known(table, _CONFIRMED, f"{source}: [confirmed]")
    return {"confirmed_by": table.get("by"), "confirmed_on": table.get("on"), "rows_are": table.get("rows_are")}


def _attribute(name: str, table: Any, folder: Path) -> Attribute:
    where = f"attribute '{name}'"
    if not isinstance(table, Mapping):
        raise SchemaError(f"{where}: write it as a table [attributes.{name}].")
    _known(table, _ATTRIBUTE, where)
    if "repeats" in table and table.get("role") != "id":
        raise SchemaError(f"{where}: repeats belongs to the role 'id'.")
    if "open" in table and "bins" not in table and "points" not in table:
        raise SchemaError(f"{where}: open belongs to bins and points.")
    if len(found := [key for key in _DOMAINS if key in table]) > 1:
        raise SchemaError(f"{where}: give values, bins, a range or points, not two of them ({' and '.join(found)}).")
    common: dict[str, Any] = {key: table[key] for key in ("missing", "other", *_NOTATION) if key in table}
    common["missing_values"] = _list(table, "missing_values", where, [])
    if "merge" in table and any(key in table for key in ("bins", "range", "points")):
        raise SchemaError(f"{where}: merge belongs to listed values, not to bins, a range or points.")
    if "ordered" in table and any(key in table for key in ("bins", "range", "points")):
        raise SchemaError(f"{where}: bins, ranges and points are ordered anyway; leave out ordered.")
    role = table.get("role", "randomise")
    made = _declared(name, table, role, common, folder, where)
    drafted = table.get("drafted", False)
    if not isinstance(drafted, bool):
        raise SchemaError(f"{where}: drafted must be true or false.")
    return marked(made if made.role == role else undecided(made), drafted=drafted)


def _declared(
    name: str, table: Mapping[str, Any], role: str, common: dict[str, Any], folder: Path, where: str
) -> Attribute:
    if role in WITH_VALUES and "bins" in table:
        bins = table["bins"]
        if not isinstance(bins, Mapping):
            raise SchemaError(
                f"{where}: write bins = {{ start = ..., stop = ..., width = ... }} or {{ edges = [...] }}."
            )
        _known(bins, _BINS, f"{where}, bins")
        return Attribute.binned(name, type=table.get("type"), open=table.get("open", "none"), **bins, **common)
    if role in WITH_VALUES and "range" in table:
        limits = _list(table, "range", where)
        if len(limits) != 2 or table.get("type", "integer") != "integer":
            raise SchemaError(f"{where}: write range = [lowest, highest], two integers.")
        if refused := [key for key in ("date_format", "decimal") if key in table]:
            raise SchemaError(f"{where}: {refused[0]} does not belong to a range of whole numbers.")
        return Attribute.ranged(name, limits[0], limits[1], **common)
    if role in WITH_VALUES and "points" in table:
        if "other" in table:
            raise SchemaError(f"{where}: points take no other; open them at an end, or refuse what lies beyond.")
        if "date_format" in table:
            raise SchemaError(f"{where}: date_format does not belong to points, which are numbers.")
        points = _list(table, "points", where)
        return Attribute.pointed(name, points, type=table.get("type"), open=table.get("open", "none"), **common)
    if "bins" in table or "range" in table or "points" in table:
        raise SchemaError(f"{where}: values, bins, range and points belong to the role 'randomise'.")
    values = _list(table, "values", where) if "values" in table else None
    if "hierarchy" in table or "codes" in table:
        common |= _hierarchy(table, folder, where)
    common |= {key: table[key] for key in ("ordered", "merge", "repeats") if key in table}
    return Attribute(name, values, type=table.get("type"), role=role, **common)


def _hierarchy(table: Mapping[str, Any], folder: Path, where: str) -> dict[str, Any]:
    """The hierarchy or code list that an attribute names, and the level."""
    if "codes" in table:
        given = {"list": table["codes"]} if isinstance(table["codes"], str) else table["codes"]
        if not isinstance(given, Mapping) or not isinstance(given.get("list"), str):
            raise SchemaError(f'{where}: write codes = "NAME" or codes = {{ list = "NAME", level = 1 }}.')
        _known(given, ("list", "level"), f"{where}, codes")
        return {"hierarchy": code_list(given["list"]), "level": given.get("level", 0)}
    given = table["hierarchy"]
    if not isinstance(given, Mapping) or not isinstance(given.get("file"), str) or not given["file"]:
        raise SchemaError(f'{where}: write hierarchy = {{ file = "FILE.csv", level = 1 }}.')
    _known(given, ("file", "level"), f"{where}, hierarchy")
    return {"hierarchy": named_hierarchy(given["file"], folder), "level": given.get("level", 0)}


def _known(table: Any, keys: Sequence[str], where: str) -> None:
    if not isinstance(table, Mapping):
        raise SchemaError(f"{where} must be a table.")
    for key in table:
        if key not in keys:
            raise SchemaError(f"{where}: the key '{key}' is unknown. {did_you_mean(key, keys)}")


def _list(table: Mapping[str, Any], key: str, where: str, default: list[Any] | None = None) -> list[Any]:
    value = table.get(key, default)
    if not isinstance(value, list):
        raise SchemaError(f"{where}: {key} must be a list.")
    return value


def dump(schema: Schema, folder: str | Path | None = None) -> str:
    """The TOML text of a schema; :func:`parse` gives back an equal schema.

    Files of hierarchies are named as seen from ``folder``, or as they were named before. A hierarchy that came from no file
    and is no code list is written as values and merges.
    """
    said = {"by": schema.confirmed_by, "on": as_date(schema.confirmed_on), "rows_are": schema.rows_are}
    data: dict[str, Any] = {} if schema.others == "refuse" else {"others": schema.others}
    if confirmed := {key: value for key, value in said.items() if value is not None}:
        data["confirmed"] = confirmed
    data["attributes"] = {attribute.name: _table(attribute, folder) for attribute in schema.attributes}
    if schema.bundles:
        data["bundles"] = [
            {"attributes": list(bundle.attributes)}
            | ({"forbid": [{n: list(v) for n, v in rule} for rule in bundle.forbid]} if bundle.forbid else {})
            for bundle in schema.bundles
        ]
    return laid_out(data)


def _table(attribute: Attribute, folder: str | Path | None) -> dict[str, Any]:
    table: dict[str, Any] = {"type": attribute.type}
    if attribute.role != "randomise":
        table["role"] = attribute.role
    reference = _reference(attribute, folder)
    table |= reference
    match attribute.domain:
        case Listed() if reference:
            pass
        case Points(points, open):
            table["points"] = list(points)
            if open != "none":
                table["open"] = open
        case Listed(values):
            table["values"] = list(values)
        case Range(low, high):
            table["range"] = [low, high]
        case Bins() as bins:
            width = equal_width(bins.edges) if len(bins.edges) > 2 else None
            if width is None:
                table["bins"] = {"edges": list(bins.edges)}
            else:
                table["bins"] = {"start": bins.edges[0], "stop": bins.edges[-1], "width": width}
            if bins.names:
                table["bins"]["labels"] = list(bins.names)
            if bins.open != "none":
                table["open"] = bins.open
    implied = bool(reference) and attribute.hierarchy is not None and attribute.hierarchy.ordered
    if attribute.order_declared and not implied:
        table["ordered"] = True
    if attribute.merged and not reference:
        table["merge"] = {value_to_text(label): list(raws) for label, raws in attribute.merged}
    if attribute.missing != "reject":
        table["missing"] = attribute.missing
    if attribute.missing_values:
        table["missing_values"] = list(attribute.missing_values)
    if attribute.other is not None:
        table["other"] = attribute.other
    table |= {key: text for key in _NOTATION if (text := getattr(attribute, key)) is not None}
    if attribute.repeats != "refuse":
        table["repeats"] = attribute.repeats
    if attribute.drafted:
        table["drafted"] = True
    return table


def _reference(attribute: Attribute, folder: str | Path | None) -> dict[str, Any]:
    """The key that names the file or the code list of an attribute; nothing if there is neither."""
    hierarchy = attribute.hierarchy
    if hierarchy is None:
        return {}
    if hierarchy.codes is not None:
        named = {"list": hierarchy.codes, "level": attribute.level}
        return {"codes": named if attribute.level else hierarchy.codes}
    file = hierarchy.reference(folder)
    return {} if file is None else {"hierarchy": {"file": file, "level": attribute.level}}


def as_date(text: str | None) -> dt.date | str | None:
    """A date where the text is one, as TOML has dates."""
    try:
        return None if text is None else dt.date.fromisoformat(text) if len(text) == len("2026-05-02") else text
    except ValueError:
        return text
