// What a run did when: a lane for each kind of evaluation, one for the teacher, and what got in the way.
import { bottomAxis, figure, linear, marked, sign, ticks } from "./chart.js";
import { svg } from "./dom.js";
import { duration, score, spoken } from "./text.js";

const LANES = [["selection", "selection", "blue"], ["train", "rollout", "purple"], ["slow", "slow update", "orange"], ["test", "test", "green"]];
const ROW = 26;
const MARKS = { accept_new_best: ["triangle", "green"], accept: ["circle", "green"], force_accept: ["diamond", "orange"], reject: ["cross", "red"] };

export function timeline(data) {
  const kinds = new Set(data.bars.map((bar) => bar[1]));
  const lanes = [
    ...LANES.filter(([kind]) => kinds.has(kind)),
    ...[...kinds].filter((kind) => !LANES.some(([known]) => known === kind)).map((kind) => [kind, kind, "grey"]),
  ];
  const title = `Timeline of ${duration(data.end)} of work in ${data.processes.length} process(es)`;
  const legend = [["in idle slots", "idle", "green"], ["new best", "triangle", "green"], ["accepted", "circle", "green"], ["rejected", "cross", "red"]];
  if (data.retries.length) legend.push(["repeated attempts", "bar", "red"]);
  const caption = data.processes.length > 1
    ? `${data.processes.length} processes worked on this run (vertical lines); the time between them is left out.` : "";
  return figure(title, (width) => draw(data, lanes, width), { legend, caption });
}

function draw(data, lanes, width) {
  const names = [...lanes.map(([, name]) => name), ...(data.teacher.length ? ["teacher"] : []), ...(data.retries.length ? ["retries"] : []), "decisions"];
  const left = 86;
  const height = names.length * ROW + 34;
  const x = linear(0, Math.max(data.end, 1e-6), left, width - 14);
  const y = (name) => names.indexOf(name) * ROW + 6;
  const bottom = names.length * ROW + 6;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    bottomAxis(x, ticks(0, data.end, Math.max(2, Math.floor(width / 130))), bottom, duration, 4),
    names.map((name) => svg("text", { x: 0, y: y(name) + 14, class: "soft" }, name)),
    data.processes.slice(1).map(([start]) => svg("line", { x1: x(start), x2: x(start), y1: 2, y2: bottom, class: "zero" })),
    data.bars.map((bar) => phase(bar, lanes, x, y)),
    data.teacher.map(([from, to]) => marked(["teacher", `${duration(from)} to ${duration(to)}`], bar(x, y("teacher"), from, to, "fill-orange"))),
    data.retries.map(([from, to, counts]) => marked(["repeated attempts", ...counts.map(([cause, times]) => `${cause} ×${times}`)], bar(x, y("retries"), from, to, "fill-red"))),
    data.marks.map(([at, action, what]) => decision(at, action, what, x, y("decisions"))));
}

function phase([name, kind, from, to, background, hard], lanes, x, y) {
  const [, lane, colour] = lanes.find(([known]) => known === kind);
  const lines = [name, `${duration(to - from)}, from ${duration(from)} on`, hard === null ? "not complete" : `hard ${score(hard)}`, background ? "in idle slots" : ""];
  return marked(lines, bar(x, y(lane), from, to, background ? "idle" : `fill-${colour}`));
}

function bar(x, y, from, to, colour) {
  return svg("rect", { x: x(from), y: y + 2, width: Math.max(1.5, x(to) - x(from)), height: ROW - 9, rx: 2, class: colour });
}

function decision(at, action, what, x, y) {
  const [shape, colour] = MARKS[action] ?? ["square", "grey"];
  return marked([what, spoken(action)], sign(shape, colour, x(at), y + 11, 4));
}
