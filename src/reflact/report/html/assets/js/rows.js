// The rows of a run: from the pack's arrays to objects, and which of them fit a filter.

/** Inflate the rows of a run: texts by their numbers, the other row by its index. */
export function inflate(pack, pool) {
  const names = pack.fields;
  const text = (number) => (number === null ? "" : number >= 0 ? pack.texts[number] : pool[-1 - number]);
  const rows = pack.rows.map((values, place) => {
    const row = Object.fromEntries(names.map((name, at) => [name, values[at]]));
    row.place = place;
    row.question = text(row.question);
    row.hasAnswer = row.answer !== null;
    row.answer = text(row.answer);
    row.reason = text(row.reason);
    row.extra = text(row.extra);
    row.gold = row.gold.map(text);
    row.turns = row.turns.map(([role, content]) => [role, text(content)]);
    return row;
  });
  for (const row of rows) row.other = row.other >= 0 ? rows[row.other] : null;
  return { phases: pack.phases, rows };
}

/** `right`, `wrong`, or `none` for a row without a score. */
export function outcome(row) {
  if (row.hard === null) return "none";
  return row.hard > 0 ? "right" : "wrong";
}

/** How a row compares with the one of before; empty where there is none or one of them has no score. */
export function flip(row) {
  if (!row.other) return "";
  const [before, after] = [outcome(row.other), outcome(row)];
  if (before === "none" || after === "none") return "";
  return before === after ? `still ${after}` : `${before} to ${after}`;
}

export const FLIPS = ["wrong to right", "right to wrong", "still wrong", "still right"];

/** The rows that fit a filter, in their order. */
export function filtered(data, filter) {
  const words = (filter.q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  return data.rows.filter((row) =>
    (!filter.phase || data.phases[row.phase].name === filter.phase || data.phases[row.phase].kind === filter.phase)
    && (!filter.id || row.id === filter.id)
    && (!filter.status || row.status === filter.status)
    && (!filter.outcome || outcome(row) === filter.outcome)
    && (!filter.flip || flip(row) === filter.flip)
    && (!filter.type || row.type === filter.type)
    && (!words.length || holds(row, words)));
}

function holds(row, words) {
  row.haystack ??= [row.id, row.type, row.status, row.cause, row.reason, row.question, row.answer, ...row.gold, ...row.turns.map(([, content]) => content)]
    .join("\n").toLowerCase();
  return words.every((word) => row.haystack.includes(word));
}
