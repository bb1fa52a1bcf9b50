// Elements, made from our own names and foreign text. Nothing here can turn a text into markup or into a link.
import { visible } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Children are elements, texts, or lists of them; null is nothing. */
export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Foreign text in a box of its own, so that its direction stays in it. */
export function foreign(text, name = "span") {
  return el(name, { class: "foreign" }, text);
}

export function clear(node) {
  node.replaceChildren();
  return node;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "href" && !String(value).startsWith("#")) {
      throw new Error("links lead to this page only");
    } else {
      node.setAttribute(name, value === true ? "" : visible(value));
    }
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
}
