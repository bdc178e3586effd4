"""The pages speak of the project alone, in one spelling and without ornament."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "tests" / "README.md"]

FORBIDDEN = {
    "a path outside the repository": r"(?<![\w:/.>])/(?!dev/)[A-Za-z]+/\w|(?<!\()\.\./\.\./\w",
    "an address of a machine": r"localhost|127\.0\.0\.1",
    "a note to oneself": r"\bTODO\b|\bFIXME\b|\bXXX\b|\bTBD\b",
    "another spelling": r"\b[Rr]andomiz|\b[Aa]nonymiz(?!ation)|\b[Ss]ummariz(?!e_wal)|\b[Oo]ptimiz",
    "ornament": "[\U0001f000-\U0001faff\u2600-\u27bf]",
}


@pytest.mark.parametrize("what", FORBIDDEN)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_nothing_forbidden(page, what):
    found = re.search(FORBIDDEN[what], page.read_text(encoding="utf-8"))
    assert not found, f"{what}: {found[0]!r}"


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a path outside the repository", "see /home/me/notes.md"),
        ("a path outside the repository", "see ../../notes.md"),  # in a link it is followed: test_links.py
        ("an address of a machine", "http://localhost:80"),
        ("a note to oneself", "TODO: write"),
        ("another spelling", "Randomize it"),
        ("ornament", "done \u2705"),
    ],
)
def test_the_patterns_find_what_they_are_for(what, text):
    assert re.search(FORBIDDEN[what], text)


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_a_page_starts_with_its_title(page):
    text = page.read_text(encoding="utf-8")
    assert re.match(r"# \S", text)
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^# ", outside, re.MULTILINE)) == 1
