"""Lints: found where they should be, silenced by a reason on the line above."""

from __future__ import annotations

import pytest
from writing import STREAMS

from rules.packs import load_texts

USED = "rule used { by card_id  match payment -> login  within 1h }\n"


def warnings(text: str, streams: str = STREAMS) -> list[tuple[str, str]]:
    found = load_texts([("a", streams + text)])
    assert found.pack is not None, found.diagnostics
    assert all(d.level == "warning" for d in found.diagnostics)
    return [(d.code, d.span.text if d.span else "") for d in found.diagnostics]


def test_a_good_pack_has_none() -> None:
    assert warnings(USED) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rule r { match payment -> login  within 1h }", [("CEP0301", "r")]),
        ("rule r { on payment }", []),
        ("let top = 5", [("CEP0303", "top")]),
        ("let top = 5\nlet more = top\nrule r { on payment[n > more] }", []),
        ("stream s { t: timestamp  time t }", [("CEP0303", "s")]),
        ("stream s { t: timestamp  time t }\nrule r { on s }", [("CEP0302", "s")]),
        ("rule r { by n  match a: payment -> b: login gap 2h  within 1h }", [("CEP0304", "b: login gap 2h")]),
        ("rule r { by n  match a: payment -> b: login gap 2m  within 1h }", []),
        ("rule r { by n  match a: payment[1 > 2] -> b: login  within 1h }", [("CEP0305", "1 > 2")]),
        ("rule r { by n  match a: payment -> b: login  within 1h having true }", [("CEP0305", "true")]),
    ],
)
def test_what_looks_wrong_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert warnings(USED + text) == expected


def test_a_comment_with_a_reason_silences_the_next_line() -> None:
    rule = "rule r { match payment -> login  within 1h }"
    assert warnings(f"{USED}# allow CEP0301: few events\n{rule}") == []
    assert warnings(f"{USED}# allow CEP0303: later\n# allow CEP0301: few\n{rule}\n") == [
        ("CEP0306", "# allow CEP0303: later")
    ]
    assert warnings(f"{USED}# allow CEP0301\n{rule}") == [("CEP0306", "# allow CEP0301"), ("CEP0301", "r")]
    assert warnings(f"{USED}# allow CEP0301: far\n\n{rule}") == [
        ("CEP0306", "# allow CEP0301: far"),
        ("CEP0301", "r"),
    ]


def test_no_comment_silences_an_error() -> None:
    found = load_texts([("a", STREAMS + "# allow CEP0202: so what\nrule r { on payment[nope > 1] }")])
    assert found.pack is None
    assert [d.code for d in found.diagnostics] == ["CEP0202"]
