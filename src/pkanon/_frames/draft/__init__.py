"""A schema proposed from a table, for somebody to confirm.

draft.py  the proposal;  infer.py  the types of the columns;  rounding.py  round bins
labelled.py  columns whose values have labels in the file;  identity.py  whether a column looks as if it named persons
"""

from .draft import Draft, draft_schema

__all__ = ["Draft", "draft_schema"]
