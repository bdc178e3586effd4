"""Every link inside the repository leads somewhere: to a file, and to a heading in it. So does every page cited in code."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "tests" / "README.md"]
OUTSIDE = ("https://", "mailto:")
CODE = [path for folder in ("src", "tests", "benchmarks", "docs") for path in sorted((ROOT / folder).rglob("*.py"))]


def without_fences(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text):
    return re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_fences(text))


def anchors(text):
    """The anchors that headings get: small letters, words joined by hyphens, everything else dropped."""
    headings = re.findall(r"^#+ (.+)$", without_fences(text), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page, text):
    found = []
    for link in links(text):
        if link.startswith(OUTSIDE):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        there = target.is_relative_to(ROOT) and target.exists()
        if there and anchor:
            there = anchor in anchors(text if target == page else target.read_text(encoding="utf-8"))
        if not there:
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        for link in links(page.read_text(encoding="utf-8")):
            if not link.startswith((*OUTSIDE, "#")):
                waiting.append((page.parent / link.partition("#")[0]).resolve())
    assert set((ROOT / "docs").rglob("*.md")) <= reached


@pytest.mark.parametrize(
    "link", ["no-such-page.md", "docs/custodian/plan.md#no-such-heading", "#nor-here", "../elsewhere.md"]
)
def test_a_broken_link_is_seen(link):
    assert broken(ROOT / "README.md", f"# Here\n[text]({link})") == [link]
    assert broken(ROOT / "README.md", f"```\n[text]({link})\n```") == []


def uncited(text):
    """Citations in code, such as "docs/why/theory.md 7", of which the page or the section does not exist."""
    lost = []
    for page, sections in re.findall(r"\bdocs/([\w/-]+\.md)((?:(?:, | and | )\d+)*)", text, flags=re.IGNORECASE):
        path = ROOT / "docs" / page
        headings = re.findall(r"^## (\d+)\. ", path.read_text(encoding="utf-8"), re.MULTILINE) if path.exists() else []
        if not path.exists() or not set(re.findall(r"\d+", sections)) <= set(headings):
            lost.append(page + sections)
    return lost


def test_pages_cited_in_code_exist():
    lost = {path.name: uncited(path.read_text(encoding="utf-8")) for path in CODE if path != Path(__file__)}
    assert {name: found for name, found in lost.items() if found} == {}


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("(docs/why/theory.md 2, 3 and 5)", []),
        ("c_M of docs/why/theory.md 7 for a table", []),
        ("docs/theory.md 7", ["theory.md 7"]),
        ("docs/why/theory.md 2 and 99", ["why/theory.md 2 and 99"]),
    ],
)
def test_a_citation_of_nothing_is_seen(text, lost):
    assert uncited(text) == lost
