"""Makes `local-files.jar` of its source, with the compiler that Spark has among its jars: `make jar`.

python tests/job/local_files_jar.py
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from cep.job.spark import session
from cep.job.spark.gateway import LOCAL_FILES
from cep.job.state_folder.folder import StateFolder

SOURCE = LOCAL_FILES.with_name("LocalFiles.java")
_RELEASE = 11
_MOMENT = (2026, 1, 1, 0, 0, 0)


def compiled(jvm: Any) -> dict[str, bytes]:
    """The classes of the source by their names in a jar."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setSourceVersion(_RELEASE)
    compiler.setTargetVersion(_RELEASE)
    compiler.cook(SOURCE.read_text("utf-8"))
    codes = compiler.getBytecodes()
    return {f"{name.replace('.', '/')}.class": bytes(codes[name]) for name in sorted(codes)}


def contained() -> dict[str, bytes]:
    """The classes of the jar."""
    with zipfile.ZipFile(LOCAL_FILES) as jar:
        return {name: jar.read(name) for name in jar.namelist()}


def main() -> None:
    """Writes the jar."""
    with tempfile.TemporaryDirectory() as name:
        folder = StateFolder(Path(name))
        folder.make()
        with (
            (folder.logs / "spark.log").open("ab") as log,
            session.running(folder, 1, 1, log.fileno(), os.environ) as spark,
        ):
            classes = compiled(spark.sparkContext._jvm)
    with zipfile.ZipFile(LOCAL_FILES, "w") as jar:
        for inner, code in classes.items():
            jar.writestr(zipfile.ZipInfo(inner, _MOMENT), code)


if __name__ == "__main__":
    main()
