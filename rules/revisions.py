"""The revision of a pack: a hash of all that it says."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence


def revision(files: Sequence[tuple[str, str]], contents: Mapping[str, str] | None = None) -> str:
    """The content hash of a pack: 16 hexadecimal digits of SHA-256 over the sorted names and texts.

    Names count from the folder that all files share, so that a pack has one revision, wherever it is
    loaded from. `contents` are the hashes of the files of standing queries, by the name of the queries.
    """
    digest = hashlib.sha256()
    texts = zip(_below_shared([name for name, _ in files]), (t for _, t in files), strict=True)
    for pair in (*sorted(texts), *sorted((contents or {}).items())):
        for part in pair:
            data = part.encode()
            digest.update(len(data).to_bytes(8, "big"))
            digest.update(data)
    return digest.hexdigest()[:16]


def _below_shared(names: Sequence[str]) -> list[str]:
    """The names without the folder that they share; as they are where they share none."""
    try:
        shared = os.path.commonpath([os.path.dirname(name) for name in names])  # noqa: PTH120
        return [os.path.relpath(name, shared or ".") for name in names]
    except ValueError:
        return list(names)  # some absolute, some relative, or without a name
