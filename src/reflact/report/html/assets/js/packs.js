// Data beside the page: base64 of deflated JSON, inflated when it is looked at and then kept.

const kept = new Map();

/** Return the value in the pack with an id; a promise, the same one each time. */
export function unpack(id) {
  if (!kept.has(id)) kept.set(id, open(id));
  return kept.get(id);
}

/** Forget packs that begin with a word, all but one: the rows of a run take much memory. */
export function forget(word, except) {
  for (const id of kept.keys()) if (id.startsWith(word) && id !== except) kept.delete(id);
}

async function open(id) {
  const node = document.getElementById(id) ?? (await whenParsed(id));
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser is too old: it has no DecompressionStream (Chrome 80, Firefox 113, Safari 16.4)");
  }
  const bytes = Uint8Array.from(atob(node.textContent.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** The page may still be on its way. */
async function whenParsed(id) {
  if (document.readyState === "loading") {
    await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  }
  const node = document.getElementById(id);
  if (!node) throw new Error(`the file is not complete: ${id} is missing`);
  return node;
}
