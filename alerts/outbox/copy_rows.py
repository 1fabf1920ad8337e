"""Many rows into a table of PostgreSQL by COPY, which costs a third of what a statement for each row does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table

WORTHWHILE = 100
"""For so many rows at least."""


def copy_rows(
    connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[object, ...]], key: str
) -> None:
    """Insert rows of values for the columns of these names, but those whose `key`, a whole number, the table
    has or an earlier row. Nobody else may write to the table meanwhile.

    COPY knows no conflicts: where there are some, it fills a table of this session, from which the rest goes
    on in one statement.
    """
    columns, at = ", ".join(names), list(names).index(key)
    keys = [row[at] for row in rows]
    query = f"SELECT EXISTS (SELECT FROM {table.name} WHERE {key} = ANY(%s::bigint[]))"
    written = f"{{{','.join(map(str, keys))}}}"  # a text: the driver would write it number by number
    if len(set(keys)) == len(keys) and not connection.exec_driver_sql(query, (written,)).scalar():
        _copy(connection, f"{table.name} ({columns})", rows)
        return
    coming = f"coming_{table.name}"
    connection.exec_driver_sql(
        f"CREATE TEMP TABLE {coming} ON COMMIT DROP AS SELECT {columns} FROM {table.name} WITH NO DATA"
    )
    _copy(connection, f"{coming} ({columns})", rows)
    connection.exec_driver_sql(
        f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM {coming} ORDER BY {names[0]} "
        f"ON CONFLICT ({key}) DO NOTHING"
    )
    connection.exec_driver_sql(f"DROP TABLE {coming}")


def _copy(connection: Connection, into: str, rows: Sequence[tuple[object, ...]]) -> None:
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {into} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
