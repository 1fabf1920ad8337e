"""A job over Parquet files of records, lists and decimals: nothing is lost between the file and the alert."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from job_folder import JobFolder

pytestmark = pytest.mark.spark

PACK = """pack shop version "1"

stream order {
  meta:  { id: string  at: timestamp }
  who:   { name: string  city: string? }
  tags:  list<string>
  items: list<{ sku: string  price: decimal }>
  total: decimal
  id   meta.id
  time meta.at
}

rule dearer {
  by    who.name
  match small: order["new" in tags] -> big: order[total > 1.1 * small.total and "s1" in items.sku]
  within 1 hour
  emit  name, who = big.who, items = big.items, tags = list(small.tags), more = big.total - small.total
}

rule whole {
  on   order[total == 12345678901234567890.123456789012345678]
  by   total
  emit prices = items.price
}
"""
_MONEY = pa.decimal128(38, 18)
_SCHEMA = pa.schema(
    [
        ("meta", pa.struct([("id", pa.string()), ("at", pa.timestamp("ms", "UTC"))])),
        ("who", pa.struct([("name", pa.string()), ("city", pa.string())])),
        ("tags", pa.list_(pa.string())),
        ("items", pa.large_list(pa.struct([("sku", pa.string()), ("price", pa.decimal128(9, 2))]))),
        ("total", _MONEY),
    ]
)


def order(number: int, total: str, tags: list[str | None], city: str | None = None) -> dict[str, Any]:
    return {
        "meta": {"id": f"o{number}", "at": number * 1000},
        "who": {"name": "ann", "city": city},
        "tags": tags,
        "items": [{"sku": f"s{number}", "price": Decimal(f"{number}.50")}],
        "total": Decimal(total),
    }


def put(folder: JobFolder, rows: list[dict[str, Any]], name: str) -> None:
    aside = folder.root / "aside" / name
    pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), aside, row_group_size=2)
    aside.rename(folder.root / "inbox" / "order" / name)


def test_records_lists_and_decimals_come_through_a_job(spark: Callable[..., Any], tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job", PACK, ("order",))
    text = folder.description.read_text("utf-8").replace("*.jsonl", "*.parquet")
    folder.description.write_text(text, "utf-8")
    put(folder, [order(0, "10.10", ["new"]), order(1, "11.11", [])], "a.parquet")
    folder.once(spark)
    whole = order(2, "12345678901234567890.123456789012345678", ["x"])
    refused = order(3, "1", ["a", None])
    bought = {**order(4, "11.110000000000000001", ["late"], "Rome"), "items": order(1, "0", [])["items"]}
    put(folder, [whole, refused, bought], "b.parquet")
    folder.once(spark, drain=True)

    first, second = folder.alerts()
    assert first["rule"] == "whole"
    assert first["key"] == {"total": "12345678901234567890.123456789012345678"}
    assert first["emit"] == {"prices": ["2.5"]}
    assert second["emit"] == {
        "name": "ann",
        "who": {"name": "ann", "city": "Rome"},
        "items": [{"sku": "s1", "price": "1.5"}],
        "tags": [["new"]],
        "more": "1.010000000000000001",
    }
    assert second["events"] == {"small": ["o0"], "big": ["o4"]}
