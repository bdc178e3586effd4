"""A run of everything must be one: no file without a test, no fewer tests than there were, and in CI none skipped.

A folder that is not collected any more, a fixture file that hides tests or an import that skips a module would otherwise end in
"passed". Only full runs are counted: no paths, no -k, no -m. Reports come to the process that was started, also from workers.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LEAST = 5_500
"""Tests in a full run. Raise it when there are many more; lower it only with the tests that were removed."""


class Collection:
    """Counts the tests that ran, by file, and those that were skipped."""

    def __init__(self, config: pytest.Config, least: int = LEAST):
        self._config = config
        self._least = least
        self._ran: dict[str, set[str]] = {}
        self._skipped: list[str] = []
        self.wrong: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._ran.setdefault(report.nodeid.partition("::")[0], set()).add(report.nodeid)
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._skipped.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self._skipped and os.environ.get("CI"):
            self.wrong.append(f"In CI a test that cannot run has failed: {', '.join(sorted(set(self._skipped)))}")
        if exitstatus == pytest.ExitCode.OK and self._is_full():
            self.wrong += self._missing()
        if self.wrong and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _is_full(self) -> bool:
        option = self._config.option
        chosen = (option.keyword, option.markexpr, option.deselect, option.collectonly, getattr(option, "lf", False))
        return self._config.args_source is pytest.Config.ArgsSource.TESTPATHS and not any(chosen)

    def _missing(self) -> list[str]:
        root = self._config.rootpath
        folders = [root / folder for folder in self._config.getini("testpaths")]
        files = [path for folder in folders for path in folder.rglob("test_*.py")]
        empty = sorted(name for path in files if (name := _name(path, root)) not in self._ran)
        count = sum(map(len, self._ran.values()))
        wrong = [f"{name}: not one test of this file ran" for name in empty]
        if count < self._least:
            wrong.append(f"{count} tests ran, and there were {self._least} or more")
        return wrong

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.wrong:
            terminalreporter.write_line(f"INCOMPLETE {line}", red=True)


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
