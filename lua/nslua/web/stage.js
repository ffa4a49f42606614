/*
** stage.js: pointers on the picture of an animation: coordinates under the pointer, zoom and moves of the view.
**
** The wheel and two fingers zoom about where they are, a drag and one finger move a zoomed view, a double click shows
** all. A click that has not moved is `onClick`'s.
*/
nslua.Stage = class {
  constructor(parent, canvas, painter, repaint, onClick) {
    Object.assign(this, { canvas, painter, repaint, onClick });
    this.pointers = new Map();
    this.place = nslua.element("output", { class: "place" });
    parent.append(this.place);
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(this.point(event), Math.exp(-nslua.clamp(event.deltaY * (event.deltaMode ? 30 : 1), -400, 400) / 500));
      this.tell(event);
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.showAll());
    canvas.addEventListener("pointerdown", (event) => this.pointerDown(event));
    canvas.addEventListener("pointermove", (event) => this.pointerMove(event));
    canvas.addEventListener("pointerup", (event) => this.pointerUp(event));
    canvas.addEventListener("pointercancel", (event) => this.pointerUp(event));
    canvas.addEventListener("pointerleave", () => { this.place.textContent = ""; });
    canvas.addEventListener("click", () => { if (!this.moved) this.onClick(); });
  }

  /* The place of an event on the canvas, in CSS pixels. */
  point(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  tell(event) {
    const [x, y] = this.painter.world_of(...this.point(event)), digits = (step) => Math.max(0, Math.ceil(-Math.log10(step)));
    const { sx, sy } = this.painter, text = (value, step) => value.toFixed(Math.min(digits(step), 12)).replace("-", "\u2212");
    this.place.textContent = `${text(x, 1 / sx)}, ${text(y, 1 / sy)}`;
  }

  /* ---- the view ---- */

  /* Zooms by `factor`; the point of the world under the given point stays there. */
  zoom(point, factor) {
    const { painter } = this, scale = nslua.clamp((painter.view?.scale ?? 1) * factor, 1, 1e4);
    this.setView(point, painter.world_of(...point), scale);
  }

  /* Sets the scale, and moves the view so that a point of the world is at a point of the canvas. */
  setView([px, py], [x, y], scale) {
    const { painter } = this, { frame, view } = painter, change = scale / (view?.scale ?? 1);
    if (scale <= 1) return this.showAll();
    const centre = [(frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2];
    const [x0, x1, y0, y1] = painter.world.bounds;
    painter.view = { scale, x: nslua.clamp(x + (centre[0] - px) / (painter.sx * change), x0, x1),
      y: nslua.clamp(y - (centre[1] - py) / (painter.sy * change), y0, y1) };
    this.changed();
  }

  showAll() {
    this.painter.view = null;
    this.changed();
  }

  changed() {
    this.canvas.classList.toggle("zoomed", this.painter.view !== null);
    this.repaint();
  }

  /* ---- pointers ---- */

  pointerDown(event) {
    if (event.button > 1) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.point(event));
    if (this.pointers.size === 1) [this.moved, this.from] = [false, this.point(event)];
    else this.moved = true;
  }

  pointerMove(event) {
    const before = this.pointers.get(event.pointerId), now = this.point(event);
    if (before) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
      this.moved ||= Math.hypot(now[0] - this.from[0], now[1] - this.from[1]) > 5;
      if (other) this.pinch(other, before, now);
      else if (this.moved && this.painter.view) this.setView(now, this.painter.world_of(...before), this.painter.view.scale);
      if (other || this.moved) this.pointers.set(event.pointerId, now);
    }
    this.tell(event);
  }

  /* One of two fingers moved from `before` to `now`: the world moves and zooms with the fingers. */
  pinch(other, before, now) {
    const middle = (a) => [(a[0] + other[0]) / 2, (a[1] + other[1]) / 2];
    const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]), old = apart(before), scale = this.painter.view?.scale ?? 1;
    if (old > 8 && apart(now) > 8)
      this.setView(middle(now), this.painter.world_of(...middle(before)), Math.min(scale * apart(now) / old, 1e4));
  }

  pointerUp(event) { this.pointers.delete(event.pointerId); }
};
