"""[feeds.STREAM] with source = "files"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from cep.decode.formats import UnknownFormatError, format_of
from cep.sources import values
from cep.sources.files.files import Files
from cep.sources.files.globs import GlobError, parse
from cep.sources.files.path_as_regex import from_regular_expression
from cep.sources.section import FeedSection
from cep.sources.values import UnfitError


def _fit(text: str, named: bool = True) -> str:
    """A path whose last part may have wildcards, and whose ending says what the files hold (`named`)."""
    values.path(text)
    if "://" in text:
        raise UnfitError("it is an address", "write a path on this machine: `inbox/*.jsonl`")
    if "**" in text:
        raise UnfitError(
            "`**` does not go into folders of folders", "write one `*` for each: `inbox/*/*.jsonl`"
        )
    try:
        parse(text)
    except GlobError as error:
        raise UnfitError(str(error), error.help) from None
    name = text.rpartition("/")[2]
    if named and name and not re.search(r"[*?\]}]$", name):
        try:
            format_of(name)
        except UnknownFormatError as error:
            if glob := from_regular_expression(text):
                help_ = f"wildcards are no regular expression: write `{glob}`"
            elif "." not in name:
                help_ = f"write `{text}/*.jsonl` if it is a folder"
            else:
                help_ = 'say it, `format = "csv"`, or rename the files'
            raise UnfitError(str(error), help_) from None
    return text


def _path(text: str, info: ValidationInfo) -> str:
    return _fit(text, named=info.data.get("format") is None)


class FilesSection(FeedSection):
    """The options of files."""

    source: Annotated[Literal["files"], Field(examples=["files"])]
    path: Annotated[str, AfterValidator(_path), Field(examples=["inbox/*.jsonl"])]

    def made(self, folder: Path) -> Files:
        """The source; a relative path begins at the folder."""
        return Files(below(folder, self.path))

    @classmethod
    def as_option(cls) -> type[FeedSection]:
        """The section of a command line, which may name the files elsewhere."""
        return GivenFiles


class GivenFiles(FeedSection):
    """The options of files as a command line gives them: the files may be named elsewhere."""

    source: Literal["files"] = "files"
    path: Annotated[str, AfterValidator(_path)] | None = None

    def made(self, folder: Path) -> Files | None:
        """The source, if a path is given."""
        return None if self.path is None else Files(below(folder, self.path))


def below(folder: Path, path: str) -> str:
    """The path of a feed's files, which may be relative to a folder."""
    return str(folder / path) + ("/" if path.endswith("/") else "")
