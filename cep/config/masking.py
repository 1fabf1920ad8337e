"""[job] mask_key of a job file: it stands elsewhere, and is there where a pack has secret fields."""

from __future__ import annotations

from collections.abc import Sequence

from cep.config.job import Job
from rules.diagnostics import Diagnostic, Label
from rules.typed import Pack

HOW = 'write [job] mask_key = "${MASK_KEY}", a variable with 20 signs or more, or "file:PATH"'


def check_mask_key(job: Job) -> list[Diagnostic]:
    """A key that stands in the job file itself."""
    if job.mask_key is None or job.mask_key.refers:
        return []
    said = "the key that hides secret fields stands in the job file"
    return [Diagnostic("CEP0735", "error", said, job.places.value(("job", "mask_key")), help=HOW)]


def check_secret_fields(job: Job, packs: Sequence[Pack]) -> list[Diagnostic]:
    """Packs with secret fields that no key hides: one finding for each pack."""
    if job.mask_key is not None:
        return []
    found = []
    for pack in packs:
        secret = [(stream, field) for stream in pack.fed for field in stream.fields if field.secret]
        if secret:
            stream, field = secret[0]
            said = f"`{field.name}` of stream `{stream.name}` is secret, and the job has no key to hide it"
            labels = (Label(job.places.key(("job", "name")), "`mask_key` is missing here"),)
            found.append(Diagnostic("CEP0728", "error", said, field.span, labels=labels, help=HOW))
    return found
