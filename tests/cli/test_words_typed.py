"""What is typed: help without a command, near misses of commands and options, one screen of help, exit codes."""

import re
import signal
import subprocess
import sys
import time

import pytest

from pkanon._cli import EXIT_CODES, GROUPS, VERBS, run

SCREEN = 45
WHOLE_LIST = 62
"""Lines of the list of all verbs: a tall window, but one."""
"""Lines of a terminal that somebody works in."""


def printed(capsys, *arguments):
    code = run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def complaint(capsys, *arguments):
    code, out, err = printed(capsys, *arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: [^\n]*[.?]\n", err)
    return err


def test_the_program_alone_prints_its_help(capsys):
    code, out, err = printed(capsys)
    assert (code, err) == (0, "")
    assert out == printed(capsys, "--help")[1]
    for title, verbs in GROUPS.items():
        listed = out.partition(f"{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in listed.splitlines() if re.match(r"  \S", line)] == list(verbs)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("relase", "release"), ("plans", "plan"), ("Crosstab", "crosstab"), ("plan_for_error", "plan-for-error")],
)
def test_a_near_miss_of_a_command(capsys, typed, meant):
    assert complaint(capsys, typed) == (
        f"error: pkanon has no command {typed}. Did you mean {meant}? See pkanon --help.\n"
    )


def test_a_command_like_no_other(capsys):
    assert complaint(capsys, "zzz") == "error: pkanon has no command zzz. See pkanon --help.\n"


@pytest.mark.parametrize(
    ("arguments", "option", "meant"),
    [
        (["plan", "x.toml", "--record", "5"], "--record", "--records"),
        (["plan", "x.toml", "-k", "5"], "-k", "--k"),
        (["release", "x.csv", "--allow-few"], "--allow-few", "--allow-fewer"),
        (["crosstab", "out", "sex", "--levle", "0.9"], "--levle", "--level"),
        (["--versoin"], "--versoin", "--version"),
    ],
)
def test_a_near_miss_of_an_option(capsys, arguments, option, meant):
    err = complaint(capsys, *arguments)
    verb = "pkanon" if arguments[0].startswith("-") else f"pkanon {arguments[0]}"
    assert err == f"error: {verb} has no option {option}. Did you mean {meant}? See {verb} --help.\n"


def test_an_option_like_no_other(capsys):
    assert complaint(capsys, "plan", "x.toml", "--zzz") == (
        "error: pkanon plan has no option --zzz. See pkanon plan --help.\n"
    )


def test_an_option_that_moved_is_never_suggested(capsys):
    assert "--error" not in complaint(capsys, "plan", "x.toml", "--eror", "0.1").replace("--eror", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan"], "SCHEMA"),
        (["plan", "x.toml", "--records", "many"], "--records"),
        (["plan", "x.toml", "--records"], "--records"),
        (["plan", "x.toml", "y.toml"], "y.toml"),
        (["release", "x.csv", "--format", "xml"], "parquet"),
        (["release", "x.csv", "--seed", "-1"], "--seed"),
        (["compare", "--seed", "-1"], "--seed"),
        (["completion", "tcsh"], "bash"),
    ],
)
def test_other_wrong_words(capsys, arguments, words):
    err = complaint(capsys, *arguments)
    assert words in err
    assert f"pkanon {arguments[0]} --help" in err


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["plan", "x.toml", "--records", "3,000"], "Write 3000."),
        (["plan", "x.toml", "--records", "3.5"], "Write a number such as 3000."),
        (["release", "x.csv", "--seed", "1,5"], "Write a number such as 3000."),
        (["plan-for-error", "x.toml", "--error", "1%"], "Write 0.01."),
        (["plan-for-error", "x.toml", "--error", "2.5 %"], "Write 0.025."),
        (["plan-for-error", "x.toml", "--error", "0,01"], "Write 0.01."),
        (["crosstab", "out", "sex", "--level", "high"], "Write a number such as 0.01."),
    ],
)
def test_how_to_write_a_number(capsys, arguments, hint):
    assert f" {hint} See pkanon {arguments[0]} --help.\n" in complaint(capsys, *arguments)


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        (["plan", "x.toml", "--error", "0.1"], "plan-for-error"),
        (["plan", "x.toml", "--error"], "plan-for-error"),
        (["plan", "--error"], "plan-for-error"),
        (["compare", "--k"], "--ks"),
    ],
)
def test_an_option_that_moved_says_where(capsys, arguments, right):
    assert right in complaint(capsys, *arguments)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_does(capsys, verb):
    out = printed(capsys, verb, "--help")[1]
    options = out.partition("\nOptions:\n")[2]
    for entry in re.split(r"\n(?=  -)", options):
        assert re.search(r"\s{2,}[A-Z][^\n]*", entry), entry


@pytest.mark.parametrize("verb", ["", "plan", "plan-for-error", "explain"])
def test_help_fits_one_screen(capsys, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = printed(capsys, *([verb] if verb else []), "--help")[1]
    assert len(out.splitlines()) <= (SCREEN if verb else WHOLE_LIST)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("verb", ["release", "compare", "reproduce"])
def test_a_seed_means_the_same_everywhere(capsys, verb):
    text = " ".join(printed(capsys, verb, "--help")[1].split())
    assert "Equal seeds give equal results; seeded rows protect nobody" in text


def test_the_help_lists_every_exit_code(capsys):
    listed = re.findall(r"\b(\d+)\s+[a-z]", printed(capsys)[1].partition("Exit codes:")[2])
    assert list(map(int, listed)) == list(EXIT_CODES)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_with_its_code_and_one_line(tmp_path, number, code):
    program = (
        "import sys, time, pkanon._cli as cli\n"
        "def wait(*_, **__):\n    print('ready', flush=True); time.sleep(60)\n"
        "cli.cli.main = wait\n"
        "sys.exit(cli.run(['demo']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert code in EXIT_CODES
    assert re.fullmatch(rf"{EXIT_CODES[code]}: [^\n]*\n", err)
