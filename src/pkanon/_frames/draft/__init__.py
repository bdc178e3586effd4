"""A schema proposed from a table, for somebody to confirm.

draft.py  the proposal;  infer.py  the types of the columns;  rounding.py  round bins
"""

from .draft import Draft, draft_schema

__all__ = ["Draft", "draft_schema"]
