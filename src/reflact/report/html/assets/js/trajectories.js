// The trajectory browser: filters, a list, and what was said, beside what had been said before.
import { clear, el, foreign } from "./dom.js";
import { FLIPS, filtered, flip, outcome } from "./rows.js";
import { count, duration, plural, score } from "./text.js";

const PAGE = 100;
const LONG = 1500;
const KEYS = ["phase", "status", "outcome", "flip", "type", "id", "q"];

/** The browser; `open` is the place of a row, `go(filter, place)` remembers where people are. */
export function browser(data, filter, open, go) {
  const list = el("div", { class: "list" });
  const detail = el("div", { class: "detail" });
  const box = el("div", { class: "explorer" });
  const status = el("span", { class: "soft", role: "status" });
  const known = data.phases.some((phase) => [phase.name, phase.kind].includes(filter.phase));
  const state = { filter: { ...filter, phase: known ? filter.phase : "" }, open, shown: PAGE };
  const refresh = () => {
    const rows = filtered(data, state.filter);
    status.textContent = rows.length === data.rows.length ? plural(rows.length, "row") : `${rows.length} of ${plural(data.rows.length, "row")}`;
    drawList(list, data, rows, state, choose, refresh);
  };
  const choose = (place) => {
    state.open = place;
    box.classList.toggle("opened", place !== null);
    go(state.filter, place);
    clear(detail);
    if (place !== null) detail.append(...[rowDetail(data, data.rows[place], () => choose(null), choose)].flat(3).filter(Boolean));
    else detail.append(el("p", { class: "soft" }, "Choose a row to read what was said."));
    list.querySelectorAll("a").forEach((link) => link.setAttribute("aria-current", String(Number(link.dataset.place) === place)));
  };
  const change = () => {
    state.shown = PAGE;
    go(state.filter, state.open);
    refresh();
  };
  box.append(filters(data, state, change, status), el("div", { class: "browser" }, list, detail));
  list.addEventListener("keydown", walk);
  refresh();
  choose(data.rows[open] ? open : null);
  return box;
}

/** The arrow keys go from row to row. */
function walk(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...event.currentTarget.querySelectorAll("a")];
  const next = by ? links[links.indexOf(document.activeElement) + by] : null;
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function filters(data, state, change, status) {
  const set = (name) => ({ target }) => {
    state.filter[name] = target.value;
    change();
  };
  const choice = (name, title, options) => el("label", {}, title, el("select", { on: { change: set(name) } },
    [["", "all"], ...options].map(([value, text]) => el("option", { value, selected: (state.filter[name] ?? "") === value }, text))));
  const known = (name) => [...new Set(data.rows.map((row) => row[name]))].filter(Boolean).sort().map((value) => [value, value]);
  const kinds = [...new Set(data.phases.map((phase) => phase.kind))].map((kind) => [kind, `every ${kind} row`]);
  const types = known("type");
  let timer;
  const later = (name) => (event) => {
    clearTimeout(timer);
    timer = setTimeout(() => set(name)(event), 120);
  };
  const search = el("input", { type: "search", value: state.filter.q ?? "", on: { input: later("q") } });
  const one = state.filter.id ? el("button", { type: "button", on: { click: (event) => {
    state.filter.id = "";
    event.target.remove();
    change();
  } } }, "item ", foreign(state.filter.id), " ×") : null;
  return el("div", { class: "controls" },
    choice("phase", "Phase", [...kinds, ...data.phases.map((phase) => [phase.name, phase.title])]),
    choice("outcome", "Outcome", [["right", "right"], ["wrong", "wrong"], ["none", "no score"]]),
    choice("flip", "Against before", FLIPS.map((name) => [name, name])),
    choice("status", "Status", known("status")),
    types.length ? choice("type", "Task type", types) : null,
    el("label", { class: "wide" }, "Search in all texts", search), one, status);
}

