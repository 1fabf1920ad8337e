"""Every code of an outbox has a title and a page of its own, and no code is used that has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from alerts import codes
from alerts.codes import TITLES
from alerts.outbox import errors

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("code", "title"), TITLES.items())
def test_every_code_of_the_outbox_has_a_page(code: str, title: str) -> None:
    page = (ROOT / "docs/errors" / f"{code}.md").read_text(encoding="utf-8")
    heading, _, rest = page.partition("\n")
    assert heading == f"# {code}: {title}"
    assert "\n    " in rest, "a page shows an example"


def test_what_a_database_says_is_reported_under_a_known_code() -> None:
    named = {value for name, value in vars(codes).items() if name.isupper() and isinstance(value, str)}
    assert named == set(TITLES)
    reported = {*errors._SENTENCES, *errors._SQLITE.values(), *errors._POSTGRES.values()}
    assert reported <= named
