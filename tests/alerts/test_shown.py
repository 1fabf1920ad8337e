"""Text from outside as people see it: nothing that a terminal would act on, and JSON exactly as it is."""

from __future__ import annotations

import io
import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from alerts.receivers.console import ConsoleReceiver
from alerts.shown import shown, shown_lines

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\r\n\u202eevil\u2066\u2028\u200b"


def printed(style: str) -> str:
    alert = {"time": "t", "severity": "high", "rule": "r", "summary": HOSTILE, "suppressed": 0}
    body = json.dumps(alert, ensure_ascii=False)
    stream = io.StringIO()
    receiver = ConsoleReceiver("screen", stream, "json" if style == "json" else "text")
    assert receiver.send("1", body, 0).result == "delivered"
    assert style == "text" or stream.getvalue() == body + "\n"
    return stream.getvalue()


def test_a_summary_cannot_drive_a_terminal() -> None:
    line = printed("text")
    assert line.count("\n") == 1
    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp") for char in line[:-1])
    assert r"\x1b]0;title\x07" in line
    assert r"\u202eevil\u2066" in line


def test_bodies_of_json_stay_exact() -> None:
    printed("json")


@given(st.text())
def test_nothing_that_drives_a_terminal_is_left(text: str) -> None:
    assert all(unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in shown(text))
    assert not set(shown(text)) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
    assert shown_lines(text).count("\n") == text.count("\n")


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"])))
def test_text_that_only_says_something_stays(text: str) -> None:
    assert shown(text) == text
