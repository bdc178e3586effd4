"""A schema: attributes in order, and which of them are bundled.

The schema is public and is written before any data is seen. A schema drafted from data says so
(``drafted``) until somebody has confirmed that its domains are public knowledge (docs/why/theory.md 1).
Until then no release made with it may claim a guarantee. The mark is on its attributes: a schema that
holds a drafted one is drafted. Columns of a table that the schema does not name are refused, unless ``others`` says that they
are dropped: they are then never looked at, whatever they hold. ``confirmed_by``, ``confirmed_on`` and ``rows_are`` are a person's
statements: who confirmed, when, and what the rows stand for. They are repeated, never checked.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .._errors import SchemaError, did_you_mean
from .._files import digest, write_new
from .attribute import Attribute, marked
from .declaring import ONE_AT_RANDOM
from .domain import Points, Value
from .unit import Unit

Others: TypeAlias = Literal["refuse", "drop"]

OTHERS: tuple[str, ...] = ("refuse", "drop")
LONGEST_STATEMENT = 200


@dataclass(frozen=True, init=False)
class Bundle:
    """Attributes that are randomised together, and the combinations that cannot occur.

    Parameters
    ----------
    attributes
        The names of at least two attributes.
    forbid
        Rules: each maps attributes to lists of released values and forbids every combination of them; an attribute it
        does not name may take any value. The empty text stands for a missing value.

    Examples
    --------
    >>> import pkanon as pk
    >>> age, degree = pk.Attribute("age", ["child", "adult"]), pk.Attribute("degree", ["no", "yes"])
    >>> bundle = pk.Bundle(["age", "degree"], forbid=[{"age": ["child"], "degree": ["yes"]}])
    >>> pk.Schema([age, degree], [bundle]).units[0].size  # of 4 combinations one cannot occur
    3
    """

    attributes: tuple[str, ...]
    forbid: tuple[tuple[tuple[str, tuple[Value, ...]], ...], ...]

    def __init__(self, attributes: Iterable[str], forbid: Iterable[Mapping[str, Sequence[Value]]] = ()) -> None:
        names = tuple(attributes)
        if len(names) < 2 or len(set(names)) != len(names):
            raise SchemaError("A bundle needs at least two different attributes.")
        rules = []
        for rule in forbid:
            if not rule:
                raise SchemaError("A rule of 'forbid' must name at least one attribute.")
            for name, values in rule.items():
                if name not in names:
                    raise SchemaError(
                        f"'forbid' names '{name}', which is not in its bundle. {did_you_mean(name, names)}"
                    )
                if isinstance(values, str) or not values:
                    raise SchemaError(f"'forbid': the values of '{name}' must be a list that is not empty.")
            rules.append(tuple((name, tuple(rule[name])) for name in names if name in rule))
        object.__setattr__(self, "attributes", names)
        object.__setattr__(self, "forbid", tuple(rules))


@dataclass(frozen=True, init=False)
class Schema:
    """Attributes in the order of the released columns, and their bundles.

    Refused: a name that is declared twice, a schema without an attribute to randomise, an attribute in two bundles.

    Parameters
    ----------
    attributes
        One :class:`Attribute` per column of the table.
    bundles
        Attributes that are randomised together; each :class:`Bundle` becomes one unit.
    drafted
        Whether the values of all attributes were read off the data; no release may then claim a guarantee. A schema with a
        drafted attribute is drafted in any case; :meth:`confirm` changes that.
    confirmed_by
        Who confirmed that the values are public knowledge; one line. Refused for a drafted schema.
    confirmed_on
        When: a date, or a text on one line. Refused without ``confirmed_by``.
    rows_are
        What the rows stand for, such as "persons" or "visits"; one line.
    others
        What happens to columns of a table that the schema does not name: ``refuse`` (the default) or ``drop``.

    Examples
    --------
    >>> import pkanon as pk
    >>> schema = pk.Schema([pk.Attribute("patient", role="id"), pk.Attribute("sex", ["F", "M"])])
    >>> [attribute.name for attribute in schema.randomised]
    ['sex']
    """

    attributes: tuple[Attribute, ...]
    bundles: tuple[Bundle, ...]
    drafted: bool = field(init=False)  # so that dataclasses.replace leaves it to the attributes
    confirmed_by: str | None
    confirmed_on: str | None
    rows_are: str | None
    others: Others

    def __init__(
        self,
        attributes: Iterable[Attribute],
        bundles: Iterable[Bundle] = (),
        *,
        drafted: bool = False,
        confirmed_by: str | None = None,
        confirmed_on: dt.date | str | None = None,
        rows_are: str | None = None,
        others: str = "refuse",
    ) -> None:
        if others not in OTHERS:
            raise SchemaError(f'others = {others!r} is unknown; write others = "drop", or leave it out to refuse them.')
        given = tuple(attributes)
        if drafted:
            given = tuple(marked(attribute, drafted=True) for attribute in given)
        object.__setattr__(self, "attributes", given)
        object.__setattr__(self, "bundles", tuple(bundles))
        object.__setattr__(self, "drafted", any(attribute.drafted for attribute in given))
        on = confirmed_on.isoformat() if isinstance(confirmed_on, dt.date) else confirmed_on
        for key, text in (("confirmed_by", confirmed_by), ("confirmed_on", on), ("rows_are", rows_are)):
            object.__setattr__(self, key, None if text is None else _line(key, text))
        object.__setattr__(self, "others", others)
        if self.drafted and self.confirmed_by is not None:
            raise SchemaError(
                f"The schema names who confirmed it and still is drafted ({_names(self.draft)}); "
                "confirm it with pkanon confirm (in Python: call confirm), or remove who confirmed it."
            )
        if self.confirmed_on is not None and self.confirmed_by is None:
            raise SchemaError("The schema says when it was confirmed and not by whom; add who did, or remove the date.")
        names = self.names
        if len(set(names)) != len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise SchemaError(f"The attribute '{twice}' is declared twice.")
        if [attribute.repeats for attribute in given].count(ONE_AT_RANDOM) > 1:
            raise SchemaError("One id alone can say which rows are one person's; only one may have repeats.")
        if not self.randomised and not self.undecided:
            raise SchemaError("The schema has no attribute to randomise; declare the values of at least one.")
        bundled = [name for bundle in self.bundles for name in bundle.attributes]
        for name in bundled:
            if self.attribute(name).role != "randomise":
                raise SchemaError(f"The bundle names '{name}', whose role is not 'randomise'.")
            if isinstance(self.attribute(name).domain, Points):
                raise SchemaError(
                    f"The bundle names '{name}', whose numbers are rounded at random; leave it out, or give it bins."
                )
            if bundled.count(name) > 1:
                raise SchemaError(f"The attribute '{name}' is in two bundles; merge them.")
        _ = self.units  # a schema whose bundles cannot be used is refused here, not later

    def confirm(self, by: str, rows_are: str | None = None, on: dt.date | str | None = None) -> Schema:
        """The schema with its values confirmed as public knowledge and complete, whoever is in the data.

        This is a person's statement; nothing is checked. ``by`` says who makes it, ``rows_are`` what the rows stand for,
        ``on`` when. Refused while a column is undecided.

        Examples
        --------
        >>> import pkanon as pk
        >>> import polars as pl
        >>> draft = pk.draft_schema(pl.DataFrame({"sex": ["F", "M", "M"]}))
        >>> schema = draft.schema.confirm(by="J. Doe: values as in the questionnaire", rows_are="persons")
        >>> draft.schema.drafted, schema.drafted, schema.rows_are
        (True, False, 'persons')
        """
        self.refuse_undecided()
        return Schema(
            [marked(attribute, drafted=False) for attribute in self.attributes],
            self.bundles,
            confirmed_by=_line("confirmed_by", by),
            confirmed_on=on,
            rows_are=self.rows_are if rows_are is None else rows_are,
            others=self.others,
        )

    def refuse_undecided(self) -> None:
        """Raise if a column has the role ``undecided``: nobody has said yet what is to become of it."""
        if self.undecided:
            raise SchemaError(
                f"Nobody has given a role to {_names(self.undecided)}; set role to randomise (with values), id, drop or pass in "
                "the schema, or run pkanon confirm."
            )

    @cached_property
    def undecided(self) -> tuple[Attribute, ...]:
        """The attributes that nobody has given a role, in order."""
        return tuple(a for a in self.attributes if a.role == "undecided")

    @cached_property
    def draft(self) -> tuple[Attribute, ...]:
        """The attributes whose values were read off the data and not confirmed, in order."""
        return tuple(a for a in self.attributes if a.drafted)

    @cached_property
    def repeating(self) -> Attribute | None:
        """The id of which one row per person is drawn; None if rows are taken as they come."""
        return next((a for a in self.attributes if a.repeats == ONE_AT_RANDOM), None)

    @cached_property
    def pointed(self) -> tuple[Attribute, ...]:
        """The randomised attributes whose numbers are rounded to points at random first, in order."""
        return tuple(a for a in self.randomised if isinstance(a.domain, Points))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all attributes, in order."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def randomised(self) -> tuple[Attribute, ...]:
        """The attributes that are randomised, in order."""
        return tuple(a for a in self.attributes if a.role == "randomise")

    @cached_property
    def passed(self) -> tuple[Attribute, ...]:
        """The attributes that are released as they are, in order."""
        return tuple(a for a in self.attributes if a.role == "pass")

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def attribute(self, name: str) -> Attribute:
        """The attribute called ``name``."""
        try:
            return self._by_name[name]
        except KeyError:
            pass
        raise SchemaError(f"The schema has no attribute '{name}'. {did_you_mean(name, self.names)}")

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """One unit per bundle and per attribute outside bundles, in the order of their first attribute."""
        by_first: dict[str, Unit] = {}
        bundled: set[str] = set()
        for bundle in self.bundles:
            first = min(bundle.attributes, key=self.names.index)
            by_first[first] = self.unit(bundle.attributes)
            bundled.update(bundle.attributes)
        for attribute in self.randomised:
            if attribute.name not in bundled:
                by_first[attribute.name] = Unit((attribute.name,), (attribute.size,))
        return tuple(by_first[a.name] for a in self.randomised if a.name in by_first)

    def unit(self, names: Sequence[str]) -> Unit:
        """One unit of the attributes ``names``, without the combinations that any bundle inside it forbids."""
        forbid = []
        for bundle in self.bundles:
            for rule in bundle.forbid:
                chosen = {name: self._rule_codes(name, values) for name, values in rule}
                if all(name in names for name in chosen):
                    forbid.append(tuple(chosen.get(name, ()) for name in names))
        return Unit(tuple(names), tuple(self.attribute(name).size for name in names), tuple(forbid))

    def _rule_codes(self, name: str, values: Sequence[Value]) -> tuple[int, ...]:
        attribute = self.attribute(name)
        codes: dict[Value | None, int] = {label: code for code, label in enumerate(attribute.labels())}
        chosen = []
        for value in values:
            key = None if value == "" else value
            if key not in codes:
                raise SchemaError(f"'forbid': {value!r} is not a value of '{name}'.")
            chosen.append(codes[key])
        return tuple(sorted(set(chosen)))

    def to_json(self) -> list[dict[str, Any]]:
        """The attributes as plan files hold them."""
        return [attribute.to_json() for attribute in self.attributes]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over attributes and units: two schemas with one digest number every row alike.

        Who confirmed them and what a row is are not part of it.
        """
        return digest(
            {"attributes": self.to_json(), "units": [unit.to_json() for unit in self.units], "drafted": self.drafted}
            | ({"others": self.others} if self.others != "refuse" else {})
        )

    def to_toml(self, folder: str | Path | None = None) -> str:
        """The schema as a ``schema.toml`` text; files of hierarchies are named as seen from ``folder``, if it is given."""
        from .toml import dump

        return dump(self, folder)

    def save(self, path: str | Path) -> None:
        """Write the schema to the file ``path``, which must not exist yet."""
        write_new(path, self.to_toml(Path(path).parent))


def _names(attributes: Iterable[Attribute]) -> str:
    return ", ".join(f"'{attribute.name}'" for attribute in attributes)


def _line(key: str, text: object) -> str:
    """What a person says about the table: a text on one line."""
    if not isinstance(text, str) or not text.strip() or not text.isprintable() or len(text) > LONGEST_STATEMENT:
        raise SchemaError(f"{key} must be a text on one line, of 1 to {LONGEST_STATEMENT} characters.")
    return text
