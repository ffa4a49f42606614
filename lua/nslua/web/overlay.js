/*
** overlay.js: texts with formulas over a canvas: an element for each, which is moved from picture to picture.
*/
nslua.Formulas = class {
  constructor(stage) {
    this.layer = nslua.element("div", { class: "formulas", "aria-hidden": "true" });
    this.spans = [];
    stage.append(this.layer);
  }

  /* A picture begins: no text is used yet. */
  begin() { this.used = 0; }

  /* Puts a text, when it has a formula, with the point of its alignment at (px, py). Returns whether it did. */
  put(text, px, py, { size, bold, colour, align, valign, turned, alpha }) {
    if (!nslua.hasFormula(text)) return false;
    const span = this.spans[this.used] ?? this.add(), { style } = span;
    this.used++;
    if (span.source !== text) nslua.write(span, span.source = text);
    const [left, up] = [{ left: 0, center: -50, right: -100 }[align] ?? 0, { top: 0, middle: -50 }[valign] ?? -100];
    style.display = "";
    style.color = colour;
    style.opacity = alpha;
    style.font = nslua.font(size, bold);
    style.transformOrigin = "0 0";
    style.transform = `translate(${px}px, ${py}px) ${turned ? "rotate(-90deg)" : ""} translate(${left}%, ${up}%)`;
    return true;
  }

  add() {
    const span = nslua.element("span");
    this.layer.append(span);
    this.spans.push(span);
    return span;
  }

  /* A picture ends: the texts that it does not have are hidden. */
  end() { for (const span of this.spans.slice(this.used)) span.style.display = "none"; }
};
