"""The classes of the parser's tree, compared exactly.

A subclass means something else than its parent: TRY_CAST is a kind of CAST to the parser, and is refused here like
everything that is not known. So a node is compared with a class, never with a class and all that derive from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar

if TYPE_CHECKING:
    from sqlglot import exp

    Node: TypeAlias = exp.Expr  # what all classes derive from; it has this name from sqlglot 29 on

N = TypeVar("N", bound="Node")


def is_a(node: Node | None, kind: type[N]) -> TypeGuard[N]:
    """Whether a node is of just this class."""
    return type(node) is kind
