"""`cep percolate --cases`: many small independent cases, a line each in, a line each out.

The contract is docs/cli.md's ("Cases"): steps add, remove and match over a schema of the case's own. What
is wrong with a step is its `error`, words that look like operators are its `warnings`; a line that is no
case, or a schema that is none, gives `diagnostics`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cep.cli.documents import BadDocumentError, check_metadata
from percolator.library.answer import Answer
from percolator.library.collection import Collection
from percolator.library.refusal import RefusedError
from percolator.library.standing import StandingQuery, moment
from percolator.query.lookalikes import lookalikes
from percolator.schema import Schema, SchemaError
from percolator.values import DocumentError


class BadCaseError(ValueError):
    """A line that is no case; `id` is the case's own, where one could be read."""

    def __init__(self, reason: str, id: object = None) -> None:  # noqa: A002  the name in the file
        super().__init__(reason)
        self.id = id


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the input; `dialect` is that of queries which name none."""

    id: object
    schema: Schema
    steps: tuple[Mapping[str, Any], ...]
    highlight: bool
    dialect: str


def run_cases(
    lines: Iterable[bytes], dialect: str, unforeseen: Callable[[Exception], str]
) -> Iterator[dict[str, Any]]:
    """One result per line, in order; lines of white space alone have none.

    An exception that nobody foresaw ends its case only: `unforeseen` keeps it, and says what is told of it.
    """
    for line in lines:
        if not line.strip():
            continue
        try:
            case = read_case(line, dialect)
        except BadCaseError as error:
            yield _refused(error.id, "CEP0854", str(error))
            continue
        try:
            yield {"id": case.id, "results": list(_results(case))}
        except Exception as error:
            yield _refused(case.id, "CEP0999", unforeseen(error))


def read_case(line: bytes, dialect: str) -> Case:
    """The case of a line. Raises BadCaseError."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadCaseError(f"the line is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadCaseError("the line is not a JSON object")
    id_ = value.get("id")
    declared, default = value.get("schema"), value.get("default")
    if not isinstance(declared, dict) or not all(isinstance(type_, str) for type_ in declared.values()):
        raise BadCaseError("`schema` must be an object of fields and their types", id_)
    if not isinstance(default, list | None) or not all(isinstance(name, str) for name in default or ()):
        raise BadCaseError("`default` must be a list of fields", id_)
    try:
        schema = Schema.of(declared, default)
    except SchemaError as problem:
        raise BadCaseError(str(problem), id_) from None
    steps = value.get("steps")
    if not isinstance(steps, list) or not all(_is_step(step) for step in steps):
        raise BadCaseError("`steps` must be a list of objects with one of add, remove, match", id_)
    highlight = value.get("highlight", False)
    if not isinstance(highlight, bool):
        raise BadCaseError("`highlight` must be true or false", id_)
    return Case(id_, schema, tuple(steps), highlight, dialect)


def _is_step(step: object) -> bool:
    return isinstance(step, dict) and len(step) == 1 and step.keys() <= {"add", "remove", "match"}


def _results(case: Case) -> Iterator[dict[str, Any]]:
    queries = Collection(case.schema)
    for step in case.steps:
        match step:
            case {"add": data}:
                yield {"add": _id(data), **_add(queries, data, case)}
            case {"remove": id_}:
                if isinstance(id_, str):
                    queries.remove(id_)
                yield {"remove": id_, "ok": True}
            case {"match": data}:
                yield {"match": _id(data), **_match(queries, data, case)}


def _id(data: object) -> object:
    return data.get("id") if isinstance(data, dict) else None


def _add(queries: Collection, data: object, case: Case) -> dict[str, Any]:
    try:
        change = queries.add(StandingQuery.read(data, case.dialect))
    except RefusedError as error:
        return {"error": error.refusal.as_json()}
    alike = lookalikes(change.query.query, change.node, change.query.dialect)
    return {"ok": True, "warnings": [one.as_json() for one in alike]} if alike else {"ok": True}


def _match(queries: Collection, data: object, case: Case) -> dict[str, Any]:
    try:
        if not isinstance(data, dict) or not isinstance(data.get("fields", {}), dict):
            raise BadDocumentError("a document has an object `fields`")
        metadata = data.get("metadata") or {}
        check_metadata(metadata)
        time = None if data.get("time") is None else moment(data["time"])
        answer = queries.match(data.get("fields", {}), metadata, time, highlight=case.highlight)
    except (BadDocumentError, DocumentError) as problem:
        return {"error": {"code": "CEP0855", "message": str(problem), "position": None}}
    return _shown(answer)


def _shown(answer: Answer) -> dict[str, Any]:
    hits = []
    for found in answer.hits:
        hit: dict[str, Any] = {"query": found.query.id, "names": list(found.names)}
        if found.highlights is not None:
            hit["highlights"] = found.highlights if found.complete else None
        hits.append(hit)
    result: dict[str, Any] = {"hits": hits}
    if answer.undecided:
        result["undecided"] = [query.id for query in answer.undecided]
    return result


def _refused(id_: object, code: str, message: str) -> dict[str, Any]:
    return {"id": id_, "diagnostics": [{"code": code, "level": "error", "message": message}]}
