/*
** timeplot.js: panels of curves over one axis of time.
**
** The wheel and two fingers zoom about where they are; a drag zooms to what it spans, with shift it moves, as one
** finger does; a double click shows all. The legend hides and shows curves, and tells their values under the pointer.
** Beside an animation a drag moves the time.
*/
nslua.TimePlot = class {
  /* seek(t), when given, is called by a click or drag. */
  constructor(parent, record, seek) {
    this.seek = seek;
    this.axes = record.axes.map(nslua.numbers);
    this.xlabel = record.xlabel;
    this.full = [Infinity, -Infinity];
    for (const t of this.axes) this.full = [Math.min(this.full[0], t[0]), Math.max(this.full[1], t[t.length - 1])];
    if (this.full[0] === this.full[1]) this.full = [this.full[0] - 0.5, this.full[1] + 0.5];
    this.view = [...this.full];
    this.cursor = null;
    this.left = 40; /* pixels left of the panels' boxes: they grow to the widest label, and all panels have the same */
    this.pointers = new Map();
    this.panels = record.panels.map((panel, i) => this.makePanel(parent, panel, i === record.panels.length - 1));
    nslua.onScheme(() => this.repaint());
  }

  repaint() {
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(() => {
      for (const panel of this.panels) panel.paint();
      this.tellValues();
    });
  }

  /* ---- elements ---- */

  makePanel(parent, record, last) {
    const panel = { last, series: [] }, name = [record.title, record.ylabel].filter(Boolean).join(" \u00b7 ");
    const head = nslua.element("div", { class: "head" }), plot = nslua.element("div", { class: "plot" });
    if (name) head.append(nslua.element("span", { class: "name", text: name }));
    for (const item of record.series) panel.series.push(this.makeSeries(head, item));
    panel.canvas = nslua.element("canvas", { role: "img", "aria-label": name || "time plot" });
    plot.append(panel.canvas);
    const section = nslua.element("section", { class: "panel" + (last ? " last" : "") }, head, plot);
    if (last) section.append(this.makeFoot());
    parent.append(section);
    panel.paint = nslua.sharp(panel.canvas, (context, width, height) => this.paint(panel, context, width, height));
    this.listen(panel);
    return panel;
  }

  /* The line under the last panel: the name of the axis, and the number from which its labels are counted. */
  makeFoot() {
    this.offset = nslua.element("output", { class: "offset" });
    return nslua.element("div", { class: "foot" }, nslua.element("span", { text: this.xlabel }), this.offset);
  }

  makeSeries(head, item) {
    const series = { ...item, t: this.axes[item.axis], y: nslua.numbers(item.y), shown: true };
    const swatch = nslua.element("i", { class: item.dash ? "dash" : "" });
    swatch.style.setProperty("--swatch", item.color[0] === "#" ? item.color : `var(--${item.color})`);
    series.output = nslua.element("output");
    series.button = nslua.element("button", { type: "button", class: "legend", "aria-pressed": "true" }, swatch,
      nslua.element("span", { text: item.name }), series.output);
    series.button.addEventListener("click", () => {
      series.shown = !series.shown;
      series.button.setAttribute("aria-pressed", String(series.shown));
      this.repaint();
    });
    head.append(series.button);
    this.keepRoom(series);
    return series;
  }

  /* Reserves the room of a series' values in the legend, so that it does not wrap when values come. The room grows. */
  keepRoom(series) {
    const step = Math.max(1, Math.floor(series.y.length / 50));
    for (let k = 0; k < series.y.length; k += step) this.widen(series, nslua.value(series.y[k]));
  }

  widen(series, text) {
    if (text.length <= (series.room ?? 0)) return;
    series.room = text.length;
    series.output.style.minWidth = `${text.length}ch`;
  }

  /* The sample of a series that is nearest to t; of steps, the one that holds ("pre": up to its time). */
  nearest(series, t) {
    const k = nslua.before(series.t, t);
    if (series.step === "pre") return series.t[k] < t ? Math.min(k + 1, series.t.length - 1) : k;
    if (series.step || k + 1 >= series.t.length) return k;
    return t - series.t[k] <= series.t[k + 1] - t ? k : k + 1;
  }

  tellValues() {
    for (const { series } of this.panels)
      for (const one of series) {
        const text = this.cursor === null ? "" : nslua.value(one.y[this.nearest(one, this.cursor)]);
        this.widen(one, text);
        if (one.output.textContent !== text) one.output.textContent = text;
      }
    this.onCursor?.(this.cursor);
  }

  /* ---- painting ---- */

  /* The samples to draw: one before the view to one after it. */
  visible(series) {
    const from = nslua.before(series.t, this.view[0]), to = nslua.before(series.t, this.view[1]);
    return [from, Math.min(to + 1, series.t.length - 1)];
  }

  /* The values in view, with a margin. */
  range(panel) {
    let low = Infinity, high = -Infinity;
    for (const series of panel.series.filter((one) => one.shown)) {
      const [from, to] = this.visible(series);
      for (let k = from; k <= to; k++) {
        const y = series.y[k];
        if (!Number.isFinite(y)) continue;
        if (y < low) low = y;
        if (y > high) high = y;
      }
    }
    if (low > high) return [0, 1];
    const least = 1e-12 * Math.max(Math.abs(low), Math.abs(high)), margin = 0.06 * (high - low);
    if (high - low <= least) return [low - (Math.abs(low) || 1) * 0.5, high + (Math.abs(high) || 1) * 0.5];
    return [low - margin, high + margin];
  }

  paint(panel, context, width, height) {
    const [low, high] = this.range(panel), [a, b] = this.view, font = nslua.font(12);
    context.font = font;
    const up = nslua.scale(low, high, height - (panel.last ? 34 : 18), 36, () => 8);
    const box = { left: this.marginFor(context, up.labels), top: up.offset ? 20 : 8, right: width - 14,
      bottom: height - (panel.last ? 24 : 8) };
    panel.box = box;
    const x = (t) => box.left + (t - a) / (b - a) * (box.right - box.left);
    const y = (v) => box.bottom - (v - low) / (high - low) * (box.bottom - box.top);
    this.paintGrid(panel, context, x, y, up, width);
    context.save();
    context.beginPath();
    context.rect(box.left, 0, box.right - box.left, height);
    context.clip();
    context.lineJoin = "round";
    for (const series of panel.series) if (series.shown) this.paintSeries(context, series, x, y, box);
    if (this.selection) this.paintSelection(context, box, x);
    context.restore();
    if (this.cursor !== null) this.paintCursor(panel, context, box, x, y);
  }

  /* The margin left of the boxes. When these labels need more, all panels are painted again. */
  marginFor(context, labels) {
    const need = Math.ceil(Math.max(0, ...labels.map((text) => context.measureText(text).width))) + 14;
    if (need > this.left) {
      this.left = need;
      this.repaint();
    }
    return this.left;
  }

  paintGrid(panel, context, x, y, up, width) {
    const { box } = panel, [a, b] = this.view, length = box.right - box.left;
    const across = nslua.scale(a, b, length, nslua.clamp(length / 9, 56, 110), (text) => context.measureText(text).width);
    context.strokeStyle = nslua.colour("grid");
    context.fillStyle = nslua.colour("muted");
    context.lineWidth = 1;
    context.beginPath();
    for (const t of across.values) {
      const px = Math.round(x(t)) + 0.5;
      context.moveTo(px, box.top);
      context.lineTo(px, box.bottom);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    up.values.forEach((v, i) => {
      const py = Math.round(y(v)) + 0.5;
      context.moveTo(box.left, py);
      context.lineTo(box.right, py);
      context.fillText(up.labels[i], box.left - 8, py);
    });
    context.stroke();
    context.textAlign = "left";
    if (up.offset) context.fillText(nslua.offsetText(up.offset), 6, 8);
    if (panel.last) this.paintTimes(context, across, x, box, width);
  }

  /* The labels of the axis of time. Those at its ends stay inside the canvas. */
  paintTimes(context, { values, labels, offset }, x, box, width) {
    context.textBaseline = "top";
    let free = 0; /* where the next label may begin */
    values.forEach((t, i) => {
      const wide = context.measureText(labels[i]).width, left = nslua.clamp(x(t) - wide / 2, 2, width - 2 - wide);
      if (left < free) return;
      context.fillText(labels[i], left, box.bottom + 7);
      free = left + wide + 6;
    });
    const text = nslua.offsetText(offset);
    if (this.offset.textContent !== text) this.offset.textContent = text;
  }

  paintSeries(context, series, x, y, box) {
    const columns = Math.ceil((box.right - box.left) * (window.devicePixelRatio || 1));
    this.trace(context, series, this.kept(series, columns), x, y);
    context.strokeStyle = nslua.colour(series.color);
    context.lineWidth = 1.9;
    context.setLineDash(series.dash ? [6, 4] : []);
    context.stroke();
    context.setLineDash([]);
  }

  /*
  ** The indices of the samples to draw: all, or where there are more than four for each column of the screen's pixels,
  ** of each column the first, the least, the largest and the last one. They keep their own times: so a steep curve has its
  ** slope, and its extremes (the M4 aggregation: Jugel, Jerzak, Hackenbroich and Markl 2014).
  */
  kept(series, columns) {
    const [from, to] = this.visible(series), [a, b] = this.view, { t, y } = series, list = [];
    if (to - from <= 4 * columns) {
      for (let k = from; k <= to; k++) list.push(k);
      return list;
    }
    const keep = (k) => { if (list[list.length - 1] !== k) list.push(k); };
    let column = NaN, first = from, low = from, high = from;
    const flush = (end) => {
      keep(first);
      keep(Math.min(low, high));
      keep(Math.max(low, high));
      keep(end);
    };
    for (let k = from; k <= to; k++) {
      const now = Number.isFinite(y[k]) ? Math.floor((t[k] - a) / (b - a) * columns) : null; /* null: a gap */
      if (now !== column) {
        if (k > from) flush(k - 1);
        [column, first, low, high] = [now, k, k, k];
      } else if (y[k] < y[low]) low = k;
      else if (y[k] > y[high]) high = k;
    }
    flush(to);
    return list;
  }

  trace(context, { t, y: values, step }, list, x, y) {
    let pen = false;
    context.beginPath();
    for (const k of list) {
      if (!Number.isFinite(values[k])) {
        pen = false;
        continue;
      }
      if (pen && step === "pre") context.lineTo(x(t[k - 1]), y(values[k]));
      else if (pen && step) context.lineTo(x(t[k]), y(values[k - 1]));
      if (pen) context.lineTo(x(t[k]), y(values[k]));
      else context.moveTo(x(t[k]), y(values[k])), pen = true;
    }
  }

  paintSelection(context, box, x) {
    const [a, b] = this.selection.map(x);
    context.globalAlpha = 0.16;
    context.fillStyle = nslua.colour("accent");
    context.fillRect(Math.min(a, b), box.top, Math.abs(b - a), box.bottom - box.top);
    context.globalAlpha = 1;
  }

  paintCursor(panel, context, box, x, y) {
    if (this.cursor < this.view[0] || this.cursor > this.view[1]) return;
    const px = Math.round(x(this.cursor)) + 0.5;
    context.strokeStyle = nslua.colour("muted");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(px, box.top);
    context.lineTo(px, box.bottom);
    context.stroke();
    for (const series of panel.series) {
      const k = this.nearest(series, this.cursor), value = series.y[k];
      if (!series.shown || !Number.isFinite(value)) continue;
      context.beginPath();
      context.arc(series.step || this.seek ? px : x(series.t[k]), y(value), 4, 0, 2 * Math.PI);
      context.fillStyle = nslua.colour(series.color);
      context.strokeStyle = nslua.colour("paper");
      context.lineWidth = 2;
      context.fill();
      context.stroke();
    }
    if (panel.last && !this.seek) this.paintTime(context, box, px);
  }

  /* The time under the pointer, on the axis. */
  paintTime(context, box, px) {
    const text = nslua.value(this.cursor, 6), width = context.measureText(text).width + 12;
    const left = nslua.clamp(px - width / 2, box.left, box.right - width);
    context.fillStyle = nslua.colour("ink");
    context.beginPath();
    context.roundRect(left, box.bottom + 3, width, 19, 5);
    context.fill();
    context.fillStyle = nslua.colour("paper");
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(text, left + width / 2, box.bottom + 13);
  }

  /* ---- the view ---- */

  zoomed() { return this.view[0] > this.full[0] || this.view[1] < this.full[1]; }

  setView(a, b) {
    const whole = this.full[1] - this.full[0], length = nslua.clamp(b - a, 1e-9 * whole, whole);
    const start = nslua.clamp((a + b - length) / 2, this.full[0], this.full[1] - length);
    this.view = length === whole ? [...this.full] : [start, start + length];
    this.onView?.();
    this.repaint();
  }

  /* Zooms by a factor (below 1: in) about the time t. */
  zoom(t, factor) {
    const [a, b] = this.view, length = nslua.clamp((b - a) * factor, 0, this.full[1] - this.full[0]);
    const start = nslua.clamp(t - (t - a) * length / (b - a), this.full[0], this.full[1] - length);
    this.setView(start, start + length);
  }

  move(share) {
    const [a, b] = this.view, step = nslua.clamp(share * (b - a), this.full[0] - a, this.full[1] - b);
    this.setView(a + step, b + step);
  }

  showAll() { this.setView(...this.full); }

  setCursor(t) {
    this.cursor = t;
    this.repaint();
  }

  /* ---- pointer ---- */

  timeAt(panel, event) {
    const { left, right } = panel.box, px = event.clientX - panel.canvas.getBoundingClientRect().left;
    const t = this.view[0] + (px - left) / (right - left) * (this.view[1] - this.view[0]);
    return nslua.clamp(t, this.view[0], this.view[1]);
  }

  listen(panel) {
    const { canvas } = panel;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 18 : 1;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move(event.deltaX * lines / 800);
      else this.zoom(this.timeAt(panel, event), Math.exp(nslua.clamp(event.deltaY * lines, -240, 240) * 0.002));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener("pointerdown", (event) => this.pointerDown(panel, event));
    canvas.addEventListener("pointermove", (event) => this.pointerMove(panel, event));
    canvas.addEventListener("pointerup", (event) => this.pointerUp(panel, event));
    canvas.addEventListener("pointercancel", (event) => this.pointerUp(panel, event));
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch" && !this.seek && !this.pointers.size) this.setCursor(null);
    });
  }

  pointerDown(panel, event) {
    if (event.button > 1) return;
    panel.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event.clientX);
    const touch = event.pointerType === "touch", t = this.timeAt(panel, event);
    this.mode = this.pointers.size > 1 ? "pinch" : this.seek ? "seek" : touch && !this.zoomed() ? "look"
      : touch || event.shiftKey || event.button === 1 ? "move" : "select";
    this.selection = this.mode === "select" ? [t, t] : null;
    if (this.mode === "seek") this.seek(t);
    else this.setCursor(t);
  }

  pointerMove(panel, event) {
    const before = this.pointers.get(event.pointerId), t = this.timeAt(panel, event);
    if (before === undefined) {
      if (!this.seek) this.setCursor(t);
      return;
    }
    if (this.mode === "pinch") this.pinch(panel, event, before);
    this.pointers.set(event.pointerId, event.clientX);
    if (this.mode === "seek") this.seek(t);
    if (this.mode === "move") this.move((before - event.clientX) / (panel.box.right - panel.box.left));
    if (this.mode === "select") this.selection[1] = t;
    if (this.mode !== "seek" && this.mode !== "pinch") this.setCursor(t);
  }

  /* One of two fingers moved from `before` to the event: the times under both fingers stay under them. */
  pinch(panel, event, before) {
    const other = [...this.pointers].find(([id]) => id !== event.pointerId);
    if (!other) return;
    const old = Math.abs(before - other[1]), now = Math.abs(event.clientX - other[1]);
    if (old > 8 && now > 8) this.zoom(this.timeAt(panel, { clientX: other[1] }), old / now);
  }

  pointerUp(panel, event) {
    if (!this.pointers.delete(event.pointerId)) return;
    const { box } = panel, span = this.selection;
    this.selection = null;
    if (span && Math.abs(span[1] - span[0]) / (this.view[1] - this.view[0]) * (box.right - box.left) > 6)
      this.setView(Math.min(...span), Math.max(...span));
    if (this.pointers.size === 0) this.mode = null;
    else this.mode = this.zoomed() ? "move" : "look";
    this.repaint();
  }
};

