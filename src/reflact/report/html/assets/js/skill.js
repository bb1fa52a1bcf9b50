// The skill's history: what each step changed, on whose evidence, and why it was kept or not.
import { clear, el, foreign } from "./dom.js";
import { plural, spoken } from "./text.js";

const OPEN_AT_FIRST = 12;
const MOST_SUPPORTS = 24;

export function skillHistory(run, data, link) {
  const { chapters } = data;
  if (!chapters.length) return [el("p", { class: "soft" }, "No step has ended yet."), skillText("The skill", data.initial_skill)];
  const place = el("div", {});
  const kinds = [["all", () => true], ["accepted", (chapter) => /accept/.test(chapter.action)], ["not accepted", (chapter) => !/accept/.test(chapter.action)]];
  const buttons = kinds.map(([name, fits]) => el("button", { type: "button", on: { click: () => show(name, fits) } }, `${name} (${chapters.filter(fits).length})`));
  const show = (name, fits) => {
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(kinds[at][0] === name)));
    const shown = chapters.filter(fits);
    clear(place).append(...shown.map((chapter) => chapterBox(chapter, shown.length <= OPEN_AT_FIRST, link)));
  };
  show(...kinds[0]);
  return [
    el("h2", { class: "first" }, "Step by step"),
    el("div", { class: "controls" }, el("div", { class: "segments", role: "group", "aria-label": "Steps" }, buttons)),
    place,
    skillText("The best skill", data.best_skill),
    skillText("The initial skill", data.initial_skill),
  ];
}

function skillText(title, text) {
  if (text === null) return null;
  return el("details", { class: "chapter" }, el("summary", {}, el("span", { class: "name" }, title), el("span", { class: "rest" }, `${text.length.toLocaleString("en")} characters`)), el("div", {}, el("pre", { class: "document" }, text)));
}

/** A chapter is drawn when it is opened. */
function chapterBox(chapter, open, link) {
  const body = el("div", {});
  const kind = /accept/.test(chapter.action) ? "right" : chapter.action === "reject" ? "wrong" : "";
  const box = el("details", { class: "chapter" },
    el("summary", {}, el("span", { class: "name" }, chapter.label), el("span", { class: `badge ${kind}` }, spoken(chapter.action)),
      chapter.diff ? el("span", { class: "rest" }, `+${chapter.added} −${chapter.removed} lines`) : null,
      el("span", { class: "rest" }, chapter.why)),
    body);
  const draw = () => {
    if (box.open && !body.childNodes.length) body.append(...[chapterBody(chapter, link)].flat(3).filter(Boolean));
  };
  box.addEventListener("toggle", draw);
  if (open) {
    box.open = true;
    draw();
  }
  return box;
}

function chapterBody(chapter, link) {
  return [
    chapter.flags.length ? el("p", { class: "notice" }, "Flagged: ", foreign(chapter.flags.join("; "))) : null,
    chapter.pairs.length ? el("p", { class: "soft" }, `Pairs: ${chapter.pairs.map(([name, number]) => `${number} ${spoken(name)}`).join(", ")}`) : null,
    chapter.failures.length ? el("p", { class: "soft" }, "Failures as the analysts counted them: ", chapter.failures.map(([name, number], at) => [at ? ", " : "", foreign(name), ` ×${number}`])) : null,
    chapter.diff ? [el("h3", {}, "What would change"), diff(chapter.diff)] : null,
    chapter.edits.length ? [el("h3", {}, "Edits"), el("ol", { class: "edits" }, chapter.edits.map((edit) => editItem(edit, chapter, link)))] : null,
    chapter.replies.length ? [el("h3", {}, "What the teacher replied"), chapter.replies.map((reply) => replyBox(reply, chapter, link))] : null,
  ];
}

