// Tokens and money by role, stage and phase.
import { bottomAxis, figure, linear, marked, ruler, ticks } from "./chart.js";
import { el, svg } from "./dom.js";
import { count, duration, money, spoken } from "./text.js";

const ROW = 26;

export function spendingChart(rows) {
  const stages = byStage(rows);
  const legend = [["read", "bar", "blue"], ["of it from the cache", "bar", "purple"], ["written", "bar", "orange"]];
  const total = stages.reduce((sum, stage) => sum + stage.prompt + stage.completion, 0);
  return figure(`${count(total)} tokens by stage`, (width) => draw(stages, width), { legend });
}

function byStage(rows) {
  const found = new Map();
  for (const row of rows) {
    const key = `${row.role} ${row.stage}`;
    const stage = found.get(key) ?? { name: `${row.role}, ${spoken(row.stage)}`, prompt: 0, cached: 0, completion: 0, cost: 0 };
    stage.prompt += row.prompt_tokens;
    stage.cached += row.cached_tokens;
    stage.completion += row.completion_tokens;
    stage.cost = row.cost_usd === null || stage.cost === null ? null : stage.cost + row.cost_usd;
    found.set(key, stage);
  }
  return [...found.values()].sort((a, b) => b.prompt + b.completion - a.prompt - a.completion);
}

function draw(stages, width) {
  const left = 12 + Math.max(...stages.map((stage) => stage.name).map(ruler()));
  const right = 64;
  const height = stages.length * ROW + 32;
  const x = linear(0, Math.max(1, ...stages.map((stage) => stage.prompt + stage.completion)), left, width - right);
  const most = Math.max(1, ...stages.map((stage) => stage.prompt + stage.completion));
  const bottom = stages.length * ROW + 4;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height },
    bottomAxis(x, ticks(0, most, Math.max(2, Math.floor((width - left) / 120))), bottom, count, 2),
    stages.map((stage, place) => {
      const y = place * ROW + 4;
      const total = stage.prompt + stage.completion;
      const part = (from, to, colour) => svg("rect", { x: x(from), y, width: Math.max(0, x(to) - x(from)), height: ROW - 9, class: colour });
      const lines = [stage.name, `${count(stage.prompt)} read, ${count(stage.cached)} of them cached, ${count(stage.completion)} written`, stage.cost === null ? "price not known" : money(stage.cost)];
      return marked(lines,
        svg("rect", { x: 0, y: y - 4, width, height: ROW, class: "hit" }),
        svg("text", { x: left - 10, y: y + 13, "text-anchor": "end" }, stage.name),
        part(0, stage.cached, "fill-purple"), part(stage.cached, stage.prompt, "fill-blue"), part(stage.prompt, total, "fill-orange"),
        svg("text", { x: x(total) + 6, y: y + 13, class: "soft" }, count(total)));
    }));
}

export function spendingTable(rows) {
  const heads = ["role", "stage", "phase", "calls", "failed attempts", "read", "cached", "written", "hidden", "cost", "time in calls"];
  const cells = (row) => [row.role, spoken(row.stage), row.phase, row.calls, row.failed_calls, count(row.prompt_tokens),
    count(row.cached_tokens), count(row.completion_tokens), count(row.reasoning_tokens), money(row.cost_usd), duration(row.latency_s)];
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Tokens and cost by stage" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head, place) => el("th", { scope: "col", class: place > 2 ? "num" : null }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, cells(row).map((cell, place) => el("td", { class: place > 2 ? "num" : null }, cell)))))));
}
