/*
** decoder.js: reads the whole numbers that film/coder.lua has written.
*/
nslua.Decoder = class {
  constructor(bytes) {
    Object.assign(this, { bytes, at: 0, code: 0, range: 0xffffffff, fields: new Map() });
    for (let i = 0; i < 4; i++) this.take();
  }

  take() { this.code = (this.code << 8 | (this.bytes[this.at++] ?? 0)) >>> 0; }

  /* A bit with the probability of a field in that slot: so many 32768ths, and below them the bits before, to 15. */
  bit(field, slot) {
    const known = field[slot], p = known >> 4, before = known & 15;
    const bound = (this.range >>> 15) * p, one = this.code >= bound, learns = nslua.Decoder.learns[before];
    field[slot] = (one ? p - (p >> learns) : p + (32768 - p >> learns)) << 4 | (before < 15 ? before + 1 : 15);
    if (one) this.code -= bound, this.range -= bound;
    else this.range = bound;
    while (this.range < 0x1000000) {
      this.range = this.range * 256;
      this.take();
    }
    return one ? 1 : 0;
  }

  /* A bit of an even chance. */
  even() {
    const bound = (this.range >>> 15) * 16384, one = this.code >= bound;
    if (one) this.code -= bound, this.range -= bound;
    else this.range = bound;
    while (this.range < 0x1000000) {
      this.range = this.range * 256;
      this.take();
    }
    return one ? 1 : 0;
  }

  /* The probabilities of a field: a slot for each e, then 8 for the leading bits after each e. */
  field(name) {
    if (!this.fields.has(name)) this.fields.set(name, new Uint32Array(48 + 8 * 48).fill(16384 << 4));
    return this.fields.get(name);
  }

  /* A number from 0, of a field or its name. */
  natural(name) {
    const field = typeof name === "string" ? this.field(name) : name;
    let e = 0, n = 1;
    while (this.bit(field, e)) e++;
    for (let k = e - 1; k >= 0; k--) n = 2 * n + (e - k <= 3 ? this.bit(field, 48 + 8 * e + n) : this.even());
    return n - 1;
  }

  whole(name) {
    const n = this.natural(name);
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }
};
nslua.Decoder.learns = [1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5];
