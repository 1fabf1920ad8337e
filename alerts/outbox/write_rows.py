"""Many rows by one statement, without a dictionary for each of them where the driver needs none."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Insert, Update


def write_rows(
    connection: Connection,
    statement: Insert | Update,
    names: Sequence[str],
    rows: Sequence[tuple[object, ...]],
) -> None:
    """Execute a statement for rows, whose values are its parameters of these names.

    A driver with positional parameters gets them as they are: building a dictionary for every row would cost
    more than the database does.
    """
    if not rows:
        return
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(names))
    if getattr(compiled, "positiontup", None) == list(names):
        connection.exec_driver_sql(compiled.string, list(rows))
    else:
        connection.execute(statement, [dict(zip(names, row, strict=True)) for row in rows])
