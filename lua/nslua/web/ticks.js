/*
** ticks.js: the numbers of axes: where ticks stand, and what is written there.
*/

/* About `count` round numbers in [low, high]: { values, step }. */
nslua.ticks = (low, high, count) => {
  const raw = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw * (1 - 1e-9));
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && values.length < 100; i++)
    values.push(i * step);
  return { values, step };
};

/*
** The ticks of an axis from low to high that is `length` pixels long: { values, labels, step, offset }. Ticks are about
** `spacing` pixels apart, and at least two. `size(label)` is the length in pixels that a label takes along the axis: a
** wider step is taken where labels would touch. Numbers that differ only in late digits are written as differences from
** `offset` (else 0).
*/
nslua.scale = (low, high, length, spacing, size) => {
  const offset = nslua.offset(low, high), at = (count) => {
    const { values, step } = nslua.ticks(low - offset, high - offset, count);
    const labels = values.map((v) => nslua.label(v, step)), widest = Math.max(0, ...labels.map(size));
    const fits = widest + 10 <= step / (high - low) * length;
    return { values: values.map((v) => v + offset), labels, step, offset, fits };
  };
  let count = Math.max(length / spacing, 1), best = at(count);
  while (!best.fits && best.values.length > 2 && count > 1) best = at(count /= 1.4);
  while (best.values.length < 2 && count < 40) best = at(count *= 1.4);
  return best;
};

/* The number from which the labels of an axis are counted: 0 as long as they need at most five digits more than the first
   that changes; else a round number inside the axis or next to it. */
nslua.offset = (low, high) => {
  const range = high - low, size = Math.max(Math.abs(low), Math.abs(high));
  if (!(range > 0) || size < 1e4 * range) return 0;
  const unit = 10 ** (Math.ceil(Math.log10(range) - 1e-9) + 1);
  return Math.round((low + range / 2) / unit) * unit;
};

/* An offset as text, with its sign; "" for none. */
nslua.offsetText = (offset) => {
  if (offset === 0) return "";
  const text = String(Number(Math.abs(offset).toPrecision(15))).replace("e+", "e");
  return (offset < 0 ? "\u2212" : "+") + text.replace(/-/g, "\u2212");
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
