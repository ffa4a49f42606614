/*
** forces.js: contact forces, as film/forces.lua writes them: [first, second body, from 0 (-1: the world), point, force] for
** each, the strongest force has the length 1; `starts` tells where each frame begins.
*/

/* The field of number j of a force, by those before j and by `old`, its numbers so far (undefined: it is new). */
nslua.forceField = (name, from, j, one, old) => {
  let left = 256, changed = 0;
  for (let i = from; i < j; i++) {
    left -= one[i] ** 2;
    changed = Math.max(changed, Math.abs(one[i] - (old?.[i] ?? 0)));
  }
  left = j > 2 && j <= 4 ? Math.sqrt(Math.max(left, 0)) : 0;
  if (!old) return `new ${name}${j} ${Math.floor(left + 0.5)}`;
  return `${name}${j} ${j !== 4 ? Math.min(changed, 3) : nslua.clamp(Math.floor((old[4] < 0 ? -left : left) - old[4] + 0.5), -4, 4)}`;
};

nslua.readForces = ({ data, quantum }, frames) => {
  const bytes = new nslua.Decoder(nslua.numbers(data)), starts = [0], list = [];
  const groups = [["level", 1, 1], ["way", 2, 4], ["point", 5, 7]];
  let kept = [];
  for (let k = 0; k < frames; k++) {
    kept = kept.filter((one) => {
      const old = { ...one };
      one.form = bytes.natural("form " + one.form);
      groups.forEach(([name, from, to], g) => {
        for (let j = from; one.form < 8 && one.form >> g & 1 && j <= to; j++)
          one[j] += bytes.whole(nslua.forceField(name, from, j, one, old));
      });
      return one.form < 8;
    });
    let first = 0, second = 0;
    for (let n = bytes.natural("new"); n > 0; n--) {
      const way = bytes.whole("first"), other = way ? bytes.whole("second") : bytes.natural("next");
      first += way;
      second = !way ? second + other : other ? first + other : 0;
      const one = { first, second, form: 0 };
      for (const [name, from, to] of groups)
        for (let j = from; j <= to; j++) one[j] = bytes.whole(nslua.forceField(name, from, j, one));
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