function editItem(edit, chapter, link) {
  const number = edit.support.length;
  return el("li", { class: edit.status === "applied" ? "applied" : null },
    el("div", { class: "head" }, el("strong", {}, spoken(edit.op) || "edit"), el("span", { class: "chip" }, spoken(edit.status)),
      el("span", { class: "rest" }, `from ${edit.source || "the history"}${number ? `, ${number === 1 ? "1 trajectory" : `${number} trajectories`} behind it` : ""}`)),
    edit.title ? el("div", {}, foreign(edit.title)) : null,
    edit.motivation ? el("div", { class: "soft" }, foreign(edit.motivation)) : null,
    edit.target ? el("pre", { class: "soft" }, `at: ${edit.target}`) : null,
    edit.content ? el("pre", {}, edit.content) : null,
    supports(edit.support, chapter, link));
}

function supports(ids, chapter, link) {
  if (!ids.length) return null;
  const phase = chapter.kind === "step" ? `steps/step_${String(chapter.step).padStart(4, "0")}/rollout` : "";
  const rest = ids.length - MOST_SUPPORTS;
  return el("div", { class: "supports" }, ids.slice(0, MOST_SUPPORTS).map((id) => el("a", { class: "foreign", href: link({ phase, id }) }, id)),
    rest > 0 ? el("span", { class: "soft" }, `and ${rest} more`) : null);
}

function replyBox(reply, chapter, link) {
  const about = [spoken(reply.stage), reply.members.length ? `${reply.members.length} trajectories` : "", reply.changes.length ? plural(reply.changes.length, "change") : ""];
  return el("details", { class: "reply" },
    el("summary", {}, el("strong", {}, spoken(reply.name)), el("span", { class: "rest" }, ` ${about.filter(Boolean).join(", ")}`)),
    reply.told.map(([name, text]) => el("p", {}, el("span", { class: "soft" }, `${spoken(name)}: `), foreign(text))),
    reply.failures.map(([name, count, text]) => el("p", {}, el("strong", { class: "foreign" }, name), count === null ? "" : ` ×${count}: `, foreign(text))),
    reply.patterns.length ? el("ul", {}, reply.patterns.map((pattern) => el("li", { class: "foreign" }, pattern))) : null,
    reply.changes.length ? el("ul", {}, reply.changes.map(([op, text, support]) => el("li", {}, el("strong", {}, spoken(op)), " ", foreign(text), el("span", { class: "rest" }, ` (${support})`)))) : null,
    supports(reply.members, chapter, link),
    el("details", {}, el("summary", { class: "rest" }, "as it is in the file"), el("pre", {}, reply.raw)));
}

/** Lines of a diff; where a line replaces another, the words that differ are marked. */
export function diff(lines) {
  const rows = lines.map(([sign, text], place) => {
    if (sign === "@") return el("div", { class: "hunk" }, el("span", {}, "⋯"), el("pre", {}, ""));
    const other = partner(lines, place);
    const kind = sign === "+" ? "plus" : sign === "-" ? "minus" : null;
    return el("div", { class: kind }, el("span", {}, sign === "-" ? "−" : sign), el("pre", {}, other === null ? text || " " : changed(text, other)));
  });
  return el("div", { class: "diff", role: "group", "aria-label": "Changed lines" }, rows);
}

/** The line that a changed line replaces or is replaced by, if it is the only one on its side. */
function partner(lines, place) {
  const [sign] = lines[place];
  if (sign === "-" && lines[place + 1]?.[0] === "+" && lines[place - 1]?.[0] !== "-" && lines[place + 2]?.[0] !== "+") return lines[place + 1][1];
  if (sign === "+" && lines[place - 1]?.[0] === "-" && lines[place + 1]?.[0] !== "+" && lines[place - 2]?.[0] !== "-") return lines[place - 1][1];
  return null;
}

function changed(text, other) {
  const [mine, theirs] = [text.split(/(\s+)/), other.split(/(\s+)/)];
  let head = 0;
  while (head < mine.length && head < theirs.length && mine[head] === theirs[head]) head += 1;
  let tail = 0;
  while (tail < mine.length - head && tail < theirs.length - head && mine.at(-1 - tail) === theirs.at(-1 - tail)) tail += 1;
  const middle = mine.slice(head, mine.length - tail).join("");
  return [mine.slice(0, head).join(""), middle ? el("mark", {}, middle) : null, mine.slice(mine.length - tail).join("")];
}
