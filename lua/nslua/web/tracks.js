/*
** tracks.js: the motion of many bodies, as film/tracks.lua writes it: curves from knot to knot. Positions and values are
** curves of numbers, rotations curves of the vector of the rotation since the last knot, in the axes of the body.
*/
/* Reads the whole numbers that film/coder.lua has written. */
nslua.Decoder = class {
  constructor(bytes) {
    Object.assign(this, { bytes, at: 0, code: 0, range: 0xffffffff, fields: new Map() });
    for (let i = 0; i < 4; i++) this.take();
  }

  take() { this.code = (this.code << 8 | (this.bytes[this.at++] ?? 0)) >>> 0; }

  bit(field, key) {
    const known = field.get(key) ?? 16384 * 16, p = known >> 4, before = known & 15;
    const bound = (this.range >>> 15) * p, one = this.code >= bound, learns = "1223333444444445"[before];
    field.set(key, (one ? p - (p >> learns) : p + (32768 - p >> learns)) << 4 | Math.min(before + 1, 15));
    if (one) [this.code, this.range] = [this.code - bound, this.range - bound];
    else this.range = bound;
    while (this.range < 0x1000000) {
      this.range = this.range * 256;
      this.take();
    }
    return one ? 1 : 0;
  }

  natural(name) {
    if (!this.fields.has(name)) this.fields.set(name, new Map());
    const field = this.fields.get(name);
    let e = 0, n = 1;
    while (this.bit(field, e)) e++;
    for (let k = e - 1, key = (e + 1) * 2 ** 20; k >= 0; k--) {
      const b = this.bit(e - k <= 3 ? field : new Map(), key);
      [n, key] = [2 * n + b, 2 * key + b];
    }
    return n - 1;
  }

  whole(name) {
    const n = this.natural(name);
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }
};

nslua.multiply = (p, q) => [p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
  p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]];

/* The quaternion q turned by a vector of rotation. */
nslua.turned = (q, x, y, z) => {
  const angle = Math.hypot(x, y, z), factor = angle < 1e-12 ? 0.5 : Math.sin(angle / 2) / angle;
  return nslua.multiply(q, [Math.cos(angle / 2), factor * x, factor * y, factor * z]);
};

/* One track: `dim` numbers, or with dim = 4 a rotation. Reads the curves over `count` frames. */
nslua.Track = class {
  constructor(bytes, dim, quantum, times) {
    Object.assign(this, { turns: dim === 4, dim: Math.min(dim, 3), times, at: 0, starts: [0], numbers: [] });
    const name = this.turns ? "rotation" : "linear", list = (f) => Array.from({ length: this.dim }, (_, i) => f(i));
    let place = Array.from({ length: dim }, (_, i) => bytes.whole(`${this.turns ? "turn" : "place"} ${i + 1}`));
    const length = Math.hypot(...place);
    place = place.map((n) => this.turns ? n / length : n * quantum);
    let form = 0, speed = list(() => 0);
    for (let frame = 0; frame < times.length - 1;) {
      const next = frame + bytes.natural(name + " last"), span = times[next] - times[frame];
      form = bytes.natural(name + " form" + form);
      const field = name + (form & 2 ? " smooth" : "");
      const some = (there, what) => list((i) => there ? bytes.whole(`${field} ${what}${i + 1}`) : 0);
      const d = some(form >= 2, "d"), c = some(form & 1, "c");
      for (let i = 0; form & 2 && i < this.dim; i++) {
        c[i] -= Math.floor(d[i] / 4 + 0.5);
        d[i] += Math.floor(speed[i] * span + 0.5);
      }
      const way = d.map((n) => n * quantum);
      this.numbers.push(...place, ...way, ...c.map((n) => 4 * n * quantum));
      this.starts.push(next);
      place = this.turns ? nslua.turned(place, ...way) : place.map((x, i) => x + way[i]);
      speed = list((i) => span > 0 ? (d[i] - 4 * c[i]) / span : 0);
      frame = next;
    }
    this.numbers.push(...place, ...new Array(2 * this.dim).fill(0));
    [this.starts, this.numbers] = [Uint32Array.from(this.starts), Float64Array.from(this.numbers)];
  }

  /* The place at time t, where frame k holds, written to `out` from `slot`. */
  put(k, t, out, slot) {
    const { starts, numbers, dim, times } = this, size = dim + (this.turns ? 1 : 0), stride = size + 2 * dim;
    if (k < starts[this.at] || k >= starts[this.at + 1]) this.at = nslua.before(starts, k);
    const from = this.at * stride, t0 = times[starts[this.at]], span = times[starts[this.at + 1] ?? starts[this.at]] - t0;
    const s = span > 0 ? nslua.clamp((t - t0) / span, 0, 1) : 0, x = nslua.Track.room, d = from + size, c = d + dim;
    for (let i = 0; i < dim; i++) x[i] = numbers[d + i] * s + numbers[c + i] * s * (1 - s);
    if (this.turns) {
      const q = nslua.turned(numbers.subarray(from, from + 4), x[0], x[1], x[2]);
      for (let i = 0; i < 4; i++) out[slot + i] = q[i];
    } else {
      for (let i = 0; i < dim; i++) out[slot + i] = numbers[from + i] + x[i];
    }
  }
};
nslua.Track.room = [0, 0, 0];

