"""Which attribute a name in a query means; SQL ignores the case of letters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..._errors import InputError, did_you_mean
from ..._schema import Schema
from .language import Expression, Key

TABLE = "release"
_OUTSIDE = {
    "pass": "is passed as it is and not randomised, so a query does not have it: read it from data.parquet; if it is a survey "
    "weight, count by it with weights='{name}' (--weights {name})",
    "drop": "was dropped and is not in the release",
    "id": "was dropped: the schema declares it as an id",
}


@dataclass(frozen=True)
class Names:
    """The names in scope: attributes of the schema, and aliases of SELECT where SQL lets them be used."""

    schema: Schema
    tables: tuple[str, ...]
    aliases: Mapping[str, Key | Expression] = field(default_factory=dict)
    alias_first: bool = False
    """Whether an alias hides an attribute of the same name, as in ORDER BY; elsewhere the name is refused."""

    def of_rows(self) -> Names:
        """The names inside an aggregate: attributes only."""
        return replace(self, aliases={})

    def attribute(self, name: str, table: str = "") -> str:
        """The randomised attribute called ``name``."""
        self._check_table(table)
        columns = self.schema.names
        matches = [name] if name in columns else [other for other in columns if other.lower() == name.lower()]
        if len(matches) > 1:
            raise InputError(f"'{name}' can mean {' or '.join(matches)}; write it with the same capital letters.")
        if not matches:
            askable = [attribute.name for attribute in self.schema.randomised]
            raise InputError(f"The release has no attribute '{name}'. {did_you_mean(name, askable)}")
        attribute = self.schema.attribute(matches[0])
        if attribute.role != "randomise":
            reason = _OUTSIDE[attribute.role].replace("{name}", attribute.name)
            raise InputError(f"'{attribute.name}' {reason}. Ask about the randomised attributes.")
        return attribute.name

    def alias(self, name: str, table: str = "") -> Key | Expression | None:
        """What SELECT calls ``name``, if anything."""
        item = None if table else self.aliases.get(name.lower())
        others = [column for column in self.schema.names if column.lower() == name.lower() and column != item]
        if item is not None and others and not self.alias_first:
            raise InputError(f"'{name}' can mean the attribute or the column of SELECT; give the column another name.")
        return item

    def _check_table(self, table: str) -> None:
        if table and table.lower() not in self.tables:
            raise InputError(f"There is no table '{table}' here; the table is called {self.tables[-1]}.")
