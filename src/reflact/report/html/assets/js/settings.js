// What a run was run with.
import { clear, el, foreign } from "./dom.js";
import { section } from "./overview.js";
import { table } from "./tables.js";

export function settings(data) {
  const { differs, all, with: made, prompts } = data.settings;
  return [
    section("Differs from the benchmark's default", differs.length
      ? table(["key", "default", "here"], differs.map(([key, before, now]) => [el("code", { class: "foreign" }, key), foreign(before), foreign(now)]), { wrap: true })
      : el("p", { class: "soft" }, "Nothing.")),
    data.overrides ? section("Overrides as they were given", el("pre", { class: "document" }, data.overrides)) : null,
    section("Made with", pairs(made, "Made with")),
    prompts.length ? section("Prompts", el("details", {}, el("summary", {}, `${prompts.length} prompts by the hash of their text`), pairs(prompts, "Prompts"))) : null,
    section("All keys", all.length ? searchable(all) : el("p", { class: "soft" }, "config.json is missing or cannot be read.")),
  ];
}

function pairs(rows, label) {
  return table(["key", "value"], rows.map(([key, value]) => [el("code", { class: "foreign" }, key), foreign(value)]), { wrap: true, label });
}

function searchable(rows) {
  const place = el("div", {});
  const draw = (word) => clear(place).append(pairs(rows.filter(([key, value]) => `${key} ${value}`.toLowerCase().includes(word)), "All keys"));
  draw("");
  const search = el("input", { type: "search", on: { input: ({ target }) => draw(target.value.toLowerCase()) } });
  return [el("div", { class: "controls" }, el("label", {}, "Search", search)), place];
}
