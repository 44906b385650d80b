"""Headless Chromium for tests, over its debugging pipe: nothing but the standard library."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 30.0
"""Seconds after which what is waited for counts as missing."""
# the network is off: what a page asks for outside itself cannot be found
FLAGS = (
    *("--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"),
    *("--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking"),
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

# Chromium reads from 3 and writes to 4, which ours may be the other way round
START = """
import fcntl, os, sys
here = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(here[0], 3)
os.dup2(here[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def chromium() -> str | None:
    """The program: ``$REFLESS_CHROMIUM``, or one of `NAMES`; None if there is none."""
    return os.environ.get("REFLESS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a width and height in CSS pixels. Below 500 it is a phone's.

    ``errors`` has what went wrong since the start: errors on the console, exceptions, and requests
    that failed or went anywhere but to the file itself.
    """

    def __init__(self, program: str, profile: Path, width: int, height: int) -> None:
        self.errors: list[str] = []
        self._contexts: dict[int, str] = {}
        self._count = 0
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", START, str(commands), str(answers), program, *FLAGS),
                *(f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._rest = b""
        self._session: str | None = None
        until = time.monotonic() + PATIENCE
        while not (pages := self._pages()):
            assert time.monotonic() < until, "Chromium opened no page"
        attached = self.send("Target.attachToTarget", targetId=pages[0], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self._main = self.send("Page.getFrameTree")["frameTree"]["frame"]["id"]

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session = None
        with contextlib.suppress(AssertionError, OSError):
            self.send("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the DevTools protocol and its result."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._next(until)
            assert answer is not None, f"no answer to {method}"
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer['error']}"
                found: dict[str, Any] = answer["result"]
                return found
            self._note(answer)

    def open(self, path: Path) -> None:
        """Load a file."""
        self.send("Page.navigate", url=path.resolve().as_uri())

    def run(self, script: str, inside: bool = False) -> Any:
        """The value of an expression, in the page or ``inside`` the frame that it shows."""
        while event := self._next(0):
            self._note(event)
        frames = [
            context for context, frame in self._contexts.items() if (frame != self._main) == inside
        ]
        if not frames:
            return None
        found = self.send(
            "Runtime.evaluate",
            expression=script,
            contextId=frames[-1],
            returnByValue=True,
            awaitPromise=True,
        )
        assert "exceptionDetails" not in found, f"{script}: {found['exceptionDetails']}"
        return found["result"].get("value")

    def wait(self, script: str, inside: bool = False) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            # a frame may go while it is asked
            with contextlib.suppress(AssertionError):
                if self.run(f"Boolean({script})", inside):
                    return
            time.sleep(0.02)
        raise AssertionError(f"never came true: {script}")

    def click(self, element: str, inside: bool = False) -> None:
        """Click with the mouse on the middle of what an expression finds."""
        middle = (
            "(e => { e.scrollIntoView({block: 'center', inline: 'center'});"
            " const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2] })"
        )
        x, y = self.run(f"{middle}({element})", inside)
        if inside:
            left, top = self.run(
                "(r => [r.x, r.y])(document.querySelector('iframe').getBoundingClientRect())"
            )
            x, y = x + left, y + top
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path: Path) -> None:
        """What is to be seen, as PNG: for whoever looks why a test fails."""
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def _pages(self) -> list[str]:
        targets = self.send("Target.getTargets")["targetInfos"]
        return [target["targetId"] for target in targets if target["type"] == "page"]

    def _next(self, until: float) -> dict[str, Any] | None:
        while b"\0" not in self._rest:
            left = max(0.0, until - time.monotonic())
            if not select.select([self._read], [], [], left)[0]:
                return None
            got = os.read(self._read, 1 << 20)
            assert got, "Chromium has ended"
            self._rest += got
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _note(self, event: dict[str, Any]) -> None:
        kind, about = event.get("method"), event.get("params", {})
        if kind == "Runtime.executionContextCreated":
            context = about["context"]
            if context["auxData"].get("isDefault"):
                self._contexts[context["id"]] = context["auxData"]["frameId"]
        elif kind == "Runtime.executionContextDestroyed":
            self._contexts.pop(about["executionContextId"], None)
        elif kind == "Runtime.executionContextsCleared":
            self._contexts.clear()
        elif kind == "Runtime.exceptionThrown":
            thrown = about["exceptionDetails"]
            what = thrown.get("exception", {}).get("description", thrown["text"])
            self.errors.append(f"exception: {what}")
        elif kind == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
            said = " ".join(str(a.get("value", a.get("description"))) for a in about["args"])
            self.errors.append(f"console: {said}")
        elif kind == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(f"log: {about['entry']['text']} {about['entry'].get('url', '')}")
        elif kind == "Network.loadingFailed" and not about.get("canceled"):
            self.errors.append(f"failed request: {about['errorText']}")
        elif kind == "Network.requestWillBeSent":
            url = about["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:")):
                self.errors.append(f"request: {url}")
