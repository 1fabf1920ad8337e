"""Lines go above the line that renews itself, never into it, whatever is a terminal and however wide."""

from __future__ import annotations

import io
import os
import threading
from contextlib import suppress
from typing import TextIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import Screen, terminal, wrapped

from alerts.receivers.console import ConsoleReceiver
from cep.job.running.status_line import StatusLine

LETTERS = st.text("abc xyz", min_size=1, max_size=45).map(str.strip).filter(bool)
STEPS = st.lists(st.tuples(st.sampled_from(["draw", "print", "above"]), LETTERS), max_size=30)


@pytest.fixture(autouse=True)
def _usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


@given(st.integers(12, 40), STEPS)
def test_what_stays_is_whole_and_the_line_is_below(columns: int, steps: list[tuple[str, str]]) -> None:
    with terminal(columns) as shown, shown.open() as out, shown.open() as err:
        line = StatusLine(err)
        above = line.above(out)
        stays: list[str] = []
        drawn = ""
        for kind, text in steps:
            if kind == "draw":
                line.draw(text)
                drawn = text if len(text) <= columns - 3 else text[: columns - 6] + "..."
            elif kind == "print":
                line.print(text)
                stays += wrapped(text, columns)
            else:
                above.write(text + "\n")
                stays += wrapped(text, columns)
            assert shown.read().lines() == [*stays, drawn.rstrip()]
        line.end()
        assert shown.read().lines() == [*stays, *([drawn.rstrip()] if drawn else []), ""]


def test_threads_do_not_write_into_each_others_lines() -> None:
    with terminal(40) as shown, shown.open() as out, shown.open() as err:
        line = StatusLine(err)
        above = line.above(out)
        done = threading.Event()
        threads = [
            threading.Thread(target=lambda: [above.write(f"alert {n}\n") for n in range(300)]),
            threading.Thread(target=lambda: [line.draw(f"batch {n} of many") for n in range(300)]),
            threading.Thread(target=lambda: [line.print(f"told {n}") for n in range(300)]),
        ]

        def end() -> None:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            done.set()

        writer = threading.Thread(target=end)
        writer.start()
        while not done.wait(0.001):
            shown.read()
        writer.join()
        lines = shown.read().lines()
    assert sorted(lines[:-1]) == sorted(f"{what} {n}" for what in ("alert", "told") for n in range(300))
    assert lines[-1] == "batch 299 of many"


def test_a_ctrl_c_that_the_terminal_shows_is_taken_away_with_the_line() -> None:
    with terminal(20) as shown, shown.open() as err:
        line = StatusLine(err)
        line.draw("a line that is too long")
        shown.read().feed("^C")
        line.print("stopping")
        assert shown.read().lines() == ["stopping", "a line that is..."]


def test_the_longest_form_that_fits_is_drawn() -> None:
    forms = "batch 12, and the watermark", "batch 12"
    for columns, shown_as in ((30, forms[0]), (29, forms[1]), (11, forms[1]), (10, "batc..."), (6, "...")):
        with terminal(columns) as shown, shown.open() as err:
            StatusLine(err).draw(*forms)
            assert shown.read().lines() == [shown_as], columns


def _written(out: TextIO, err: TextIO) -> None:
    line = StatusLine(err)
    receiver = ConsoleReceiver("desk", line.above(out), "json")
    line.print("starting")
    line.draw("batch 1")
    assert receiver.send("a", "alert 1", 0).result == "delivered"
    line.draw("batch 2")


def test_where_stdout_is_a_file_the_terminal_has_the_line_alone() -> None:
    out = io.StringIO()
    with terminal(40) as shown, shown.open() as err:
        _written(out, err)
        assert shown.read().lines() == ["starting", "batch 2"]
    assert out.getvalue() == "alert 1\n"


@pytest.mark.parametrize("dumb", [False, True])
def test_where_stderr_is_no_terminal_no_line_is_drawn(dumb: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    err = io.StringIO()
    with terminal(40) as shown, shown.open() as out:
        if dumb:
            monkeypatch.setenv("TERM", "dumb")
        _written(out, shown.open() if dumb else err)
        assert shown.read().lines() == [*(["starting"] if dumb else []), "alert 1", ""]
        assert "\x1b" not in shown.screen.text
    assert err.getvalue() == ("" if dumb else "starting\n")


def test_a_terminal_that_is_gone_ends_nothing() -> None:
    with terminal(40) as shown:
        out, err = shown.open(), shown.open()
        line = StatusLine(err)
        receiver = ConsoleReceiver("desk", line.above(out))
        line.draw("batch 1")
        os.close(os.dup(shown.master))
    line.draw("batch 2")
    line.print("told")
    outcome = receiver.send(
        "a", '{"time": "", "severity": "", "rule": "", "summary": "", "suppressed": 0}', 0
    )
    assert outcome.result == "unreachable"
    line.end()
    for one in (out, err):  # with what they could not write
        with suppress(OSError):
            one.close()


def test_the_model_of_a_terminal_wraps() -> None:
    screen = Screen(4)
    screen.feed("abcd\r\x1b[2Kabcdef\r\x1b[2Kgh\r\nij")
    assert screen.lines() == ["abcd", "gh", "ij"]
