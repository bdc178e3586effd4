"""docs/collect/start.md leads through: its commands from opening to release run one after the other, and none fails."""

import os
import re
import shlex
import subprocess
from pathlib import Path

from collecting import Process, Respondents, make

import pkanon as pk
from pkanon._cli import run

PAGE = Path(__file__).parents[2] / "docs" / "collect" / "start.md"
ADDRESS = "https://survey.example.org"


def commands(heading):
    """The commands of the section with this heading."""
    section = re.search(rf"^## \d+\. {heading}$(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)[1]
    return [
        line
        for fence in re.findall(r"^```text\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        for line in fence.splitlines()
    ]


def test_the_page_leads_through(folder, monkeypatch):
    monkeypatch.chdir(folder)
    survey = make(folder, records=8, k=2)
    survey.save("survey")
    opening, closing = commands("Open it"), commands("Close and release")
    *before, serve = [line for line in opening if not line.startswith("pkanon collect check")]
    for line in before:
        subprocess.run(line, shell=True, check=True)
    words = shlex.split(serve)
    assert words[:4] == ["pkanon", "collect", "serve", "survey"]
    service = Process("survey", words[words.index("--database") + 1], *words[words.index("--admin-token-file") :])
    service.start()
    url = f"http://127.0.0.1:{service.port}"

    def typed(line):
        line = line.replace(ADDRESS, url).replace("DIGEST", survey.digest)
        assert run(shlex.split(line)[1:]) == 0, line

    try:
        for line in opening:
            if line.startswith("pkanon collect check"):
                typed(line)
        true = Respondents(survey, 8).truth
        for person in range(8):
            values = {a.name: a.label(int(true[a.name][person])) for a in survey.plan.schema.randomised}
            pk.collect.Client(url).answer(values)
        assert [line.split()[2] for line in closing] == ["status", "close", "release"]
        for line in closing:
            typed(line)
    finally:
        service.stop()
    assert pk.verify("out").ok
    assert pk.open_release("out").rows == 8
    assert os.path.isfile("out/report.html")
