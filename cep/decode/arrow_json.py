"""Objects of JSON, one after another, by Arrow's reader."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.json as pj

from cep.decode.malformed import Malformed

_READ_SIZE = 4 << 20  # what Arrow parses at a time: fastest measured


def read_objects(text: pa.Buffer, schema: pa.Schema, longest: int) -> pa.Table:
    """The fields of a schema of all objects of a text, whose longest line has so many bytes.

    Others are ignored, whatever they hold. Raises Malformed.
    """
    try:
        return pj.read_json(
            pa.BufferReader(text),
            read_options=pj.ReadOptions(
                use_threads=False, block_size=max(min(_READ_SIZE, text.size), longest) + 1
            ),
            parse_options=pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid as error:
        raise Malformed(_reason(str(error))) from None


def _reason(message: str) -> str:
    """Arrow's message without its own row number."""
    return re.sub(r" in row \d+$", "", message.removeprefix("JSON parse error: ")).rstrip(".")
