"""Drives headless Chromium over the DevTools protocol, by its pipe: Python's standard library is enough."""

import base64
import json
import os
import subprocess
import tempfile
import time


class Failure(Exception):
    pass


class Browser:
    """One Chromium process. What any page complains of is in `complaints`."""

    def __init__(self, program="chromium"):
        self.directory = tempfile.TemporaryDirectory(prefix="headroom-browser-")
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()

        def connect():
            # The protocol is on descriptors 3 and 4. They are moved out of the way first, in case one is the other.
            low, high = os.dup(read_there), os.dup(write_there)
            os.dup2(low, 3)
            os.dup2(high, 4)

        flags = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
            "--no-first-run", "--hide-scrollbars", "--disable-background-networking", "--disable-component-update",
            "--disable-extensions", "--disable-sync", "--mute-audio", "--use-mock-keychain", "--lang=en-US",
            "--user-data-dir=" + self.directory.name, "about:blank",
        ]
        self.process = subprocess.Popen(
            [program] + flags, preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=dict(os.environ, TZ="UTC"))
        os.close(read_there)
        os.close(write_there)
        self.input, self.output = read_here, write_here
        self.buffer = b""
        self.number = 0
        self.complaints = []
        self.requests = {}

    def send(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        number = self.number
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            chunk = os.read(self.input, 1 << 20)
            if not chunk:
                raise Failure("Chromium ended")
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, values = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.complaints.append("exception: " + details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.complaints.append("console: " + " ".join(str(arg.get("value", arg.get("description"))) for arg in values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.complaints.append("log: " + values["entry"]["text"] + " " + values["entry"].get("url", ""))
        elif method == "Audits.issueAdded" and values["issue"]["code"] == "ContentSecurityPolicyIssue":
            self.complaints.append("CSP: " + json.dumps(values["issue"]["details"])[:400])
        elif method == "Network.loadingFinished":
            self.requests[values["requestId"]] = values["encodedDataLength"]
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog of the browser opened: " + values["message"])

    def page(self, **options):
        """A page in a profile of its own: its cookies are nobody else's."""
        return Page(self, **options)

    def close(self):
        try:
            self.send("Browser.close")
        except (Failure, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.directory.cleanup()


class Page:
    def __init__(self, browser, width=1440, height=900, dark=False):
        self.browser = browser
        self.context = browser.send("Target.createBrowserContext")["browserContextId"]
        target = browser.send("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.target = target
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Audits", "Network", "Performance"):
            self.send(domain + ".enable")
        self.look(width, height, dark)

    def send(self, method, **parameters):
        return self.browser.send(method, session=self.session, **parameters)

    def look(self, width, height=900, dark=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        self.send("Page.navigate", url=url)

    def run(self, script):
        """The value of an expression, which may be a promise."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{script[:200]}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def wait(self, script, seconds=15):
        """Until the expression is true; returns it."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.run(script)
            except Failure as failure:
                # The page is on its way to another document.
                value = None
                last = failure
            else:
                last = None
            if value:
                return value
            if time.monotonic() > end:
                shown = self.run("document.body ? document.body.innerText.slice(0, 3000) : ''")
                raise Failure(f"not within {seconds} s: {script}{f' ({last})' if last else ''}\nThe page says:\n{shown}")
            time.sleep(0.1)

    def text(self, words, seconds=15):
        """Until the words are to be seen."""
        return self.wait(f"document.body.innerText.includes({json.dumps(words)})", seconds)

    def click(self, words, within="body", tag="button, a, summary"):
        """A real click on the first element that says just this."""
        find = (
            f"[...document.querySelectorAll({json.dumps(within)})].flatMap(e => [...e.querySelectorAll({json.dumps(tag)})])"
            f".find(e => e.innerText.trim() === {json.dumps(words)} && e.checkVisibility() && !e.disabled)")
        self.wait(f"Boolean({find})")
        self.press(find)

    def press(self, element):
        box = self.run(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        self.mouse("mouseMoved", *box)
        self.mouse("mousePressed", *box)
        self.mouse("mouseReleased", *box)

    def mouse(self, kind, x, y):
        pressed = {"mousePressed": 1, "mouseReleased": 0, "mouseMoved": 0, "mouseDragged": 1}[kind]
        button = "none" if kind == "mouseMoved" else "left"
        self.send(
            "Input.dispatchMouseEvent", type="mouseMoved" if kind == "mouseDragged" else kind, x=x, y=y, button=button,
            buttons=pressed, clickCount=0 if kind in ("mouseMoved", "mouseDragged") else 1)

    def drag(self, element, start, end):
        """Over a part of an element's width, both from 0 to 1."""
        x, y, width, height = self.run(
            f"(() => {{ const e = {element}; e.scrollIntoView({{block: 'center'}});"
            " const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()")
        middle = y + height / 2
        self.mouse("mouseMoved", x + start * width, middle)
        self.mouse("mousePressed", x + start * width, middle)
        for part in range(1, 6):
            self.mouse("mouseDragged", x + (start + (end - start) * part / 5) * width, middle)
        self.mouse("mouseReleased", x + end * width, middle)

    def fill(self, name, value, within="form"):
        """Types into the field of this name, or chooses in it."""
        field = f"document.querySelector({json.dumps(within + ' [name=' + json.dumps(name) + ']')})"
        self.wait(f"Boolean({field})")
        if self.run(f"{field}.tagName") == "SELECT":
            self.run(
                f"(() => {{ const f = {field}; f.value = {json.dumps(value)};"
                " f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new Event('change', {bubbles: true})); })()")
            if self.run(f"{field}.value") != value:
                raise Failure(f"{name} has no choice {value}")
            return
        self.run(f"{field}.focus()")
        self.send("Input.insertText", text=value)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            code = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9}[key]
            values = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **values)

    def shoot(self, path, whole=True):
        """A picture of the whole page."""
        values = {}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            values = {
                "captureBeyondViewport": True,
                "clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1},
            }
        data = self.send("Page.captureScreenshot", format="png", **values)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.send("Target.disposeBrowserContext", browserContextId=self.context)
