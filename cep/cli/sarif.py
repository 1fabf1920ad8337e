"""Findings as SARIF 2.1.0 (OASIS), with the page of every code that occurs.

Columns count code points, which the run says by its `columnKind`. What a comment silences is a result with
a suppression, so that a reviewer sees the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from cep.cli.markdown import text_of
from cep.explanation.pages import address, page, titles
from rules.diagnostics import Diagnostic, in_order
from rules.source import Span

if TYPE_CHECKING:
    from cep.cli.found import Findings

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_WIDTH = 100
_LEVELS = {"error": "error", "warning": "warning", "hint": "note"}

Json = dict[str, object]


def sarif(found: Findings) -> str:
    """The log file, with one run, its line ended. Relative names of files stay relative."""
    reasons = {id(one.diagnostic): one.reason for one in found.allowed}
    findings = in_order([*found.diagnostics, *(one.diagnostic for one in found.allowed)])
    codes = sorted({d.code for d in findings})
    names = list(dict.fromkeys([*found.files, *_named(findings)]))
    seen: Counter[str] = Counter()
    results: list[Json] = []
    for finding in findings:
        result = _result(finding, codes, names, seen)
        if id(finding) in reasons:
            result["suppressions"] = [{"kind": "inSource", "justification": reasons[id(finding)]}]
        results.append(result)
    levels = {d.code: d.level for d in findings}
    driver = {
        "name": "cep",
        "version": version("standing-rules"),
        "rules": [_rule(code, _LEVELS[levels[code]]) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "artifacts": [{"location": {"uri": _uri(name)}, "encoding": "UTF-8"} for name in names],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False) + "\n"


def _named(findings: Sequence[Diagnostic]) -> list[str]:
    spans = [s for d in findings if d.span for s in (d.span, *(label.span for label in d.labels))]
    return [span.file.name for span in spans]


def _rule(code: str, level: str) -> Json:
    rule: Json = {"id": code, "defaultConfiguration": {"level": level}}
    if code in titles():
        text = page(code)
        rule["shortDescription"] = {"text": titles()[code]}
        rule["help"] = {"text": text_of(text, lambda part, _: part, _WIDTH), "markdown": text}
        rule["helpUri"] = address(code)
    return rule


def _result(finding: Diagnostic, codes: Sequence[str], names: Sequence[str], seen: Counter[str]) -> Json:
    text = f"{finding.message}; {finding.note}" if finding.note else finding.message
    result: Json = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.level],
        "message": {"text": f"{text}\nhelp: {finding.help}" if finding.help else text},
    }
    if finding.span is None:
        return result
    result["locations"] = [{"physicalLocation": _place(finding.span, names)}]
    result["partialFingerprints"] = {"codeAndLine/v1": _fingerprint(finding, finding.span, seen)}
    if finding.labels:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _place(label.span, names),
                "message": {"text": label.text},
            }
            for number, label in enumerate(finding.labels)
        ]
    return result


def _place(span: Span, names: Sequence[str]) -> Json:
    line, column = span.file.position(span.start)
    end_line, end_column = span.file.position(span.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    if span.file.first_line == 1:  # else the text is an excerpt, and nobody knows the place in the file
        region |= {"charOffset": span.start, "charLength": span.end - span.start}
    return {
        "artifactLocation": {"uri": _uri(span.file.name), "index": names.index(span.file.name)},
        "region": region,
    }


def _fingerprint(finding: Diagnostic, span: Span, seen: Counter[str]) -> str:
    """The same for a finding that only moved up or down; a number tells equal ones apart."""
    parts = (finding.code, span.file.name, span.file.line(span.line).strip())
    digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"


def _uri(name: str) -> str:
    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
