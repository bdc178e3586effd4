"""The reference pages are complete, and name nothing that does not exist."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pkanon as pk
from pkanon._cli import VERBS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "tests" / "README.md"]
CLI = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
PYTHON = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")


def help_of(*verb):
    command = [sys.executable, "-m", "pkanon", *verb, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def options_of(text):
    """The options in the list that a help text ends with."""
    listed = text.partition("Options:")[2].partition("Commands:")[0]
    return {
        option for line in re.findall(r"^  (-.*?)(?:  |$)", listed, re.MULTILINE) for option in _OPTION.findall(line)
    }


def section(verb):
    return re.search(rf"^## pkanon {verb}$(.*?)(?=^## |\Z)", CLI, re.MULTILINE | re.DOTALL)[1]


def documented_options(text):
    """The options in the first cell of a table's rows."""
    cells = re.findall(r"^\| (`-.*?) \|", text, re.MULTILINE)
    return {option for cell in cells for option in _OPTION.findall(cell)}


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_verb_is_documented_and_no_other(verb):
    assert documented_options(section(verb)) == options_of(help_of(verb)) - {"-h", "--help"}


def test_options_of_the_program_are_documented():
    before = CLI.partition("\n## ")[0]
    assert options_of(help_of()) == {"--version", "-h", "--help"}
    assert all(f"`{option}`" in before for option in ("--version", "-h", "--help"))


def test_the_reading_of_help_texts_sees_options():
    text = "Options:\n  -o, --output PATH  Like --other.\n  --k [one-two|three]\n      more\n  -h, --help  Help.\n"
    assert options_of(text) == {"-o", "--output", "--k", "-h", "--help"}


def test_no_verb_is_documented_that_does_not_exist():
    assert set(re.findall(r"^## pkanon (\S+)$", CLI, re.MULTILINE)) == set(VERBS)


@pytest.mark.parametrize("name", [*pk.__all__, *(f"experiments.{name}" for name in pk.experiments.__all__)])
def test_every_public_name_is_documented(name):
    assert re.search(rf"`pk\.{re.escape(name)}`", PYTHON)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_name_only_what_exists(page):
    text = page.read_text(encoding="utf-8")
    code = "\n".join([*re.findall(r"`[^`\n]+`", text), *re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)])
    assert set(re.findall(r"\bpk\.([A-Za-z]\w*)", code)) <= set(pk.__all__)
    assert set(re.findall(r"\bpk\.experiments\.(\w+)", code)) <= set(pk.experiments.__all__)
    assert set(re.findall(r"[`$] ?pkanon ([a-z][a-z-]*)\b", code)) <= set(VERBS)


def test_schema_fields_are_documented():
    from pkanon._schema import toml

    page = (ROOT / "docs" / "custodian" / "schema.md").read_text(encoding="utf-8")
    for key in {*toml._TOP, *toml._ATTRIBUTE, *toml._BINS, *toml._BUNDLE}:
        assert re.search(rf"\b{key}\b", page), key


def test_plan_and_certificate_fields_are_documented(tmp_path):
    schema = pk.Schema([pk.Attribute("sex", ["F", "M"])])
    plan = pk.plan(schema, records=100, k=2)
    page = (ROOT / "docs" / "custodian" / "plan.md").read_text(encoding="utf-8")
    for key in [*plan.to_json(), *plan.to_json()["blocks"][0], *plan.to_json()["units"][0]]:
        assert f"`{key}`" in page or f'"{key}"' in page, key
    page = (ROOT / "docs" / "custodian" / "release.md").read_text(encoding="utf-8")
    for key in pk.Certificate.of(plan, 100, private=True).to_json():
        assert f"`{key}`" in page or f'"{key}"' in page, key


def test_the_table_of_the_guarantee():
    """n, k, 1/k, epsilon and e^epsilon, the last two rounded up."""
    page = (ROOT / "docs" / "custodian" / "guarantee.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| ([\d,]+) \| ([\d.]+)% \| ([\d.]+) \| ([\d,.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 15
    for cells in rows:
        n, k, share, epsilon, factor = (float(cell.replace(",", "")) for cell in cells)
        exact = math.log((n - 1) / (k - 1)) / 2
        assert share == 100 / k
        assert 0 <= epsilon - exact < 0.001
        assert 0 <= factor - math.exp(exact) < 0.1
