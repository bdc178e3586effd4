"""What the released table looks like: attributes, their public values, and bundles.

domain.py     listed values, bins, ranges: a value to a code and back
attribute.py  a name, a domain, a role, what happens to missing and unlisted values
unit.py       what is randomised as one thing; the numbering of a bundle's combinations
schema.py     attributes in order, bundles, the digest
toml.py       schema.toml in and out
"""

from .attribute import Attribute
from .schema import Bundle, Schema
from .toml import read_schema
from .unit import Codes, Unit, code_dtype

__all__ = ["Attribute", "Bundle", "Codes", "Schema", "Unit", "code_dtype", "read_schema"]
