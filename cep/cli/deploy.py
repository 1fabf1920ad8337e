"""`cep deploy`: a pack to the running job, and what becomes of every rule's runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.failure import FINDINGS, OK, USAGE, OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cep.cli.arguments import Subparsers
    from cep.config import Job
    from cep.job.state_folder.deploy_requests import Answer
    from cep.standing.store import QueryStore
    from rules.diagnostics import Level
    from rules.typed import Pack


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "deploy",
        help="hand a pack to the running job",
        description="Validate a pack, hand it to the running job, and return when a batch has run with it. "
        "It takes the place of the pack of its name; one with errors is refused and the running one stays.",
    )
    parser.set_defaults(usual="cep deploy PACK --job job.toml")
    parser.add_argument("pack", type=Path, metavar="PACK", help="a rule file, or a folder that holds a pack")
    parser.add_argument("--job", type=Path, required=True, metavar="JOB", help="the running job's job.toml")
    parser.add_argument(
        "--timeout", type=float, default=120.0, metavar="SECONDS", help="how long to wait (default: 120)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Deploy; returns the exit code."""
    from cep.cli.packs import load_one
    from cep.cli.run import tell
    from cep.config import load_job
    from cep.errors import JobError
    from cep.job.state_folder.deploy_requests import WITHDRAWN, Request, hand_over, new_id
    from cep.job.state_folder.folder import StateFolder
    from cep.packs.read import runnable
    from rules.query_files import contents_of

    described = load_job(arguments.job, os.environ)
    if described.job is None:
        tell(described.diagnostics)
        return USAGE
    folder = StateFolder.of(described.job)
    store = folder.query_store
    checked = load_one(arguments.pack, store.earlier)
    tell(checked.diagnostics)
    pack = runnable(checked)
    if pack is None:
        return FINDINGS
    queries = tuple(sorted(contents_of(pack).items()))
    request = Request(new_id(), pack.name, pack.revision, pack.files, queries)
    try:
        answer = hand_over(
            folder,
            request,
            arguments.timeout,
            before=lambda: _store_queries(pack, store),
            runs=_runs(described.job),
        )
    except JobError as error:
        raise OutsideError(error.message, error.help) from error
    except KeyboardInterrupt:
        print(
            f"not waiting any longer for pack {pack.name}, revision {pack.revision}: {WITHDRAWN}",
            file=sys.stderr,
        )
        raise
    if arguments.format == "json":
        print(json.dumps(asdict(answer), ensure_ascii=False))
    elif answer.taken:
        print(_text(pack, answer))
        _findings(answer, "warning")
    else:
        _refusal(answer)
    return OK if answer.taken else FINDINGS


def _runs(job: Job) -> Callable[[], bool] | None:
    """Asks the lease whether a job runs whose state is in a bucket: it may do so on another machine."""
    if job.bucket is None:
        return None
    from alerts.outbox import Outbox, OutboxError

    def leased() -> bool:
        try:
            outbox = Outbox.open(job.outbox_url(os.environ), create=False)
            try:
                lease = outbox.job_lease()
            finally:
                outbox.close()
        except OutboxError as error:
            raise OutsideError(error.message, error.help) from error
        return lease is not None and lease.left > 0

    return leased


def _store_queries(pack: Pack, store: QueryStore) -> None:
    """Put the pack's standing queries, compiled, where the job finds them."""
    if not pack.queries:
        return
    from cep.plan.plan import hit_streams
    from cep.standing.compiled import UnreadableError

    try:
        for hits in hit_streams(pack):
            store.put(hits)
    except (UnreadableError, OSError) as problem:
        from cep.cli.report import remedy

        message = f"the standing queries cannot be handed over: {problem}"
        raise OutsideError(message, remedy(problem)) from problem


def _text(pack: Pack, answer: Answer) -> str:
    head = f"pack {answer.pack} {pack.version}, revision {answer.revision}, runs since batch {answer.batch}"
    if answer.previous == answer.revision:
        head += "; it is the revision that ran before"
    elif answer.previous:
        head += f"; before it ran revision {answer.previous}"
    from rules.nouns import counted

    lines = [head]
    width = max((len(rule.rule) for rule in answer.rules), default=0)
    for rule in answer.rules:
        runs = counted(rule.runs, rule.of.removesuffix("s"))
        runs = f"windows of {runs}" if rule.of == "keys" else runs
        until = f"until {rule.until}" if rule.until else "until they end"
        what = {
            "kept": f"kept ({runs})",
            "drained": f"drained: its structure changed ({runs} go on under the rule before, {until})",
            "started anew": f"started anew: its structure changed ({runs} dropped)",
            "new": "new",
            "removed": f"removed ({runs} dropped)",
        }[rule.fate]
        lines.append(f"  {rule.rule:<{width}}  {what}")
    if answer.note:
        lines.append(answer.note)
    return "\n".join(lines)


def _refusal(answer: Answer) -> None:
    from cep.cli.output import error_text

    _findings(answer, "error")
    if not answer.diagnostics:
        print(error_text(answer.refused, answer.help), file=sys.stderr)
    print(
        error_text("the job refused the pack; what ran before runs on", "mend it, then deploy again"),
        file=sys.stderr,
    )


def _findings(answer: Answer, level: Level) -> None:
    """Print the answer's diagnostics of one level, each with its place."""
    from cep.cli.output import finding_text

    for one in answer.diagnostics:
        if one.get("level") == level:
            where = f"{one['file']}:{one['line']}:{one['column']}: " if one.get("file") else ""
            text = f"{where}{one['code']}: {one['message']}"
            print(finding_text(level, text, str(one.get("help") or "")), file=sys.stderr)
