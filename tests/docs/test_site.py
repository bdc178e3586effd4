"""The menu of the site leads to every page, once; what the site needs is there. ``make docs`` checks the rest."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
conf = importlib.util.module_from_spec(spec)
spec.loader.exec_module(conf)


def pages():
    return {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}


def listed():
    return [page for group in conf.NAVIGATION.values() for page in group]


def test_the_menu_lists_every_page_once():
    decisions = {page for page in pages() if re.match(r"decisions/0", page)}
    assert sorted(listed()) == sorted(pages() - decisions - {"index"})


def test_a_group_of_the_menu_is_a_folder():
    folders = {group: {page.partition("/")[0] for page in pages} for group, pages in conf.NAVIGATION.items()}
    assert folders.pop("Why it is true") == {"why", "decisions"}
    assert all(len(found) == 1 for found in folders.values())


def test_the_index_of_decisions_lists_every_decision_by_its_title():
    text = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")
    titles = {
        path.name: path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        for path in DOCS.glob("decisions/0*.md")
    }
    assert {name: title for title, name in re.findall(r"^- \[(.*)\]\((.*)\)$", text, re.MULTILINE)} == titles


def test_pages_enter_the_menu():
    menu = conf.sidebar("index")
    assert all(f"\n/{page}\n" in menu for page in listed())
    assert "0*" in conf.sidebar("decisions/index")
    assert conf.sidebar("why/theory") == ""


def test_words_in_titles_stay_together():
    assert conf.unbroken("Pk-anonymity and k-anonymisation") == "Pk\u2011anonymity and k\u2011anonymisation"
    assert conf.unbroken("3. k - 1, plan-for-error and mark-up") == "3. k - 1, plan-for-error and mark-up"


def test_what_the_site_is_made_with_is_pinned_without_addresses():
    lines = (ROOT / "requirements" / "docs.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith(("#", "-r "))]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[\w.]+", line) for line in pins)
    assert {"sphinx", "furo", "myst-parser"} <= {line.partition("==")[0].lower() for line in pins}


@pytest.mark.parametrize("name", ["conf.py", "excerpts.py", "formulas.py", "_static/site.css"])
def test_nothing_of_ours_is_loaded_from_elsewhere(name):
    assert not re.search(r"https?:|[\"'(]//[a-z]", (DOCS / name).read_text(encoding="utf-8"))


def formulas(text):
    """The TeX between dollars, outside code."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`|^ {4}[^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", text, re.DOTALL), text.count("$")


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_formulas_are_closed_and_can_be_drawn(page):
    found, dollars = formulas(page.read_text(encoding="utf-8"))
    assert dollars == sum(4 if block else 2 for block, _ in found)
    for tex in (block or inline for block, inline in found):
        assert tex.count("{") == tex.count("}"), tex
        assert not re.search(r"\\left|\\ |\\dots", tex), f"docs/formulas.py cannot draw {tex}"


def test_formulas_are_seen():
    assert formulas("a $x$ and `$ not` this\n$$ y $$") == ([("", "x"), (" y ", "")], 6)
