"""The catalogue of methods. A new method needs one file with a Method in it, and one entry here."""

from __future__ import annotations

from .em import EM
from .inverse import INVERSE
from .method import Method
from .model import MODEL
from .simplex import SIMPLEX

METHODS: dict[str, Method] = {method.name: method for method in (INVERSE, SIMPLEX, EM, MODEL)}
