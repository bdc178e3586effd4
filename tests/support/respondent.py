"""A person in front of the page: does what people do, by what people see."""

from __future__ import annotations

from typing import Any

BADGE = "7391234"
"""The true answer to a question of the survey SMOKING; no other text holds it."""

REPLACES = """
const real = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => (array.byteLength <= 8 ? array.fill(0) : real(array));
"""
"""Random words that replace every answer, by the first value that is not it; keys and tokens stay random."""


NEVER_AGAIN = """
const inTime = setTimeout;
window.setTimeout = (act, pause) => inTime(act, pause >= 1000 ? 2 ** 30 : pause);
"""
"""A page that does not try again by itself, so that a test on a slow machine is not overtaken."""
PATIENCE = 120_000
"""Milliseconds after which something has gone wrong; on a busy machine everything takes longer."""


class Respondent:
    """Somebody with a browser of their own at the page ``page``."""

    def __init__(self, page: Any):
        self.page = page
        self.console: list[str] = []
        self.errors: list[str] = []
        page.on("console", lambda message: self.console.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    @property
    def heading(self) -> str:
        """The heading of what is seen now."""
        return str(self.page.locator("main h2").first.inner_text())

    def sees(self, heading: str, timeout: float = PATIENCE) -> None:
        """Wait for a heading."""
        self.page.get_by_role("heading", name=heading, level=2).wait_for(timeout=timeout)

    def begin(self, consent: str = "I have read this", start: str = "Start") -> None:
        """Agree and start."""
        self.page.get_by_label(consent).check()
        self.page.get_by_role("button", name=start, exact=True).click()

    def choose(self, question: str, label: str) -> None:
        """Choose an answer."""
        self.page.get_by_role("radiogroup", name=question).get_by_role("radio", name=label, exact=True).click()

    def fill(self, smokes: str = "Yes", daily: str | None = "1 to 10", badge: str = BADGE, branch: str = "B3") -> None:
        """Answer every question of SMOKING, in English."""
        self.choose("Do you smoke?", smokes)
        if daily:
            self.choose("How many cigarettes a day?", daily)
        self.page.get_by_label("Which number is on your badge?").fill(badge)
        self.choose("Are you for a smoke-free workplace?", "For it")
        self.page.get_by_label("In which branch do you work?").select_option(label=branch)

    def send(self) -> None:
        """Press the button."""
        self.page.get_by_role("button", name="Send my answers").click()

    def storage(self) -> dict[str, str]:
        """All that the page keeps on the device."""
        entries: dict[str, str] = self.page.evaluate("({ ...localStorage })")
        return entries


def stop_the_clock(page: Any) -> None:
    """From now on the page waits only as long as a test says; page.clock was installed before."""
    page.clock.pause_at((page.evaluate("Date.now()") + 10 * PATIENCE) / 1000)


def hosted(person: Respondent, survey: Any, address: str = "https://survey.test/", **others: Any) -> None:
    """Serves a survey to one person at an address that does not exist; ``others`` are replies in JSON by their path."""

    def answer(route: Any) -> None:
        name = route.request.url.removeprefix(address) or "index.html"
        kind = {"html": "text/html", "json": "application/json", "js": "text/javascript"}.get(name.rpartition(".")[2])
        if name in others:
            route.fulfill(json=others[name])
        elif name in survey.files:
            route.fulfill(body=survey.files[name], content_type=kind)
        else:
            route.fulfill(status=503)

    person.page.route(f"{address}**", answer)
