// Cost against gain: a mark a run; a line joins those that no cheaper one matches on the selection split.
import { bottomAxis, decimals, figure, leftAxis, linear, marked, ruler, sign, signedTick, ticks } from "./chart.js";
import { svg } from "./dom.js";
import { count, interval, money, signed } from "./text.js";

const SHAPES = ["circle", "square", "diamond", "triangle", "cross", "hollow"];
const COLOURS = ["blue", "orange", "green", "purple", "red", "grey"];
const MOST_NAMES = 8;
const FRAME = { top: 14, left: 54, right: 14, bottom: 46 };

/** One row a run that has a gain and a price, in money where all have one, else in tokens. */
export function scatterData(groups) {
  const rows = new Map();
  for (const row of groups.flatMap((group) => group.rows.map((each) => ({ ...each, name: `${group.title.split(" (")[0]} ${each.value}` })))) {
    if (row.fill === "measured" && row.gain[0] !== null && row.tokens !== null) rows.set(`${row.run} ${row.benchmark}`, row);
  }
  const found = [...rows.values()];
  const priced = found.length > 0 && found.every((row) => row.cost !== null);
  return { rows: found, unit: priced ? "cost" : "tokens" };
}

export function scatter({ rows, unit }) {
  const benchmarks = [...new Set(rows.map((row) => row.benchmark))];
  const look = new Map(benchmarks.map((name, place) => [name, [SHAPES[place % 6], COLOURS[place % 6]]]));
  const legend = [...look].map(([name, [shape, colour]]) => [name, shape, colour]);
  if (rows.length > 1) legend.push([`no cheaper run${look.size > 1 ? " of the benchmark" : ""} scores as high on selection`, "dash", look.size > 1 ? "grey" : COLOURS[0]]);
  const what = unit === "cost" ? "US dollars" : "tokens";
  const caption = `Gain of the best over the initial skill on test against ${what} (own and reused).${unit === "cost" ? "" : " The price of at least one run is not known, so tokens stand for cost."}`;
  return figure(`Gain on test against ${what} of ${rows.length} runs`, (width) => draw(rows, unit, look, width), { legend, caption });
}

function draw(rows, unit, look, width) {
  const height = Math.min(420, Math.max(260, width * 0.8));
  const costs = rows.map((row) => row[unit]);
  const gains = rows.map((row) => row.gain[0]);
  const wide = Math.max(...costs) > 20 * Math.max(1e-9, Math.min(...costs)) && Math.min(...costs) > 0;
  const place = wide ? Math.log10 : (value) => value;
  const [left, right] = [Math.min(...costs.map(place)), Math.max(...costs.map(place))];
  const padX = (right - left || Math.abs(right) || 1) * 0.08;
  const xs = linear(left - padX, right + padX, FRAME.left, width - FRAME.right);
  const x = (value) => xs(place(value));
  const [low, high] = [Math.min(0, ...gains), Math.max(0, ...gains)];
  const padY = (high - low || 0.2) * 0.08;
  const y = linear(low - padY, high + padY, height - FRAME.bottom, FRAME.top);
  const yTicks = ticks(low - padY, high + padY, 5);
  const xTicks = wide ? decades(left, right) : ticks(left - padX, right + padX, Math.floor(width / 110)).filter((value) => value >= 0);
  const fronts = [...look].map(([name, [, colour]]) => [front(rows.filter((row) => row.benchmark === name), unit), colour]);
  const labelled = fronts.flatMap(([kept]) => kept);
  const write = unit === "cost" ? money : count;
  const digits = decimals(yTicks);
  const measure = ruler();
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    leftAxis(y, yTicks, FRAME.left, width - FRAME.right, (value) => signedTick(value, digits)),
    bottomAxis(x, xTicks, height - FRAME.bottom, write, FRAME.top),
    svg("text", { x: (FRAME.left + width - FRAME.right) / 2, y: height - 8, "text-anchor": "middle", class: "soft" }, unit === "cost" ? "cost of the run" : "tokens of the run"),
    svg("line", { x1: FRAME.left, x2: width - FRAME.right, y1: y(0), y2: y(0), class: "zero" }),
    fronts.map(([kept, colour]) => svg("path", { d: path(kept, unit, x, y), class: `line dash ${colour}` })),
    (labelled.length > MOST_NAMES ? [] : labelled).map((row) => label(row, x(row[unit]), y(row.gain[0]), width, measure)),
    rows.map((row) => mark(row, unit, write, look.get(row.benchmark), x, y)));
}

/** 1, 2 and 5 of each power of ten between two logarithms; fewer where there are many powers. */
function decades(low, high) {
  const steps = high - low > 2.2 ? [1] : [1, 2, 5];
  const found = [];
  for (let n = Math.floor(low); n <= Math.ceil(high); n += 1) found.push(...steps.map((step) => step * 10 ** n));
  return found.filter((value) => Math.log10(value) >= low - 0.02 && Math.log10(value) <= high + 0.02);
}

/** The runs that beat every cheaper one on selection, from the cheapest on. Choosing on test would flatter what is shown there. */
function front(rows, unit) {
  let best = -Infinity;
  const known = rows.filter((row) => row.selection !== null);
  return known.sort((a, b) => a[unit] - b[unit] || b.selection - a.selection).filter((row) => row.selection > best && ((best = row.selection), true));
}

function label(row, x, y, width, measure) {
  const late = x > width * 0.7;
  const room = (late ? x : width - x) - 12;
  let name = row.name;
  while (name.length > 2 && measure(name) > room) name = `${name.replace("…", "").slice(0, -1)}…`;
  return svg("text", { x: late ? x - 9 : x + 9, y: y - 8, "text-anchor": late ? "end" : "start", class: "soft" }, name);
}

function path(kept, unit, x, y) {
  return kept.map((row, place) => (place ? `H${x(row[unit])}V${y(row.gain[0])}` : `M${x(row[unit])} ${y(row.gain[0])}`)).join("");
}

function mark(row, unit, write, [shape, colour], x, y) {
  const [value, low, high] = row.gain;
  const lines = [row.run, `gain ${signed(value)} ${interval(low === null ? null : [low, high], signed)}`, `${write(row[unit])}${unit === "tokens" ? " tokens" : ""}`];
  const drawn = [
    svg("circle", { cx: x(row[unit]), cy: y(value), r: 11, class: "hit" }),
    svg("g", { class: "ring" }, sign(shape, colour, x(row[unit]), y(value), 5)),
  ];
  return marked(lines, row.place ? svg("a", { href: `#/run/${encodeURIComponent(row.place)}`, "aria-label": row.run }, drawn) : drawn);
}
