"""The demo's pack on labelled payments of another source: `make trial DATA=payments.csv.gz`.

The file has the columns of the Fraud Detection Handbook's simulator (TRANSACTION_ID, TX_DATETIME,
CUSTOMER_ID, TERMINAL_ID, TX_AMOUNT, TX_FRAUD_SCENARIO). Chargebacks are derived from its labels, seven
days after the payment. Runs `cep run --once --drain` and prints what every rule caught.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

from fraud.score import report, scores
from pyarrow import csv

from alerts.outbox import Outbox

HERE = Path(__file__).parent
CEP = Path(sys.executable).with_name("cep")

JOB = """
[job]
name = "trial"
packs = "{packs}"
state = "state/"

[feeds.payment]
source = "files"
path = "inbox/payment/*"
fields = {{ payment_id = "TRANSACTION_ID", occurred_at = "TX_DATETIME", card_id = "CUSTOMER_ID", \
terminal_id = "TERMINAL_ID", amount = "TX_AMOUNT" }}

[feeds.chargeback]
source = "files"
path = "inbox/chargeback/*"
"""


def derive(data: Path, chargebacks: Path) -> dict[str, int]:
    """Write the chargebacks that the labels imply; the scenario of every payment by its id."""
    as_text = csv.ConvertOptions(column_types={"TX_DATETIME": "string", "TRANSACTION_ID": "string"})
    rows = csv.read_csv(data, convert_options=as_text).to_pylist()
    last = max(datetime.fromisoformat(row["TX_DATETIME"]) for row in rows)
    with chargebacks.open("w", encoding="utf-8") as out:
        for row in rows:
            reported = datetime.fromisoformat(row["TX_DATETIME"]) + timedelta(days=7)
            if row["TX_FRAUD_SCENARIO"] and reported <= last:
                claim = {
                    "chargeback_id": f"b{row['TRANSACTION_ID']}",
                    "reported_at": reported.isoformat() + "Z",
                    "payment_id": row["TRANSACTION_ID"],
                    "card_id": str(row["CUSTOMER_ID"]),
                    "terminal_id": str(row["TERMINAL_ID"]),
                    "amount": row["TX_AMOUNT"],
                }
                out.write(json.dumps(claim) + "\n")
    return {row["TRANSACTION_ID"]: row["TX_FRAUD_SCENARIO"] for row in rows}


def trial(data: Path, work: Path) -> int:
    """Run the job on the data; the exit code of `cep run`."""
    shutil.rmtree(work, ignore_errors=True)
    for stream in ("payment", "chargeback"):
        (work / "inbox" / stream).mkdir(parents=True)
    labels = derive(data, work / "inbox" / "chargeback" / "chargebacks.jsonl")
    name = data.name if data.suffix != ".gz" else data.stem
    with gzip.open(data) if data.suffix == ".gz" else data.open("rb") as source:
        (work / "inbox" / "payment" / name).write_bytes(source.read())
    job = work / "job.toml"
    job.write_text(JOB.format(packs=HERE / "packs"), "utf-8")
    start = time.monotonic()
    code = subprocess.run([str(CEP), "run", str(job), "--once", "--drain"], check=False).returncode
    if code:
        return code
    seconds = time.monotonic() - start
    outbox = Outbox.open(f"sqlite:///{work / 'state' / 'outbox.db'}")
    try:
        found = scores(stored.alert for stored in outbox.alerts())
    finally:
        outbox.close()
    print(f"\n{report(found, labels)}\n\n{len(labels):,} payments in {seconds:.0f} s, Spark's start included")
    return 0


def main() -> None:
    """The command line of the trial."""
    parser = argparse.ArgumentParser(description="Run the fraud pack on labelled payments.")
    parser.add_argument("data", type=Path)
    options = parser.parse_args()
    if not options.data.is_file():
        raise SystemExit(f"there is no file {options.data}")
    raise SystemExit(trial(options.data, HERE / "work" / "trial"))


if __name__ == "__main__":
    main()
