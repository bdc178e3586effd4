"""Sentences that say too much about a release, wherever they stand: pages, docstrings, messages.

Each of them was once on a page. What is true instead is in docs/custodian/guarantee.md, and checked in tests/exact.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [
    *(path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"),  # which says what was wrong
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "python.md"),  # made from src
    *sorted((ROOT / "src").rglob("*.py")),
]
SAY_TOO_MUCH = {
    "links that are known lower k": r"whatever (they|an outsider|anyone|anybody|the adversary|somebody)( already)? knows?\b(?! about)"
    r"|whatever is known(?! about)",
    "epsilon compares with another answer, not with before": r"what is believed about (an answer|somebody) (changes|by a)"
    r"|shift what is believed|odds change by|Epsilon bounds learning an answer|\*learning what a person answered\*",
    "with few columns most rows are as given": r"most answers (in a row )?(are|were) replaced|in most of which answers were replaced"
    r"|[Rr]eleased rows are not people|single rows are noise",
    "a column without repetitions need not name persons": r"One row per person: checked|different in every row: taken as the id"
    r"|become an id;|and pkanon checks it\.",
    "a confirmed draft was read off the table": r"public knowledge,?( complete,?)? and not read off",
    "a draft is refused unless it is asked for": r"A release (made )?from an? (drafted schema|unconfirmed draft) is possible",
}


def flat(path):
    """The text on one line: sentences run over the ends of lines, of comments and of pieces of strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = re.sub(r"\"\s*\n\s*f?\"", "", text)
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("what", SAY_TOO_MUCH)
def test_nothing_says_too_much(what):
    found = {
        path.relative_to(ROOT).as_posix(): match[0]
        for path in TEXTS
        if (match := re.search(SAY_TOO_MUCH[what], flat(path), re.IGNORECASE))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("links that are known lower k", "nobody can link a row to a person, whatever they already know."),
        ("links that are known lower k", "and k holds whatever the adversary knows. Releases"),
        (
            "epsilon compares with another answer, not with before",
            "what is believed about an answer changes by a factor",
        ),
        (
            "epsilon compares with another answer, not with before",
            "The table can shift what is believed about somebody",
        ),
        (
            "with few columns most rows are as given",
            "**Released rows are not people.** Most answers in a row are replaced.",
        ),
        ("with few columns most rows are as given", "Single rows are noise: ask for tables."),
        ("a column without repetitions need not name persons", "One row per person: checked with the column 'case'"),
        ("a confirmed draft was read off the table", "were public knowledge and not read off the private table."),
        ("a confirmed draft was read off the table", "as public knowledge, complete, and not read off the data."),
        ("a draft is refused unless it is asked for", "A release from a drafted schema is possible and its"),
    ],
)
def test_the_patterns_find_what_they_are_for(what, sentence):
    assert re.search(SAY_TOO_MUCH[what], sentence, re.IGNORECASE)


@pytest.mark.parametrize("path", [path for path in TEXTS if path.suffix == ".md"], ids=lambda path: path.name)
def test_beside_a_denial_stands_its_factor(path):
    for match in re.finditer(r"answers? can be denied", flat(path)):
        assert re.search(r"factor", flat(path)[match.end() : match.end() + 60])


def test_the_first_pages_say_what_each_promise_compares():
    for path in (ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "custodian" / "guarantee.md"):
        text = flat(path)
        assert "times as likely with a person's answers as with any others in their place" in text.replace("> ", "")
        assert "answer can be denied, up to that factor" in text
    assert "had this person answered otherwise" in flat(ROOT / "docs" / "custodian" / "guarantee.md").replace("*", "")
