"""Secrets and templates of receivers in a job file, which are never repeated, and told at their line."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_config_keys import RECEIVERS, SECRETS, told, written

from cep.config import load_job
from cep.config.targets import Slack
from rules.render import render_all

SLACK = {("receivers.desk", "kind"): '"slack"', ("receivers.desk", "url"): '"${SLACK_URL}"'}
SLACK_URL = "https://hooks.slack.com/services/T0/B0/hidden"


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("slack", "url", "https://hooks.slack.com/services/T0/B0/hidden"),
        ("pagerduty", "routing_key", "R0123456789hidden"),
        ("email", "password", "hidden"),
    ],
)
def test_a_secret_that_stands_in_the_job_file_is_refused_and_not_repeated(
    tmp_path: Path, kind: str, key: str, value: str
) -> None:
    pairs = RECEIVERS.get(kind, {}) | {"kind": f'"{kind}"', key: f'"{value}"'}
    changed = {("receivers.desk", name): one for name, one in pairs.items()}
    (one,) = told(tmp_path, written(changed), **SECRETS)
    assert one.code == "CEP0735"
    assert "hidden" not in render_all([one])
    assert f'write {key} = "${{NAME}}"' in one.help


def test_a_secret_elsewhere_is_checked_and_not_repeated(tmp_path: Path) -> None:
    (gone,) = told(tmp_path, written(SLACK))
    assert (gone.code, gone.message) == ("CEP0708", "the environment variable SLACK_URL is not set")
    (odd,) = told(tmp_path, written(SLACK), SLACK_URL="hidden")
    assert odd.code == "CEP0709"
    assert "hidden" not in render_all([odd])
    (cloud,) = told(tmp_path, written(SLACK), SLACK_URL="http://169.254.169.254/hidden")
    assert "is no address of a receiver" in cloud.message
    assert "hidden" not in repr(load_job(tmp_path / "job.toml", {"SLACK_URL": SLACK_URL}).need())


def test_user_and_password_stand_together(tmp_path: Path) -> None:
    pairs = RECEIVERS["email"] | {"kind": '"email"'}
    for name in ("user", "password"):
        changed = {("receivers.desk", key): one for key, one in pairs.items() if key != name}
        (one,) = told(tmp_path, written(changed), **SECRETS)
        assert (one.code, one.message) == ("CEP0704", f"`{name}` is missing in [receivers.desk]")


@pytest.mark.parametrize(
    ("text", "message", "span"),
    [
        ('"{{ alrt.summary }}"', "there is no `alrt`", '"{{ alrt.summary }}"'),
        ('"""\n{{ key }}\n{{ alert.sumary }}\n"""', "no field `sumary`", "{{ alert.sumary }}"),
        ("'''{{ key }}\n{{ key | nofilter }}'''", "No filter named 'nofilter'", "{{ key | nofilter }}'''"),
        ('"file:message.j2"', "no field `sumary`", "{{ alert.sumary }}"),
        ('"file:gone.j2"', "there is no file", '"file:gone.j2"'),
    ],
)
def test_a_mistake_in_a_template_is_told_at_its_line(
    tmp_path: Path, text: str, message: str, span: str
) -> None:
    (tmp_path / "message.j2").write_text("{{ key }}\n\n{{ alert.sumary }}\n", encoding="utf-8")
    changed = {**SLACK, ("receivers.desk", "message"): text}
    (one,) = told(tmp_path, written(changed), SLACK_URL=SLACK_URL)
    assert (one.code, one.span and one.span.text) == ("CEP0736", span)
    assert message in one.message


def test_a_template_of_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "message.j2").write_text("{{ key }}\n", encoding="utf-8")
    changed = {**SLACK, ("receivers.desk", "message"): '"file:message.j2"'}
    assert told(tmp_path, written(changed), SLACK_URL=SLACK_URL) == []
    (receiver,) = load_job(tmp_path / "job.toml", {"SLACK_URL": SLACK_URL}).need().receivers
    assert isinstance(receiver.target, Slack)
    assert receiver.target.message == "{{ key }}\n"
