"""The rows of new alerts, as the table of /alerts has them."""

from __future__ import annotations

from collections.abc import Sequence

from jinja2 import Environment

from alerts.outbox import StoredAlert
from cep.web.desk.alerts import rows_of
from cep.web.desk.desk import JobDesk
from cep.web.page.live import Draw


def rows_drawn(desk: JobDesk, templates: Environment) -> Draw:
    """The function that draws a row of HTML for each of some alerts."""

    def draw(alerts: Sequence[StoredAlert]) -> list[str]:
        if not alerts:
            return []
        parts = templates.get_template("parts.html").module
        with desk.outbox.reading() as connection:
            rows = rows_of(connection, alerts)
        return [str(parts.alert_row(row)).strip() for row in rows]  # type: ignore[attr-defined]

    return draw
