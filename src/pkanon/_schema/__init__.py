"""What the released table looks like: attributes, their public values, and bundles.

domain.py     listed values, bins, ranges, points: a value to a code and back
attribute.py  a name, a domain, a role, what happens to missing and unlisted values; JSON
declaring.py  what may be declared about an attribute, and what is refused
merge.py      raw values that become declared ones while a table is read
groups.py     values put together after the release, for tables;  mergefile.py  how that is written down
notation.py   how a text file writes dates and numbers
hierarchy.py  raw values and their coarser labels, level by level;  codes/  ready code lists
unit.py       what is randomised as one thing; the numbering of a bundle's combinations
schema.py     attributes in order, bundles, the digest
toml.py       schema.toml in and out;  layout.py  how it is set
confirming.py a confirmation written into a schema.toml;  findings.py  what a draft found, as comments in it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._doors import lazy

if TYPE_CHECKING:
    from .attribute import MISSING_LABEL, Attribute
    from .codes import code_list, code_lists
    from .confirming import UNCONFIRMED_COMMENT, Confirmed, SchemaFile
    from .declaring import Domain
    from .domain import INT64, Bins, Edge, Listed, Points, Range, Value, texts_of, value_to_text
    from .findings import PERHAPS_SEVERAL_ROWS, RARE_VALUES, SEVERAL_ROWS, as_comment, as_finding, with_findings
    from .groups import Groups, Merge, MissingAnswers, check_merge, check_missing, groups_of
    from .hierarchy import Hierarchy, read_hierarchy
    from .mergefile import read_merge, read_values
    from .notation import PLAIN_NOTATION, Notation
    from .schema import Bundle, Schema
    from .toml import parse, read_schema, schema_of
    from .unit import Codes, Unit, code_dtype

lazy(
    __name__,
    {
        "attribute": "MISSING_LABEL, Attribute",
        "codes": "code_list, code_lists",
        "confirming": "UNCONFIRMED_COMMENT, Confirmed, SchemaFile",
        "declaring": "Domain",
        "domain": "INT64, Bins, Edge, Listed, Points, Range, Value, texts_of, value_to_text",
        "findings": "PERHAPS_SEVERAL_ROWS, RARE_VALUES, SEVERAL_ROWS, as_comment, as_finding, with_findings",
        "groups": "Groups, Merge, MissingAnswers, check_merge, check_missing, groups_of",
        "hierarchy": "Hierarchy, read_hierarchy",
        "mergefile": "read_merge, read_values",
        "notation": "PLAIN_NOTATION, Notation",
        "schema": "Bundle, Schema",
        "toml": "parse, read_schema, schema_of",
        "unit": "Codes, Unit, code_dtype",
    },
)

__all__ = [
    "INT64",
    "MISSING_LABEL",
    "PERHAPS_SEVERAL_ROWS",
    "PLAIN_NOTATION",
    "RARE_VALUES",
    "SEVERAL_ROWS",
    "UNCONFIRMED_COMMENT",
    "Attribute",
    "Bins",
    "Bundle",
    "Codes",
    "Confirmed",
    "Domain",
    "Edge",
    "Groups",
    "Hierarchy",
    "Listed",
    "Merge",
    "MissingAnswers",
    "Notation",
    "Points",
    "Range",
    "Schema",
    "SchemaFile",
    "Unit",
    "Value",
    "as_comment",
    "as_finding",
    "check_merge",
    "check_missing",
    "code_dtype",
    "code_list",
    "code_lists",
    "groups_of",
    "parse",
    "read_hierarchy",
    "read_merge",
    "read_schema",
    "read_values",
    "schema_of",
    "texts_of",
    "value_to_text",
    "with_findings",
]
