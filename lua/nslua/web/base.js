"use strict";
/*
** base.js: what the pages share: elements, numbers, colours, formulas. Text from a record reaches the page as text alone,
** by textContent and fillText, and formulas by KaTeX, which is not trusted with anything but mathematics.
*/
const nslua = {};

/* Makes an element with attributes and children; "class" sets its classes, "text" its text, which may have formulas. */
nslua.element = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") nslua.write(element, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

/* An icon of 24 x 24 from the data of a path. */
nslua.icon = (path) => {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg"), shape = document.createElementNS(space, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
};

/* A round button with an icon. */
nslua.iconButton = (label, path, action) => {
  const button = nslua.element("button", { type: "button", class: "icon", "aria-label": label, title: label },
    nslua.icon(path));
  button.addEventListener("click", action);
  return button;
};

/* The bytes of a text of html.base85. */
nslua.bytes85 = (text) => {
  const values = new Uint8Array(128), bytes = new DataView(new ArrayBuffer(text.length / 5 * 4));
  for (let code = 33, value = 0; value < 85; code++) if (!"\"$&'<>@\\`".includes(String.fromCharCode(code))) values[code] = value++;
  for (let i = 0; i < text.length; i += 5) {
    let n = 0;
    for (let k = i; k < i + 5; k++) n = 85 * n + values[text.charCodeAt(k)];
    bytes.setUint32(i / 5 * 4, n);
  }
  return new Uint8Array(bytes.buffer);
};

/* Numbers packed as base64 or base85 ("u1", "u4", "f4", "f8", little-endian), as an array. */
nslua.numbers = ({ type, base64, base85 }) => {
  if (base85 !== undefined) return nslua.bytes85(base85);
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  const kinds = { u1: Uint8Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
  return new kinds[type](bytes.buffer);
};

nslua.clamp = (x, low, high) => Math.min(Math.max(x, low), high);

/* The last index with list[index] <= x, in a list that does not decrease; 0 when there is none. */
nslua.before = (list, x) => {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= x) low = middle; else high = middle - 1;
  }
  return low;
};

/* ---- colours ---- */

const schemes = window.matchMedia("(prefers-color-scheme: dark)");

/* The value of a colour by its name in style.css, or itself when it is "#rrggbb". */
nslua.colour = (name) => {
  if (name[0] === "#") return name;
  nslua.colour.cache ??= new Map();
  if (!nslua.colour.cache.has(name)) {
    const style = getComputedStyle(document.documentElement);
    nslua.colour.cache.set(name, style.getPropertyValue("--" + name).trim() || "#888888");
  }
  return nslua.colour.cache.get(name);
};

/* Calls f when the scheme changes between light and dark. */
nslua.onScheme = (f) => schemes.addEventListener("change", () => {
  nslua.colour.cache = undefined;
  f();
});

/* ---- canvas ---- */

nslua.font = (size, bold) => `${bold ? "600 " : ""}${size}px ${nslua.fontFamily}`;
nslua.fontFamily = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/* Keeps a canvas as sharp as the screen; calls draw(context, width, height) in CSS pixels when its size changes. */
nslua.sharp = (canvas, draw) => {
  const context = canvas.getContext("2d");
  const paint = () => {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1, w = Math.round(width * ratio), h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  new ResizeObserver(paint).observe(canvas);
  return paint;
};

/* ---- formulas ---- */

/* The parts of a text: { text } or { tex }, what stands between two dollar signs (formulas.lua has the same rule). */
nslua.parts = (text) => {
  const list = [], rule = /\$([^$\s][^$\n]*)\$/g;
  let from = 0;
  for (const found of text.matchAll(rule)) {
    if (/\s$/.test(found[1])) continue;
    if (found.index > from) list.push({ text: text.slice(from, found.index) });
    list.push({ tex: found[1] });
    from = found.index + found[0].length;
  }
  if (from < text.length) list.push({ text: text.slice(from) });
  return list;
};

/* True when a text has a formula that can be drawn: KaTeX is in the page. */
nslua.hasFormula = (text) => Boolean(window.katex) && nslua.parts(text).some((part) => part.tex !== undefined);

/* The element of one formula: what KaTeX makes of it, or its source when KaTeX cannot read it. */
nslua.formula = (tex) => {
  const span = nslua.element("span", { class: "formula" });
  try { window.katex.render(tex, span, { output: "html", trust: false }); } catch { span.textContent = `$${tex}$`; }
  return span;
};

/* Makes a text the content of an element, with its formulas. */
nslua.write = (element, text) => {
  if (!nslua.hasFormula(text)) element.textContent = text;
  else element.replaceChildren(...nslua.parts(text).map(({ text, tex }) => tex === undefined ? text : nslua.formula(tex)));
};

/* ---- the page ---- */

/* The last line of a page calls this with the kind of the page. */
nslua.start = (kind) => {
  const record = JSON.parse(document.getElementById("record").textContent);
  const pages = { animation: nslua.Player, timeplot: nslua.PlotPage, space: nslua.SpacePlayer };
  nslua.page = new pages[kind](document.body, record);
};
