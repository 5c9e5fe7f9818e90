"""A headless Chromium for tests, driven through chromedriver by the WebDriver protocol: nothing but
Python's own library. Browser() raises Missing where no browser is installed."""
import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

KEYS = {"ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Home": "\ue011", "End": "\ue010", "Tab": "\ue004",
        "Enter": "\ue007", "Escape": "\ue00c", "Space": " "}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Missing(Exception):
    pass


class Browser:
    def __init__(self, width=1440, height=900, scale=1, dark=False, reduced_motion=False):
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if not chromium or not driver:
            raise Missing("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.base = None
        for line in self.process.stdout:
            found = re.search(r"on port (\d+)", line)
            if found:
                self.base = "http://127.0.0.1:%s/session" % found.group(1)
            if "started successfully" in line:
                break
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--disable-dev-shm-usage", "--window-size=%d,%d" % (width, height),
                     "--force-device-scale-factor=%g" % scale, "--user-data-dir=" + self.folder.name]
        if dark:
            arguments.append("--force-dark-mode")
        options = {"binary": chromium, "args": arguments}
        try:
            reply = self.request("POST", "", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        except BaseException:
            self.process.kill() # or the driver would outlive the test
            raise
        self.base += "/" + reply["sessionId"]
        self.command("Emulation.setDeviceMetricsOverride",
                     {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600})
        self.command("Emulation.setEmulatedMedia",
                     {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                    {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}]})

    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(e.read().decode(errors="replace")) from None

    def command(self, name, parameters):
        return self.request("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def open(self, path):
        self.request("POST", "/url", {"url": "file://" + path})

    def run(self, script, *args):
        """The value of a JavaScript expression, or of a body with `return`."""
        if "return" not in script:
            script = "return " + script
        return self.request("POST", "/execute/sync", {"script": script, "args": list(args)})

    def element(self, selector):
        return self.request("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.request("POST", "/element/%s/click" % self.element(selector), {})

    def hover(self, selector):
        """Moves the pointer onto the first element of the selector."""
        self.request("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": {ELEMENT: self.element(selector)}}]}]})

    def press(self, *keys):
        for key in keys:
            value = KEYS.get(key, key)
            self.request("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": [
                {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]}]})

    def text(self, selector):
        return self.run("document.querySelector(arguments[0]).textContent", selector)

    def wait(self, expression, seconds=90):
        self.wait_for(lambda: self.run(expression), expression, seconds)

    def wait_for(self, test, what, seconds=90):
        end = time.monotonic() + seconds
        while not test():
            if time.monotonic() > end:
                raise AssertionError("never: " + what)
            time.sleep(0.05)

    def log(self):
        """What the page complained about since the last time."""
        return [entry["message"] for entry in self.request("POST", "/se/log", {"type": "browser"})]

    def assert_quiet(self):
        complaints = self.log()
        assert not complaints, complaints[:5]

    def screenshot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.request("GET", "/screenshot")))

    def close(self):
        try:
            self.request("DELETE", "")
        except (OSError, RuntimeError):
            pass
        self.process.terminate()
        self.process.wait(10)
        self.folder.cleanup()
