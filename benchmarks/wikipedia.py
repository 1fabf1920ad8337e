"""Luwak's benchmark, as examples/media ships it: 999 articles, 2,000 queries of two or three terms."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

_MEDIA = Path(__file__).parents[1] / "examples" / "media"


def articles() -> list[str]:
    """The texts of the articles, 668 words on average."""
    with gzip.open(_MEDIA / "wikipedia.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def queries() -> list[str]:
    """The queries: all words, or all prefixes, are required."""
    lines = (_MEDIA / "packs" / "watchlist.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    return [one["query"] for one in found if one["id"].startswith("benchmark-")]
