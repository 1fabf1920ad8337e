"""`cep alerts`: the alerts of a job's outbox."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from cep.cli.arguments import add_format, add_job
from cep.cli.failure import OK

if TYPE_CHECKING:
    from cep.cli.arguments import Subparsers


def register(subparsers: Subparsers) -> None:
    """Add the verb's parser."""
    parser = subparsers.add_parser(
        "alerts",
        help="the alerts of a job's outbox",
        description="The alerts of a job's outbox; the job may run or not.",
    )
    parser.set_defaults(usual="cep alerts export --labels FILE.csv --job job.toml")
    verbs = parser.add_subparsers(metavar="VERB", dest="action", required=True)
    export = verbs.add_parser(
        "export",
        help="verdicts as labels of alerts",
        description="Write the alerts of closed episodes, each with the verdict on its episode.",
    )
    export.add_argument(
        "--labels", type=Path, required=True, metavar="FILE", help="the file, .csv or .parquet, made anew"
    )
    add_job(export)
    add_format(export)


def run(arguments: argparse.Namespace) -> int:
    """Do what the verb's own verb says; returns the exit code."""
    return _export(arguments)


def _export(arguments: argparse.Namespace) -> int:
    from alerts.episodes.labels import labels
    from cep.cli import label_files
    from cep.cli.job_outbox import job_of, outbox_of
    from rules.nouns import counted

    label_files.check(arguments.labels)
    with outbox_of(job_of(arguments.job)) as outbox, outbox.reading() as connection:
        count = label_files.write(arguments.labels, labels(connection))
    if arguments.format == "json":
        print(json.dumps({"file": str(arguments.labels), "labels": count}))
    else:
        print(f"{counted(count, 'label')} in {arguments.labels}")
    return OK
