"""A browser for all tests that need one, and a desk for each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from served_desk import ServedDesk, a_desk_at_work, prepared, served

from alerts.outbox import StoredAlert

PATIENCE = 30_000
"""Milliseconds that a browser waits for what is to come."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium of the machine. Where it is missing tests are skipped, but not in continuous integration."""
    program = shutil.which("chromium")
    if program is None:
        said = "chromium is missing: run `make tools`, or on Debian `sudo apt-get install chromium`"
        assert "CEP_TOOLS" not in os.environ, said
        pytest.skip(said)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        running = playwright.chromium.launch(executable_path=program, args=options)
        yield running
        running.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[ServedDesk]:
    """A desk whose page is served."""
    with served(prepared(tmp_path)) as found:
        yield found


@pytest.fixture
def work(place: ServedDesk) -> dict[str, StoredAlert]:
    """What there is to do at it: some of its alerts by name."""
    return dict(a_desk_at_work(place))


@pytest.fixture
def tab(browser: Browser, place: ServedDesk) -> Iterator[Page]:
    """A tab of its own, which fails the test if a script of the page fails or the policy stops anything."""
    assert place.address  # served for longer than the tab is open
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    yield page
    context.close()
    assert wrong == []
