"""Every fence of README.md and docs/ runs, in the order of its page, and prints what the page shows.

python          run; the fences of a page share one namespace and one folder
console         lines "$ pkanon ..." run; the lines below are their output. ``exit=2``: they must fail like that.
                "$ R CMD INSTALL r" puts our package into a library that the fences of R below it find
r, r F          run as a script of its own, which is written to the file F if one is named
output          what the python or r fence above printed
toml, toml F    a valid schema, or with [survey] a valid survey; it is written to the file F if one is named
json F          a part of the file F, which an earlier fence made
text            formulas and diagrams: nothing to run

In output a line "..." stands for any lines, "..." at the end of a line for the rest of it; in JSON the
text "..." stands for anything. Whatever is not run says so: ``no-run`` after its language.
"""

import contextlib
import io
import json
import os
import random
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import r_package

import pkanon as pk
from pkanon._cli import VERBS, run
from pkanon._collect.questionnaire import read_questionnaire

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
STANDS_ALONE = {"README.md"}
"""Pages whose fences are separate beginnings: each gets a folder of its own."""
BRINGS_ITS_OWN = {
    "analysing.md",
    "comparing.md",
    "cookbook.md",
    "correct-it-yourself.md",
    "papers.md",
    "regression.md",
    "sql.md",
    "tutorial.md",
}
"""Pages that make people.csv themselves."""
FRESH = {"cli.md"}
"""Pages on which the first command of each verb is a process of its own, with everything to import; others run in this one."""
SET_UP = {"git", "make", "pip", "."}
"""Commands that bring a reader to the point where pkanon can be run."""
MOST_NOT_RUN = 9
"""Stata, a cluster, databases elsewhere, hours of measuring: what no test machine can run."""


@dataclass(frozen=True)
class Fence:
    page: str
    line: int
    language: str
    options: tuple[str, ...]
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def fences(page, text):
    found, opened = [], None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"^```(.*)$", line)
        if mark and opened is None:
            opened = (number, mark[1].split(), [])
        elif mark:
            start, info, lines = opened
            found.append(Fence(page, start, info[0] if info else "", tuple(info[1:]), "\n".join(lines)))
            opened = None
        elif opened is not None:
            opened[2].append(line)
    assert opened is None, f"{page}: a fence is not closed"
    return found


def shown(expected, printed):
    """Whether a page shows what was printed."""
    pieces = []
    for line in expected.splitlines():
        if line.strip() == "...":
            pieces.append(r"(?:.*\n)*")
        elif line.endswith("..."):
            pieces.append(re.escape(line[:-3].rstrip()) + r".*\n")
        else:
            pieces.append(re.escape(line.rstrip()) + r"[ ]*\n")
    return re.fullmatch("".join(pieces), printed if printed.endswith("\n") else printed + "\n") is not None


def part_of(expected, found):
    """Whether JSON that a page shows is a part of the JSON that was found."""
    if expected == "...":
        return True
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(k in found and part_of(v, found[k]) for k, v in expected.items())
    if isinstance(expected, list) and isinstance(found, list):
        if expected and expected[-1] == "...":
            expected, found = expected[:-1], found[: len(expected) - 1]
        return len(expected) == len(found) and all(map(part_of, expected, found))
    return expected == found


def commands(text):
    """(command, its output) for each line that starts with "$ "."""
    found = []
    for line in text.splitlines():
        if found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        elif line.startswith("$ "):
            found.append([line[2:], []])
        else:
            assert found, f"a console fence starts with a command, not with {line!r}"
            found[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in found]


class Runner:
    """Runs the fences of one page in the current folder."""

    def __init__(self):
        self.namespace = {"__name__": "__page__"}
        self.printed = None
        self.started = set()
        self.library = None

    def run(self, fence):
        if "no-run" in fence.options:
            return
        runs = getattr(self, f"_{fence.language}", None)
        assert runs, f"{fence}: a fence of '{fence.language}' is not run; mark it no-run if that is meant"
        runs(fence)

    def _python(self, fence):
        code = compile("\n" * fence.line + fence.text, fence.page, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, self.namespace)
        self.printed = out.getvalue()

    def _output(self, fence):
        assert self.printed is not None, f"{fence}: no fence that prints stands above"
        assert shown(fence.text, self.printed), f"{fence}: printed was\n{self.printed}"
        self.printed = None

    def _console(self, fence):
        wanted = next((int(option[5:]) for option in fence.options if option.startswith("exit=")), 0)
        for command, output in commands(fence.text):
            program, *arguments = shlex.split(command, comments=True)
            if program in SET_UP:
                continue
            if program == "R":
                assert arguments == ["CMD", "INSTALL", "r"], f"{fence}: {command} is not run"
                self.library = r_package.install(Path("library").resolve())
                continue
            if program == "ls":
                code, printed = 0, "  ".join(sorted(os.listdir(*arguments)))
            else:
                assert program == "pkanon", f"{fence}: {program} is not run"
                fresh = fence.page in FRESH and arguments[0] not in self.started
                self.started.add(arguments[0])
                code, printed = _pkanon(arguments, fresh=fresh)
            assert code == wanted, f"{fence}: {command}: exit code {code}\n{printed}"
            assert not output or shown(output, printed), f"{fence}: {command}: printed was\n{printed}"

    def _r(self, fence):
        script = fence.options[0] if fence.options else "fence.R"
        Path(script).write_text(fence.text + "\n", encoding="utf-8")
        code, self.printed, errors = _rscript(script, self.library)
        assert code == 0, f"{fence}: exit code {code}\n{errors}"

    def _toml(self, fence):
        file = fence.options[0] if fence.options else "fence.toml"
        Path(file).write_text(fence.text + "\n", encoding="utf-8")
        (read_questionnaire if "[survey]" in fence.text else pk.read_schema)(file)

    def _json(self, fence):
        (file,) = fence.options
        assert part_of(json.loads(fence.text), json.loads(Path(file).read_text(encoding="utf-8"))), (
            f"{fence}: not in {file}"
        )

    def _text(self, fence):
        pass


