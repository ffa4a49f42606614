/*
** player.js: the page of an animation: the stage, the controls, the clock. Space plays, the arrows go a frame (with
** shift ten) or change the speed, Home and End go to the ends, L switches the loop, 0 shows all of a zoomed picture.
*/
nslua.icons = {
  play: "M8 5L19 12 8 19z",
  pause: "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z",
  back: "M6 6h2.4v12H6zM18 6v12L9.4 12z",
  forward: "M15.6 6H18v12h-2.4zM6 6v12L14.6 12z",
  loop: "M6 7h10V4l5 4.5L16 13v-3H8v3H5V8q0-1 1-1zM18 17H8v3l-5-4.5L8 11v3h8v-3h3v5q0 1-1 1z",
};

nslua.Player = class {
  constructor(body, record) {
    this.record = record;
    this.open(record);
    [this.start, this.end] = [this.scene.times[0], this.scene.times[this.scene.count - 1]];
    [this.time, this.playing, this.loop, this.speed] = [this.start, false, record.loop, record.speed];
    this.build(body);
    this.listen();
    nslua.onScheme(() => this.show());
    this.show();
  }

  open(record) {
    this.scene = new nslua.Scene(record);
    this.painter = new nslua.Painter(this.scene, record.world);
  }

  /* ---- elements ---- */

  style() { return "player"; }

  build(body) {
    const { record } = this;
    this.canvas = nslua.element("canvas", { role: "img", "aria-label": record.title, tabindex: "0" });
    this.stage = nslua.element("div", { class: "stage" }, this.canvas);
    const main = nslua.element("main", { class: this.style() + (record.plot ? " with-plot" : "") },
      nslua.element("header", {}, nslua.element("h1", { text: record.title })), this.stage, this.buildControls());
    body.append(main);
    if (record.plot) {
      const panels = nslua.element("div", { class: "panels" });
      main.append(panels);
      this.plot = new nslua.TimePlot(panels, record.plot, (t) => this.seek(t));
    }
    this.paint = this.painting();
    new ResizeObserver(() => this.shapeStage()).observe(main);
  }

  /* The function that draws the picture of the present time. */
  painting() {
    if (window.katex) this.painter.formulas = new nslua.Formulas(this.stage);
    return nslua.sharp(this.canvas, (context, width, height) => {
      const { k, share } = this.scene.locate(this.time);
      this.painter.paint(context, width, height, k, share);
    });
  }

  buildControls() {
    const { record } = this, { icons } = nslua;
    this.scrub = nslua.element("input", { type: "range", class: "scrub", min: "0", max: "1", step: "any", value: "0",
      "aria-label": record.parameter ?? "Time" });
    this.label = nslua.element("output", { class: "time" });
    this.playButton = nslua.iconButton("Play", icons.play, () => this.toggle());
    this.playButton.classList.add("main");
    this.loopButton = nslua.iconButton("Loop", icons.loop, () => this.setLoop(!this.loop));
    this.speedMenu = this.buildSpeeds();
    const back = nslua.iconButton("One frame back", icons.back, () => this.step(-1));
    const forward = nslua.iconButton("One frame forward", icons.forward, () => this.step(1));
    this.setLoop(this.loop);
    const buttons = nslua.element("div", { class: "buttons" }, back, this.playButton, forward);
    const more = nslua.element("div", { class: "more" }, this.speedMenu, this.loopButton);
    return nslua.element("div", { class: "controls" }, buttons, this.scrub, this.label, more);
  }

  buildSpeeds() {
    const menu = nslua.element("select", { class: "speed", "aria-label": "Speed", title: "Speed" });
    const round = (x) => String(Number(x.toPrecision(6)));
    this.speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10].map((factor) => factor * this.record.speed);
    for (const speed of this.speeds) menu.append(nslua.element("option", { text: round(speed) + "\u00d7" }));
    menu.selectedIndex = 4;
    menu.addEventListener("change", () => this.setSpeed(menu.selectedIndex));
    return menu;
  }

  /* With equal scales, limits the height of the stage to the world's, so that the controls are near. */
  shapeStage() {
    const { bounds: [x0, x1, y0, y1], equal, axes } = this.record.world, width = this.stage.clientWidth;
    const room = equal ? Math.max(width * (y1 - y0) / (x1 - x0) + (axes ? 60 : 0), 180) : 1.4 * width;
    this.stage.style.setProperty("--most", Math.round(room) + "px");
  }

  /* ---- the clock ---- */

  /* The present time as text. */
  words() {
    const { record, scene } = this, { k } = scene.locate(this.time);
    if (record.parameter) return `${record.parameter} = ${record.values[k]}`;
    const length = this.end - this.start;
    const digits = length > 0 ? nslua.clamp(2 - Math.floor(Math.log10(length / 4)), 0, 9) : 2;
    return `t = ${this.time.toFixed(digits).replace("-", "\u2212")}${record.unit ? " " + record.unit : ""}`;
  }

  show() {
    const { scene } = this, words = this.words(), { k } = scene.locate(this.time);
    const share = this.record.parameter ? k / Math.max(scene.count - 1, 1) : this.share(this.time);
    this.scrub.value = share;
    this.scrub.style.setProperty("--share", share);
    this.scrub.setAttribute("aria-valuetext", words);
    if (this.told !== words) nslua.write(this.label, this.told = words);
    this.paint();
    this.plot?.setCursor(this.time);
  }

  share(t) { return this.end > this.start ? (t - this.start) / (this.end - this.start) : 0; }

  seek(t) {
    this.time = nslua.clamp(t, this.start, this.end);
    this.show();
  }

  /* Goes to the frame that is `count` frames later. */
  step(count) {
    this.pause();
    const { times } = this.scene, { k, share } = this.scene.locate(this.time);
    const from = count < 0 && share > 0 ? k + 1 : k;
    this.seek(times[nslua.clamp(from + count, 0, times.length - 1)]);
  }

  play() {
    if (this.playing) return;
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.last = undefined;
    this.showPlaying();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause() {
    this.playing = false;
    this.time = Math.min(this.time, this.end);
    this.showPlaying();
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  showPlaying() {
    const name = this.playing ? "Pause" : "Play";
    this.playButton.setAttribute("aria-label", name);
    this.playButton.title = name;
    this.playButton.firstChild.firstChild.setAttribute("d", this.playing ? nslua.icons.pause : nslua.icons.play);
  }

  /* Draws one picture: the time has advanced by the time that has passed, times the speed. */
  tick(now) {
    if (!this.playing) return;
    const passed = this.last === undefined ? 0 : Math.min((now - this.last) / 1000, 1);
    this.last = now;
    const last = this.loop ? this.end + this.hold() : this.end;
    let t = this.time + passed * this.speed;
    if (t >= last && this.loop && last > this.start) t = this.start + (t - last) % (last - this.start);
    else if (t >= last) this.pause();
    this.seek(t);
    if (this.playing) this.time = t; /* also beyond the end, while the last frame is shown */
    requestAnimationFrame((next) => this.tick(next));
  }

  /* How long the last frame is shown before the loop starts again: as long as the frame before it. */
  hold() {
    const { times, count } = this.scene;
    return count > 1 ? times[count - 1] - times[count - 2] : 0;
  }

  setSpeed(index) {
    this.speedMenu.selectedIndex = nslua.clamp(index, 0, this.speeds.length - 1);
    this.speed = this.speeds[this.speedMenu.selectedIndex];
  }

  setLoop(on) {
    this.loop = on;
    this.loopButton.setAttribute("aria-pressed", String(on));
  }

  /* ---- pointer and keys ---- */

  listen() {
    this.scrub.addEventListener("input", () => {
      this.pause();
      this.seekShare(Number(this.scrub.value));
    });
    this.listenStage();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  listenStage() {
    this.view = new nslua.Stage(this.stage, this.canvas, this.painter, () => this.paint(), () => this.toggle());
  }

  /* More keys of a page. */
  keys() { return {}; }

  seekShare(share) {
    const { times, count } = this.scene;
    if (this.record.parameter) this.seek(times[Math.round(share * (count - 1))]);
    else this.seek(this.start + share * (this.end - this.start));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) return;
    if (event.key === " " && event.target instanceof HTMLButtonElement) return;
    const count = event.shiftKey ? 10 : 1, { selectedIndex } = this.speedMenu, keys = {
      " ": () => this.toggle(), ArrowLeft: () => this.step(-count), ArrowRight: () => this.step(count),
      ArrowUp: () => this.setSpeed(selectedIndex + 1), ArrowDown: () => this.setSpeed(selectedIndex - 1),
      Home: () => this.seek(this.start), End: () => this.seek(this.end), l: () => this.setLoop(!this.loop),
      "0": () => this.view.showAll(), Escape: () => this.view.showAll(), ...this.keys(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
};