/* A page with a time plot alone. */
nslua.PlotPage = class {
  constructor(body, record) {
    const main = nslua.element("main", { class: "plot-page" });
    this.reset = nslua.element("button", { type: "button", class: "text", text: "Show all", hidden: "" });
    main.append(nslua.element("header", {}, nslua.element("h1", { text: record.title }), this.reset));
    this.panels = nslua.element("div", { class: "panels" });
    main.append(this.panels);
    main.append(nslua.element("p", { class: "hint",
      text: "Drag to zoom in, wheel or pinch to zoom, shift and drag to move, double-click to show all." }));
    body.append(main);
    this.plot = new nslua.TimePlot(this.panels, record);
    this.plot.onView = () => { this.reset.hidden = !this.plot.zoomed(); };
    this.reset.addEventListener("click", () => this.plot.showAll());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { plot } = this, middle = (plot.view[0] + plot.view[1]) / 2, keys = {
      "+": () => plot.zoom(middle, 0.7), "=": () => plot.zoom(middle, 0.7), "-": () => plot.zoom(middle, 1 / 0.7),
      ArrowLeft: () => plot.move(-0.1), ArrowRight: () => plot.move(0.1), Home: () => plot.showAll(),
      "0": () => plot.showAll(), Escape: () => plot.showAll(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
};
