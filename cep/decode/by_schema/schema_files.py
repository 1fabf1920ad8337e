"""Schemas from files: what a feed's records are read by, looked at once and sent to workers as text.

.avsc .json             an Avro schema
.proto                  Protobuf, compiled by protoc; what it imports is found from its folder
any other               a FileDescriptorSet that protoc wrote, with all imports
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from cep.decode.by_schema.avro_schema import SchemaError, parsed
from cep.decode.formats import Kind, Schemas

_PATIENCE = 60.0
"""Seconds for protoc."""
_LARGEST = 1 << 19
"""Bytes of a schema: it travels with the query."""


def schemas_of_file(path: Path, kind: Kind, message: str) -> Schemas:
    """The schema of a file, one that records can be read by. Raises SchemaError."""
    try:
        found = _text(path)
    except FileNotFoundError:
        raise SchemaError("is not there") from None
    except IsADirectoryError:
        raise SchemaError("is a folder") from None
    except OSError as error:
        raise SchemaError(f"cannot be read: {error.strerror}") from None
    if kind == "avro":
        parsed(found)
        return Schemas(found)
    if path.suffix == ".proto":
        found = _compiled(path.parent, path.name, found)
    from cep.decode.by_schema.protobuf_schema import described, message_of

    return Schemas(found, message_of(described(found), message).full_name)


def compiled(texts: dict[str, str], name: str) -> bytes:
    """The FileDescriptorSet of one of some files, which import one another. Raises SchemaError."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            file = (Path(folder) / path).resolve()
            if not file.is_relative_to(Path(folder).resolve()):
                raise SchemaError(f"imports {path}, which is no name of a file")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        return _run(Path(folder), name)


def _text(path: Path) -> bytes:
    with path.open("rb") as file:
        found = file.read(_LARGEST + 1)
    if len(found) > _LARGEST:
        raise SchemaError(f"has more than {_LARGEST:,} bytes")
    return found


@lru_cache(maxsize=64)
def _compiled(folder: Path, name: str, _: bytes) -> bytes:
    return _run(folder, name)


def _run(folder: Path, name: str) -> bytes:
    """Protoc's output for a file in a folder. Raises SchemaError with its first message."""
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "out.desc"
        told = ["--proto_path=.", "--include_imports", f"--descriptor_set_out={out}", name]
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "grpc_tools.protoc", *told],
                capture_output=True, check=False, text=True, timeout=_PATIENCE, cwd=folder,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise SchemaError(f"was not compiled by protoc in {_PATIENCE:.0f} seconds") from None
        if ended.returncode or not out.exists():
            said = next((one for one in ended.stderr.splitlines() if one.strip()), "it gave no reason")
            raise SchemaError(f"cannot be compiled by protoc: {said}")
        return out.read_bytes()
