// What the page does more where scripts run: live rows, keys, charts. Everything else is plain HTML.
"use strict";
(() => {
  const MOST = 500;  // rows that wait to be shown; what is more is read by loading the page anew

  // Rows that came since the page was loaded wait in a part of the table that is not shown.
  const incoming = document.getElementById("incoming");
  const shown = document.getElementById("shown");
  const announce = document.getElementById("announce");
  const missed = document.getElementById("missed");
  let last = incoming ? Number(incoming.dataset.after) : 0;

  const tell = () => {
    const count = incoming.children.length;
    announce.hidden = count === 0;
    announce.textContent = count === 1 ? "1 new" : `${count} new`;
  };
  const begin = () => {
    const template = document.getElementById("stream");
    if (!template || document.getElementById("streaming")) return;
    const streaming = template.content.firstElementChild.cloneNode(true);
    const address = new URL(streaming.getAttribute("sse-connect"), location.href);
    address.searchParams.set("after", String(last));
    streaming.setAttribute("sse-connect", address.pathname + address.search);
    document.body.append(streaming);
    htmx.process(streaming);
  };
  let source = null;
  const end = () => {
    if (source) source.close();
    source = null;
    const streaming = document.getElementById("streaming");
    if (streaming) streaming.remove();
  };
  const miss = (count) => {
    end();
    missed.hidden = false;
    missed.querySelector("span").textContent = `You missed ${count} alerts or more.`;
  };
  if (incoming) {
    htmx.createEventSource = (address) => (source = new EventSource(address));
    document.body.addEventListener("htmx:sseBeforeMessage", (event) => {
      const message = event.detail;
      if (message.type === "missed") {
        event.preventDefault();
        miss(message.data);
        return;
      }
      const number = Number(message.lastEventId);
      if (number <= last) event.preventDefault();  // a stream that was opened anew tells some again
      else last = number;
    });
    document.body.addEventListener("htmx:sseMessage", () => {
      if (incoming.children.length > MOST) miss(incoming.children.length);
      tell();
    });
    announce.addEventListener("click", () => {
      for (const row of incoming.children) row.classList.add("new");
      shown.prepend(...incoming.children);
      while (shown.children.length > MOST) shown.lastElementChild.remove();
      tell();
      const first = shown.querySelector("[data-row]");
      if (first) first.focus();
    });
    // a browser has six connections to a place: a page that nobody sees keeps none
    document.addEventListener("visibilitychange", () => (document.hidden ? end() : missed.hidden && begin()));
    if (!document.hidden) begin();
  }

  // Keys: j and k go through rows, Enter opens one, / looks for something, a acknowledges, s silences.
  const rows = () => [...document.querySelectorAll("[data-row]")].filter((one) => !one.closest("[hidden]"));
  const current = () => document.activeElement && document.activeElement.closest("tr");
  const select = (step) => {
    const all = rows();
    const row = current();
    const at = all.findIndex((one) => one.closest("tr") === row);
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
    if (next) next.focus();
  };
  const acknowledge = () => {
    const row = current();
    const form = document.getElementById("acknowledge-row");
    if (row && row.dataset.id && form) {
      form.elements.id.value = row.dataset.id;
      form.requestSubmit();
      return;
    }
    const button = document.querySelector("[data-key=a]");
    if (button && !row) button.click();
  };
  const silence = () => {
    const row = current();
    const link = row && row.querySelector("[data-silence]");
    const field = document.querySelector("[data-key=s]");
    if (link) location.assign(link.dataset.silence);
    else if (field) field.focus();
  };
  const KEYS = {
    j: () => select(1), k: () => select(-1), a: acknowledge, s: silence,
    "/": () => { const field = document.querySelector("[data-key=search]"); if (field) field.focus(); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (KEYS[event.key]) { event.preventDefault(); KEYS[event.key](); }
  });
  document.addEventListener("focusin", (event) => {
    for (const row of document.querySelectorAll("tr[aria-selected]")) row.removeAttribute("aria-selected");
    const row = event.target.closest("[data-row]") && event.target.closest("tr");
    if (row) row.setAttribute("aria-selected", "true");
  });
  // With Shift all boxes from the one before up to this one come to be as this one is.
  let before = null;
  document.addEventListener("click", (event) => {
    const box = event.target;
    if (!box.matches("input[type=checkbox][name=id]")) return;
    const all = [...box.form.querySelectorAll("input[name=id]")];
    const ends = [all.indexOf(before), all.indexOf(box)].sort((a, b) => a - b);
    if (event.shiftKey && ends[0] >= 0) for (const one of all.slice(ends[0], ends[1] + 1)) one.checked = box.checked;
    before = box;
  });
  for (const all of document.querySelectorAll("[data-all]")) {
    all.closest("label").hidden = false;
    all.addEventListener("change", () => {
      for (const one of all.form.querySelectorAll("input[name=id]")) one.checked = all.checked;
    });
  }

  // Charts are drawn from the tables that stand beside them.
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const draw = (figure) => {
    const place = figure.querySelector(".plot");
    const heads = [...figure.querySelectorAll("thead th")].map((one) => one.textContent);
    const body = [...figure.querySelectorAll("tbody tr")].map((row) => [...row.children]);
    if (!window.uPlot || body.length < 2) return;
    const data = heads.map((_, n) => body.map((cells) => {
      const given = cells[n].dataset.value;
      return given === "" ? null : Number(given);
    }));
    const axis = { stroke: style("--quiet"), grid: { stroke: style("--chart-grid"), width: 1 } };
    const hours = { ...axis, space: 60, values: (_, at) => at.map((one) => new Date(one * 1000).toISOString().slice(11, 16)) };
    const colours = [style("--chart-1"), style("--chart-2")];
    place.replaceChildren();
    new uPlot({
      width: Math.max(place.clientWidth - 16, figure.clientWidth - 16), height: 170,
      cursor: { y: false }, axes: [hours, { ...axis, size: 56 }], scales: { y: { range: (_, low, high) => [0, Math.max(high, 1)] } },
      series: [{ label: heads[0], value: (_, at) => at === null ? "–" : new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ") }, ...heads.slice(1).map((label, n) => ({
        label, stroke: colours[n % 2], width: 2, dash: n % 2 ? [6, 4] : undefined, points: { show: false },
      }))],
    }, data, place);
  };
  const drawAll = () => document.querySelectorAll("figure[data-chart]").forEach(draw);
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let resized;
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(drawAll, 150); });
})();
