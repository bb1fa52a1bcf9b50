// Scores over the steps of a run, the edit budget, and the length of the skill.
import { bottomAxis, decimals, figure, leftAxis, linear, marked, sign, ticks } from "./chart.js";
import { svg } from "./dom.js";
import { interval, score, spoken } from "./text.js";

const SHAPES = {
  accept_new_best: ["triangle", "green"], accept: ["circle", "green"], force_accept: ["diamond", "orange"],
  reject: ["cross", "red"],
};
const FRAME = { top: 12, left: 46, right: 12, bottom: 44 };

export const ACTION_LEGEND = [
  ["new best", "triangle", "green"], ["accepted", "circle", "green"], ["rejected", "cross", "red"],
];

/** The chart of selection and rollout scores. */
export function scoreCurve(points, metric) {
  const title = `Scores over ${points.length - 1} steps and epoch ends, from ${score(points[0]?.score)} to ${score(points.at(-1)?.best)}`;
  const forced = points.some((point) => point.action === "force_accept") ? [["taken without a gate", "diamond", "orange"]] : [];
  const legend = [
    ["current skill, selection", "line", "blue"], ["best so far", "dash", "green"], ["rollout (train)", "hollow", "purple"],
    ...ACTION_LEGEND, ...forced,
  ];
  const caption = `Selection scores are in the gate's metric (${metric}) with 95% intervals; rollouts are means of hard on other items.`;
  return figure(title, (width) => drawScores(points, width), { legend, caption });
}

function drawScores(points, width) {
  const height = Math.min(340, Math.max(240, width * 0.4));
  const inner = { ...FRAME, width, height };
  const x = columns(points, inner);
  const known = points.flatMap((point) => [point.score, point.rollout?.hard, ...(point.interval ?? []), ...(point.rollout?.interval ?? [])])
    .filter((value) => value !== null && value !== undefined);
  const [low, high] = range(known);
  const y = linear(low, high, height - FRAME.bottom, FRAME.top);
  const values = ticks(low, high, 5);
  const digits = decimals(values);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    leftAxis(y, values, FRAME.left, width - FRAME.right, (value) => value.toFixed(digits)),
    names(points, x, inner),
    svg("path", { d: steps(points, x, y, "current"), class: "line blue" }),
    svg("path", { d: steps(points, x, y, "best"), class: "line dash green" }),
    points.map((point, place) => rollout(point, x(place) - 5, y)),
    points.map((point, place) => candidate(point, x(place) + 2, y)));
}

function range(values) {
  if (!values.length) return [0, 1];
  const low = Math.max(0, Math.min(...values) - 0.03);
  const high = Math.min(1, Math.max(...values) + 0.03);
  return high - low < 0.1 ? [Math.max(0, low - 0.05), Math.min(1, high + 0.05)] : [low, high];
}

function columns(points, { left, right, width }) {
  const room = width - left - right;
  const each = room / Math.max(1, points.length);
  return (place) => left + each * (place + 0.5);
}

/** As many names below as there is room for. */
function names(points, x, { height, width, bottom }) {
  const every = Math.max(1, Math.ceil((points.length * 46) / Math.max(1, width - 60)));
  return svg("g", { "aria-hidden": "true" }, points.map((point, place) => (place % every ? null : [
    svg("text", { x: x(place), y: height - bottom + 18, "text-anchor": "middle", class: "soft" }, short(point)),
    point.kind !== "step" && point.kind !== "initial"
      ? svg("text", { x: x(place), y: height - bottom + 32, "text-anchor": "middle", class: "soft" }, point.kind === "slow_update" ? "slow" : "meta")
      : null,
  ])));
}

function short(point) {
  if (point.kind === "initial") return "initial";
  return point.kind === "step" ? `${point.step}` : `e${point.epoch}`;
}

function steps(points, x, y, name) {
  let path = "";
  let before = null;
  points.forEach((point, place) => {
    const value = point[name];
    if (value === null || value === undefined) return;
    path += before === null ? `M${x(place)} ${y(value)}` : `H${x(place)}V${y(value)}`;
    before = value;
  });
  return path;
}

