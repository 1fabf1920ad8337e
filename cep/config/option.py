"""`--feed STREAM='format="csv", ...'`: a feed in one line, checked as [feeds.STREAM] of a job file is."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path

from cep.config.job import FeedOption
from cep.config.places import places_in_table
from cep.config.syntax import no_table
from cep.sources.source import Options
from rules.diagnostics import Diagnostic, in_order
from rules.source import SourceFile, Span

_OPENED = "feed = {"
"""Prefix that makes the option's text an inline table of TOML."""


def feed_option(text: str, folder: Path) -> FeedOption | list[Diagnostic]:
    """The feed of an option's text, `STREAM=KEY=VALUE, ...`, or what is wrong with it, all at once.

    Keys and values are those of [feeds.STREAM] in a job file, written as in an inline table; `source` and
    `path` may be left out, and braces stand around them. A relative path begins at the folder. Places are
    those in the text.
    """
    from pydantic import ValidationError

    from cep.config.mistakes import diagnose
    from cep.config.shape import GivenFeeds
    from cep.sources.kinds import SECTIONS

    file = SourceFile("--feed", text)
    name, equals, keys = text.partition("=")
    if not equals or not name.strip() or not name.strip().replace("_", "").isalnum():
        return [Diagnostic("CEP0730", "error", _NO_STREAM, Span(file, 0, len(text)), help=_WRITTEN)]
    name, start = name.strip(), len(name) + 1
    if (inner := keys.strip()).startswith("{") and inner.endswith("}"):
        start, keys = text.index("{") + 1, inner[1:-1]
    places = places_in_table(file, start, ("feeds", name), start + len(keys))
    places.keys["feeds", name] = Span(file, text.index(name), text.index(name) + len(name))
    try:
        # Line ends between keys are none of TOML 1.0, and meet whoever writes the option over several lines.
        table = tomllib.loads(f"{_OPENED}{keys.replace(chr(10), ' ')}}}")["feed"]
    except RecursionError:
        said = "--feed is nested too deeply"
        return [Diagnostic("CEP0730", "error", said, places.keys["feeds", name], help=_WRITTEN)]
    except tomllib.TOMLDecodeError as error:
        if any(name in one.model_fields for one in SECTIONS):
            return [Diagnostic("CEP0730", "error", _NO_STREAM, places.keys["feeds", name], help=_WRITTEN)]
        return [no_table(str(error), file, len(_OPENED) - start, places)]
    try:
        section = GivenFeeds.model_validate({"feeds": {name: table}}).feeds[name]
    except ValidationError as error:
        return in_order(diagnose(error, places))
    if found := list(section.mistakes(Options(folder, partial(places.option, name)))):
        return in_order(found)
    return FeedOption(name, section.made(folder), section.written(folder), places)


_NO_STREAM = "--feed begins with the name of a stream"
_WRITTEN = """write --feed payment='timestamps="epoch_ms", delimiter=";"'"""
