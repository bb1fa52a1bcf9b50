// Text that models and data sets wrote, and numbers, as text for people.

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Foreign text with its control characters made visible: an escape sequence or a change of direction does nothing. */
export function visible(text) {
  return String(text).replace(CONTROL, (char) => `⟨U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export function score(value) {
  return value === null || value === undefined ? "–" : value.toFixed(3);
}

export function signed(value) {
  return value === null || value === undefined ? "–" : `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
}

/** `[low, high]`, or nothing where there is no interval. */
export function interval(bounds, write = score) {
  return bounds ? `[${write(bounds[0])}, ${write(bounds[1])}]` : "";
}

export function count(value) {
  if (value === null || value === undefined) return "–";
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= size * 0.9995) return `${Number((value / size).toPrecision(3))}${unit}`;
  }
  return `${Math.round(value)}`;
}

export function money(value) {
  if (value === null || value === undefined) return "–";
  return value >= 0.01 || value === 0 ? `$${value.toFixed(2)}` : `$${value.toFixed(4)}`;
}

export function duration(value) {
  if (value === null || value === undefined) return "–";
  if (value < 10 && value > 0) return `${Number(value.toPrecision(2))} s`;
  const seconds = Math.round(value);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
}

export function plural(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A name of the files (`accept_new_best`) as words. */
export function spoken(name) {
  return String(name).replaceAll("_", " ");
}
