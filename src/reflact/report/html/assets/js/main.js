// Where people are is in the address behind the #, so that every view can be linked to and the back button works.
import { hideTip } from "./chart.js";
import { clear, el } from "./dom.js";
import { unpack } from "./packs.js";
import { showRun } from "./run.js";
import { showStudy } from "./study.js";
import { themes } from "./theme.js";

/** `#/run/<place>/<tab>/<rest>?<query>`; null for the first page and its sections. */
export function route(hash) {
  const [path, query = ""] = hash.split("?");
  const parts = path.split("/");
  if (parts[0] !== "#" || parts[1] !== "run" || !parts[2]) return null;
  return { place: decode(parts[2]), tab: parts[3] ?? "overview", rest: parts[4] ?? "", query };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function start() {
  themes();
  const [study, run, crumb] = ["study", "run", "crumb"].map((id) => document.getElementById(id));
  const title = crumb.textContent;
  let index;
  try {
    index = await unpack("index");
  } catch (error) {
    study.prepend(el("p", { class: "notice bad" }, `Charts and runs cannot be shown: ${error.message}`));
    return;
  }
  const show = async () => {
    hideTip();
    const found = route(location.hash);
    study.hidden = found !== null;
    run.hidden = found === null;
    crumb.textContent = title;
    if (found) {
      scrollTo(0, 0);
      await showRun(run, index.runs, found);
    } else {
      clear(run);
    }
    document.documentElement.dataset.ready = location.hash || "#";
  };
  addEventListener("hashchange", show);
  addEventListener("beforeprint", hideTip);
  showStudy(index);
  await show();
}

start();
