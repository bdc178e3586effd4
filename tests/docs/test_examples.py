"""The scripts in examples/ run, and their questions are as short as they say."""

import ast
import math
import subprocess
import sys
from pathlib import Path

import pytest

import pkanon as pk

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = ("census", "time_use")


@pytest.fixture(scope="module")
def scripts():
    """The modules of the two scripts."""
    sys.path.insert(0, str(FOLDER))
    try:
        import census
        import time_use

        return {"census": census, "time_use": time_use}
    finally:
        sys.path.remove(str(FOLDER))


def asked(name):
    """The functions of a script that answer a question."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list]


@pytest.mark.parametrize("name", SCRIPTS)
def test_there_are_26_questions_of_at_most_three_lines(name):
    functions = asked(name)
    assert len(functions) == 26
    for function in functions:
        assert function.end_lineno - function.body[0].lineno < 3, function.name


def people(scripts, name, rows):
    if name == "census":
        return pk.demo_table().sample(rows, seed=5), pk.demo_schema()
    return scripts[name].invented(rows, seed=5), scripts[name].SCHEMA


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_question_has_an_answer(scripts, name):
    """A release that keeps everything answers without error; a randomised one within six of its standard errors, or with a flag."""
    table, schema = people(scripts, name, 60_000)
    kept = pk.Plan(schema, [pk.Retention(unit, replace=0) for unit in schema.units], records=table.height)
    truth = pk.release(table, kept, randomness=pk.Seeded(1))
    release = pk.release(table, pk.plan(schema, records=table.height, k=2), randomness=pk.Seeded(1))
    answered = 0
    for words, question in scripts[name].QUESTIONS.items():
        found, true = question(release), question(truth)
        if isinstance(found, pk.Answer):
            found, true = (answer.frame.row(0, named=True) for answer in (found, true))
            assert abs(found["share"] - true["share"]) < 6 * found["share_std_error"], words
            answered += 1
            continue
        flag = found.flag if isinstance(found, pk.Coefficient) else getattr(found, "flag", lambda: None)()
        if flag is None:
            assert not math.isnan(found.value), words
            # a quantile of listed values may have an interval of one value
            assert abs(found.value - true.value) <= 6 * found.standard_error + 1e-9 or isinstance(found, pk.Quantile), (
                words
            )
            answered += 1
    assert answered >= 24


def test_the_script_prints_questions_and_answers(tmp_path):
    table = pk.demo_table().sample(20_000, seed=5)
    plan = pk.plan(pk.demo_schema(), records=table.height, k=2)
    pk.release(table, plan, randomness=pk.Seeded(2)).save(tmp_path / "demo")
    done = subprocess.run(
        [sys.executable, str(FOLDER / "census.py"), str(tmp_path / "demo")], capture_output=True, text=True, check=True
    )
    numbers = [line for line in done.stdout.splitlines() if line[:2].strip().isdigit() and line[2:4] == ". "]
    assert [int(line[:2]) for line in numbers] == list(range(1, 27))
    assert "±" in done.stdout
