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
    const head = nslua.element("div", { class: "head" });
    if (name) head.append(nslua.element("span", { class: "name", text: name }));
    for (const item of record.series) panel.series.push(this.makeSeries(head, item));
    panel.canvas = nslua.element("canvas", { role: "img", "aria-label": name || "time plot" });
    parent.append(nslua.element("section", { class: "panel" + (last ? " last" : "") }, head, panel.canvas));
    panel.paint = nslua.sharp(panel.canvas, (context, width, height) => this.paint(panel, context, width, height));
    this.listen(panel);
    return panel;
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
    return series;
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
    const bottom = panel.last ? 24 + (this.xlabel ? 18 : 0) : 8;
    const box = { left: 58, top: 8, right: width - 14, bottom: height - bottom }, [low, high] = this.range(panel);
    const [a, b] = this.view;
    panel.box = box;
    const x = (t) => box.left + (t - a) / (b - a) * (box.right - box.left);
    const y = (v) => box.bottom - (v - low) / (high - low) * (box.bottom - box.top);
    this.paintGrid(panel, context, x, y, low, high);
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

  paintGrid(panel, context, x, y, low, high) {
    const { box } = panel, [a, b] = this.view;
    const across = nslua.ticks(a, b, (box.right - box.left) / 90);
    const up = nslua.ticks(low, high, (box.bottom - box.top) / 42);
    context.strokeStyle = nslua.colour("grid");
    context.fillStyle = nslua.colour("muted");
    context.font = nslua.font(12);
    context.lineWidth = 1;
    context.beginPath();
    for (const t of across.values) {
      const px = Math.round(x(t)) + 0.5;
      context.moveTo(px, box.top);
      context.lineTo(px, box.bottom);
      context.textAlign = "center";
      context.textBaseline = "top";
      if (panel.last) context.fillText(nslua.label(t, across.step), px, box.bottom + 7);
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const v of up.values) {
      const py = Math.round(y(v)) + 0.5;
      context.moveTo(box.left, py);
      context.lineTo(box.right, py);
      context.fillText(nslua.label(v, up.step), box.left - 8, py);
    }
    context.stroke();
    if (!panel.last || !this.xlabel) return;
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillStyle = nslua.colour("ink");
    context.fillText(this.xlabel, (box.left + box.right) / 2, box.bottom + 25);
  }

  paintSeries(context, series, x, y, box) {
    const [from, to] = this.visible(series);
    context.beginPath();
    if (to - from > 4 * (box.right - box.left)) this.dense(context, series, x, y, from, to);
    else this.sparse(context, series, x, y, from, to);
    context.strokeStyle = nslua.colour(series.color);
    context.lineWidth = 1.9;
    context.setLineDash(series.dash ? [6, 4] : []);
    context.stroke();
    context.setLineDash([]);
  }

  sparse(context, { t, y: values, step }, x, y, from, to) {
    let pen = false;
    for (let k = from; k <= to; k++) {
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

  /* Where there are more samples than pixels, draws of each column of pixels the first, least, largest and last sample. */
  dense(context, { t, y: values }, x, y, from, to) {
    let column = null, first, low, high, last, pen = false;
    const flush = () => {
      if (column === null) return;
      if (pen) context.lineTo(column, y(first)); else context.moveTo(column, y(first)), pen = true;
      context.lineTo(column, y(low));
      context.lineTo(column, y(high));
      context.lineTo(column, y(last));
    };
    for (let k = from; k <= to; k++) {
      const value = values[k];
      if (!Number.isFinite(value)) {
        flush();
        column = null;
        pen = false;
        continue;
      }
      const px = Math.round(x(t[k]));
      if (px !== column) {
        flush();
        [column, first, low, high] = [px, value, value, value];
      }
      low = Math.min(low, value);
      high = Math.max(high, value);
      last = value;
    }
    flush();
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