/* All tracks of a record: for each body a position, a rotation and, where the record has values, a value. */
nslua.Motion = class {
  constructor({ times, motion, bodies, quantum, turn, values, interpolate = true }) {
    Object.assign(this, { times: nslua.numbers(times), bodies, interpolate });
    this.count = this.times.length;
    const bytes = new nslua.Decoder(nslua.numbers(motion));
    const read = (dim, size) => new nslua.Track(bytes, dim, size, this.times);
    this.tracks = Array.from({ length: bodies },
      () => [read(3, quantum), read(4, turn), values ? read(1, values.quantum) : undefined]);
    [this.places, this.values] = [new Float64Array(7 * bodies), new Float64Array(bodies)];
  }

  locate(t) { return nslua.Scene.prototype.locate.call(this, t); }

  /* Fills `places` (position and quaternion of each body) and `values` at time t. */
  set(t) {
    const { k } = this.locate(t);
    this.tracks.forEach(([position, rotation, value], i) => {
      position.put(k, t, this.places, 7 * i);
      rotation.put(k, t, this.places, 7 * i + 3);
      value?.put(k, t, this.values, i);
    });
  }
};

/*
** Contact forces, as film/forces.lua writes them: [first, second body, from 0 (-1: the world), point, force] for each, the
** strongest force has the length 1; `starts` tells where each frame begins.
*/
nslua.readForces = ({ data, quantum }, frames) => {
  const bytes = new nslua.Decoder(nslua.numbers(data)), starts = [0], list = [];
  const groups = [["level", 1, 1], ["way", 2, 4], ["point", 5, 7]];
  let kept = [];
  for (let k = 0; k < frames; k++) {
    kept = kept.filter((one) => {
      one.form = bytes.natural("form " + one.form);
      groups.forEach(([name, from, to], g) => {
        for (let j = from; one.form < 8 && one.form >> g & 1 && j <= to; j++) one[j] += bytes.whole(name + j);
      });
      return one.form < 8;
    });
    let first = 0;
    for (let n = bytes.natural("new"); n > 0; n--) {
      first += bytes.whole("first");
      const other = bytes.whole("second"), one = { first, second: other ? other + first : 0, form: 0 };
      for (const [name, from, to] of groups)
        for (let j = from; j <= to; j++) one[j] = bytes.whole(`new ${name}${j}`);
      kept.push(one);
    }
    for (const one of kept) {
      const size = 1.08 ** -one[1] / Math.max(Math.hypot(one[2], one[3], one[4]), 1);
      list.push(one.first - 1, one.second - 1, quantum * one[5], quantum * one[6], quantum * one[7], size * one[2], size * one[3], size * one[4]);
    }
    starts.push(list.length);
  }
  return { list: Float32Array.from(list), starts };
};
