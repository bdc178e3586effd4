"""Progress bars: on a terminal, for work that takes a while; nothing anywhere else."""

import os
import subprocess
import sys

import pytest
from asked_people import SURVEY
from keys import write_keys

from pkanon._cli import VERBS

BAR = """
import sys, time
import pkanon._cli.progress as progress
progress.PATIENCE = {patience}
with progress.progress_bar() as show:
    show("reading", 0)
    time.sleep({work})
    show("reading", 0.5)
    time.sleep({work})
print("rich" in sys.modules)
"""
VERB = """
import sys, threading
from types import SimpleNamespace
import pkanon._cli.progress as progress
from pkanon._cli import run

class AtOnce:  # a timer that does not wait, so that nothing depends on how quick a verb is
    def __init__(self, seconds, action): self.start = action
    def cancel(self): pass
    def join(self): pass

progress.threading = SimpleNamespace(Timer=AtOnce, Lock=threading.Lock)
for arguments in {commands!r}:
    print(arguments[0], file=sys.stderr, flush=True)
    code = run(arguments)
    print("done", file=sys.stderr, flush=True)
    assert code == 0, arguments
"""
SEEDED = ["--seed", "7", "--seeded-not-private"]  # so that there is an association to print
SHOWN = {
    "schema": (["people.csv", "-o", "draft.toml"], "reading"),
    "advise": (["people.toml", "--records", "20000", "--k", "3"], "planning"),
    "plan": (["people.toml", "--records", "200", "--k", "3"], "comparing"),
    "plan-for-error": (["people.toml", "--records", "200", "--table", "sex", "--error", "0.1"], "searching"),
    "release": (["people.csv", "--plan", "plan.json", "-o", "out", *SEEDED], "writing"),
    "explain": (["out"], "opening"),
    "crosstab": (["out", "sex", "--method", "em"], "opening"),
    "describe": (["out"], "describing"),
    "query": (["out", "SELECT COUNT(*) FROM release"], "opening"),
    "association": (["out", "sex", "age"], "associating"),
    "test": (["out", "sex=F", "--trend", "age"], "testing"),
    "correlations": (["out"], "correlating"),
    "regress": (["out", "age ~ 1"], "tables"),
    "anonymity": (["people.csv", "sex"], "counting"),
    "compose": (["out", "plan.json"], "opening"),
    "report": (["out", "-o", "report.html"], "charting"),
    "audit": (["plan.json", "--runs", "100", "--rows", "1000"], "small tables"),
    "verify": (["out"], "tables"),
    "attack": (["people.csv", "out", "--rehearsals", "1"], "rehearsing"),
    "sign": (["out", "--key", "key.pem"], "signing"),
    "export": (["out", "people.dta"], "writing"),
    "model": (["out", "-o", "modelled.csv"], "drawing"),
    "collect": (["new", "survey.toml", "--records", "500", "--k", "5", "-o", "survey"], "planning"),
}
NOTHING_TO_WAIT_FOR = {"completion", "confirm", "ledger"}
ELSEWHERE = {"collect", "demo", "reproduce", "compare"}
"""They take minutes, run until they are stopped, or write folders; their steps come from the functions they call."""


def on_a_terminal(code, folder):
    """Standard output, and what a terminal got on standard error."""
    terminal, end = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder, stdout=subprocess.PIPE, stderr=end, text=True, env=os.environ | {"TERM": "xterm", "COLUMNS": "80"},
    )  # fmt: skip
    os.close(end)
    parts = []
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        parts.append(part)
    os.close(terminal)
    out = process.stdout.read()
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    return out, b"".join(parts).decode()


def test_long_work_shows_a_bar(tmp_path):
    out, err = on_a_terminal(BAR.format(patience=0.05, work=0.5), tmp_path)
    assert out == "True\n"
    assert "reading" in err
    assert " 50%" in err


def test_quick_work_shows_none_and_loads_nothing(tmp_path):
    assert on_a_terminal(BAR.format(patience=30, work=0), tmp_path) == ("False\n", "")


def test_a_pipe_gets_none(tmp_path):
    code = BAR.format(patience=0, work=0.3)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_every_verb_that_may_take_long_shows_its_steps(place):
    assert set(SHOWN) | NOTHING_TO_WAIT_FOR | ELSEWHERE == set(VERBS)
    write_keys(place.folder)
    place.write("survey.toml", SURVEY)
    commands = [[verb, *arguments] for verb, (arguments, _) in SHOWN.items()]
    _, err = on_a_terminal(VERB.format(commands=commands), place.folder)
    for verb, (_, step) in SHOWN.items():
        drawn = err.partition(f"{verb}\r\n")[2].partition("done\r\n")[0]
        assert step in drawn, verb


def test_an_error_is_printed_after_the_bar_is_gone(place):
    code = VERB.format(commands=[["crosstab", "nowhere", "sex"]]).replace("assert code == 0", "assert code == 2")
    _, err = on_a_terminal(code, place.folder)
    assert err.rstrip().endswith("done")
    assert "error: nowhere is not a release" in err.splitlines()[-2]


@pytest.mark.parametrize("done", [0.0, 0.5, 1.0])
def test_a_step_without_a_terminal_is_forgotten(done, capsys):
    from pkanon._cli.progress import progress_bar

    with progress_bar() as show:
        show("reading", done)
    assert capsys.readouterr() == ("", "")
