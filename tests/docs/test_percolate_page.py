"""The examples of docs/percolate.md run as they stand there."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from percolator.library.collection import Collection
from percolator.library.cost import Limits
from percolator.library.reader import Reader

PAGE = (Path(__file__).parents[2] / "docs" / "percolate.md").read_text("utf-8")


def test_the_code_of_the_page_runs(tmp_path: Path) -> None:
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", PAGE, re.MULTILINE)
    assert len(blocks) == 2
    names: dict[str, Any] = {
        "folder": tmp_path / "library",
        "lines": ['{"id": "q3", "query": "tyres"}'],
        "now": 0,
        "document": {"body": "oil has a price"},
    }
    for number, block in enumerate(blocks):
        exec(textwrap.dedent(block), names)
        if number == 0:
            assert isinstance(names["queries"], Collection)
            (hit,) = names["answer"].hits
            assert (hit.query.id, hit.highlights) == ("q1", {"body": [(0, 5), (11, 19)]})
            names["schema"] = names["queries"].schema
    assert isinstance(names["reader"], Reader)
    assert [hit.query.id for hit in names["reader"].queries.match(names["document"]).hits] == ["q2"]
    assert Limits() == Limits(warn=100, refuse=1_000)
