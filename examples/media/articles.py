"""The articles of the example as events of a day: an edition and a time for each, the same at every run."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote
from zlib import crc32

HERE = Path(__file__).parent
SOURCE = HERE / "wikipedia.jsonl.gz"
DAY = datetime(2026, 1, 5, tzinfo=UTC)
EDITIONS = ("north", "south", "east")


def articles() -> Iterator[dict[str, str]]:
    """The events, in order of time."""
    with gzip.open(SOURCE, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    # The file is sorted by name; a day is not.
    read.sort(key=lambda article: crc32(article["id"].encode()))
    step = timedelta(days=1) / len(read)
    for number, article in enumerate(read):
        yield {
            "url": f"https://en.wikipedia.org/wiki/{article['id']}",
            "title": unquote(article["id"]).replace("_", " "),
            "body": article["text"],
            "edition": EDITIONS[crc32(article["id"].encode()) % len(EDITIONS)],
            "seen_at": (DAY + number * step).isoformat().replace("+00:00", "Z"),
        }


def write(folder: Path, files: int) -> list[Path]:
    """The day in so many files of JSON lines, in order of time."""
    day = list(articles())
    size = -(-len(day) // files)
    found = []
    for number in range(0, len(day), size):
        path = folder / f"articles-{number:04d}.jsonl"
        lines = (json.dumps(article, ensure_ascii=False) for article in day[number : number + size])
        path.write_text("\n".join(lines) + "\n", "utf-8")
        found.append(path)
    return found
