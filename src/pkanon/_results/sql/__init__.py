"""SQL on a release, answered by reconstruction: every number corrected, with its standard error.

language.py     everything a query can say, as records
statement.py    a text to these records;  select.py  the clauses of a SELECT;  expressions.py  their parts
names.py        the meaning of its names;  refusals.py  why not;  nodes.py  the classes of the parser's tree
constants.py    an attribute against a constant;  logic.py  three-valued logic
keys.py         groups by labels: CASE and merged values
evaluate.py     weights, groups and numbers
whole.py        the whole way;  answer.py  what comes out

sqlglot is optional and loaded when the first query is read; statement.py says what to install where it is missing.
"""

from .answer import Answer
from .whole import respond

__all__ = ["Answer", "respond"]
