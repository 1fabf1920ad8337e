"""/alerts: the live table, its filters, and what is filtered as CSV and JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from alerts.alert import SEVERITIES
from alerts.outbox import StoredAlert, Wanted
from alerts.raised_columns import key_text
from cep.web.desk.alerts import alerts_page
from cep.web.desk.desk import JobDesk
from cep.web.desk.errors import DeskError
from cep.web.desk.filters import FILTERS, Page, wanted
from cep.web.desk.secrets import shown
from cep.web.page.forms import query_of
from cep.web.page.live import Matches, newest
from cep.web.page.site import Site

_AT_ONCE = 500
COLUMNS = (
    "id", "time", "severity", "pack", "revision", "rule", "kind", "key", "summary", "emit", "tags",
    "suppressed",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of texts that a spreadsheet would compute."""


def filters_of(given: Mapping[str, str]) -> dict[str, str]:
    """The filters among the parameters of an address."""
    return {name: value for name in FILTERS if (value := given.get(name, "").strip())}


def alert_list(site: Site, request: Request) -> Response:
    """The table of alerts, the newest first."""
    given = filters_of(request.query_params)
    cursor = request.query_params.get("cursor")
    problem, found, after = "", None, newest(site.desk.outbox)
    try:
        found = alerts_page(site.desk, wanted(given), Page(cursor=cursor))
    except DeskError as error:
        problem = f"{error.message}. {error.help}."
    rows = found.alerts if found else ()
    if rows and cursor is None:  # what came meanwhile is in the table already
        after = max(after, rows[0].number)
    live = found is not None and cursor is None and "until" not in given
    of_filter = query_of(given)
    return site.answer(
        request,
        "alerts.html",
        status=400 if problem else 200,
        filters={name: given.get(name, "") for name in FILTERS},
        filter_query=of_filter.removeprefix("?"),
        severities=SEVERITIES,
        problem=problem,
        rows=rows,
        caption=f"{len(rows)} alerts, the newest first" if rows else _none(given),
        live=after if live else None,
        stream=f"/alerts/stream{query_of({**given, 'after': after})}",
        first_page=f"/alerts{of_filter}",
        older=f"/alerts{query_of({**given, 'cursor': found.next})}" if found and found.next else None,
        exports={kind: f"/alerts.{kind}{of_filter}" for kind in ("csv", "jsonl")},
        receivers=[one.name for one in site.desk.job.receivers],
    )


def _none(given: Mapping[str, str]) -> str:
    return "no alert is like that" if given else "no rule has raised an alert yet"


def matches_of(of: Wanted) -> Matches:
    """True for an alert that is wanted, as the outbox would say."""
    said = {"pack": of.pack, "rule": of.rule, "severity": of.severity}
    asked = {name: value for name, value in said.items() if value is not None}
    key = None if of.key is None else key_text(of.key)

    def matches(one: StoredAlert) -> bool:
        its = one.alert["key"]
        return (
            all(one.alert[name] == value for name, value in asked.items())
            and (of.since is None or one.time >= of.since)
            and (of.until is None or one.time < of.until)
            and (key is None or (isinstance(its, dict) and key_text(its) == key))
        )

    return matches


def alerts_as_csv(site: Site, request: Request) -> Response:
    """The filtered alerts as CSV, in the order raised."""
    of = shown(site.desk, wanted(filters_of(request.query_params)))
    return _attachment(_csv(site.desk, of), "text/csv; charset=utf-8", "alerts.csv")


def alerts_as_lines(site: Site, request: Request) -> Response:
    """The filtered alerts as receivers get them, a line of JSON each, in the order raised."""
    of = shown(site.desk, wanted(filters_of(request.query_params)))
    lines = (
        "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in some) for some in _all(site.desk, of)
    )
    return _attachment(lines, "application/jsonl; charset=utf-8", "alerts.jsonl")


def _attachment(content: Iterator[str], media_type: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    encoded = (some.encode(errors="replace") for some in content)
    return StreamingResponse(encoded, media_type=media_type, headers=headers)


def _all(desk: JobDesk, of: Wanted) -> Iterator[list[Mapping[str, object]]]:
    """All alerts that are wanted, some at a time; those that come meanwhile are left out."""
    last = newest(desk.outbox)
    while True:
        some = desk.outbox.alerts(replace(of, before=last + 1), limit=_AT_ONCE)
        if not some:
            return
        yield [one.alert for one in some]
        of = replace(of, after=some[-1].number)


def _csv(desk: JobDesk, of: Wanted) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for some in _all(desk, of):
        writer.writerows([_cell(one.get(name)) for name in COLUMNS] for one in some)
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def _cell(value: object) -> object:
    """A value as a cell; one that a spreadsheet would compute has an apostrophe before it."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value if isinstance(value, int) else json.dumps(value, ensure_ascii=False)