def _pkanon(arguments, *, fresh):
    if not fresh:
        with io.StringIO() as printed, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = run(arguments)
            return code, printed.getvalue()
    done = subprocess.run(
        [sys.executable, "-m", "pkanon", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        timeout=60,
    )
    return done.returncode, done.stdout


def _rscript(script, library):
    done = subprocess.run(
        [r_package.program("Rscript"), "--vanilla", script],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=r_package.environment(library),
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def write_people(path, rows=5_000):
    """A synthetic people.csv: sex, age, education, one of them missing now and then."""
    draw = random.Random(1)
    lines = ["sex,age,education"]
    for _ in range(rows):
        age = min(int(draw.triangular(0, 100, 35)), 99)
        school = draw.choices(["none", "school", "degree", "NA"], (2, 5, 3, 1) if age >= 20 else (8, 2, 0, 1))[0]
        lines.append(f"{draw.choice('FM')},{age},{school}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_runs(page, tmp_path, monkeypatch):
    found = fences(page.name, page.read_text(encoding="utf-8"))
    stories = [[fence] for fence in found] if page.name in STANDS_ALONE else [found]
    for number, story in enumerate(stories):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        if page.name not in BRINGS_ITS_OWN:
            write_people(folder / "people.csv")
        runner = Runner()
        for fence in story:
            runner.run(fence)


def test_every_verb_runs_in_a_process_of_its_own():
    """On a page of FRESH; or else its help must come."""
    seen = {
        shlex.split(command)[1]
        for page in PAGES
        if page.name in FRESH
        for fence in fences(page.name, page.read_text(encoding="utf-8"))
        if fence.language == "console" and "no-run" not in fence.options
        for command, _ in commands(fence.text)
    }
    assert "release" in seen
    for verb in VERBS.keys() - seen:
        code, printed = _pkanon([verb, "--help"], fresh=True)
        assert (code, printed.split()[:3]) == (0, ["Usage:", "pkanon", verb])


def test_few_fences_are_not_run():
    skipped = [
        fence
        for page in PAGES
        for fence in fences(page.name, page.read_text(encoding="utf-8"))
        if "no-run" in fence.options
    ]
    assert len(skipped) <= MOST_NOT_RUN, ", ".join(map(str, skipped))


class TestTheRunner:
    """What must not pass."""

    @pytest.mark.parametrize(
        ("expected", "printed", "same"),
        [
            ("a\nb", "a\nb\n", True),
            ("a\n...\nc", "a\nb\nb\nc\n", True),
            ("k = 20...", "k = 20.3\n", True),
            ("a", "a\nb\n", False),
            ("a\n...", "b\n", False),
            ("a...b", "axb\n", False),
            ("k = 20.", "k = 20x\n", False),
        ],
    )
    def test_output_is_compared(self, expected, printed, same):
        assert shown(expected, printed) is same

    @pytest.mark.parametrize(
        ("expected", "found", "same"),
        [
            ({"a": 1}, {"a": 1, "b": 2}, True),
            ({"a": "..."}, {"a": [1]}, True),
            ([1, "..."], [1, 2, 3], True),
            ({"a": 1}, {"a": 2}, False),
            ({"a": 1}, {}, False),
            ([1], [1, 2], False),
        ],
    )
    def test_json_is_compared(self, expected, found, same):
        assert part_of(expected, found) is same

    @pytest.mark.parametrize(
        "text",
        [
            "```python\nassert False\n```",
            "```python\nprint(1)\n```\n```output\n2\n```",
            "```output\n2\n```",
            "```console\n$ pkanon no-such-verb\n```",
            "```console exit=3\n$ pkanon no-such-verb\n```",
            "```console\n$ pkanon --version\nsomething else\n```",
            "```console\n$ rm -r out\n```",
            "```r\nstop()\n```",
            "```r\nno_such_function(1)\n```",
            "```r\ncat(1)\n```\n```output\n2\n```",
            "```stata\nlist\n```",
            "```\nplain\n```",
            "```toml\n[attributes.sex]\nvalue = []\n```",
            "```toml\n[survey]\n[attributes.sex]\nvalues = ['F', 'M']\n```",
        ],
    )
    def test_a_wrong_page_fails(self, text, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        runner = Runner()

        def read():
            for fence in fences("page.md", text):
                runner.run(fence)

        with pytest.raises((AssertionError, pk.PkanonError)):
            read()

    def test_a_script_in_r_runs_and_stays(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        runner = Runner()
        text = "```r two.R\ntwo <- 2\n```\n```r\nsource('two.R')\ncat(two + 1)\n```\n```output\n3\n```"
        for fence in fences("page.md", text):
            runner.run(fence)

    def test_r_must_be_there(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(AssertionError, match="Rscript is not installed"):
            Runner().run(Fence("page.md", 1, "r", (), "x <- 1"))

    def test_a_fence_that_is_left_open_is_seen(self):
        with pytest.raises(AssertionError, match="not closed"):
            fences("page.md", "```python\nprint(1)")

    def test_marked_fences_are_left_alone(self):
        (fence,) = fences("page.md", "```r no-run\nx <- 1\n```")
        Runner().run(fence)
