/*
** tracks.js: the motion of many bodies, as film/tracks.lua writes it: curves from knot to knot. Positions and values are
** curves of numbers, rotations curves of the vector of the rotation since the last knot, in the axes of the body.
*/

nslua.multiply = (p, q) => [p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
  p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]];

/* The quaternion q turned by a vector of rotation. */
nslua.turned = (q, x, y, z) => {
  const angle = Math.hypot(x, y, z), factor = angle < 1e-12 ? 0.5 : Math.sin(angle / 2) / angle;
  return nslua.multiply(q, [Math.cos(angle / 2), factor * x, factor * y, factor * z]);
};

/* The number of bits of a number from 0. */
nslua.bits = (n) => n < 2 ** 32 ? 32 - Math.clz32(n) : 32 + nslua.bits(Math.floor(n / 2 ** 32));

/* The fields of curves, by forms and sizes, found once: names are slow to make. */
nslua.CurveFields = class {
  constructor(bytes, name) {
    Object.assign(this, { bytes, name, last: bytes.field(name + " last"), numbers: [] });
    this.forms = [0, 1, 2, 3, 4, 5].map((form) => bytes.field(name + " form" + form));
  }

  /* Of component i of d (what: 0) or c (1), after numbers of that size. */
  number(smooth, what, i, size) {
    const slot = ((2 * smooth + what) * 3 + i) * 64 + nslua.bits(size);
    return this.numbers[slot] ??= this.bytes.field(`${this.name}${smooth ? " smooth" : ""} ${"dc"[what]}${i + 1} ${nslua.bits(size)}`);
  }
};

/* One track: `dim` numbers, or with dim = 4 a rotation. Reads the curves over all times; `before`: the track before it. */
nslua.Track = class {
  constructor(bytes, dim, quantum, times, before) {
    const turns = dim === 4, name = turns ? "rotation" : "linear", numbers = [], starts = [0], v = [0, 0, 0];
    const fields = before?.fields ?? new nslua.CurveFields(bytes, name), curve = [[0, 0, 0], [0, 0, 0]], [d, c] = curve;
    dim = Math.min(dim, 3);
    Object.assign(this, { turns, dim, times, fields, at: 0, first: [] });
    for (let i = 0; i < dim; i++) this.first[i] = bytes.whole(`${name} place${i + 1}`) + (before?.first[i] ?? 0);
    let place = this.first.map((n) => n * quantum), form = 0;
    if (turns) place = nslua.turned([1, 0, 0, 0], ...place);
    for (let frame = 0; frame < times.length - 1;) {
      const next = frame + bytes.natural(fields.last), span = times[next] - times[frame];
      form = bytes.natural(fields.forms[form]);
      const smooth = form >> 1 & 1;
      for (let what = 0, size = next - frame, sum = 0; what < 2; what++) {
        const there = what ? form & 1 : form >= 2;
        for (let i = 0; i < dim; i++) {
          curve[what][i] = there ? bytes.whole(fields.number(smooth, what, i, size)) : 0;
          if (there) size = sum += Math.abs(curve[what][i]);
        }
      }
      for (let i = 0; smooth && i < dim; i++) {
        c[i] -= Math.floor(d[i] / 4 + 0.5);
        d[i] += Math.floor(v[i] * span + 0.5);
      }
      for (const x of place) numbers.push(x);
      for (let i = 0; i < dim; i++) numbers.push(d[i] * quantum);
      for (let i = 0; i < dim; i++) numbers.push(4 * c[i] * quantum);
      starts.push(next);
      if (turns) place = nslua.turned(place, d[0] * quantum, d[1] * quantum, d[2] * quantum);
      else for (let i = 0; i < dim; i++) place[i] += d[i] * quantum;
      for (let i = 0; i < dim; i++) v[i] = span > 0 ? (d[i] - 4 * c[i]) / span : 0;
      frame = next;
    }
    for (const x of [...place, ...new Array(2 * dim).fill(0)]) numbers.push(x);
    [this.starts, this.numbers] = [new Uint32Array(starts), new Float64Array(numbers)];
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
    const read = (dim, size, before) => new nslua.Track(bytes, dim, size, this.times, before);
    let last = [];
    this.tracks = Array.from({ length: bodies },
      () => last = [read(3, quantum, last[0]), read(4, turn, last[1]), values ? read(1, values.quantum, last[2]) : undefined]);
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
