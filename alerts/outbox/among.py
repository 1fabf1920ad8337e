"""Rows whose number is one of many, asked for with one parameter."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import BigInteger, ColumnElement, Connection, any_, column, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY


def among(connection: Connection, of: ColumnElement[int], numbers: Collection[int]) -> ColumnElement[bool]:
    """The condition that a column of whole numbers has one of these.

    `in_` writes a parameter for each number, of which databases take only so many.
    """
    text = ",".join(map(str, numbers))
    if connection.dialect.name == "postgresql":
        # a text: the driver would write it number by number
        return of == any_(literal(f"{{{text}}}").cast(ARRAY(BigInteger)))
    return of.in_(select(column("value")).select_from(func.json_each(f"[{text}]")))
