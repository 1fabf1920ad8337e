"""Coverage-guided fuzzing of everything that reads what people write: rule files and text queries.

    pip install '.[fuzz]'
    python tests/fuzz/fuzz_texts.py --seconds 3600 --corpus work/corpus

Any text must come to a value or to diagnostics with places inside it, within seconds; what is accepted must
survive being printed and read again. libFuzzer keeps inputs that reach new code in the corpus, and writes
one that breaks a promise to `crash-*`, one that takes too long to `timeout-*`. The corpus is begun with every
rule text of examples/ and docs/.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["rules", "percolator"]):
    import rules.checks
    import rules.resolve  # noqa: F401
    from percolator.query.errors import QueryError
    from percolator.query.parse import parse as parse_query
    from percolator.query.print import to_text
    from rules.codes import TITLES
    from rules.format import formatted
    from rules.packs import load_texts
    from rules.render import render
    from rules.source import SourceFile

ROOT = Path(__file__).parents[2]
QUERY = b"?"
"""Inputs that begin so are text queries, all others rule files."""


def one_input(data: bytes) -> None:
    """Reads one text; raises where a promise is broken."""
    text = data.decode("utf-8", "surrogateescape" if data[:1] == b"\xff" else "replace")
    if data[:1] == QUERY:
        _query(text[1:])
    else:
        _rules(text)


def _rules(text: str) -> None:
    loaded = load_texts([("fuzzed.rules", text)])
    for found in loaded.diagnostics:
        assert found.code in TITLES, found.code
        assert found.message, found.code
        for span in [found.span, *(label.span for label in found.labels)]:
            assert span is None or 0 <= span.start <= span.end <= len(text), (found.code, span)
        render(found)
        found.as_dict()
    if loaded.pack is None:
        assert loaded.diagnostics, "refused without a reason"
        return
    canonical = _formatted(text)
    assert _formatted(canonical) == canonical, "formatting twice changes the text"
    again = load_texts([("fuzzed.rules", canonical)])
    assert again.pack is not None, "what is formatted is no pack any more"
    assert [r.structure for r in again.pack.rules] == [r.structure for r in loaded.pack.rules]


def _formatted(text: str) -> str:
    found, _ = formatted(SourceFile("fuzzed.rules", text))
    assert found is not None, "a text that loads is not formatted"
    return found


def _query(text: str) -> None:
    try:
        tree = parse_query(text)
    except QueryError as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        assert refusal.message
        assert refusal.position is None or 0 <= refusal.position <= len(text), refusal.position
        return
    printed = to_text(tree)
    assert parse_query(printed) == tree, f"printed as {printed!r}, which is another query"


def begin(corpus: Path) -> None:
    """Fills an empty corpus with the texts of this repository."""
    corpus.mkdir(parents=True, exist_ok=True)
    texts = [path.read_bytes() for path in ROOT.glob("examples/**/*.rules")]
    pages = [path.read_text("utf-8") for path in ROOT.glob("docs/**/*.md")]
    texts += [
        block.encode() for page in pages for block in re.findall(r"```rules[^\n]*\n(.*?)```", page, re.DOTALL)
    ]
    quoted = [query for text in texts for query in re.findall(rb'matches\s+"((?:[^"\\]|\\.)*)"', text)]
    texts += [QUERY + query for query in quoted]
    for number, text in enumerate(dict.fromkeys(texts)):
        (corpus / f"seed-{number:04d}").write_bytes(text)


def main() -> None:
    """Runs libFuzzer for some time; it ends the process itself."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--corpus", type=Path, default=ROOT / "work" / "corpus")
    arguments = parser.parse_args()
    if not any(arguments.corpus.glob("seed-*")):
        begin(arguments.corpus)
    words = Path(__file__).with_name("words.dict")
    atheris.Setup(
        [
            sys.argv[0],
            str(arguments.corpus),
            f"-max_total_time={arguments.seconds}",
            f"-dict={words}",
            f"-artifact_prefix={arguments.corpus.parent}/",
            "-max_len=6000",
            "-timeout=20",
            "-rss_limit_mb=3000",
            "-print_final_stats=1",
        ],
        one_input,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
