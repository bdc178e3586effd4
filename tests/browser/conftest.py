"""One real browser for all tests of the page: Debian's Chromium, headless, driven by playwright."""

import shutil

import pytest
from chromium import ARGUMENTS

from pkanon._collect.page import module


@pytest.fixture(scope="session")
def chromium():
    """Where Chromium is. Without it the page is untested, so that is a failure and no skip."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "The tests of the page need Chromium: install it (Debian: apt install chromium)."
    return path


@pytest.fixture(scope="session")
def playwright():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright, chromium):
    running = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
    yield running
    running.close()


@pytest.fixture(scope="module")
def calculator(browser):
    """Runs JavaScript in which ``pk`` is the module: calculator("(pk, x) => ...", x)."""
    context = browser.new_context()
    page = context.new_page()
    files = {"/": ("text/html", b"<!DOCTYPE html><title>test</title>"), "/pkanon.js": ("text/javascript", module())}

    def answer(route):
        kind, body = files[route.request.url.removeprefix("https://module.test")]
        route.fulfill(content_type=kind, body=body)

    page.route("https://module.test/**", answer)
    page.goto("https://module.test/")

    def run(function, *arguments):
        source = f"async (given) => {{ const pk = await import('/pkanon.js'); return ({function})(pk, ...given); }}"
        return page.evaluate(source, list(arguments))

    yield run
    context.close()


@pytest.fixture(scope="session")
def open_site(tmp_path_factory):
    """A survey that anybody can answer, on the real service."""
    from asked import served

    with served(tmp_path_factory.mktemp("open")) as site:
        yield site


@pytest.fixture
def postgres_site(tmp_path):
    """The same, with answers in PostgreSQL."""
    from asked import served
    from postgres import cluster

    with cluster() as server, served(tmp_path, database=server.url) as site:
        yield site


@pytest.fixture
def invited_postgres_site(tmp_path):
    """The survey for invited people, with answers in PostgreSQL."""
    from asked import served
    from postgres import cluster

    with cluster() as server, served(tmp_path, invited=True, database=server.url) as site:
        yield site


@pytest.fixture(scope="session")
def invited_site(tmp_path_factory):
    """A survey for invited people, on the real service."""
    from asked import served

    with served(tmp_path_factory.mktemp("invited"), invited=True) as site:
        yield site


@pytest.fixture
def visit(browser):
    """Somebody opens an address, in a browser that has never been there: visit(url, locale="de-DE", ...)."""
    from respondent import PATIENCE, Respondent

    contexts, people = [], []

    def open_page(url=None, *, script=None, width=390, locale="en-GB", **options):
        context = browser.new_context(viewport={"width": width, "height": 844}, locale=locale, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        if script:
            context.add_init_script(script)
        people.append(Respondent(context.new_page()))
        if url:
            people[-1].page.goto(url)
        return people[-1]

    yield open_page
    errors = [error for person in people for error in person.errors]
    for context in contexts:
        context.close()
    assert errors == []
