// Forest plots: differences with their intervals, a row a point of the study.
import { bottomAxis, decimals, figure, linear, marked, ruler, sign, signedTick, ticks } from "./chart.js";
import { svg } from "./dom.js";
import { interval, signed } from "./text.js";

const ROW = 22;
/** So many rows are higher than a screen: every heading then repeats the values of the axis. */
const TALL = 24;
const KINDS = { versus: "against the best skill of DEFAULT", gain: "against the run's own initial skill" };

/** The rows of groups that have a difference of a kind; empty where there is none. */
export function forestRows(groups, kind) {
  return groups.map((group) => ({
    title: group.title.split(" (")[0],
    rows: group.rows.filter((row) => row[kind][0] !== null && !(kind === "versus" && row.fill === "alias")),
  })).filter((group) => group.rows.length);
}

export function forest(groups, kind, several) {
  const number = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const legend = [["the interval leaves zero out", "square", "blue"], ["the interval holds zero: noise", "hollow", "grey"]];
  const caption = `Best skill ${KINDS[kind]}, test items of both sides paired, 95% bootstrap intervals, not corrected for the number of comparisons; the p-values of the tables are (Holm).`;
  return figure(`${number} differences on test, ${KINDS[kind]}`, (width) => draw(groups, kind, several, width), { legend, caption });
}

function draw(groups, kind, several, width) {
  const rows = groups.flatMap((group) => [{ heading: group.title }, ...group.rows]);
  const left = Math.min(several ? 210 : 150, width * 0.42);
  const right = width > 560 ? 190 : 12;
  const height = rows.length * ROW + 44;
  const bounds = rows.filter((row) => !row.heading).flatMap((row) => row[kind].slice(0, 3)).filter((value) => value !== null);
  const low = Math.min(0, ...bounds);
  const high = Math.max(0, ...bounds);
  const pad = (high - low || 0.2) * 0.04;
  const x = linear(low - pad, high + pad, left, width - right);
  const values = ticks(low - pad, high + pad, Math.max(2, Math.floor((width - left - right) / 60)));
  const digits = decimals(values);
  const bottom = rows.length * ROW + 8;
  const measure = ruler();
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    bottomAxis(x, values, bottom, (value) => signedTick(value, digits), 4),
    svg("line", { x1: x(0), x2: x(0), y1: 4, y2: bottom, class: "zero" }),
    rows.map((row, place) => (row.heading
      ? heading(row.heading, place * ROW + 19, rows.length > TALL ? values : [], x, (value) => signedTick(value, digits))
      : line(row, kind, several, place * ROW + 15, x, { left, right, width, measure }))));
}

function heading(name, y, values, x, write) {
  const free = values.filter((value) => x(value) > name.length * 8 + 24);
  return svg("g", {}, svg("text", { x: 0, y, class: "strong" }, name),
    svg("g", { "aria-hidden": "true" }, free.map((value) => svg("text", { x: x(value), y, "text-anchor": "middle", class: "soft tick" }, write(value)))));
}

function line(row, kind, several, y, x, { left, right, width, measure }) {
  const [value, low, high, n, p] = row[kind];
  const noise = low === null || (low <= 0 && high >= 0);
  const colour = noise ? "grey" : "blue";
  const name = fit(several ? row.benchmark : "", row.value, left - 14, measure);
  const text = svg("text", { x: left - 12, y: y + 4, "text-anchor": "end" }, name);
  const numbers = `${signed(value)} ${interval(low === null ? null : [low, high], signed)}`;
  const lines = [`${row.benchmark} ${row.value}`, `${numbers}${n === null ? "" : ` n=${n}`}`, p === null ? "" : `p = ${p.toFixed(3)} (Holm)`,
    row.fill === "reused" ? "the DEFAULT run" : row.run];
  return marked(lines,
    svg("rect", { x: 0, y: y - ROW / 2, width, height: ROW, class: "hit" }),
    row.place ? svg("a", { href: `#/run/${encodeURIComponent(row.place)}` }, text) : text,
    low === null ? null : svg("line", { x1: x(low), x2: x(high), y1: y, y2: y, class: `whisker ${colour}` }),
    low === null ? null : svg("path", { d: `M${x(low)} ${y - 4}V${y + 4}M${x(high)} ${y - 4}V${y + 4}`, class: `whisker ${colour}` }),
    sign(noise ? "hollow" : "square", colour, x(value), y, 4),
    right > 100 ? svg("text", { x: width, y: y + 4, "text-anchor": "end", class: noise ? "soft" : "strong" }, numbers) : null);
}

/** A point's name, cut to a width: the benchmark gives way first, for the value tells rows apart. */
function fit(benchmark, value, width, measure) {
  const cut = (text, kept) => (kept < text.length ? `${text.slice(0, kept)}…` : text);
  const name = () => `${cut(benchmark, first)} ${cut(value, last)}`.trim();
  let [first, last] = [benchmark.length, value.length];
  while (first > 3 && measure(name()) > width) first -= 1;
  while (last > 3 && measure(name()) > width) last -= 1;
  return name();
}
