"""A headless Chromium driven over its DevTools pipe: browser.py BROWSER, steps as JSON lines on standard input.

Steps: {"page": file}, {"size": [width, height, ratio], "dark": bool, "touch": bool} (loads the page), {"eval":
expression} (prints its value as a line of JSON), {"key": name, "shift": bool}, {"click": [x, y]}, {"drag": [x0, y0, x1,
y1], "shift": bool}, {"move": [x, y]}, {"wheel": [x, y, delta]}, {"pinch": [x, y, from, to]}, {"tap": [x, y]}, {"wait":
seconds}, {"shot": file}, {"end": true} (prints {"files", "outside", "errors"}: what was asked for, what went wrong).
"""
import base64, json, os, pathlib, shutil, signal, subprocess, sys, tempfile, time


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="nslua-browser.")
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        high = 20  # clear of the descriptors that are being set
        to_read, to_write = os.dup2(to_read, high), os.dup2(to_write, high + 1)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "about:blank"],
            pass_fds=(3, 4), preexec_fn=lambda: (os.dup2(high, 3), os.dup2(high + 1, 4)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(high), os.close(high + 1)
        self.buffer, self.number, self.session = b"", 0, None
        self.requests, self.errors, self.loaded = [], [], False

    def receive(self):
        while b"\0" not in self.buffer:
            block = os.read(self.read_end, 1 << 16)
            if not block:
                raise SystemExit("the browser has gone")
            self.buffer += block
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        method, params = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("dialog: " + params["message"])
            self.send("Page.handleJavaScriptDialog", accept=True)
        elif method == "Page.loadEventFired":
            self.loaded = True
        return message

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, **params):
        number = self.send(method, **params)
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise SystemExit("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def attach(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def load(self, page, step):
        width, height, ratio = step["size"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio,
                  mobile=step.get("touch", False))
        self.call("Emulation.setTouchEmulationEnabled", enabled=step.get("touch", False))
        scheme = "dark" if step.get("dark") else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.loaded = False
        self.call("Page.navigate", url=pathlib.Path(page).resolve().as_uri())
        while not self.loaded:
            self.receive()
        self.settle()

    def settle(self):
        """Two pictures of the screen."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(0))))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise SystemExit(expression + ": " + json.dumps(answer["exceptionDetails"].get("exception", {})))
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y} for x, y in points])

    def drag(self, x0, y0, x1, y1, shift):
        held = {"button": "left", "buttons": 1, "clickCount": 1, "modifiers": 8 if shift else 0}
        self.mouse("mouseMoved", x0, y0)
        self.mouse("mousePressed", x0, y0, **held)
        for i in range(1, 6):
            self.mouse("mouseMoved", x0 + (x1 - x0) * i / 5, y0 + (y1 - y0) * i / 5, **held)
        self.mouse("mouseReleased", x1, y1, **held)

    def pinch(self, x, y, start, end):
        spread = [start + (end - start) * i / 5 for i in range(6)]
        self.touch("touchStart", (x - spread[0] / 2, y), (x + spread[0] / 2, y))
        for s in spread[1:]:
            self.touch("touchMove", (x - s / 2, y), (x + s / 2, y))
        self.touch("touchEnd")

    def key(self, name, shift):
        codes = {" ": ("Space", 32), "ArrowLeft": ("ArrowLeft", 37), "ArrowUp": ("ArrowUp", 38), "End": ("End", 35),
                 "ArrowRight": ("ArrowRight", 39), "ArrowDown": ("ArrowDown", 40), "Home": ("Home", 36)}
        code, number = codes.get(name, ("Key" + name.upper(), ord(name[0].upper())))
        event = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": 8 if shift else 0}
        text = {"text": name} if len(name) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def shot(self, path):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))

    def run(self, step):
        shift = step.get("shift", False)
        if "page" in step:
            signal.alarm(120)
            self.page = step["page"]
            return
        elif "end" in step:
            outside = [url for url in self.requests if not url.startswith("file:")]
            print(json.dumps({"files": len(set(self.requests)), "outside": outside, "errors": self.errors}), flush=True)
            self.requests, self.errors = [], []
            return
        elif "size" in step:
            self.load(self.page, step)
        elif "eval" in step:
            print(json.dumps(self.evaluate(step["eval"]), ensure_ascii=False), flush=True)
        elif "key" in step:
            self.key(step["key"], shift)
        elif "click" in step:
            self.mouse("mouseMoved", *step["click"])
            self.mouse("mousePressed", *step["click"], button="left", buttons=1, clickCount=1)
            self.mouse("mouseReleased", *step["click"], button="left", clickCount=1)
        elif "drag" in step:
            self.drag(*step["drag"], shift)
        elif "move" in step:
            self.mouse("mouseMoved", *step["move"])
        elif "wheel" in step:
            x, y, delta = step["wheel"]
            self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta)
        elif "pinch" in step:
            self.pinch(*step["pinch"])
        elif "tap" in step:
            self.touch("touchStart", step["tap"])
            self.touch("touchEnd")
        elif "wait" in step:
            time.sleep(step["wait"])
        elif "shot" in step:
            self.shot(step["shot"])
        else:
            raise SystemExit("unknown step: " + json.dumps(step))
        if "wait" not in step:
            self.settle()

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def too_long(*_):
    raise SystemExit("the browser took too long")


def main():
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(120)
    browser = Browser(sys.argv[1])
    try:
        browser.attach()
        for line in iter(sys.stdin.readline, ""):
            if line.strip():
                browser.run(json.loads(line))
    finally:
        browser.close()


main()
