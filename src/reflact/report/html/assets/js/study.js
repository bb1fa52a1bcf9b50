// The first page: its tables are there already; charts, sorting and the filter of runs are added.
import { clear, el } from "./dom.js";
import { forest, forestRows } from "./forest.js";
import { scatter, scatterData } from "./scatter.js";
import { sortable } from "./tables.js";
import { plural } from "./text.js";

export function showStudy(index) {
  document.querySelectorAll("table.sortable").forEach(sortable);
  forests(index.charts ?? []);
  const points = scatterData(index.charts ?? []);
  const place = document.getElementById("scatter");
  place.append(points.rows.length ? scatter(points) : el("p", { class: "soft" }, "No valid run has a gain on test yet."));
  runFilter();
}

function forests(groups) {
  const place = document.getElementById("forest");
  const several = new Set(groups.flatMap((group) => group.rows.map((row) => row.benchmark))).size > 1;
  const kinds = [["versus", "against DEFAULT"], ["gain", "against the initial skill"]]
    .map(([kind, name]) => [kind, name, forestRows(groups, kind)]).filter(([, , rows]) => rows.length);
  if (!kinds.length) {
    place.append(el("p", { class: "soft" }, "No two valid runs can be compared yet."));
    return;
  }
  const chart = el("div", {});
  const buttons = kinds.map(([kind, name, rows]) => el("button", { type: "button", on: { click: () => show(kind, rows) } }, name));
  const show = (kind, rows) => {
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(kinds[at][0] === kind)));
    clear(chart).append(forest(rows, kind, several));
  };
  place.append(el("div", { class: "controls" }, el("div", { class: "segments", role: "group", "aria-label": "Compare" }, buttons)), chart);
  show(kinds[0][0], kinds[0][2]);
}

function runFilter() {
  const rows = [...document.querySelectorAll("#run-table tbody tr")];
  const states = [...new Set(rows.map((row) => row.dataset.state))];
  const shown = el("span", { class: "soft", role: "status" });
  const search = el("input", { type: "search", on: { input: () => apply() } });
  const state = el("select", { on: { change: () => apply() } }, el("option", { value: "" }, "all"), states.map((name) => el("option", { value: name }, name)),
    rows.some((row) => row.dataset.invalid) ? el("option", { value: "*invalid" }, "invalid") : null);
  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let left = 0;
    for (const row of rows) {
      const text = row.dataset.words.toLowerCase();
      const fits = state.value === "*invalid" ? row.dataset.invalid === "yes" : !state.value || row.dataset.state === state.value;
      row.hidden = !(fits && words.every((word) => text.includes(word)));
      left += row.hidden ? 0 : 1;
    }
    shown.textContent = left === rows.length ? plural(left, "run") : `${left} of ${plural(rows.length, "run")}`;
  };
  document.getElementById("run-filter").append(el("label", {}, "Search", search), el("label", {}, "State", state), shown);
  apply();
}
