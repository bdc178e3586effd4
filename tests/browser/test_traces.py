"""What a person really answered stays nowhere: not in the browser's profile, not in its caches, not after a crash."""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest
from chromium import ARGUMENTS
from respondent import BADGE, PATIENCE, REPLACES, Respondent

MARKERS = [BADGE.encode(), BADGE.encode("utf-16-le")]


def traces(profile):
    """The files of a profile that hold a marker."""
    files = [path for path in Path(profile).rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 20, "this is not the profile of a browser that ran"
    return sorted(str(path.relative_to(profile)) for path in files if holds(path))


def holds(path):
    try:
        content = path.read_bytes()
    except FileNotFoundError:  # the browser tidies up
        return False
    return any(marker in content for marker in MARKERS)


@pytest.fixture
def profile(playwright, chromium, tmp_path):
    """Starts browsers that keep their profile in one folder: profile() gives a page, profile.kill() ends all at once."""

    class Profile:
        folder = tmp_path / "profile"
        context = None

        def __call__(self, url):
            self.context = playwright.chromium.launch_persistent_context(
                self.folder, executable_path=chromium, args=ARGUMENTS, viewport={"width": 390, "height": 844}
            )
            self.context.set_default_timeout(PATIENCE)
            self.context.add_init_script(REPLACES)
            person = Respondent(self.context.pages[0])
            person.page.goto(url)
            return person

        def kill(self):
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit() and str(self.folder).encode() in _command(entry):
                    with contextlib.suppress(ProcessLookupError):  # the others end by themselves once the first is gone
                        os.kill(int(entry.name), signal.SIGKILL)
            self.context = None
            while any(str(self.folder).encode() in _command(entry) for entry in Path("/proc").iterdir()):
                time.sleep(0.01)

    running = Profile()
    yield running
    if running.context:
        running.context.close()


def _command(entry):
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


def test_the_search_would_find_what_is_kept(open_site, profile):
    person = profile(open_site.url)
    person.page.evaluate(f"localStorage.setItem('note', '{BADGE}')")
    person.page.goto(f"{open_site.url}plan.json?{BADGE}")
    profile.context.close()
    found = traces(profile.folder)
    assert any("Local Storage" in name for name in found)
    assert any("History" in name for name in found)


def test_the_search_would_find_what_a_crash_leaves(open_site, profile):
    """An ordinary form: the browser writes what is typed to its session file, to bring it back after a crash."""
    person = profile(f"{open_site.url}plan.json")
    person.page.evaluate("document.body.innerHTML = '<form><input name=badge></form>'")
    person.page.locator("input").fill(BADGE)
    until = time.monotonic() + PATIENCE / 1000
    while not any("Sessions" in name for name in traces(profile.folder)) and time.monotonic() < until:
        scroll(profile)
        time.sleep(0.5)
    profile.kill()
    assert any("Sessions" in name for name in traces(profile.folder))


def scroll(profile):
    """Something that the browser saves with the rest of its session."""
    profile.context.pages[0].mouse.wheel(0, 300)


def crash(profile):
    scroll(profile)
    time.sleep(2.5)  # browsers save their session every few seconds
    profile.kill()


def test_no_trace_after_an_answer(open_site, profile):
    person = profile(open_site.url)
    person.begin()
    person.fill()
    person.send()
    person.sees("Thank you")
    profile.context.close()
    assert traces(profile.folder) == []
    person = profile(open_site.url)  # and none when the browser comes back
    person.sees("Thank you")
    profile.context.close()
    assert traces(profile.folder) == []


@pytest.mark.parametrize("moment", ["while answering", "after Back", "while waiting", "in practice"])
def test_no_trace_after_a_crash(open_site, profile, moment):
    person = profile(open_site.url)
    if moment == "in practice":
        person.page.get_by_text("For experts").click()
        person.page.get_by_role("button", name="Test the dice").click()
    else:
        person.begin()
    person.fill()
    if moment == "in practice":
        person.page.get_by_role("button", name="Draw once").click()
    if moment == "after Back":
        person.page.go_back()
        person.page.get_by_role("button", name="Go on with my answers").wait_for()
    if moment == "while waiting":
        person.page.route("**/answers", lambda route: route.abort())
        person.send()
        person.sees("Not sent yet")
    crash(profile)
    assert traces(profile.folder) == []


def test_leaving_the_page_forgets_the_answers(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    person.page.goto(f"{open_site.url}plan.json")
    person.page.go_back()
    person.sees("What can others learn about you?")
    assert BADGE not in person.page.content()
    person.begin()
    assert person.page.locator("[aria-checked=true]").count() == 0
    assert person.page.get_by_label("Which number is on your badge?").input_value() == ""


def test_inputs_have_no_names_and_forms_go_nowhere(open_site, visit):
    person = visit(open_site.url)
    person.begin()
    person.fill()
    page = person.page
    assert page.locator("[name]:not(meta)").count() == 0
    assert page.locator("form[action], [type=submit], button:not([type])").count() == 0
    fields = page.locator("input, select, textarea").count()
    assert fields == page.locator("form[autocomplete=off] :is(input, select, textarea)").count() == 2
    assert BADGE not in page.content()  # what is typed is no part of the document


def test_practice_is_never_sent_or_kept(open_site, visit):
    sent = len(open_site.bodies("/answers"))
    person = visit(open_site.url)
    requests = []
    person.page.get_by_text("For experts").click()
    person.page.get_by_role("button", name="Test the dice").click()
    person.page.on("request", lambda request: requests.append(request.url))
    person.fill()
    person.page.get_by_role("button", name="Draw once").click()
    person.page.get_by_role("button", name="Draw 1,000 times").click()
    assert "Nothing on this page is ever sent" in person.page.locator("main").inner_text()
    assert person.page.get_by_role("button", name="Send my answers").count() == 0
    assert person.storage() == {}
    assert requests == []
    assert len(open_site.bodies("/answers")) == sent
    person.page.get_by_role("button", name="End the test").click()
    person.begin()
    assert person.page.locator("[aria-checked=true]").count() == 0