function whisker(x, y, bounds, colour) {
  if (!bounds) return null;
  const [top, bottom] = [y(bounds[1]), y(bounds[0])];
  return svg("path", { d: `M${x - 3} ${top}H${x + 3}M${x} ${top}V${bottom}M${x - 3} ${bottom}H${x + 3}`, class: `whisker faint ${colour}` });
}

function rollout(point, x, y) {
  if (!point.rollout) return null;
  const { hard, scored } = point.rollout;
  const lines = [`${point.label}, rollout`, `hard ${score(hard)} ${interval(point.rollout.interval)} n=${scored}`];
  return marked(lines, whisker(x, y, point.rollout.interval, "purple"), sign("hollow", "purple", x, y(hard), 3.5));
}

function candidate(point, x, y) {
  if (point.score === null || point.score === undefined) return null;
  const [shape, colour] = SHAPES[point.action] ?? ["square", "blue"];
  const lines = [point.kind === "initial" ? "initial skill, selection" : `${point.label}: ${spoken(point.action)}`,
    `selection ${score(point.score)} ${interval(point.interval)} n=${point.scored ?? "?"}`];
  return marked(lines, whisker(x, y, point.interval, colour), sign(shape, colour, x, y(point.score)));
}

/** Bars of the edits that were applied, under the budget of each step. */
export function editCurve(points) {
  const own = points.filter((point) => point.kind !== "initial" && point.kind !== "slow_update");
  const legend = [["edit budget", "line", "orange"], ["applied", "bar", "blue"]];
  return figure(`Edit budget and applied edits of ${own.length} steps`, (width) => drawEdits(own, width), { legend });
}

function drawEdits(points, width) {
  const height = 190;
  const inner = { ...FRAME, width, height };
  const x = columns(points, inner);
  const high = Math.max(1, ...points.map((point) => Math.max(point.budget ?? 0, point.applied ?? 0)));
  const y = linear(0, high, height - FRAME.bottom, FRAME.top);
  const each = Math.min(26, ((width - 60) / Math.max(1, points.length)) * 0.55);
  const values = ticks(0, high, 4).filter(Number.isInteger);
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    leftAxis(y, values, FRAME.left, width - FRAME.right, String),
    names(points, x, inner),
    points.map((point, place) => marked(
      [point.label, `${point.applied ?? 0} applied of ${point.selected ?? 0} selected, ${point.merged ?? 0} merged`,
        point.budget === null || point.budget === undefined ? "no budget" : `budget ${point.budget}`, spoken(point.action)],
      svg("rect", { x: x(place) - each, y: FRAME.top, width: each * 2, height: height - FRAME.bottom - FRAME.top, class: "hit" }),
      svg("rect", { x: x(place) - each / 2, y: y(point.applied ?? 0), width: each, height: y(0) - y(point.applied ?? 0), class: "fill-blue" }),
      point.budget === null || point.budget === undefined ? null
        : svg("line", { x1: x(place) - each, x2: x(place) + each, y1: y(point.budget), y2: y(point.budget), class: "line orange" }))));
}

/** The length of each candidate; what was taken is filled. */
export function lengthCurve(points) {
  const own = points.filter((point) => point.chars);
  return figure(`Length of the skill, ${own[0]?.chars ?? 0} characters at first`, (width) => drawLength(own, width), { legend: ACTION_LEGEND });
}

function drawLength(points, width) {
  const height = 190;
  const inner = { ...FRAME, left: 56, width, height };
  const x = columns(points, inner);
  const high = Math.max(1, ...points.map((point) => point.chars));
  const y = linear(0, high * 1.08, height - FRAME.bottom, FRAME.top);
  const taken = points.filter((point) => point.kind === "initial" || /accept/.test(point.action));
  const line = taken.map((point, place) => `${place ? "H" : "M"}${x(points.indexOf(point))}${place ? "V" : " "}${y(point.chars)}`).join("");
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    leftAxis(y, ticks(0, high, 4), 56, width - FRAME.right, (value) => value.toLocaleString("en")),
    names(points, x, inner),
    svg("path", { d: line, class: "line blue" }),
    points.map((point, place) => {
      const [shape, colour] = SHAPES[point.action] ?? ["square", "blue"];
      return marked([point.label, `${point.chars.toLocaleString("en")} characters`, spoken(point.action)], sign(shape, colour, x(place), y(point.chars), 4));
    }));
}
