"""The page in a real Chromium: what a desk does on it, in both themes, with and without scripts."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from served_desk import SECRETS, ServedDesk, alert, prepared, served, with_queries

from alerts.outbox import StoredAlert

pytestmark = pytest.mark.browser
AXE = (Path(__file__).parent / "vendored" / "axe.min.js").read_text("utf-8")
PAGES = (
    "/", "/alerts", "/alerts/{id}", "/episodes", "/rules", "/rules/fraud/compromised_terminal", "/silences",
    "/queries",
    "/receivers", "/feeds", "/packs", "/deadletters", "/deadletters/1", "/batches", "/sign-in", "/nothing",
    "/alerts?severity=wrong",
)  # fmt: skip
EVERY = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_A_THEME = ["color-contrast"]


def sign_in(tab: Page, place: ServedDesk, who: str = "ANNA", after: str = "/") -> None:
    tab.goto(f"{place.address}/sign-in?next={after}")
    tab.get_by_label("Token").fill(SECRETS[who])
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url(f"**{after}")


def said(tab: Page) -> Locator:
    """What came of the last form."""
    return tab.locator("div[role=status]")


def streaming(tab: Page, place: ServedDesk, watchers: int = 1) -> None:
    """Wait until the server has the stream of the tab."""
    tab.wait_for_selector("#streaming", state="attached")
    while place.live.watchers < watchers:
        tab.wait_for_timeout(10)


@pytest.mark.parametrize(("scheme", "rules"), [("light", EVERY), ("dark", OF_A_THEME)])
def test_everybody_can_read_every_page(
    browser: Browser, place: ServedDesk, work: dict[str, StoredAlert], scheme: Any, rules: list[str]
) -> None:
    """axe-core finds nothing on any page, as whoever may operate sees it."""
    with_queries(place, [{"id": "q1", "query": "recall*", "tags": ["safety"]}, {"id": "q2", "query": "tyre"}])
    context = browser.new_context(color_scheme=scheme)
    context.add_init_script(AXE)
    tab = context.new_page()
    sign_in(tab, place)
    found = {}
    for path in PAGES:
        tab.goto(place.address + path.format(id=work["failed"].alert["id"]))
        options = {"runOnly": rules, "resultTypes": ["violations"], "performanceTimer": False}
        told = tab.evaluate("options => axe.run(document, options)", options)
        found[path] = [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in told["violations"]]
        if path == "/queries":  # once more with what a text hits
            tab.get_by_label("A text, or a document").fill("a recalled tyre")
            tab.get_by_role("button", name="Try it").click()
            expect(tab.locator("mark").first).to_have_text("recalled")
            told = tab.evaluate("options => axe.run(document, options)", options)
            found["tried"] = [(one["id"], one["nodes"][0]["html"]) for one in told["violations"]]
    context.close()
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.usefixtures("work")
def test_new_alerts_are_announced_and_do_not_move_what_one_reads(tab: Page, place: ServedDesk) -> None:
    tab.goto(f"{place.address}/alerts")
    streaming(tab, place)
    shown = tab.locator("#shown > tr")
    before = shown.first.inner_text()
    place.raise_alerts([alert(100, summary="new one"), alert(101, summary="newer one")])
    expect(tab.locator("#announce")).to_have_text("2 new")
    assert shown.count() == 10
    assert shown.first.inner_text() == before
    tab.locator("#announce").click()
    expect(shown).to_have_count(12)
    assert [shown.nth(n).locator("td").nth(4).inner_text() for n in (0, 1)] == ["newer one", "new one"]
    expect(tab.locator("#announce")).to_be_hidden()
    assert shown.first.locator("td").nth(3).inner_text() == "card_id c101"


@pytest.mark.usefixtures("work")
def test_a_stream_that_breaks_goes_on_without_gap_or_double(tab: Page, place: ServedDesk) -> None:
    tab.goto(f"{place.address}/alerts")
    streaming(tab, place)
    place.raise_alerts([alert(100)])
    expect(tab.locator("#announce")).to_have_text("1 new")
    tab.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    while place.live.watchers:
        tab.wait_for_timeout(10)
    place.raise_alerts([alert(101)])
    tab.evaluate("Object.defineProperty(document, 'hidden', {value: false, configurable: true})")
    tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(tab.locator("#announce")).to_have_text("2 new")
    place.raise_alerts([alert(102)])
    expect(tab.locator("#announce")).to_have_text("3 new")


@pytest.mark.usefixtures("work")
def test_the_stream_keeps_to_the_filter(tab: Page, place: ServedDesk) -> None:
    tab.goto(f"{place.address}/alerts")
    tab.get_by_label("Severity").select_option("high")
    tab.get_by_role("button", name="Filter").click()
    expect(tab.locator("#shown > tr")).to_have_count(3)
    assert "severity=high" in tab.url
    streaming(tab, place)
    place.raise_alerts(
        [alert(100, severity="low"), alert(101, severity="high", rule="large_amount", summary="this one")]
    )
    expect(tab.locator("#announce")).to_have_text("1 new")
    tab.locator("#announce").click()
    expect(tab.locator("#shown > tr").first).to_contain_text("this one")


@pytest.mark.usefixtures("work")
def test_who_is_too_slow_is_told_what_was_missed(tab: Page, place: ServedDesk) -> None:
    tab.goto(f"{place.address}/alerts")
    streaming(tab, place)
    place.raise_alerts([alert(n) for n in range(1000, 2500)])
    expect(tab.locator("#missed")).to_contain_text(re.compile(r"You missed \d+ alerts or more"))
    tab.get_by_role("link", name="Load the page anew").click()
    expect(tab.locator("#missed")).to_be_hidden()
    expect(tab.locator("#shown > tr")).to_have_count(50)


def test_keys_lead_through_the_queue(tab: Page, place: ServedDesk, work: dict[str, StoredAlert]) -> None:
    sign_in(tab, place, after="/episodes")
    for key in ("j", "j", "j", "k"):
        tab.keyboard.press(key)
    selected = tab.locator("tr[aria-selected=true]")
    expect(selected).to_contain_text("stolen_card_again")
    tab.keyboard.press("a")
    expect(said(tab)).to_contain_text("1 episode acknowledged")
    expect(tab.locator("tbody tr").last).to_contain_text("acknowledged anna")
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.name") == "rule"
    tab.keyboard.press("Escape")
    tab.keyboard.press("j")
    tab.keyboard.press("s")
    expect(tab.get_by_label("Matchers")).to_have_value(
        "pack = fraud\nrule = compromised_terminal\nkey.terminal_id = t7"
    )
    tab.goto(f"{place.address}/alerts")
    tab.keyboard.press("j")
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(f"{place.address}/alerts/{work['last'].alert['id']}")


@pytest.mark.usefixtures("work")
def test_many_episodes_are_acknowledged_and_closed_at_once(tab: Page, place: ServedDesk) -> None:
    sign_in(tab, place, after="/episodes")
    tab.get_by_label("choose all of this page").check()
    tab.get_by_role("button", name="Acknowledge").click()
    expect(said(tab)).to_contain_text("9 episodes acknowledged")
    expect(tab.locator("caption")).to_have_text("of all episodes 0 open, 9 acknowledged, 0 closed")
    tab.get_by_label("choose the episode").nth(1).check()
    tab.get_by_label("choose the episode").nth(5).click(modifiers=["Shift"])
    expect(tab.locator("input[name=id]:checked")).to_have_count(5)
    tab.get_by_label("choose the episode").nth(4).click()
    tab.get_by_label("choose the episode").nth(0).click(modifiers=["Shift"])
    expect(tab.locator("input[name=id]:checked")).to_have_count(6)
    tab.get_by_role("button", name="Close with the verdict").click()
    expect(said(tab)).to_contain_text("an episode is closed with a verdict", ignore_case=True)
    tab.get_by_label("choose the episode").nth(0).check()
    tab.get_by_label("Verdict").select_option("false_positive")
    tab.get_by_label("Note").fill("a test of the bank's own")
    tab.get_by_role("button", name="Close with the verdict").click()
    expect(tab.locator("caption")).to_have_text("of all episodes 0 open, 8 acknowledged, 1 closed")
    tab.goto(f"{place.address}/rules/fraud/compromised_terminal")
    expect(tab.locator("dl")).to_contain_text("1 false positive, 0 benign, 0 duplicate: precision 0 %")


def test_a_silence_holds_back_and_lets_go(tab: Page, place: ServedDesk, work: dict[str, StoredAlert]) -> None:
    sign_in(tab, place, after=f"/alerts/{work['pending'].alert['id']}")
    tab.keyboard.press("s")
    tab.get_by_label("Why").fill("known to the bank")
    tab.get_by_role("button", name="Silence").click()
    expect(said(tab)).to_contain_text("holds back pack = fraud, rule = stolen_card_again")
    (silence,) = place.outbox.silences(0)
    assert (silence.who, silence.why, silence.active(place.now[0])) == ("anna", "known to the bank", True)
    tab.get_by_role("link", name="Silences").click()
    expect(tab.locator("tbody tr").first).to_contain_text("active")
    tab.get_by_role("button", name="Take back").click()
    expect(said(tab)).to_contain_text("taken back")
    assert place.outbox.silences(place.now[0]) == []
    tab.goto(f"{place.address}/rules/fraud/velocity")
    tab.get_by_role("link", name="Silence this rule").click()
    expect(tab.get_by_label("Matchers")).to_have_value("pack = fraud\nrule = velocity")


def test_a_delivery_that_was_given_up_goes_out_again(
    tab: Page, place: ServedDesk, work: dict[str, StoredAlert]
) -> None:
    id_ = str(work["failed"].alert["id"])
    sign_in(tab, place, after=f"/alerts/{id_}")
    row = tab.locator("#deliveries tr", has_text="500 Internal Server Error")
    row.get_by_role("button", name="Redeliver").click()
    expect(said(tab)).to_contain_text("It goes to desk again")
    states = {one.receiver: one.state for one in place.outbox.deliveries(id_)}
    assert states == {"archive": "delivered", "desk": "pending"}
    place.settle("desk", work["delivered"].number, "failed", "503")
    tab.goto(f"{place.address}/alerts?rule=velocity")
    tab.get_by_label("Receiver").select_option("desk")
    tab.get_by_role("button", name="Redeliver").click()
    expect(said(tab)).to_contain_text("1 of the 3 alerts that the filter wants go to desk again")


def test_without_scripts_everything_can_be_read_and_done(
    browser: Browser, place: ServedDesk, work: dict[str, StoredAlert]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    sign_in(tab, place, after="/episodes")
    tab.get_by_label("choose the episode").nth(0).check()
    tab.get_by_role("button", name="Acknowledge").click()
    expect(said(tab)).to_contain_text("1 episode acknowledged")
    tab.goto(f"{place.address}/")
    tab.get_by_text("As a table").click()
    expect(tab.locator("figure tbody tr")).to_have_count(60)
    for path in PAGES:
        tab.goto(place.address + path.format(id=work["failed"].alert["id"]))
        assert tab.locator("h1").inner_text()
    tab.goto(f"{place.address}/alerts?severity=critical")
    expect(tab.locator("#shown > tr")).to_have_count(2)
    context.close()


HOSTILE = (
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(2)</script>",
    "javascript:alert(3)",
    "{{ 7 * 7 }}",
    "\x1b[31m\u202etxt.exe\u0000\r\nid: 7\ndata: x",
    "x" * 1_000_000,
)


@pytest.mark.usefixtures("work")
def test_nothing_that_others_write_runs(tab: Page, place: ServedDesk) -> None:
    """In every field that an event, a rule, a receiver's reply, a silence or a note can fill."""
    tab.goto(f"{place.address}/alerts")
    streaming(tab, place)
    some = [
        alert(
            500 + n, rule=text[:200], summary=text, key={text[:200]: text[:400]}, emit={text[:200]: text},
            events={text[:200]: [text]}, tags=[text[:5_000]], runbook=text[:5_000], revision=text[:500],
        )
        for n, text in enumerate(HOSTILE)
    ]  # fmt: skip
    found = place.raise_alerts(some)
    for one, text in zip(found, HOSTILE, strict=True):
        place.settle("desk", one.number, "failed", text)
        place.bury(text.encode(), text)
    expect(tab.locator("#announce")).to_have_text(f"{len(HOSTILE)} new")
    tab.locator("#announce").click()
    expect(tab.locator("#shown")).to_contain_text('<img src=x onerror="alert(1)">')
    sign_in(tab, place)
    for one in (found[0], found[1], found[2], found[-1]):
        tab.goto(f"{place.address}/alerts/{one.alert['id']}")
        assert tab.locator("a[href^=javascript]").count() == 0
        assert tab.locator("main img").count() == 0
    for text in (HOSTILE[0], " ".join(HOSTILE[1:-1])):
        tab.goto(f"{place.address}/alerts/{found[0].alert['id']}")
        tab.get_by_label("Note").fill(text)
        tab.get_by_label("Verdict").select_option("benign")
        tab.get_by_role("button", name="Close").click()
        tab.locator("#silence").get_by_label("Why").fill(text)
        tab.get_by_role("button", name="Silence").click()
        expect(said(tab)).to_contain_text("holds back")
    for path in ("/", "/alerts", "/episodes?state=closed", "/silences", "/deadletters", "/receivers"):
        tab.goto(place.address + path)
        assert tab.locator("main img, main script").count() == 0
        assert len(tab.content()) < 400_000
    tab.goto(f"{place.address}/silences?matchers=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    assert tab.locator("main img").count() == 0


@pytest.mark.usefixtures("work")
def test_live_updates_leave_memory_as_it_is(tab: Page, place: ServedDesk) -> None:
    """After many announcements and looks at them, neither nodes nor memory of the tab have grown."""
    tab.goto(f"{place.address}/alerts")
    streaming(tab, place)
    session = tab.context.new_cdp_session(tab)

    def counters() -> tuple[int, int]:
        session.send("HeapProfiler.collectGarbage")
        found = session.send("Memory.getDOMCounters")
        heap = session.send("Runtime.getHeapUsage")
        return found["nodes"], heap["usedSize"]

    def rounds(first: int, count: int) -> None:
        for n in range(first, first + count):
            place.raise_alerts([alert(10_000 + n * 100 + k) for k in range(100)])
            expect(tab.locator("#announce")).to_have_text("100 new")
            tab.locator("#announce").click()

    rounds(0, 5)  # until the table is as long as it gets
    nodes, heap = counters()
    rounds(5, 8)
    after, later = counters()
    assert after < nodes * 1.2
    assert later < heap * 1.5
    assert tab.locator("#shown > tr").count() == 500
    assert place.live.watchers == 1


def test_a_timeline_and_fields_come_from_the_record(
    tab: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from cep.record.finding import RecordedEvent
    from cep.record.read import Evidence, TakenEvent

    other = prepared(tmp_path_factory.mktemp("recorded"))
    recorded: list[tuple[str, str, int, dict[str, object]]] = [
        ("complaint", "x1", 0, {"amount": 12.5}),
        ("complaint", "x2", 90, {"amount": 7}),
        ("taken", "p9", 183_700, {"amount": 88, "memo": "<b>gift</b>"}),
    ]
    events = tuple(
        TakenEvent(step, id_, RecordedEvent("payment", id_, at * 10**9, "0", "f", 0, 0, 0, fields))
        for step, id_, at, fields in recorded
    )
    lost = TakenEvent("taken", "p10", None)
    with served(other, events=lambda _: Evidence((*events, lost), "1 event is not shown")):
        (one,) = other.raise_alerts([alert(1, rule="compromised_terminal")])
        tab.goto(f"{other.address}/alerts/{one.alert['id']}")
        expect(tab.locator("svg.timeline circle")).to_have_count(3)
        expect(tab.locator("svg.timeline")).to_contain_text("2 days 3 h")
        expect(tab.locator("main")).to_contain_text("amount 88, memo <b>gift</b>")
        expect(tab.locator("main")).to_contain_text("1 event is not shown")
        expect(tab.locator("main")).to_contain_text("p10")


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_the_readme_shows(browser: Browser, place: ServedDesk, scheme: Any) -> None:
    """UPDATE_PICTURES=1 draws the pictures of the README anew; else they are there, and small."""
    picture = Path(__file__).parents[2] / "docs" / "pictures" / f"page-{scheme}.png"
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1200, "height": 760})
    tab = context.new_page()
    sign_in(tab, place, after="/alerts")
    drawn = tab.screenshot()
    context.close()
    if os.environ.get("UPDATE_PICTURES"):
        picture.parent.mkdir(exist_ok=True)
        picture.write_bytes(drawn)
    assert picture.read_bytes()[:8] == base64.b64decode("iVBORw0KGgo=")
    assert len(picture.read_bytes()) < 200_000
