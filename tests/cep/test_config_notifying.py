"""Mute times, inhibitions, groups and rates of a job file: read as written, each mistake told at its line."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from test_config_routes import HEAD, found

from alerts.calendars import Calendar, Range
from alerts.grouping import Grouping, Manner, Rate
from alerts.inhibiting import Inhibition
from alerts.matchers import Matchers
from alerts.mute_times import MuteTime
from cep.config import load_job

SECOND = 10**9
MUTE = '[[mute_times]]\nname = "m"\n'
INHIBIT = '[[inhibit]]\nby = { rule = "a" }\nof = { severity = "low" }\n'
GROUPED = '[receivers.third]\nkind = "console"\n'


def test_all_of_it_is_read(tmp_path: Path) -> None:
    text = """
[receivers.third]
kind = "console"
group_by = ["rule", "key.card_id"]
group_wait = "0 seconds"
rate = "30  per minute"
order = "key"
[receivers.fourth]
kind = "console"
rate = "5 per 10 seconds"
[[routes]]
receivers = ["desk", "pager", "third", "fourth"]
group_by = []
group_interval = "1 hour"
[[mute_times]]
name = "nights"
weekdays = ["Friday to Monday", "wednesday"]
days = ["1 to 7", "-1"]
months = ["december"]
hours = ["22:00 to 6:00", "12:00 to 24:00"]
zone = "Europe/Berlin"
receivers = ["pager"]
matchers = { severity = "=~ low|info" }
[[inhibit]]
by = { rule = "worse" }
of = ["severity = low"]
equal = ["card_id"]
for = "1 hour"
"""
    (tmp_path / "job.toml").write_text(HEAD + text, "utf-8")
    loaded = load_job(tmp_path / "job.toml", {})
    assert loaded.diagnostics == ()
    job = loaded.need()
    assert job.settings.manners == {
        "third": Manner(
            Grouping(("rule", "key.card_id"), 0, 300 * SECOND), Rate(30, 60 * SECOND, "30 per minute"), True
        ),
        "fourth": Manner(None, Rate(5, 10 * SECOND, "5 per 10 seconds")),
    }
    assert job.branches is not None
    assert job.branches == job.settings.branches
    assert job.branches.all[0].grouping == Grouping((), 30 * SECOND, 3_600 * SECOND)
    calendar = Calendar(
        ZoneInfo("Europe/Berlin"), (Range(4, 0), Range(2, 2)), (Range(1, 7), Range(-1, -1)), (Range(12, 12),),
        (Range(1_320, 360), Range(720, 1_440)),
    )  # fmt: skip
    matchers = Matchers.of(["severity =~ low|info"])
    assert job.settings.mute_times == (MuteTime("nights", calendar, matchers, frozenset(["pager"])),)
    said = "inhibition 1 of job.toml (rule = worse of severity = low)"
    by, of = Matchers.of(["rule = worse"]), Matchers.of(["severity = low"])
    assert job.settings.inhibitions == (Inhibition(by, of, ("card_id",), 3_600 * SECOND, said),)


@pytest.mark.parametrize(
    ("text", "code", "level", "line", "said", "help_"),
    [
        (MUTE + 'days = ["1"]\nreceivers = ["dsk"]', "CEP0742", "error", 4, "no receiver `dsk`", "`desk`"),
        (MUTE + 'days = ["1"]\n' + MUTE + 'days = ["1"]', "CEP0742", "error", 5, "a mute time `m`", "own"),
        (MUTE, "CEP0743", "warning", 1, "holds at all times", "hours"),
        ('[[mute_times]]\ndays = ["1"]', "CEP0704", "error", 1, "`name` is missing", "nights"),
        (MUTE + "day = 1", "CEP0703", "error", 3, "unknown key `day`", "did you mean `days`?"),
        (INHIBIT, "CEP0704", "error", 1, "`for` is missing", "1 hour"),
        (
            '[[inhibit]]\nby = ["rule = a"]\nof = []\nfor = "1 hour"',
            "CEP0743", "warning", 1, "holds back nothing", "lesser severity",
        ),
        (GROUPED + 'group_wait = "1 second"', "CEP0743", "warning", 3, "without `group_by`", "group_by"),
        (
            '[[routes]]\nreceivers = ["desk", "pager"]\ngroup_interval = "1 second"',
            "CEP0743", "warning", 3, "nothing without `group_by`", "group_by",
        ),
    ],
)  # fmt: skip
def test_every_mistake_between_keys_is_told(
    tmp_path: Path, text: str, code: str, level: str, line: int, said: str, help_: str
) -> None:
    ((*told, message, help_given),) = found(tmp_path, text)
    assert told == [code, level, line]
    assert said in message
    assert help_ in help_given
