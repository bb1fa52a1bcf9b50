// A run at a glance.
import { editCurve, lengthCurve, scoreCurve } from "./curves.js";
import { el, foreign } from "./dom.js";
import { spendingChart, spendingTable } from "./spending.js";
import { table } from "./tables.js";
import { count, duration, interval, money, plural, score, signed, spoken } from "./text.js";
import { timeline } from "./timeline.js";

const STATUSES = ["ok", "timeout", "empty", "refused", "error"];

export function overview(run, data) {
  return [
    notices(run, data),
    tiles(data),
    el("dl", { class: "facts" }, data.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", { class: "foreign" }, value)))),
    curves(data),
    data.timeline.end > 0 ? section("Timeline", timeline(data.timeline)) : null,
    spending(data),
    statuses(data),
    validity(run, data),
    warnings(data),
  ];
}

export function section(title, ...content) {
  return el("section", {}, el("h2", {}, title), content);
}

function notices(run, data) {
  const found = [];
  const marks = [
    run.simulated ? el("p", {}, el("strong", {}, "SIMULATED"), " answers and edits come from a rehearsal, not from models.") : null,
    run.sample ? el("p", {}, el("strong", {}, "SAMPLE"), " the items are made ones that ship with reflact, not a benchmark.") : null,
  ].filter(Boolean);
  if (marks.length) found.push(el("div", { class: "banner" }, marks));
  if (run.state !== "done") {
    const why = [run.cause, run.message].filter(Boolean).join(": ");
    found.push(el("p", { class: "notice" }, el("strong", {}, `This run is ${run.state}`), why ? [" (", foreign(why), ")"] : null, ". What is shown is what its files hold."));
  }
  if (run.reasons.length) {
    found.push(el("div", { class: "notice bad" }, el("strong", {}, "Not valid: it fills no cell of a table."), el("ul", {}, run.reasons.map((reason) => el("li", { class: "foreign" }, reason)))));
  }
  const problems = [...(run.damaged ? [run.damaged] : []), ...data.problems];
  if (problems.length) {
    found.push(el("div", { class: "notice bad" }, el("strong", {}, `${plural(problems.length, "file")} could not be read as they should.`), el("ul", {}, problems.map((problem) => el("li", { class: "foreign" }, problem)))));
  }
  return found;
}

function tile(name, value, rest) {
  return el("div", { class: "tile" }, el("span", { class: "name" }, name), el("span", { class: "value" }, value), el("span", { class: "rest" }, rest));
}

function tiles(data) {
  const scores = new Map(data.scores.map(([side, part, found]) => [`${side} ${part}`, found]));
  const found = [];
  for (const part of ["selection", "test"]) {
    const [before, after] = [scores.get(`baseline ${part}`), scores.get(`best ${part}`)];
    if (!after) continue;
    const rest = [`best ${interval(after.interval)} n=${after.scored ?? "?"}`];
    if (before?.interval) rest.unshift(`initial ${interval(before.interval)},`);
    found.push(tile(part, `${before ? `${score(before.hard)} → ` : ""}${score(after.hard)}`, rest.join(" ")));
  }
  if (!found.length && data.curve.length) {
    const [first, last] = [data.curve[0], data.curve.at(-1)];
    found.push(tile("selection so far", `${score(first.score)} → ${score(last.best)}`, `initial ${interval(first.interval)} n=${first.scored ?? "?"}, best so far`));
  }
  const { value, interval: bounds, n, p } = data.gain;
  if (value !== null) {
    const noise = bounds && bounds[0] <= 0 && bounds[1] >= 0 ? ", noise: the interval holds zero" : "";
    found.push(tile("gain on test", signed(value), `${interval(bounds, signed)} paired, n=${n ?? "?"}${p === null ? "" : `, McNemar p = ${p.toFixed(3)}`}${noise}`));
  }
  const decided = data.curve.filter((point) => point.kind !== "initial");
  if (decided.length) {
    const taken = decided.filter((point) => /accept/.test(point.action)).length;
    found.push(tile("accepted", `${taken} of ${decided.length}`, "steps and epoch ends that changed the skill"));
  }
  const tokens = data.spent.reduce((sum, row) => sum + row.prompt_tokens + row.completion_tokens, 0);
  const known = data.spent.every((row) => row.cost_usd !== null);
  const usd = data.spent.reduce((sum, row) => sum + (row.cost_usd ?? 0), 0);
  if (data.spent.length) found.push(tile("spent by this run", known ? money(usd) : `${count(tokens)} tokens`, known ? `${count(tokens)} tokens` : "the price of a model is not known"));
  if (data.timeline.end > 0) found.push(tile("worked", duration(data.timeline.end), `${plural(data.limits.count, "rate limit")} (429), ${duration(data.limits.wait ?? 0)} waited`));
  return el("div", { class: "tiles" }, found);
}

function curves(data) {
  if (data.curve.length < 2) return null;
  const steps = data.curve.some((point) => point.kind === "step");
  return [
    section("Scores", scoreCurve(data.curve, data.metric)),
    el("div", { class: "columns" }, steps ? section("Edits", editCurve(data.curve)) : null, section("Length of the skill, in characters", lengthCurve(data.curve))),
  ];
}

function spending(data) {
  if (!data.spent.length) return null;
  const reused = data.reused.length ? el("p", { class: "soft" }, "Not paid by this run: ", data.reused.map(([name, source], place) => [place ? ", " : "", spoken(name), " from ", foreign(source)])) : null;
  return section("Tokens and cost", spendingChart(data.spent), reused, el("details", {}, el("summary", {}, "All numbers"), spendingTable(data.spent)));
}

function statuses(data) {
  if (!data.rows.length) return null;
  const rows = data.rows.map(([phase, counts]) => {
    const known = new Map(counts);
    return [phase, ...STATUSES.map((status) => String(known.get(status) ?? 0))];
  });
  return section("Rows by status", table(["phase", ...STATUSES], rows, { label: "Rows by status", numeric: [1, 2, 3, 4, 5] }));
}

function validity(run, data) {
  if (!data.findings.length) return null;
  const spoke = data.findings.filter(([, reasons]) => reasons.length);
  const head = spoke.length ? `${plural(spoke.length, "rule")} of ${data.findings.length} spoke.` : `None of the ${data.findings.length} rules speaks against this run.`;
  const rows = data.findings.map(([rule, reasons, ignored]) => [rule, reasons.length ? (ignored ? "ignored" : "against") : "ok", reasons.length ? reasons.map((reason) => el("div", { class: "foreign" }, reason)) : ""]);
  return section("Validity", el("p", { class: "soft" }, head), el("details", {}, el("summary", {}, "All rules"), table(["rule", "verdict", "what it says"], rows, { wrap: true })));
}

function warnings(data) {
  const { warnings: found } = data.timeline;
  if (!found.length) return null;
  return section("Warnings", table(["after", "code", "message"], found.map(([at, code, message]) => [duration(at), code, foreign(message)]), { wrap: true }));
}