function drawList(list, data, rows, state, choose, refresh) {
  const items = rows.slice(0, state.shown).map((row) => {
    const link = el("a", { href: "#", "data-place": row.place, "aria-current": String(row.place === state.open), on: { click: (event) => {
      event.preventDefault();
      choose(row.place);
    } } },
    el("span", { class: "line" }, el("span", { class: "id foreign" }, row.id), badges(row)),
    el("span", { class: "question foreign" }, row.question.slice(0, 160) || " "),
    el("span", { class: "rest" }, data.phases[row.phase].title));
    return el("li", {}, link);
  });
  const left = rows.length - items.length;
  const more = left > 0 ? el("button", { type: "button", class: "more", on: { click: () => {
    state.shown += PAGE;
    refresh();
  } } }, `${Math.min(PAGE, left)} more of ${left}`) : null;
  clear(list).append(el("ol", {}, items), ...(more ? [more] : []));
  if (!rows.length) list.append(el("p", { class: "soft" }, "Nothing fits the filters."));
}

function badges(row) {
  const change = flip(row);
  const found = outcome(row);
  return [
    row.status === "ok" ? null : el("span", { class: "badge" }, row.status),
    change.includes(" to ") ? el("span", { class: `badge ${found}` }, change.replace(" to ", " → "))
      : el("span", { class: `badge ${found === "none" ? "" : found}` }, found === "none" ? "no score" : found),
  ];
}

function rowDetail(data, row, back, choose) {
  return [
    el("p", { class: "back-to-list" }, el("button", { type: "button", on: { click: back } }, "← Back to the list")),
    el("h2", { class: "foreign" }, row.id),
    el("p", { class: "foreign" }, row.question),
    row.gold.length ? el("p", {}, el("span", { class: "soft" }, "expected: "), row.gold.map((gold, place) => [place ? " · " : "", foreign(gold)])) : null,
    el("div", { class: "pair" }, side(data, row, "", null), row.other ? side(data, row.other, "before: ", choose) : null),
  ];
}

function side(data, row, before, choose) {
  const title = `${before}${data.phases[row.phase].title}`;
  const numbers = [plural(row.n_turns ?? 0, "turn"), `${count(row.tokens)} tokens`, duration(row.latency), row.wait ? `${duration(row.wait)} waiting` : "",
    row.attempt > 1 ? `attempt ${row.attempt}` : "", row.repeat ? `repeat ${row.repeat}` : "", row.truncated ? "cut by the token cap" : "",
    row.no_action ? `${plural(row.no_action, "turn")} without an action` : ""].filter(Boolean).join(", ");
  return el("section", {},
    el("h3", {}, choose ? el("a", { href: "#", on: { click: (event) => {
      event.preventDefault();
      choose(row.place);
    } } }, title) : title),
    el("p", {}, badges(row), ` hard ${score(row.hard)}, soft ${score(row.soft)} `, row.type ? el("span", { class: "chip foreign" }, row.type) : null),
    el("p", {}, el("span", { class: "soft" }, "answer: "), row.hasAnswer ? foreign(row.answer) : el("span", { class: "soft" }, "none")),
    row.cause ? el("p", {}, el("span", { class: "soft" }, "cause: "), foreign(row.cause)) : null,
    row.reason ? el("p", {}, el("span", { class: "soft" }, "why not right: "), foreign(row.reason)) : null,
    el("p", { class: "rest" }, numbers),
    row.turns.length ? row.turns.map(turn) : el("p", { class: "soft" }, "What was said is not in this file."),
    row.extra ? el("details", {}, el("summary", { class: "rest" }, "More of this row"), el("pre", {}, row.extra)) : null);
}

function turn([role, content]) {
  const text = el("pre", { class: content.length > LONG ? "long" : null }, content || " ");
  const more = content.length > LONG ? el("button", { type: "button", on: { click: (event) => {
    text.classList.remove("long");
    event.target.remove();
  } } }, `Show all ${content.length.toLocaleString("en")} characters`) : null;
  return el("div", { class: `turn ${role === "assistant" ? "assistant" : ""}` }, el("h4", { class: "foreign" }, role || "(left out)"), text, more);
}

export function filterOf(query) {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries(KEYS.filter((key) => parameters.get(key)).map((key) => [key, parameters.get(key)]));
}

export function queryOf(filter) {
  const parameters = new URLSearchParams(KEYS.filter((key) => filter[key]).map((key) => [key, filter[key]]));
  return parameters.toString();
}
