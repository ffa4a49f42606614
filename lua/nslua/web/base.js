"use strict";
/*
** base.js: what the pages share: elements, numbers, colours, ticks. Text from a record reaches the page as text alone,
** by textContent and fillText.
*/
const nslua = {};

/* Makes an element with attributes and children; the attribute "class" sets its classes, "text" its text. */
nslua.element = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
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

/* Numbers packed as base64 ("u4", "f4", "f8", little-endian), as an array. */
nslua.numbers = ({ type, base64 }) => {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  const kinds = { u4: Uint32Array, f4: Float32Array, f8: Float64Array };
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

/* ---- ticks ---- */

/* About `count` round numbers in [low, high]: { values, step }. */
nslua.ticks = (low, high, count) => {
  const raw = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * (1 - 1e-9));
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && values.length < 100; i++)
    values.push(i * step);
  return { values, step };
};

/* x as a label, with enough digits to differ from the labels one step away. */
nslua.label = (x, step) => {
  const size = Math.abs(x), digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  let text;
  if (size < step * 1e-6) text = "0";
  else if (size >= 1e6 || (step < 1e-4 && size < 1e-2)) {
    const more = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
    text = x.toExponential(Math.min(more, 8)).replace(/\.?0+e/, "e").replace("e+", "e");
  } else text = x.toFixed(Math.min(digits, 12));
  return text.replace(/-/g, "\u2212");
};

/* x as text with `digits` significant digits. */
nslua.value = (x, digits = 5) => {
  if (!Number.isFinite(x)) return "\u2013";
  const size = Math.abs(x);
  let text;
  if (size !== 0 && (size >= 10 ** (digits + 1) || size < 1e-4)) text = x.toExponential(digits - 1);
  else {
    const whole = size < 1 ? (size === 0 ? 1 : 1 + Math.floor(Math.log10(size))) : Math.ceil(Math.log10(size + 1));
    text = x.toFixed(nslua.clamp(digits - whole, 0, 10));
  }
  return text.replace(/-/g, "\u2212");
};

/* ---- the page ---- */

/* The last line of a page calls this with the kind of the page. */
nslua.start = (kind) => {
  const record = JSON.parse(document.getElementById("record").textContent);
  if (kind === "animation") nslua.page = new nslua.Player(document.body, record);
  else nslua.page = new nslua.PlotPage(document.body, record);
};
