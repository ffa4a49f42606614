// The controls of ns.interact in a classic notebook: each change asks the kernel over a comm named "nslua.interact", and what
// it shows replaces the element below the controls. One request is under way at a time; the latest change goes next.
function nsluaControls(id) {
  "use strict";
  const box = document.getElementById(id);
  const place = box.querySelector(".nslua-shown");
  const inputs = Array.from(box.querySelectorAll("[data-name]"));
  const kernel = window.Jupyter && window.Jupyter.notebook && window.Jupyter.notebook.kernel;
  const read = {
    number: (input) => Number(input.value),
    check: (input) => input.checked,
    text: (input) => input.value,
  };
  let comm = null, busy = false, waiting = false, content = null;

  function label(input) {
    input.closest("tr").querySelector("output").textContent = input.type === "range" ? input.value : "";
  }

  function values() {
    const result = {};
    inputs.forEach((input) => { result[input.dataset.name] = read[input.dataset.kind](input); });
    return result;
  }

  function add(markup) {
    const child = document.createElement("div");
    child.innerHTML = markup;
    content.appendChild(child);
  }

  function addText(text) {
    const child = document.createElement("pre");
    child.textContent = text;
    content.appendChild(child);
  }

  function addPicture(png, size) {
    add('<img style="max-width:100%"' + (size ? ' width="' + Number(size.width) + '"' : "") + ' src="data:image/png;base64,' + png + '">');
  }

  function addBundle(data, metadata) {
    if (data["text/html"]) add(data["text/html"]);
    else if (data["image/svg+xml"]) add(data["image/svg+xml"]);
    else if (data["image/png"]) addPicture(data["image/png"], (metadata || {})["image/png"]);
    else addText(data["text/latex"] || data["text/plain"] || "");
  }

  function output(message) {
    const kind = message.header.msg_type;
    if (kind === "stream") addText(message.content.text);
    else if (kind === "error") addText(message.content.ename + ": " + message.content.evalue);
    else if (message.content.data) addBundle(message.content.data, message.content.metadata);
  }

  function status(message) {
    if (message.content.execution_state !== "idle") return;
    place.style.minHeight = place.offsetHeight + "px";
    place.replaceChildren(content);
    place.style.minHeight = "";
    busy = false;
    if (waiting) ask();
  }

  function ask() {
    waiting = busy;
    if (busy) return;
    busy = true;
    content = document.createElement("div");
    comm = comm || kernel.comm_manager.new_comm("nslua.interact", { id: id });
    comm.send({ id: id, values: values() }, { iopub: { output: output, status: status } });
  }

  inputs.forEach((input) => {
    label(input);
    if (!kernel || !kernel.comm_manager) input.disabled = true;
    input.addEventListener("input", () => { label(input); ask(); });
  });
}
