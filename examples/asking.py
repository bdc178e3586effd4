"""A list of questions to a release, each with the lines that answer it.

census.py and time_use.py have 26 each. A question is a function of a release, of at most three lines; what it gives back has a
value, an interval and a flag. ``benchmarks/questions.py`` asks all of them of hundreds of releases and counts how often the
interval holds the truth.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pkanon as pk

Asked = Callable[[pk.Release], Any]


class Questions(dict[str, Asked]):
    """Questions in words, with their functions, in the order in which they are written down."""

    def __call__(self, words: str) -> Callable[[Asked], Asked]:
        """The decorator that adds a question."""

        def add(asked: Asked) -> Asked:
            self[words] = asked
            return asked

        return add

    def answers(self, release: pk.Release) -> str:
        """Every question and its answer, as text."""
        lines = []
        for number, (words, asked) in enumerate(self.items(), 1):
            lines += textwrap.wrap(f"{number:2}. {words}", 120, subsequent_indent="    ")
            lines.append(textwrap.indent(str(asked(release)), "    "))
        return "\n".join(lines)
