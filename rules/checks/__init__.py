"""Lints: what is right by the language and still looks wrong. One file each, registered here.

A comment `# allow CEP0301: reason` on the line above a finding silences it there.
"""

from __future__ import annotations

from collections.abc import Sequence

from rules.diagnostics import Diagnostic
from rules.resolve.declared import Declared
from rules.syntax import File
from rules.typed import Pack


def check(pack: Pack, files: Sequence[File], declared: Declared) -> list[Diagnostic]:
    """What the lints find in a pack without errors."""
    del pack, files, declared
    return []
