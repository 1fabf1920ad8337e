"""Secrets and templates of receivers in a job file, which are never repeated, and told at their line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from test_config_keys import RECEIVERS, SECRETS, told, written

from cep.config import load_job
from cep.config.targets import Slack
from cep.receivers_made import receiver_made
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


KAFKA = {
    ("receivers.desk", "kind"): '"kafka"',
    ("receivers.desk", "servers"): '"b1:9092, b2:9092"',
    ("receivers.desk", "topic"): '"alerts"',
}


@pytest.mark.parametrize(
    ("options", "code", "message", "help_"),
    [
        ('acks = "1"', "CEP0755", "when all copies have it", "remove it"),
        ('transactional.id = "a"', "CEP0755", "others are kept out", "remove it"),
        ('bootstrap.servers = "b3:9092"', "CEP0755", "a key of their own", "[receivers.NAME]"),
        ('value.serializer = "Json"', "CEP0755", "values are CloudEvents", '`mode = "binary"`'),
        ('ssl.keystore.location = "a.jks"', "CEP0755", "stores of Java", "PEM"),
        ('group.id = "a"', "CEP0751", "no producer of this program has an option `group.id`", "known here"),
        ('compresion.type = "lz4"', "CEP0751", "an option `compresion.type`", "`compression.type`?"),
        ('compression.type = "brotli"', "CEP0751", "is one of none, gzip", ""),
        ("linger.ms = -1", "CEP0751", "a whole number above 0", ""),
        ('ssl.ca.location = "ca.pem"', "CEP0752", "no effect with", '"SSL"'),
        ('security.protocol = "SASL_SSL"', "CEP0752", "needs `sasl.mechanism`", "[receivers.NAME.options]"),
    ],
)
def test_options_of_a_producer_are_told_at_their_place(
    tmp_path: Path, options: str, code: str, message: str, help_: str
) -> None:
    found = told(tmp_path, written(KAFKA, f"\n[receivers.desk.options]\n{options}\n"))
    assert {one.code for one in found} == {code}
    assert message in found[0].message
    assert help_ in found[0].help
    assert found[0].span is not None
    assert found[0].span.text == options.partition(" = ")[2]


def test_secrets_of_a_producer_stand_elsewhere_and_are_checked(tmp_path: Path) -> None:
    text = """
[receivers.desk.options]
security.protocol = "SASL_SSL"
sasl.mechanism = "PLAIN"
sasl.username = "cep"
sasl.password = "hunter2"
"""
    (one,) = told(tmp_path, written(KAFKA, text))
    assert (one.code, one.span and one.span.text) == ("CEP0735", '"hunter2"')
    assert "hunter2" not in render_all([one])
    there = text.replace('"hunter2"', '"${KAFKA_PASSWORD}"')
    (gone,) = told(tmp_path, written(KAFKA, there))
    assert (gone.code, gone.message) == ("CEP0708", "the environment variable KAFKA_PASSWORD is not set")
    assert told(tmp_path, written(KAFKA, there), KAFKA_PASSWORD="hunter2") == []
    job = load_job(tmp_path / "job.toml", {"KAFKA_PASSWORD": "hunter2"}).need()
    assert "hunter2" not in repr(job)
    made = receiver_made(job.receivers[0], {"KAFKA_PASSWORD": "hunter2"}, sys.stdout)
    assert "hunter2" not in repr(vars(made))
    assert job.receivers[0].target.where == "alerts at b1:9092,b2:9092"


def test_dead_letters_go_to_a_topic_that_is_named(tmp_path: Path) -> None:
    text = '\n[deadletters]\nservers = "b1:9092"\n'
    (one,) = told(tmp_path, written({}, text))
    assert (one.code, one.span and one.span.text) == ("CEP0756", "deadletters")
    secret = '[deadletters.options]\nsecurity.protocol = "SSL"\nssl.key.password = "${GONE}"\n'
    more = 'ssl.key.location = "key.pem"\nssl.certificate.location = "a.pem"\n'
    (gone,) = told(tmp_path, written({}, f'{text}late = "late"\n{secret}{more}'))
    assert (gone.code, gone.message) == ("CEP0708", "the environment variable GONE is not set")
    assert told(tmp_path, written({}, f'{text}late = "late"\n')) == []
    letters = load_job(tmp_path / "job.toml", {}).need().letters
    assert letters is not None
    assert (letters.servers, letters.topic, letters.late) == ("b1:9092", None, "late")
