"""A headless browser for tests: opens a page, waits until it is drawn, and looks at what is there."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
)  # fmt: skip
PATIENCE_S = 100
"""A busy machine may take its time; a page that is drawn is seen at once."""
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def absent() -> str:
    """Return what is missing for a browser, `""` if nothing is."""
    if importlib.util.find_spec("selenium") is None:
        return "absent: selenium (pip install selenium)"
    if _binary() is None or shutil.which("chromedriver") is None:
        return "absent: a browser and its driver (apt-get install chromium chromium-driver)"
    return ""


def _binary() -> str | None:
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


class Browser:
    """One headless Chromium."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        options = Options()
        options.binary_location = _binary() or ""
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.size(1280, 900)

    def close(self) -> None:
        self.driver.quit()

    def size(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def media(self, *, scheme: str = "light", kind: str = "") -> None:
        """Emulate what the system prefers, and `print`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})

    def open(self, page: Path, place: str = "", *, fresh: bool = False) -> None:
        """Open a page at `#place` and wait until it is drawn."""
        if fresh:
            self.driver.get("about:blank")
        self.driver.get(f"file://{quote(str(page))}{place}")
        self.until("return document.documentElement.dataset.ready === (location.hash || '#')")

    def until(self, script: str, *arguments: Any) -> Any:
        """Wait until a script returns something true, and return it."""
        from selenium.webdriver.support.ui import WebDriverWait

        wait = WebDriverWait(self.driver, PATIENCE_S, poll_frequency=0.05)
        return wait.until(lambda driver: driver.execute_script(script, *arguments))

    def charts(self) -> None:
        """Wait until all charts that are shown are drawn; that they are is not part of the page's being ready."""
        self.until("""
            const shown = [...document.querySelectorAll('figure')].filter(figure => figure.offsetParent);
            return shown.length > 0 && shown.every(figure => figure.querySelector('svg[role=group]'))""")

    def sticking_out(self) -> Any:
        """Return the texts that are not wholly within the charts that they belong to."""
        return self.run("""
            const charts = [...document.querySelectorAll('figure svg[role=group]')];
            return charts.filter(chart => chart.getClientRects().length).flatMap(chart => {
                const box = chart.getBoundingClientRect();
                return [...chart.querySelectorAll('text')].filter(text => {
                    const own = text.getBoundingClientRect();
                    return own.width && (own.left < box.left - 1 || own.right > box.right + 1);
                }).map(text => `${chart.getAttribute('aria-label')}: ${text.textContent}`);
            })""")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str = "body") -> str:
        """Return all text of an element, shown or not."""
        return str(self.run("return document.querySelector(arguments[0]).textContent", selector))

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all shown elements."""
        script = """
            const found = [...document.querySelectorAll(arguments[0])].filter(n => n.offsetParent);
            return found.map(n => n.innerText.trim())"""
        return [str(text) for text in self.run(script, selector)]

    def click(self, selector: str, text: str = "") -> None:
        """Click the first element of a selector that holds a text."""
        script = """
            const found = [...document.querySelectorAll(arguments[0])].find(n => n.textContent.includes(arguments[1]));
            found?.click(); return Boolean(found)"""
        assert self.run(script, selector, text), f"there is no {selector} with {text!r}"

    def choose(self, label: str, value: str) -> None:
        """Set the select or input below a label, as a user does."""
        script = """
            const label = [...document.querySelectorAll('label')].find(n => n.firstChild.textContent === arguments[0]);
            const field = label.querySelector('select, input');
            field.value = arguments[1];
            field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));"""
        self.run(script, label, value)

    def complaints(self) -> list[str]:
        """Return what the console says since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]  # type: ignore[no-untyped-call]
