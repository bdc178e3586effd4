"""A run that lost tests fails: each way to lose them, on a small project with the same check."""

from pathlib import Path

import pytest

CONFTEST = """
import pytest
from collection import Collection

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collection(config, least=3))
"""
TESTS = {
    "checks/a/test_one.py": "def test_1(): pass\ndef test_2(): pass\n",
    "checks/b/test_two.py": "def test_3(): pass\n",
}


@pytest.fixture
def project(pytester, monkeypatch):
    """Runs pytest on a small project."""
    monkeypatch.delenv("CI", raising=False)
    options = ["testpaths = checks", f"pythonpath = {Path(__file__).parent}", "addopts = --import-mode=importlib"]
    pytester.makeini("\n".join(["[pytest]", *options]))
    for name, text in {"conftest.py": CONFTEST, **TESTS}.items():
        (pytester.path / name).parent.mkdir(parents=True, exist_ok=True)
        (pytester.path / name).write_text(text)

    def run(*arguments, **files):
        for name, text in files.items():
            (pytester.path / "checks" / name).with_suffix(".py").write_text(text)
        return pytester.runpytest_inprocess("-p", "no:xdist", *arguments)

    return run


def incomplete(result):
    return [line.removeprefix("INCOMPLETE ") for line in result.outlines if line.startswith("INCOMPLETE")]


def test_a_whole_run_passes(project):
    result = project()
    assert (result.ret, incomplete(result)) == (0, [])


@pytest.mark.parametrize("arguments", [("checks/a",), ("-k", "test_1"), ("-m", "slow"), ("--collect-only",)])
def test_a_part_is_no_loss(project, arguments):
    assert incomplete(project(*arguments)) == []


def test_a_folder_that_is_not_collected(project):
    result = project("--ignore=checks/b")
    assert result.ret == 1
    assert incomplete(result) == [
        "checks/b/test_two.py: not one test of this file ran",
        "2 tests ran, and there were 3 or more",
    ]


def test_a_conftest_that_hides_tests(project):
    result = project(conftest="collect_ignore = ['b']\n")
    assert result.ret == 1
    assert "checks/b/test_two.py: not one test of this file ran" in incomplete(result)


def test_a_file_without_tests(project):
    result = project(test_none="def check_3(): pass\n")
    assert result.ret == 1
    assert incomplete(result) == ["checks/test_none.py: not one test of this file ran"]


def test_tests_that_are_gone(project, pytester):
    (pytester.path / "checks/b/test_two.py").unlink()
    result = project()
    assert (result.ret, incomplete(result)) == (1, ["2 tests ran, and there were 3 or more"])


SKIPS = {
    "a test": "import pytest\ndef test_4(): pytest.skip()\n",
    "by a mark": "import pytest\n@pytest.mark.skip\ndef test_4(): pass\n",
    "a module": "import pytest\npytest.importorskip('no_such_package')\ndef test_4(): pass\n",
}


@pytest.mark.parametrize("skips", SKIPS)
@pytest.mark.parametrize("arguments", [(), ("checks",)], ids=["all", "a part"])
def test_a_skipped_test_fails_in_ci(project, monkeypatch, skips, arguments):
    monkeypatch.setenv("CI", "true")
    result = project(*arguments, test_skips=SKIPS[skips])
    assert result.ret == 1
    assert "In CI a test that cannot run has failed: checks/test_skips.py" in incomplete(result)[0]


def test_a_skipped_test_is_shown_elsewhere(project):
    result = project(test_skips=SKIPS["a test"])
    assert (result.ret, incomplete(result)) == (0, [])


def test_workers_report_to_the_one_that_counts(project, pytester, monkeypatch):
    monkeypatch.setenv("CI", "true")
    (pytester.path / "checks/test_skips.py").write_text(SKIPS["a module"])
    result = pytester.runpytest_subprocess("-n", "1", "--ignore=checks/b")
    assert result.ret == 1
    assert incomplete(result) == [
        "In CI a test that cannot run has failed: checks/test_skips.py",
        "checks/b/test_two.py: not one test of this file ran",
        "checks/test_skips.py: not one test of this file ran",
        "2 tests ran, and there were 3 or more",
    ]
