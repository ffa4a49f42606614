/*
** unpack.js: runs the scripts that html.page has deflated. DecompressionStream would do this, but not before the page
** has loaded, which is when a browser without a screen takes its pictures.
*/

/* The bytes of a deflate stream (RFC 1951). */
nslua.inflate = (bytes) => {
  let at = 0, bits = 0, count = 0, size = 0, out = new Uint8Array(4 * bytes.length + 64);
  const broken = () => { throw new Error("the scripts of the page are broken"); };
  const take = (n) => {
    if (at > bytes.length + 8) broken();
    for (; count < n; count += 8) bits |= bytes[at++] << count;
    const x = bits & (1 << n) - 1;
    [bits, count] = [bits >>> n, count - n];
    return x;
  };
  const put = (byte) => {
    if (size === out.length) { const longer = new Uint8Array(2 * size); longer.set(out); out = longer; }
    out[size++] = byte;
  };
  /* A code of Huffman by the lengths of its words: how many words have each length, and the symbols in order. */
  const code = (lengths) => {
    const counts = new Array(16).fill(0), symbols = lengths.map((n, k) => [n, k]).filter(([n]) => n > 0).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [n] of symbols) counts[n]++;
    return { counts, symbols: symbols.map(([, k]) => k) };
  };
  const symbol = ({ counts, symbols }) => {
    for (let length = 1, word = 0, first = 0, index = 0; length < 16; length++) {
      word |= take(1);
      if (word - counts[length] < first) return symbols[index + word - first];
      index += counts[length];
      first = first + counts[length] << 1;
      word <<= 1;
    }
    return broken();
  };
  const fixed = Array.from({ length: 288 }, (_, k) => k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8);
  const codes = () => { /* of a block with codes of its own */
    const [many, far, some] = [take(5) + 257, take(5) + 1, take(4) + 4], short = new Array(19).fill(0), lengths = [];
    for (let k = 0; k < some; k++) short[[16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15][k]] = take(3);
    const by = code(short);
    while (lengths.length < many + far) {
      const s = symbol(by), again = s < 16 ? 1 : s === 16 ? 3 + take(2) : s === 17 ? 3 + take(3) : 11 + take(7);
      const value = s < 16 ? s : s === 16 ? lengths[lengths.length - 1] : 0;
      for (let k = 0; k < again; k++) lengths.push(value);
    }
    return [code(lengths.slice(0, many)), code(lengths.slice(many))];
  };
  /* The least value of symbol k, where `extra` tells how many bits follow a symbol. */
  const bases = (n, from, extra) => {
    const list = [];
    for (let k = 0, base = from; k < n; base += 1 << extra(k++)) list.push(base);
    return list;
  };
  const more = (k) => k < 8 || k === 28 ? 0 : (k >> 2) - 1, further = (k) => k < 4 ? 0 : (k >> 1) - 1;
  const spans = bases(28, 3, more).concat(258), distances = bases(30, 1, further);
  for (let last = 0; !last;) {
    last = take(1);
    const kind = take(2);
    if (kind === 3) broken();
    if (kind === 0) {
      bits = count = 0; /* to the next byte */
      let n = bytes[at] | bytes[at + 1] << 8;
      for (at += 4; n > 0; n--) put(bytes[at++]);
      continue;
    }
    const [words, ways] = kind === 1 ? [code(fixed), code(new Array(30).fill(5))] : codes();
    for (let s = symbol(words); s !== 256; s = symbol(words)) {
      if (s < 256) { put(s); continue; }
      const length = spans[s - 257] + take(more(s - 257)), d = symbol(ways), from = size - distances[d] - take(further(d));
      for (let k = 0; k < length; k++) put(out[from + k]);
    }
  }
  return out.subarray(0, size);
};

{
  const script = document.createElement("script"), packed = document.getElementById("packed").textContent;
  script.textContent = new TextDecoder().decode(nslua.inflate(nslua.bytes85(packed)));
  document.body.append(script);
}
