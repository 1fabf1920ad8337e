"""Short packs for tests of the front end."""

from __future__ import annotations

from pathlib import Path

from rules import typed
from rules.packs import Loaded, load_texts

STREAMS = """pack cards version "1"
stream payment { payment_id: string  card_id: string  at: timestamp  kind: string  amount: double  n: long
                 flag: boolean?  took: duration  title: text  body: text english  country: string?
                 id payment_id  time at }
stream login { login_id: string  card_id: string  user_card: string  at: timestamp  ok: boolean  n: long
               id login_id  time at }
"""
LANGUAGE = (Path(__file__).parent / "texts" / "language.rules").read_text(encoding="utf-8")
"""The example that the language's page begins with."""


def fraud() -> str:
    """That example without its window, which is not executed yet."""
    start, end = LANGUAGE.index("rule merchant_burst"), LANGUAGE.index("rule acme_recall")
    return LANGUAGE[:start] + LANGUAGE[end:]


def loaded(text: str) -> Loaded:
    """The result of loading STREAMS with that text after it."""
    return load_texts([("t.rules", STREAMS + text)])


def errors(text: str) -> list[tuple[str, str]]:
    """The codes of the errors in a text after STREAMS, with the characters that each points at."""
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    return [(d.code, d.span.text if d.span else "") for d in found]


def on(condition: str) -> str:
    """A rule over single payments."""
    return f"rule r {{ on payment[{condition}] }}"


def matching(pattern: str, clauses: str = "within 1 hour") -> str:
    """A rule with a pattern."""
    return f"rule r {{ by card_id  match {pattern}  {clauses} }}"


def condition_of(condition: str) -> typed.Expression:
    """The typed condition of a rule over payments."""
    body = loaded(on(condition)).need().rules[0].body
    assert isinstance(body, typed.On)
    assert body.condition is not None
    return body.condition


def pattern_of(pattern: str, clauses: str = "within 1 hour") -> typed.Match:
    """The typed body of a rule with a pattern."""
    body = loaded(matching(pattern, clauses)).need().rules[0].body
    assert isinstance(body, typed.Match)
    return body


def reported(text: str) -> list[tuple[str, str, str, str]]:
    """Code, place, message and help of every error."""
    found = [d for d in loaded(text).diagnostics if d.level == "error"]
    return [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]
