"""`cep queries`: the standing queries of a job, and which of them a text hits."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from cep.cli.arguments import add_format
from cep.cli.failure import OK, UsageError
from cep.cli.job_api import add_target

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers
    from cep.cli.job_api import Api


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "queries",
        help="standing queries of a job: list, try",
        description="The standing queries that packs which run ask, as the job compiled them.",
    )
    parser.set_defaults(usual="cep queries list --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    said = "what each hits and costs"
    listed = verbs.add_parser("list", help=said, description=f"{said.capitalize()}.")
    listed.add_argument("--text", metavar="TEXT", help="those whose id, text, tags or filter hold this")
    listed.add_argument("--by", choices=("hits", "cost", "id"), help="which come first (default: hits)")
    listed.add_argument("--limit", type=int, default=50, metavar="N", help="so many at most (default: 50)")
    said = "the queries that a document hits"
    tried = verbs.add_parser("try", help=said, description=f"{said.capitalize()}.")
    tried.add_argument("document", metavar="DOCUMENT", help="a JSON object of its fields; - reads it")
    for one in verbs.choices.values():
        one.add_argument("--set", metavar="NAME", help="of this set (default: the first)")
        add_target(one)
        add_format(one)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    from cep.cli.job_api import api_of

    with api_of(arguments) as api:
        return _list(arguments, api) if arguments.action == "list" else _try(arguments, api)


def _list(arguments: argparse.Namespace, api: Api) -> int:
    from cep.cli.episode_text import aligned
    from cep.cli.job_api import pages

    wanted = {"set": arguments.set, "text": arguments.text, "by": arguments.by}
    some = list(pages(api, "queries", "queries", wanted, arguments.limit))
    if arguments.format == "json":
        print(json.dumps({"queries": some}))
        return OK
    rows = [("query", "hits", "not decided", "cost", "asks")] if some else []
    for one in some:
        counts = (f"{one[name]:,}" for name in ("hits", "undecided"))
        rows.append((one["id"], *counts, f"{one['cost']:,}", one["query"]))
    print(aligned(rows), end="")
    if not some:
        print("there are no such queries")
    return OK


def _try(arguments: argparse.Namespace, api: Api) -> int:
    from alerts.shown import shown

    found = api.ask("try_queries", body={"set": arguments.set, "document": _document(arguments.document)})
    if arguments.format == "json":
        print(json.dumps(found))
        return OK
    for one in found["hits"]:
        parts = ", ".join(_found(found["document"], field, some) for field, some in one["highlights"].items())
        print(shown(f"{one['id']}: {one['query']}{f' ({parts})' if parts else ''}"))
    if found["more"]:
        print(f"and {found['more']:,} more")
    if found["undecided"]:
        print(f"not decided, as they came to their limit: {len(found['undecided']):,}")
    if not found["hits"]:
        print("no query hits it")
    return OK


def _document(text: str) -> object:
    try:
        found = json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the document is no JSON: {error}", 'write {"title": "..."}') from error
    if not isinstance(found, dict):
        raise UsageError("the document is no JSON object", 'write {"title": "..."}')
    return found


def _found(document: dict[str, Any], field: str, ranges: list[list[int]]) -> str:
    text = document.get(field)
    if not isinstance(text, str):
        return field
    return f"{field}: {' … '.join(text[start:end] for start, end in ranges)}"
