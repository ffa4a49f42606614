/*
** scene.js: a recorded animation: the numbers of a frame, and those between two frames.
**
** A shape is a list of operations with the count of their numbers. A frame is a shape and the numbers that
** differ between the frames of this shape; the others are kept once, with the shape. Frame 0 is the background.
*/
nslua.Scene = class {
  constructor(record) {
    this.ops = record.ops;
    this.texts = record.texts;
    this.times = nslua.numbers(record.times);
    this.data = nslua.numbers(record.data);
    this.frames = nslua.numbers(record.frames);
    this.interpolate = record.interpolate;
    this.count = this.times.length;
    this.shapes = record.shapes.map((shape) => this.readShape(shape));
    this.traces = this.readTraces();
    const size = Math.max(0, ...this.shapes.map((shape) => shape.size));
    this.here = new Float64Array(size);
    this.there = new Float64Array(size);
  }

  /* The operations with the slots where their numbers begin, and the slots whose numbers must not be interpolated. */
  readShape({ ops, size, at, varies }) {
    const parts = [], angles = [], fixed = [];
    for (let i = 0, slot = 0; i < ops.length; slot += ops[i + 1], i += 2) {
      const op = this.ops[ops[i]];
      parts.push({ op, index: ops[i], slot, count: ops[i + 1] });
      if (op.kind === "circle" && ops[i + 1] > 3) angles.push(slot + 3);
      if (op.kind === "rectangle") angles.push(slot + 4);
      if (op.kind === "text") fixed.push(slot + 2);
    }
    return { parts, size, varies, angles, fixed, first: this.data.slice(at, at + size) };
  }

  shapeOf(frame) { return this.shapes[this.frames[2 * frame]]; }

  /* Writes all numbers of a frame to `into`. */
  expand(frame, into) {
    const shape = this.shapeOf(frame);
    let at = this.frames[2 * frame + 1];
    into.set(shape.first);
    for (let i = 0; i < shape.varies.length; i += 2) {
      const count = shape.varies[i + 1];
      into.set(this.data.subarray(at, at + count), shape.varies[i]);
      at += count;
    }
    return shape;
  }

  /* The paths of the points that leave traces: by operation, x and y at each frame, NaN where there is none. */
  readTraces() {
    const traces = new Map();
    const numbers = new Float64Array(Math.max(0, ...this.shapes.map((shape) => shape.size)));
    const marked = this.shapes.map((shape) => shape.parts.filter((part) => part.op.kind === "trace"));
    for (let k = 1; k <= this.count; k++) {
      const parts = marked[this.frames[2 * k]];
      if (!parts.length) continue;
      this.expand(k, numbers);
      for (const { index, slot } of parts) {
        if (!traces.has(index)) {
          const empty = () => new Float64Array(this.count).fill(NaN);
          traces.set(index, { x: empty(), y: empty() });
        }
        const trace = traces.get(index);
        trace.x[k - 1] = numbers[slot];
        trace.y[k - 1] = numbers[slot + 1];
      }
    }
    return traces;
  }

  /* The frame that holds at time t, from 0, and how far it is to the next one, in [0, 1). */
  locate(t) {
    const k = nslua.before(this.times, t), next = k + 1 < this.count ? this.times[k + 1] : this.times[k];
    const share = next > this.times[k] ? nslua.clamp((t - this.times[k]) / (next - this.times[k]), 0, 1) : 0;
    return { k, share };
  }

  /* { shape, numbers } of frame k (from 0; -1: the background), interpolated by `share` towards the next frame. */
  at(k, share) {
    const numbers = this.here, shape = this.expand(k + 1, numbers);
    const more = this.interpolate && share > 0 && k >= 0 && k + 1 < this.count && this.shapeOf(k + 2) === shape;
    if (!more) return { shape, numbers };
    const next = this.there;
    this.expand(k + 2, next);
    for (const slot of shape.fixed) next[slot] = numbers[slot];
    for (const slot of shape.angles) {
      const turn = next[slot] - numbers[slot]; /* an angle turns in the shorter direction */
      next[slot] = numbers[slot] + turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
    }
    for (let i = 0; i < shape.size; i++) numbers[i] += share * (next[i] - numbers[i]);
    return { shape, numbers };
  }
};
