"""The reference pages are complete, and name nothing that does not exist."""

import importlib
import importlib.util
import math
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pkanon as pk
from pkanon._cli import EXIT_CODES, VERBS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "tests" / "README.md"]
CLI = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
PYTHON = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
INSTALL = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")
_OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")


@pytest.fixture(scope="module")
def generate():
    """The script that writes the generated parts, imported from its file."""
    found = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "reference" / "generate.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("page", "text"), [("cli.md", CLI), ("python.md", PYTHON)])
def test_generated_parts_are_up_to_date(generate, page, text):
    assert generate.PAGES[page](text) == text, "run: python docs/reference/generate.py"


def test_a_docstring_becomes_markdown(generate):
    doc = """One sentence with ``code`` (docs/why/theory.md 2).

    Parameters
    ----------
    table
        A frame, as in :func:`release`.
    k, epsilon
        The target; see --k.

    Examples
    --------
    >>> 1 + 1
    2
    """
    link = "[theory 2](../why/theory.md#2-pk-anonymity)"
    assert generate.prose(doc).split("\n\n") == [
        f"One sentence with `code` ({link}).",
        "- `table`: A frame, as in `pk.release`.\n- `k, epsilon`: The target; see `--k`.",
        "Example:",
        "    >>> 1 + 1\n    2",
    ]


def help_of(*verb):
    command = [sys.executable, "-m", "pkanon", *verb, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def all_help_of(verb):
    """The help of a verb, and of the commands it has."""
    text = help_of(verb)
    below = re.findall(r"^  ([a-z]+)  ", text.partition("Options:")[2], re.MULTILINE)
    return [text, *(help_of(verb, name) for name in below)]


def test_commands_of_verbs_are_described_with_their_options(generate):
    for verb, command, option in (("collect", "new", "--results-every"), ("ledger", "limit", "--epsilon")):
        described = generate.verb(verb).partition(f"### pkanon {verb} {command}\n")[2].partition("\n### ")[0]
        assert option in documented_options(described)


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
    shown = set().union(*map(options_of, all_help_of(verb)))
    assert documented_options(section(verb)) == shown - {"-h", "--help"}


def test_the_page_names_no_option_that_does_not_exist():
    everywhere = set().union(*(documented_options(section(verb)) for verb in VERBS))
    named = {option for code in re.findall(r"`(-[^`\n]*)`", CLI) for option in _OPTION.findall(code)}
    assert named <= everywhere | {"--version", "-h", "--help"}


def test_options_of_the_program_are_documented():
    before = CLI.partition("\n## ")[0]
    assert options_of(help_of()) == {"--version", "-h", "--help"}
    assert all(f"`{option}`" in before for option in ("--version", "-h", "--help"))


def test_the_reading_of_help_texts_sees_options():
    text = "Options:\n  -o, --output PATH  Like --other.\n  --k [one-two|three]\n      more\n  -h, --help  Help.\n"
    assert options_of(text) == {"-o", "--output", "--k", "-h", "--help"}


def test_every_verb_is_documented_and_no_other():
    assert set(re.findall(r"^## pkanon (\S+)$", CLI, re.MULTILINE)) == set(VERBS)


def test_a_new_verb_gets_a_place_and_a_lost_one_is_seen(generate):
    without = re.sub(r"^## pkanon demo$.*?(?=^## )", "", CLI, flags=re.MULTILINE | re.DOTALL)
    assert section("demo").partition("<!-- /verb -->")[0] in generate.cli_page(without)
    with pytest.raises(SystemExit, match="no such verb"):
        generate.cli_page(CLI + "\n## pkanon abracadabra\n")


def test_every_exit_code_is_documented_and_no_other():
    table = CLI.partition("\n## Exit codes\n")[2].partition("\n## ")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)] == list(EXIT_CODES)


