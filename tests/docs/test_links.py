"""Every link inside the repository leads somewhere: to a file, and to a heading in it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "tests" / "README.md"]
OUTSIDE = ("https://", "mailto:")


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


@pytest.mark.parametrize("link", ["no-such-page.md", "docs/plan.md#no-such-heading", "#nor-here", "../elsewhere.md"])
def test_a_broken_link_is_seen(link):
    assert broken(ROOT / "README.md", f"# Here\n[text]({link})") == [link]
    assert broken(ROOT / "README.md", f"```\n[text]({link})\n```") == []
