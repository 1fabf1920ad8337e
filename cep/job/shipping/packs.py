"""The packs of a state folder by revision, as texts; and the plan of a set of them, compiled once.

Driver and workers read the same texts, so that a batch runs with the packs that its manifest names,
whatever was deployed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cep.errors import ConfigurationError
from cep.files import DamagedFileError, read_json, write_json
from cep.job.shipping.declared import PACK

if TYPE_CHECKING:
    from cep.files import AnyPath
    from cep.plan.generations import Generations
    from cep.plan.plan import Plan
    from rules.typed import Pack

_KEPT = 4  # plans in memory: the one that runs, and those of a replay around deploys


def store(packs: AnyPath, pack: Pack) -> None:
    """Puts a pack's texts, and the hashes of its queries' files, into the folder, under its revision."""
    from rules.query_files import contents_of

    path = packs / f"{pack.revision}.json"
    if not path.exists():
        value: dict[str, object] = {
            "pack": pack.name,
            "revision": pack.revision,
            "files": [list(f) for f in pack.files],
        }
        if pack.queries:
            value["queries"] = contents_of(pack)
        write_json(path, value)


def load(packs: AnyPath, revision: str) -> Pack:
    """The pack of that revision. Raises ConfigurationError where its texts are missing or no longer good."""
    from rules.packs import load_texts
    from rules.query_files import with_contents

    path = packs / f"{revision}.json"
    try:
        value = read_json(path, earlier=lambda _: True)  # its revision tells what it is
        files = [(str(name), str(text)) for name, text in value["files"]]
        contents = {str(name): str(content) for name, content in value.get("queries", {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        match error:
            case DamagedFileError():
                why = str(error)
            case FileNotFoundError():
                why = "is missing"
            case _:
                why = "cannot be read"
        raise PACK.not_there(f"the pack {path} that the job runs {why}") from error
    loaded = load_texts(files)
    pack = loaded.pack and with_contents(loaded.pack, contents)
    if pack is None or pack.revision != revision:
        why = next((d.message for d in loaded.diagnostics if d.level == "error"), "its revision differs")
        raise ConfigurationError(
            f"this program does not accept the pack {path} that the job runs: {why}",
            "use the program version that the pack was deployed with, or name a new [job] state",
        )
    return pack


@dataclass(slots=True)
class Plans:
    """Compiled plans of sets of revisions, the last few kept. One per process."""

    packs: AnyPath
    _compiled: dict[tuple[object, ...], Plan] = field(default_factory=dict)

    def plan(self, revisions: Mapping[str, str], generations: Generations) -> Plan:
        """The plan of these packs, by name, and of the rules that are closing. Raises ConfigurationError."""
        from cep.packs.compile import compile_plan

        running = sorted(revisions.items())
        key = (*running, generations.key)
        found = self._compiled.pop(key, None)
        if found is None:
            packs = [load(self.packs, revision) for _, revision in running]
            replaced = [load(self.packs, revision) for revision in generations.revisions]
            found = compile_plan(packs, False, generations, replaced)
        self._compiled[key] = found
        while len(self._compiled) > _KEPT:
            self._compiled.pop(next(iter(self._compiled)))
        return found