def submodules():
    """The public submodules and what each of them offers."""
    names = [found.name for found in pkgutil.iter_modules(pk.__path__) if not found.name.startswith("_")]
    return {name: importlib.import_module(f"pkanon.{name}").__all__ for name in names}


def public():
    """Every public name, with its dots."""
    below = [f"{module}.{name}" for module, names in submodules().items() for name in names]
    return [*(name for name in pk.__all__ if name != "__version__" and name not in submodules()), *below]


@pytest.mark.parametrize("name", public())
def test_every_public_name_is_documented(name):
    assert re.search(rf"^### pk\.{re.escape(name)}$|^\| `pk\.{re.escape(name)}` \|", PYTHON, re.MULTILINE)


def test_a_name_without_a_place_is_seen(generate):
    with pytest.raises(SystemExit, match="_errors"):
        generate.python_page(PYTHON.replace("<!-- names _errors -->", ""))


def exists(name):
    """Whether a name such as plan, experiments.compare or Attribute.binned is public."""
    first, _, member = name.partition(".")
    known = {*public(), *submodules(), "__version__"}
    return name in known or (first in known and first not in submodules() and hasattr(getattr(pk, first), member))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_name_only_what_exists(page):
    text = page.read_text(encoding="utf-8")
    code = "\n".join([*re.findall(r"`[^`\n]+`", text), *re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)])
    headings = re.findall(r"^### (pk\.\S+)$", text, re.MULTILINE)
    named = re.findall(r"\bpk\.([A-Za-z]\w*(?:\.\w+)?)", "\n".join([code, *headings]))
    assert [name for name in named if not exists(name)] == []
    assert set(re.findall(r"[`$] ?pkanon ([a-z][a-z-]*)\b", code)) <= set(VERBS)


def test_a_name_that_does_not_exist_is_seen():
    assert exists("plan")
    assert exists("Attribute.binned")
    assert not exists("abracadabra")
    assert not exists("Attribute.abracadabra")


def test_extras_that_messages_name_are_documented_and_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    documented = set(re.findall(r"^\| `(\w+)` \|", INSTALL, re.MULTILINE))
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))
    asked = set(re.findall(r"missing_package\([^)]*\"(\w+)\"\)", sources))
    assert asked == {"charts", "sql", "arrays", "collect", "statistics", "excel", "databases", "spark"}
    assert asked <= documented <= project["optional-dependencies"].keys()


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
    for key in pk.Certificate.of(plan, 100, "0" * 64, None, private=True).to_json():
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


def test_the_answer_of_the_comparison_repeats_its_measured_tables():
    """The table that compare.md opens with; the tables below it are written by benchmarks/comparison.py."""
    page = (ROOT / "docs" / "results" / "compare.md").read_text(encoding="utf-8")

    def measured(title, place):
        row = page.partition(f"\n| {title} |")[2].partition("\n| embedded (synthetic) |")[2].partition("\n")[0]
        cells = [cell.split(" / ") for cell in row.split("|") if "/" in cell]
        return [float(cell[place].strip(" *")) for cell in cells]

    def shown(line):
        row = re.search(rf"^\| {re.escape(line)} \|(.*)$", page, re.MULTILINE)[1]
        cells = [cell.strip(" *") for cell in row.strip("|").split("|")]
        return [float(cell.rstrip("%")) / (100 if cell.endswith("%") else 1) for cell in cells]

    generalised, randomised = 0, 3
    tables, rows = "tables of 2 attributes, L1", "row picked"
    assert shown("error of two-way tables, generalised (Mondrian)") == measured(tables, generalised)
    assert shown("error of two-way tables, randomised (optimal)") == measured(tables, randomised)
    assert shown("error of two-way tables, randomised, read by its model") == measured(tables, randomised + 1)
    for line, place in (("generalised", generalised), ("randomised", randomised)):
        assert shown(f"people whose own row an adversary picks, {line}") == pytest.approx(
            measured(rows, place), rel=1e-9
        )
