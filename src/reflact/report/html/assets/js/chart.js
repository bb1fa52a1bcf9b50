// What all charts share: scales, axes, legends, tooltips, and drawing at the width there is.
import { clear, el, svg } from "./dom.js";
import { visible } from "./text.js";

/** A linear scale from [a, b] to [from, to]. */
export function linear(a, b, from, to) {
  const span = b - a || 1;
  return (value) => from + ((value - a) / span) * (to - from);
}

/** Round numbers from low to high, about so many, and two at least: one alone is no scale. */
export function ticks(low, high, about = 5) {
  const span = high - low || 1;
  const raw = span / Math.max(1, about);
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((value) => value >= raw);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1) found.push(Number((n * step).toPrecision(12)));
  return found.length < 2 && about < 12 ? ticks(low, high, about + 1) : found;
}

/** A tick of differences: with its sign, zero without one. */
export function signedTick(value, digits) {
  return value === 0 ? "0" : `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(digits)}`;
}

/** What measures the width of texts in charts, in pixels, with the font that this reader has. */
export function ruler() {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return (text) => pen.measureText(text).width;
}

/** Decimals that tell ticks apart. */
export function decimals(values) {
  return Math.max(0, ...values.map((value) => (String(value).split(".")[1] ?? "").length));
}

/**
 * A figure that is drawn again when its width changes.
 * draw(width) returns an svg element; title says what is to be seen, for those who cannot see it.
 */
export function figure(title, draw, { legend = [], caption = "" } = {}) {
  const box = el("div", {});
  const node = el("figure", {}, legend.length ? el("ul", { class: "legend" }, legend.map(entry)) : null, box,
    caption ? el("figcaption", {}, caption) : null);
  let width = 0;
  const redraw = () => {
    const now = Math.floor(node.clientWidth);
    if (!now || now === width) return;
    width = now;
    const drawing = draw(width);
    drawing.setAttribute("role", "group");
    drawing.setAttribute("aria-label", visible(title));
    clear(box).append(drawing);
    walkable(drawing);
  };
  new ResizeObserver(redraw).observe(node);
  return node;
}

function entry([name, shape, colour]) {
  return el("li", {}, svg("svg", { width: 22, height: 12, "aria-hidden": "true" }, sign(shape, colour, 11, 6)), name);
}

/** A mark of a shape that tells as much as its colour. */
export function sign(shape, colour, x, y, size = 4.5) {
  const s = size;
  if (shape === "line") return svg("line", { x1: x - 10, x2: x + 10, y1: y, y2: y, class: `line ${colour}` });
  if (shape === "dash") return svg("line", { x1: x - 10, x2: x + 10, y1: y, y2: y, class: `line dash ${colour}` });
  if (shape === "bar") return svg("rect", { x: x - 6, y: y - 5, width: 12, height: 10, class: `fill-${colour}` });
  if (shape === "idle") return svg("rect", { x: x - 6, y: y - 5, width: 12, height: 10, class: "idle" });
  if (shape === "hollow") return svg("circle", { cx: x, cy: y, r: s, class: `hollow ${colour}` });
  if (shape === "cross") {
    return svg("path", { d: `M${x - s} ${y - s}L${x + s} ${y + s}M${x - s} ${y + s}L${x + s} ${y - s}`, class: `line ${colour}` });
  }
  if (shape === "square") return svg("rect", { x: x - s, y: y - s, width: 2 * s, height: 2 * s, class: `fill-${colour}` });
  if (shape === "diamond") {
    const d = s * 1.35;
    return svg("path", { d: `M${x} ${y - d}L${x + d} ${y}L${x} ${y + d}L${x - d} ${y}Z`, class: `fill-${colour}` });
  }
  if (shape === "triangle") {
    const d = s * 1.3;
    return svg("path", { d: `M${x} ${y - d}L${x + d} ${y + d * 0.8}L${x - d} ${y + d * 0.8}Z`, class: `fill-${colour}` });
  }
  return svg("circle", { cx: x, cy: y, r: s, class: `fill-${colour}` });
}

/** Horizontal lines with their values at the left. */
export function leftAxis(scale, values, left, right, write) {
  return svg("g", { "aria-hidden": "true" }, values.map((value) => [
    svg("line", { x1: left, x2: right, y1: scale(value), y2: scale(value), class: "grid" }),
    svg("text", { x: left - 8, y: scale(value) + 4, "text-anchor": "end", class: "soft" }, write(value)),
  ]));
}

/** Values below the chart. */
export function bottomAxis(scale, values, y, write, top = null) {
  return svg("g", { "aria-hidden": "true" }, values.map((value) => [
    top === null ? null : svg("line", { x1: scale(value), x2: scale(value), y1: top, y2: y, class: "grid" }),
    svg("text", { x: scale(value), y: y + 16, "text-anchor": "middle", class: "soft" }, write(value)),
  ]));
}

/** A group that tells its lines when it is pointed at, or reached with the arrow keys. */
export function marked(lines, ...children) {
  const linked = children.flat(3).some((child) => child?.nodeName === "a");
  const node = svg("g", { "data-mark": "", role: linked ? "group" : "img", "aria-label": lines.filter(Boolean).join(", ") }, ...children);
  node.addEventListener("pointerenter", () => showTip(node, lines));
  node.addEventListener("pointerleave", hideTip);
  node.tell = () => showTip(node, lines);
  return node;
}

export function showTip(node, lines) {
  const tip = document.getElementById("tip");
  clear(tip).append(...lines.filter(Boolean).map((line) => el("div", {}, line)));
  tip.hidden = false;
  const at = node.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect();
  const x = Math.min(Math.max(8, at.left + at.width / 2 - width / 2), innerWidth - width - 8);
  const y = at.top - height - 8 > 0 ? at.top - height - 8 : at.bottom + 8;
  tip.style.left = `${x}px`;
  tip.style.top = `${y}px`;
}

export function hideTip() {
  document.getElementById("tip").hidden = true;
}

/** One stop of the tab key; the arrow keys go from mark to mark. */
function walkable(drawing) {
  const marks = [...drawing.querySelectorAll("[data-mark]")];
  if (!marks.length) return;
  drawing.setAttribute("tabindex", "0");
  let place = -1;
  drawing.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hideTip();
    if (!by) return;
    event.preventDefault();
    place = (place + by + marks.length) % marks.length;
    marks[place].tell();
  });
  drawing.addEventListener("blur", hideTip);
}
