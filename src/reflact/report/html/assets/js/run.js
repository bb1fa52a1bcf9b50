// The page of one run: its head, its tabs, and what is behind them.
import { clear, el } from "./dom.js";
import { overview } from "./overview.js";
import { forget, unpack } from "./packs.js";
import { inflate } from "./rows.js";
import { settings } from "./settings.js";
import { skillHistory } from "./skill.js";
import { browser, filterOf, queryOf } from "./trajectories.js";

const TABS = [["overview", "Overview"], ["skill", "Skill"], ["trajectories", "Trajectories"], ["configuration", "Configuration"]];
let opened = 0;

/** Show a tab of a run; what comes late from a run that was left again is dropped. */
export async function showRun(node, runs, { place, tab, rest, query }) {
  opened += 1;
  const mine = opened;
  const at = runs.findIndex((run) => run.place === place);
  if (at < 0) {
    clear(node).append(el("h1", {}, "There is no such run"), el("p", {}, el("a", { href: "#/" }, "Back to the study")));
    return;
  }
  const known = TABS.some(([name]) => name === tab) ? tab : "overview";
  const body = el("div", { "data-tab": known, "aria-busy": "true" }, el("p", { class: "soft" }, "Opening …"));
  clear(node).append(head(runs, at), tabs(runs[at], known), body);
  try {
    const content = await tabContent(runs[at], at, known, rest, query);
    if (mine !== opened) return;
    clear(body).append(...[content].flat(4).filter(Boolean));
  } catch (error) {
    clear(body).append(el("p", { class: "notice bad" }, `This part of the report could not be opened: ${error.message}`));
  }
  body.setAttribute("aria-busy", "false");
}

export function linkTo(run, tab, filter = {}, row = null) {
  const query = queryOf(filter);
  return `#/run/${encodeURIComponent(run.place)}/${tab}${row === null ? "" : `/${row}`}${query ? `?${query}` : ""}`;
}

async function tabContent(run, at, tab, rest, query) {
  forget("rows-", `rows-${at}`);
  forget("run-", `run-${at}`);
  const data = await unpack(`run-${at}`);
  if (!data.facts) return data.problems.map((problem) => el("p", { class: "notice bad foreign" }, problem));
  if (tab === "skill") return skillHistory(run, data, (filter) => linkTo(run, "trajectories", filter));
  if (tab === "configuration") return settings(data);
  if (tab === "overview") return overview(run, data);
  const [pack, pool] = await Promise.all([unpack(`rows-${at}`), run.pool < 0 ? [] : unpack(`pool-${run.pool}`)]);
  const open = rest === "" ? null : Number(rest);
  return browser(inflate(pack, pool), filterOf(query), open, (filter, row) => history.replaceState(null, "", linkTo(run, "trajectories", filter, row)));
}

function head(runs, at) {
  const run = runs[at];
  const neighbour = (by, name) => (runs[at + by] ? el("a", { href: linkTo(runs[at + by], "overview") }, name) : null);
  return el("div", { class: "runhead" },
    el("a", { href: "#/" }, "← Study"), el("h1", { class: "foreign" }, run.id), el("span", { class: `state ${run.state}` }, run.state),
    run.valid === false ? el("span", { class: "badge invalid" }, "invalid") : null,
    run.simulated ? el("span", { class: "mark" }, "SIMULATED") : null, run.sample ? el("span", { class: "mark" }, "SAMPLE") : null,
    el("span", { class: "step-links" }, neighbour(-1, "previous run"), neighbour(1, "next run")));
}

function tabs(run, chosen) {
  return el("nav", { class: "tabs", "aria-label": "Parts of the run" }, TABS.map(([name, title]) =>
    el("a", { href: linkTo(run, name), "aria-current": name === chosen ? "page" : null }, title)));
}
