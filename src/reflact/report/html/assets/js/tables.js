// Tables: sorting what is there, and small ones made here.
import { el } from "./dom.js";

/** Let the heads of a table sort its rows. */
export function sortable(table) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    const name = head.textContent;
    head.replaceChildren(el("button", { type: "button", on: { click: () => sort(table, head, column) } }, name));
  });
}

function sort(table, head, column) {
  const down = head.getAttribute("aria-sort") === "ascending";
  table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [row, key(row.cells[column])]);
  rows.sort(([, a], [, b]) => compare(a, b) * (down ? -1 : 1));
  body.append(...rows.map(([row]) => row));
}

function key(cell) {
  const text = cell.dataset.sort ?? cell.textContent;
  const number = Number(text);
  return text === "" || text === "–" || Number.isNaN(number) ? text : number;
}

/** Numbers before texts, `–` last. */
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  if ((a === "–") !== (b === "–")) return a === "–" ? 1 : -1;
  return a.localeCompare(b, "en", { numeric: true });
}

/** A table of texts and elements; `numeric` columns stand at the right. */
export function table(heads, rows, { label, numeric = [], wrap = false } = {}) {
  const side = (place) => (numeric.includes(place) ? "num" : null);
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label ?? heads.join(", ") },
    el("table", { class: wrap ? "wrap" : null },
      el("thead", {}, el("tr", {}, heads.map((head, place) => el("th", { scope: "col", class: side(place) }, head)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) => el("td", { class: side(place) }, cell)))))));
}
