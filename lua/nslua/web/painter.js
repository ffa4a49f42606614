/*
** painter.js: a scene on a canvas: the map from the world to the screen, axes, and one method for each operation.
*/
nslua.Painter = class {
  constructor(scene, world) {
    this.scene = scene;
    this.world = world;
    this.formulas = null; /* nslua.Formulas, on a page that can draw them */
    this.view = null; /* { x, y, scale }: the point of the world in the middle, and the zoom (1: the whole world) */
  }

  /* Sets the map from the rectangle of the world to width x height pixels, with space for axes. */
  fit(width, height) {
    const { bounds: [x0, x1, y0, y1], axes, equal, xlabel, ylabel } = this.world;
    const small = Math.min(width, height) < 420;
    const left = axes ? (small ? 40 : 52) + (ylabel ? 18 : 0) : 0, bottom = axes ? 26 + (xlabel ? 20 : 0) : 0;
    const top = axes ? 12 : 0, right = axes ? 14 : 0;
    const w = Math.max(width - left - right, 10), h = Math.max(height - top - bottom, 10);
    let sx = w / (x1 - x0), sy = h / (y1 - y0);
    if (equal) sx = sy = Math.min(sx, sy);
    const { x, y, scale } = this.view ?? { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale: 1 };
    this.sx = scale * sx;
    this.sy = scale * sy;
    this.ox = left + w / 2 - this.sx * x;
    this.oy = top + h / 2 + this.sy * y;
    this.frame = { left, top, right: left + w, bottom: top + h };
    this.unit = nslua.clamp(Math.sqrt(width * height) / 620, 0.72, 1.6); /* factor of line widths and letters */
  }

  x(x) { return this.ox + this.sx * x; }
  y(y) { return this.oy - this.sy * y; }
  world_of(px, py) { return [(px - this.ox) / this.sx, (this.oy - py) / this.sy]; }

  /* The frame at k + share. */
  paint(context, width, height, k, share) {
    this.context = context;
    this.width = width;
    this.fit(width, height);
    this.formulas?.begin();
    context.lineCap = context.lineJoin = "round";
    if (this.world.axes) {
      this.paintAxes();
      context.save();
      const { left, top, right, bottom } = this.frame;
      context.beginPath();
      context.rect(left, top, right - left, bottom - top);
      context.clip();
    }
    this.paintFrame(-1, 0);
    this.paintFrame(k, share);
    if (this.world.axes) context.restore();
    this.formulas?.end();
  }

  paintFrame(k, share) {
    const { shape, numbers } = this.scene.at(k, share);
    this.k = k;
    for (const { op, index, slot, count } of shape.parts) {
      this.context.globalAlpha = op.alpha ?? 1;
      this[op.kind](op, numbers, slot, count, index);
    }
    this.context.globalAlpha = 1;
  }

  /* ---- axes ---- */

  paintAxes() {
    const { context, frame, world: { xlabel, ylabel } } = this;
    const ux = (px) => (px - this.ox) / this.sx, uy = (py) => (this.oy - py) / this.sy;
    context.font = nslua.font(12);
    const { across, up } = this.axisTicks(ux, uy);
    context.lineWidth = 1;
    context.strokeStyle = nslua.colour("grid");
    context.fillStyle = nslua.colour("muted");
    context.beginPath();
    context.textBaseline = "top";
    across.values.forEach((value, i) => {
      const px = Math.round(this.x(value)) + 0.5, wide = context.measureText(across.labels[i]).width;
      context.moveTo(px, frame.top);
      context.lineTo(px, frame.bottom);
      context.fillText(across.labels[i], nslua.clamp(px - wide / 2, 2, this.width - 2 - wide), frame.bottom + 8);
    });
    context.textAlign = "right";
    context.textBaseline = "middle";
    up.values.forEach((value, i) => {
      const py = Math.round(this.y(value)) + 0.5;
      context.moveTo(frame.left, py);
      context.lineTo(frame.right, py);
      context.fillText(up.labels[i], frame.left - 8, py);
    });
    context.stroke();
    this.axisLabels(xlabel, ylabel);
  }

  /* The ticks of both axes; where an axis counts from an offset, that is written at its end. */
  axisTicks(ux, uy) {
    const { context, frame } = this, { left, right, top, bottom } = frame;
    const across = nslua.scale(ux(left), ux(right), right - left, 75, (text) => context.measureText(text).width);
    const up = nslua.scale(uy(bottom), uy(top), bottom - top, 50, () => 8);
    context.fillStyle = nslua.colour("muted");
    context.textBaseline = "top";
    context.textAlign = "left";
    context.fillText(nslua.offsetText(up.offset), left + 6, top + 4);
    context.textAlign = "right";
    context.fillText(nslua.offsetText(across.offset), right - 6, bottom - 18);
    context.textAlign = "left";
    return { across, up };
  }

  axisLabels(xlabel, ylabel) {
    const { frame } = this, style = { size: 13, colour: nslua.colour("ink"), align: "center", valign: "top" };
    if (xlabel) this.write(xlabel, (frame.left + frame.right) / 2, frame.bottom + 26, style);
    if (ylabel) this.write(ylabel, 8, (frame.top + frame.bottom) / 2, { ...style, turned: true });
  }

  /* A text at a place in pixels; a text with formulas becomes an element over the canvas. */
  write(text, px, py, { size, bold, colour, align, valign, turned }) {
    const { context } = this;
    if (this.formulas?.put(text, px, py, { size, bold, colour, align, valign, turned, alpha: context.globalAlpha })) return;
    context.save();
    context.font = nslua.font(size, bold);
    context.fillStyle = colour;
    context.textAlign = align;
    context.textBaseline = valign;
    context.translate(px, py);
    if (turned) context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  }

  /* ---- strokes and fills ---- */

  stroke(op, width = 2) {
    const { context } = this, w = (op.width ?? width) * this.unit;
    context.strokeStyle = nslua.colour(op.color ?? "ink");
    context.lineWidth = w;
    context.setLineDash(op.dash === "dashed" ? [3 * w + 2, 2 * w + 3] : op.dash === "dotted" ? [0.1, 2 * w + 1] : []);
    context.stroke();
    if (op.dash) context.setLineDash([]);
  }

  /* Fills; draws the outline when there is a colour or no fill. */
  finish(op) {
    if (op.fill) {
      this.context.fillStyle = nslua.colour(op.fill);
      this.context.fill();
    }
    if (op.color || !op.fill) this.stroke(op);
  }

  path(n, slot, count, close) {
    const { context } = this;
    context.beginPath();
    for (let i = slot; i < slot + count; i += 2) context.lineTo(this.x(n[i]), this.y(n[i + 1]));
    if (close) context.closePath();
  }

  /* ---- operations: (op, numbers, slot of the first, count, index of the operation) ---- */

  line(op, n, slot) {
    this.path(n, slot, 4);
    this.stroke(op);
  }

  polyline(op, n, slot, count) {
    this.path(n, slot, count);
    this.stroke(op);
  }

  polygon(op, n, slot, count) {
    this.path(n, slot, count, true);
    this.finish(op);
  }

  circle(op, n, slot) {
    const { context } = this, x = this.x(n[slot]), y = this.y(n[slot + 1]), r = n[slot + 2];
    context.beginPath();
    context.ellipse(x, y, r * this.sx, r * this.sy, 0, 0, 2 * Math.PI);
    this.finish(op);
    if (!op.turned) return;
    const angle = n[slot + 3];
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + r * this.sx * Math.cos(angle), y - r * this.sy * Math.sin(angle));
    this.stroke({ color: op.color ?? "paper", width: op.width ?? 1.5 });
  }

  rectangle(op, n, slot) {
    const [x, y, w, h, angle] = n.subarray(slot, slot + 5), c = Math.cos(angle) / 2, s = Math.sin(angle) / 2;
    const corners = [];
    for (const [a, b] of [[-w, -h], [w, -h], [w, h], [-w, h]]) corners.push(x + a * c - b * s, y + a * s + b * c);
    this.path(corners, 0, 8, true);
    this.finish(op);
  }

  arc(op, n, slot) {
    const [x, y, r, from, to] = n.subarray(slot, slot + 5);
    this.context.beginPath();
    this.context.ellipse(this.x(x), this.y(y), Math.abs(r) * this.sx, Math.abs(r) * this.sy, 0, -from, -to, to > from);
    this.stroke(op);
  }

  point(op, n, slot) {
    this.context.beginPath();
    this.context.arc(this.x(n[slot]), this.y(n[slot + 1]), (op.size ?? 8) / 2 * this.unit, 0, 2 * Math.PI);
    this.finish({ ...op, fill: op.fill ?? op.color ?? "ink", color: op.fill ? op.color : undefined });
  }

  text(op, n, slot) {
    const px = this.x(n[slot]) + (op.dx ?? 0), py = this.y(n[slot + 1]) - (op.dy ?? 0);
    const text = this.scene.texts[n[slot + 2]], { left, right, top, bottom } = this.frame;
    const outside = this.world.axes && (px < left || px > right || py < top || py > bottom);
    if (outside && nslua.hasFormula(text)) return; /* the canvas clips texts, but not elements */
    this.write(text, px, py, {
      size: (op.size ?? 15) * Math.min(this.unit, 1.25), bold: op.bold, colour: nslua.colour(op.color ?? "ink"),
      align: op.align ?? "left", valign: op.valign ?? "middle" });
  }

  arrow(op, n, slot) {
    const { context } = this;
    const x0 = this.x(n[slot]), y0 = this.y(n[slot + 1]), x1 = this.x(n[slot + 2]), y1 = this.y(n[slot + 3]);
    const length = Math.hypot(x1 - x0, y1 - y0), width = op.width ?? 2;
    if (length < 0.5) return;
    const head = Math.min((op.size ?? 5 + 3 * width) * this.unit, length);
    const ex = (x1 - x0) / length, ey = (y1 - y0) / length;
    const bx = x1 - head * ex, by = y1 - head * ey, side = 0.42 * head;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(bx, by);
    this.stroke({ ...op, width });
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(bx - side * ey, by + side * ex);
    context.lineTo(bx + side * ey, by - side * ex);
    context.closePath();
    context.fillStyle = nslua.colour(op.color ?? "ink");
    context.fill();
  }

  /* A zigzag between straight ends; its sides get steeper when it is compressed. */
  spring(op, n, slot) {
    const { context } = this, coils = Math.round(op.coils ?? 8), width = (op.size ?? 16) * this.unit / 2;
    const x0 = this.x(n[slot]), y0 = this.y(n[slot + 1]), x1 = this.x(n[slot + 2]), y1 = this.y(n[slot + 3]);
    const length = Math.hypot(x1 - x0, y1 - y0) || 1, nx = -(y1 - y0) / length, ny = (x1 - x0) / length;
    const at = (s, side) =>
      context.lineTo(x0 + s * (x1 - x0) + side * width * nx, y0 + s * (y1 - y0) + side * width * ny);
    context.beginPath();
    at(0, 0);
    at(0.1, 0);
    for (let i = 0; i < 2 * coils; i++) at(0.1 + 0.8 * (i + 0.5) / (2 * coils), i % 2 ? -1 : 1);
    at(0.9, 0);
    at(1, 0);
    this.stroke(op, 1.8);
  }

  /* A line with hatching on the right-hand side, seen from its first point. */
  ground(op, n, slot) {
    const { context } = this, size = (op.size ?? 9) * this.unit;
    const x0 = this.x(n[slot]), y0 = this.y(n[slot + 1]), x1 = this.x(n[slot + 2]), y1 = this.y(n[slot + 3]);
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (length < 0.5) return;
    const ex = (x1 - x0) / length, ey = (y1 - y0) / length, alpha = context.globalAlpha;
    context.beginPath();
    for (let s = size * 0.6; s <= length; s += size) {
      context.moveTo(x0 + s * ex, y0 + s * ey);
      context.lineTo(x0 + (s - size * 0.7) * ex - size * ey, y0 + (s - size * 0.7) * ey + size * ex);
    }
    context.globalAlpha = 0.55 * alpha;
    this.stroke({ ...op, width: 1.2 });
    context.globalAlpha = alpha;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    this.stroke(op);
  }

  /* The path of a point up to now; with `seconds`, only its last part, which fades. */
  trace(op, n, slot, count, index) {
    const path = this.scene.traces.get(index), { times } = this.scene;
    if (!path || this.k < 0) return;
    const start = op.seconds ? nslua.before(times, times[this.k] - op.seconds) : 0;
    const parts = op.seconds ? Math.min(24, this.k - start + 1) : 1, { context } = this, alpha = context.globalAlpha;
    for (let part = 0; part < parts; part++) {
      const from = start + Math.floor(part * (this.k + 1 - start) / parts);
      const to = start + Math.floor((part + 1) * (this.k + 1 - start) / parts);
      context.beginPath();
      let pen = false;
      for (let k = from; k < Math.min(to + 1, this.k + 1); k++) {
        if (Number.isNaN(path.x[k])) pen = false;
        else if (pen) context.lineTo(this.x(path.x[k]), this.y(path.y[k]));
        else context.moveTo(this.x(path.x[k]), this.y(path.y[k])), pen = true;
      }
      if (part === parts - 1) context.lineTo(this.x(n[slot]), this.y(n[slot + 1]));
      context.globalAlpha = alpha * (op.seconds ? (part + 1) / parts : 1);
      context.lineCap = op.seconds ? "butt" : "round"; /* parts must not overlap */
      this.stroke(op);
    }
    context.lineCap = "round";
    context.globalAlpha = alpha;
  }
};
