"""Mail to real servers: encrypted or not at all, one thread for one thing, bounded whatever a server says."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from certificates import serving, trusting
from mail_server import PASSWORD, USER, Mailbox, mail_server, says
from ports import free_port
from some_alerts import SECOND, raised
from wayward_server import PATIENCE

from alerts.alert import Alert
from alerts.dispatch import Dispatcher
from alerts.due import Made
from alerts.outbox import BatchRecord, Outbox
from alerts.outbox.episodes import assign_some
from alerts.receivers.mail import Letter, MailReceiver
from alerts.receivers.names import Names
from alerts.receivers.notification import trial
from alerts.receivers.receiver import Outcome
from alerts.receivers.smtp import Server, SmtpWire, Tls
from alerts.receivers.templates import TemplateError
from alerts.routing import Route
from alerts.web_server import Certificate

LETTER = Letter("cep@desk.example", ["night@desk.example", "day@desk.example"])
ALERT = raised(1).alert
pytestmark = [
    pytest.mark.slow,  # each starts a server
    pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:aiosmtpd"),
]
NOW = 1_767_600_000_000_000_000


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def served(certificate: Certificate) -> ssl.SSLContext:
    return serving(certificate)


@pytest.fixture
def wire(certificate: Certificate) -> SmtpWire:
    return SmtpWire(tls=trusting(certificate))


@pytest.fixture
def port(mailbox: Mailbox, served: ssl.SSLContext) -> Iterator[int]:
    with mail_server(mailbox, served, "starttls") as port:
        yield port


def server(port: int, tls: Tls = "starttls", **changed: Any) -> Server:
    return replace(Server("127.0.0.1", port, tls, USER, PASSWORD), **changed)


def send(server: Server, wire: SmtpWire, letter: Letter = LETTER, alert: Alert = ALERT) -> Outcome:
    return MailReceiver("desk", server, letter, wire).send(alert.id, alert.to_json(), NOW)


def texts(mail: EmailMessage) -> tuple[str, ...]:
    plain, html = mail.get_body(("plain",)), mail.get_body(("html",))
    return tuple(part.get_content().replace("\r\n", "\n") if part else "" for part in (plain, html))


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_mail_is_sent_encrypted_by_whom_the_server_knows(
    mailbox: Mailbox, served: ssl.SSLContext, wire: SmtpWire, tls: Tls
) -> None:
    with mail_server(mailbox, served, tls) as port:
        assert send(server(port, tls), wire) == Outcome("delivered", "accepted")
    (mail,) = mailbox.mails
    assert mailbox.encrypted == [True]
    assert mailbox.envelopes[0].mail_from == "cep@desk.example"
    assert mailbox.envelopes[0].rcpt_tos == LETTER.to
    assert mail["From"] == "cep@desk.example"
    assert mail["To"] == "night@desk.example, day@desk.example"
    assert mail["Subject"] == "[high] card_testing on c1"
    assert mail["Date"] == "Mon, 05 Jan 2026 08:00:00 +0000"
    assert mail.get_content_type() == "multipart/alternative"
    plain, html = texts(mail)
    for part in (ALERT.summary, "fraud/card_testing", ALERT.time, "card_id = c1", "n = 1", "p1", ALERT.id):
        assert part in plain
        assert part in html


def test_what_no_encryption_is_offered_for_is_not_sent(mailbox: Mailbox, wire: SmtpWire) -> None:
    with mail_server(mailbox, None, "clear") as port:
        outcome = send(server(port), wire)
    assert outcome.result == "rejected"
    assert "STARTTLS" in outcome.detail
    assert mailbox.mails == []


@pytest.mark.parametrize("tls", ["starttls", "tls"])
def test_a_server_must_prove_its_name(
    mailbox: Mailbox, served: ssl.SSLContext, wire: SmtpWire, tls: Tls
) -> None:
    names = Names(lambda *_, **__: [(0, 0, 0, "", ("127.0.0.1", 0))])
    with mail_server(mailbox, served, tls) as port:
        stranger = send(server(port, tls), SmtpWire())
        assert stranger.result == "unreachable"
        assert "certificate verify failed" in stranger.detail
        other = send(server(port, tls, host="localhost.example"), replace(wire, names=names))
        assert "localhost.example is 127.0.0.1, which is loopback" in other.detail
    assert mailbox.mails == []


def test_a_wrong_password_is_told_and_shown_nowhere(port: int, mailbox: Mailbox, wire: SmtpWire) -> None:
    secret = "hunter2 hunter2"
    receiver = MailReceiver("desk", server(port, password=secret), LETTER, wire)
    outcome = receiver.send(ALERT.id, ALERT.to_json(), NOW)
    assert outcome.result == "rejected"
    assert outcome.detail == "535: the server takes neither user nor password so"
    assert secret not in repr(server(port, password=secret)) + repr(receiver)
    assert mailbox.mails == []


@pytest.mark.slow
def test_mails_about_the_same_thing_are_one_thread(port: int, mailbox: Mailbox, wire: SmtpWire) -> None:
    for one in (raised(1, key="a"), raised(2, key="a"), raised(3, key="b"), raised(4, key="a", rule="other")):
        assert send(server(port), wire, alert=one.alert).result == "delivered"
    threads = [mail["References"] for mail in mailbox.mails]
    assert threads[0] == threads[1]
    assert len(set(threads)) == 3
    assert threads == [mail["In-Reply-To"] for mail in mailbox.mails]
    assert mailbox.mails[0]["Subject"] == mailbox.mails[1]["Subject"]
    own = [mail["Message-ID"] for mail in mailbox.mails]
    assert own[0] == f"<{raised(1, key='a').alert.id}@desk.example>"
    assert len({*own, *threads}) == 7


def test_a_mail_that_comes_twice_has_one_id(port: int, mailbox: Mailbox, wire: SmtpWire) -> None:
    for _ in range(2):
        send(server(port), wire)
    assert len({mail["Message-ID"] for mail in mailbox.mails}) == 1


def test_what_an_event_holds_is_shown_and_does_nothing(port: int, mailbox: Mailbox, wire: SmtpWire) -> None:
    hostile = "<img src=x onerror=alert(1)>\r\nBcc: all@desk.example\r\n\r\n.\r\n\x1b[31m\u202e" + chr(0xD800)
    alert = raised(1, key=hostile, summary=hostile, rule="card_testing").alert
    assert send(server(port), wire, alert=alert) == Outcome("delivered", "accepted")
    (mail,) = mailbox.mails
    assert mailbox.envelopes[0].rcpt_tos == LETTER.to
    assert "Bcc" not in mail
    plain, html = texts(mail)
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "\x1b" not in plain + html + mail["Subject"]
    assert "\u202e" not in plain + html + mail["Subject"]
    assert "\nBcc:" not in plain


def test_own_templates_are_used(port: int, mailbox: Mailbox, wire: SmtpWire) -> None:
    letter = replace(LETTER, subject="{{ alert.rule }}\nof {{ receiver }}", text="Look at {{ key }}: ü")
    assert send(server(port), wire, letter).result == "delivered"
    assert mailbox.mails[0]["Subject"] == "card_testing of desk"
    assert texts(mailbox.mails[0]) == ("Look at c1: ü\n", "")
    assert send(server(port), wire, replace(letter, html="<b>{{ alert.summary }}</b>")).result == "delivered"
    assert texts(mailbox.mails[1])[1] == f"<b>{ALERT.summary}</b>\n"


def test_html_that_would_be_too_long_is_left_out(port: int, mailbox: Mailbox, wire: SmtpWire) -> None:
    letter = replace(LETTER, text="short", html="{% for _ in range(99999) %}<br>{% endfor %}")
    assert send(server(port), wire, letter).result == "delivered"
    assert texts(mailbox.mails[0]) == ("short\n", "")


def test_a_template_that_fails_is_a_failed_delivery_that_says_where(wire: SmtpWire) -> None:
    letter = replace(LETTER, text="{{ key }}\n\n{{ alert.emit.country }}")
    outcome = send(server(free_port()), wire, letter)
    assert outcome == Outcome("rejected", "the message, line 3: 'dict object' has no attribute 'country'")
    with pytest.raises(TemplateError):
        MailReceiver("desk", server(1), replace(LETTER, html="{% if %}"))


def test_a_test_says_that_it_is_one_and_needs_nothing_that_rules_emit(
    port: int, mailbox: Mailbox, wire: SmtpWire
) -> None:
    test = trial("desk", NOW)
    assert send(server(port), wire, alert=test).result == "delivered"
    letter = replace(LETTER, text="{{ alert.emit.country }}")
    assert send(server(port), wire, letter, test).result == "delivered"
    first, second = mailbox.mails
    assert first["Subject"].startswith("[TEST] ")
    assert "This is a test" in texts(first)[0]
    assert "country" in texts(second)[0]


def test_an_address_that_is_refused_costs_the_others_nothing(
    port: int, mailbox: Mailbox, wire: SmtpWire
) -> None:
    mailbox.refused = {"day@desk.example": "550 no such mailbox"}
    assert send(server(port), wire) == Outcome(
        "delivered", "accepted, but for 1 of 2 addresses: 550 no such mailbox"
    )
    mailbox.refused["night@desk.example"] = "452 full"
    assert send(server(port), wire) == Outcome("rejected", "452: full")
    assert len(mailbox.mails) == 1


@pytest.mark.parametrize("answer", ["451 try later", "554 no\x1b[31m"])
def test_what_the_server_says_against_a_mail_is_told(
    port: int, mailbox: Mailbox, wire: SmtpWire, answer: str
) -> None:
    mailbox.answers = [answer]
    outcome = send(server(port), wire)
    assert outcome == Outcome("rejected", f"{answer[:3]}: {answer[4:].replace(chr(27), ' ').strip()}")


def test_nobody_listens(wire: SmtpWire) -> None:
    outcome = send(server(free_port()), wire)
    assert outcome.result == "unreachable"
    assert "refused" in outcome.detail


@pytest.mark.parametrize(
    ("pieces", "how", "part"),
    [
        ([b"220-hello\r\n" * 500], {"again": True}, "more than 65536 bytes"),
        ([b"2" * 5_000], {"again": True}, "Line too long"),
        ([b"2"], {"again": True, "pause": 0.02}, "(the time for the whole session is over|timed out)"),
        (
            [b"220-a\r\n"],
            {"again": True, "pause": 0.02},
            "(the time for the whole session is over|timed out)",
        ),
        ([], {}, "timed out"),
        (
            [b"220 hello\r\n", b"250-me\r\n250 STARTTLS\r\n", b"220 go\r\n", b"no handshake" * 9],
            {"pause": 0.05},
            "(SSL|Connection unexpectedly closed)",  # the latter where it is read before the handshake begins
        ),
        ([b"HTTP/1.1 400 Bad\r\n\r\n"], {}, ""),
        ([b"554 go away\r\n"], {}, "554: go away"),
        ([b"\x00\xff" * 50 + b"\r\n"], {}, ""),
    ],
    ids=["lines", "line", "drip", "drip of lines", "silence", "no tls", "http", "no", "noise"],
)
def test_a_server_that_means_harm_costs_an_attempt(
    wire: SmtpWire, pieces: list[bytes], how: dict[str, Any], part: str
) -> None:
    with says(*pieces, **how) as port:
        outcome = send(server(port), replace(wire, total=1.0))
    assert outcome.result in ("unreachable", "rejected")
    assert re.search(part, outcome.detail)
    assert len(outcome.detail) < 300


def test_answers_from_before_the_handshake_count_for_nothing(wire: SmtpWire) -> None:
    """RFC 3207: who stands between could send them in the clear."""
    with says(b"220 hi\r\n", b"250-me\r\n250 STARTTLS\r\n", b"220 go\r\n250 me\r\n235 welcome\r\n") as port:
        outcome = send(server(port), replace(wire, total=0.5))
    assert outcome.result == "unreachable"


def test_a_name_of_this_machine_is_refused_unless_it_is_named(
    port: int, mailbox: Mailbox, wire: SmtpWire
) -> None:
    def names(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        return [(0, 0, 0, "", ("127.0.0.1", 0))]

    hostile = replace(wire, names=Names(names))
    assert "which is loopback" in send(server(port, host="mail.example"), hostile).detail
    assert send(server(port, host="localhost"), hostile).result == "delivered"
    assert len(mailbox.mails) == 1


def test_a_look_up_without_end_is_left(wire: SmtpWire) -> None:
    over = threading.Event()

    def names(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
        over.wait(60)
        raise OSError("too late")

    outcome = send(server(1, host="mail.example"), replace(wire, names=Names(names), connect=0.1))
    over.set()
    assert outcome.result == "unreachable"
    assert outcome.detail == "no answer in time: the name mail.example is still being looked up"


def test_a_mail_about_a_group_lists_it(port: int, mailbox: Mailbox, wire: SmtpWire) -> None:
    one_thing, several = [[raised(n, key=key).alert for n in (1, 2, 3)] for key in ("c1", None)]
    for alerts in (one_thing, several):
        group = Made(7, "f" * 64, tuple(one.to_json() for one in alerts), 4)
        assert MailReceiver("desk", server(port), LETTER, wire).send_group(group, NOW).result == "delivered"
    about_one, about_several = mailbox.mails
    assert about_one["Message-ID"] == about_several["Message-ID"] == f"<{'f' * 64}@desk.example>"
    assert about_one["Subject"] == "[high] card_testing on c1"
    assert about_several["Subject"] == "several alerts for desk"
    assert about_one["References"] != about_several["References"]
    text, html = texts(about_several)
    assert text.startswith("4 alerts, the newest 3 of them:")
    assert (text.count("3 probes, then 900 in NG"), html.count("<li>")) == (4, 3)


def test_mails_of_an_episode_are_a_thread(
    tmp_path: Path, mailbox: Mailbox, port: int, wire: SmtpWire
) -> None:
    """Of one rule and key two episodes are two threads."""
    outbox = Outbox.open(f"sqlite:///{tmp_path}/outbox.db", durable=False)
    some = [raised(1, key="c1"), raised(2, key="c1"), raised(3, key="c2"), raised(9_000, key="c1")]
    outbox.record(BatchRecord(0, "d", {}), some, [Route("desk")])
    with outbox.writing() as connection:
        assign_some(connection, lambda *_: 3_600 * SECOND)
    dispatcher = Dispatcher(outbox, [MailReceiver("desk", server(port), LETTER, wire)], poll=0.02)
    dispatcher.start()
    assert dispatcher.drain(PATIENCE)
    assert dispatcher.stop(PATIENCE)
    outbox.close()
    threads = [mail["References"] for mail in mailbox.mails]
    assert len({mail["Message-ID"] for mail in mailbox.mails}) == 4
    assert threads[0] == threads[1]
    assert len(set(threads)) == 3
