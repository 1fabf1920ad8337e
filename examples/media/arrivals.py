"""999 Wikipedia articles as if five sources had published them over a day.

Every article gets a source, a section and a time of the day; what mentions a strike comes within one hour of
the morning, and one source falls silent for three hours in the afternoon. Some articles are taken back an
hour later by a correction. Events are written in order of arrival, up to `LATENESS` seconds out of order,
with some redelivered and some lines malformed.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from urllib.parse import unquote

ARTICLES = Path(__file__).parent / "wikipedia.jsonl.gz"
SOURCES = ("harbour", "meridian", "northern wire", "observer", "southern post")
SECTIONS = ("business", "culture", "home", "science", "world")
START = datetime(2026, 3, 2, tzinfo=UTC)
DAY = 86_400
LATENESS = 400
BURST = ("strike", 9 * 3_600, 10 * 3_600)
"""A word, and from when to when all articles with it come."""
SILENT = ("southern post", 14 * 3_600, 17 * 3_600)
CORRECTED, REDELIVERED, MALFORMED = 60, 20, 5


@dataclass(frozen=True, slots=True)
class Arrived:
    """The files written: those in order, and how many lines of each sort."""

    files: list[Path]
    articles: int
    corrections: int
    redelivered: int
    malformed: int

    @property
    def lines(self) -> int:
        """All lines of all files."""
        return self.articles + self.corrections + self.redelivered + self.malformed


def arrive(folder: Path, files: int, seed: int) -> Arrived:
    """Write the day into `folder/article`, in so many files."""
    random = Random(seed)
    events = _published(random)
    articles = len(events)
    events += [_correction(event) for event in random.sample(events, CORRECTED)]
    arrivals = [(second + random.uniform(0, LATENESS), _line(second, event)) for second, event in events]
    arrivals += [(at + random.uniform(1, 60), line) for at, line in random.sample(arrivals, REDELIVERED)]
    arrivals += [(random.uniform(0, DAY), '{"article_id": "cut off in tra') for _ in range(MALFORMED)]
    arrivals.sort()
    target = folder / "article"
    target.mkdir(parents=True)
    paths = []
    for number in range(files):
        low, high = len(arrivals) * number // files, len(arrivals) * (number + 1) // files
        paths.append(target / f"article-{number:03}.jsonl")
        paths[-1].write_text("".join(f"{line}\n" for _, line in arrivals[low:high]), "utf-8")
    return Arrived(paths, articles, CORRECTED, REDELIVERED, MALFORMED)


def _published(random: Random) -> list[tuple[float, dict[str, str]]]:
    """Second of the day and fields of every article."""
    found = []
    with gzip.open(ARTICLES, "rt", encoding="utf-8") as lines:
        for line in lines:
            article = json.loads(line)
            second, source = random.uniform(0, DAY - 1), random.choice(SOURCES)
            word, first, last = BURST
            if word in article["text"].lower().split():
                second = first + second / DAY * (last - first)
            silent, begin, end = SILENT
            if source == silent and begin <= second < end:
                source = random.choice([other for other in SOURCES if other != silent])
            fields = {
                "article_id": article["id"],
                "source": source,
                "section": random.choice(SECTIONS),
                "title": unquote(article["id"]).replace("_", " "),
                "body": article["text"],
            }
            found.append((second, fields))
    return found


def _correction(event: tuple[float, dict[str, str]]) -> tuple[float, dict[str, str]]:
    second, article = event
    fields = {
        **article,
        "article_id": f"{article['article_id']}/correction",
        "title": f"Correction: {article['title']}",
        "body": "We apologise: this report was wrong.",
        "corrects": article["article_id"],
    }
    return min(second + 3_600, DAY - 1), fields


def _line(second: float, fields: dict[str, str]) -> str:
    moment = (START + timedelta(seconds=round(second, 3))).isoformat(timespec="milliseconds")
    return json.dumps({**fields, "published_at": moment.replace("+00:00", "Z")}, ensure_ascii=False)
