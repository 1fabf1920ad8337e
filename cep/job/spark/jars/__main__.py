"""Fetches jars: `python -m cep.job.spark.jars [FOLDER ...]`."""

from __future__ import annotations

import sys
from pathlib import Path

from cep.errors import OutsideError
from cep.job.spark.jars.fetched import KAFKA, S3, fetch


def main(folders: list[str]) -> int:
    """0, or 3 after the first folder whose jars cannot be had, which is said."""
    for folder in (KAFKA, S3, *map(Path, folders)):
        try:
            if fetch(folder):
                print(f"fetched the jars of {folder / 'pom.xml'}")
        except OutsideError as error:
            print(f"{error.message}; {error.help}", file=sys.stderr)
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
