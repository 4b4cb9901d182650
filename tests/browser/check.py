"""Opens reports from disk in Chromium and checks what a reader sees: check.py CHROMIUM NEARFAR FOLDER [AXE]."""

from __future__ import annotations

import csv
import io
import random
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

SHOTS = Path("shots")
LOOKS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


def make(nearfar: str, folder: Path) -> dict[str, Path]:
    """Runs on generated data: points with all there is, many points, pictures, pairs, and two runs side by side."""

    def run(*words: str) -> None:
        subprocess.run([nearfar, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    def cluster(*words: str) -> None:
        run("cluster", *words[:1], "-q", *words[1:])

    run("make", "chart", "-o", "chart.csv")
    truth = ("--truth", "truth")
    cluster("chart.csv", "-k", "6", *truth, "--out-dir", "c", "--report", "chart.html")
    soft = ("-k", "6", *truth, "--method", "lsdg")
    cluster("chart.csv", *soft, "--starts", "4", "--out-dir", "a", "--report", "lsdg.html")
    cluster("chart.csv", *soft, "--starts", "1", "--out-dir", "b")
    run("compare", "a", "b", "--report", "compare.html")
    run("compare", "a", "c", "--report", "mixed.html")
    run("make", "rings", "-o", "rings.csv")
    cluster("rings.csv", *truth, "--report", "found.html", "-o", "l.csv")
    run("make", "blobs", "-n", "6000", "-k", "5", "-o", "many.csv")
    cluster("many.csv", "-k", "5", *truth, "--report", "many.html", "-o", "l.csv")
    (folder / "pictures.csv").write_text(pictures())
    run("cluster", "pictures.csv", "-q", "-k", "2", "--no-header", "--report", "pictures.html", "-o", "l.csv")
    (folder / "hostile.csv").write_text(hostile())
    run("cluster", "hostile.csv", "-q", "-k", "2", "--id-column", "0", "--report", "hostile.html", "-o", "l.csv")
    run("make", "customers", "-o", "customers.csv")
    cluster("customers.csv", *truth, "--report", "customers.html", "-o", "l.csv")
    (folder / "noise.csv").write_text(noise())
    run("cluster", "noise.csv", "-q", "--no-header", "--report", "noise.html", "-o", "l.csv")
    names = ("chart", "lsdg", "compare", "mixed", "found", "many", "pictures", "hostile", "customers", "noise")
    return {name: folder / f"{name}.html" for name in names}


def pictures() -> str:
    """Bright spots of 16 x 16 pixels, in the upper left or the lower right."""
    lines = []
    for i in range(40):
        x = y = (4 if i % 2 else 11) + 0.03 * (i * 7 % 11)
        spot = [round(99 * 2 ** (-((a - x) ** 2 + (b - y) ** 2) / 6), 2) for b in range(16) for a in range(16)]
        lines.append(",".join(map(str, spot)))
    return "\n".join(lines) + "\n"


def noise() -> str:
    """Points without any groups, and one of them far out."""
    draw = random.Random(1)
    rows = [",".join(f"{draw.random():.5f}" for _ in range(4)) for _ in range(500)]
    return "\n".join([*rows, "90,90,90,90"]) + "\n"


def hostile() -> str:
    bad = "</script></template><img src=x onerror=console.error(1)>"
    rows = [f"{bad}{i},{i % 2 * 9 + 0.01 * i},{i * i % 17 * 0.02}" for i in range(40)]
    return "\n".join([f"{bad}id,{bad}x,y", *rows]) + "\n"


class Watched:
    """A page that keeps what it complained about and what it asked for."""

    def __init__(self, page: Page):
        self.page, self.complaints, self.requests = page, [], []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path) -> None:
        self.page.goto(path.as_uri())
        self.page.wait_for_function("[...document.querySelectorAll('.plane')].every(plane => plane.dataset.drawn)")

    def check_quiet(self, path: Path) -> None:
        assert not self.complaints, self.complaints
        outside = [url for url in self.requests if url != path.as_uri() and not url.startswith(("data:", "blob:"))]
        assert not outside, outside


def drawn_pixels(page: Page) -> int:
    """How many pixels of the scatter are not empty."""
    return page.evaluate(
        """() => { const c = document.querySelector('.plane canvas');
        const copy = new OffscreenCanvas(c.width, c.height).getContext('2d');
        copy.drawImage(c, 0, 0); const d = copy.getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; }"""
    )


def look(page: Page) -> None:
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, f"the page is {wide} pixels too wide"
    unnamed = page.evaluate(
        "[...document.querySelectorAll('svg[role=img], canvas[role=img]')]"
        ".filter(e => !e.getAttribute('aria-label')).length"
    )
    assert unnamed == 0, f"{unnamed} pictures have no words"
    empty = page.evaluate(
        "[...document.querySelectorAll('main figure svg[data-x]')]"
        ".filter(e => e.querySelectorAll('path, rect').length < 4).length"
    )
    assert empty == 0, f"{empty} charts are empty"
    small = page.evaluate(
        """() => [...document.querySelectorAll('main svg text')].filter(t => t.getClientRects().length)
        .filter(t => {
            const svg = t.ownerSVGElement, scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return parseFloat(getComputedStyle(t).fontSize) * scale < 9.5;
        }).length"""
    )
    assert small == 0, f"{small} words are too small to read"


def audit(page: Page, axe: str) -> None:
    """What axe-core finds serious: nothing."""
    page.evaluate(axe)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] }).then(found => found.violations)")
    serious = [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: {[node['html'][:160] for node in rule['nodes'][:3]]}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]
    assert not serious, serious


def slide(page: Page) -> None:
    """Every number of clusters of the tree relabels the points, and back."""
    if not page.locator("figure#points .levels").count():
        return
    picture = "document.querySelector('figure#points canvas').toDataURL()"
    before, slider = page.evaluate(picture), page.locator("figure#points .slide")
    found = int(slider.input_value())
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert int(slider.input_value()) == found + 1
    listed = page.locator("figure#points .which.level .one")
    assert listed.count() == found + 1, "not as many clusters as the slider says"
    assert page.evaluate(picture) != before, "the points have kept their colours"
    sizes = page.evaluate("[...document.querySelectorAll('.which.level .one > .soft')].map(e => +e.textContent)")
    leaves = page.evaluate("document.querySelector('figure#points template.joins').content.textContent.split('\\n')[0]")
    assert sum(sizes) == sum(map(int, leaves.split())), sizes
    page.screenshot(path=SHOTS / f"level-{page.viewport_size['width']}.png")
    page.locator("figure#points .number").fill("1")
    page.keyboard.press("Enter")
    assert listed.count() == 1 or found == 1
    page.locator(f"figure#points .levels button[data-k='{found}']").click()
    assert page.evaluate(picture) == before, "the answer does not come back"


def hover(page: Page) -> None:
    """Every point that is pointed at tells its name; charts and heat maps read out numbers."""
    plane = page.locator("figure#points .plane canvas").first
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    card = page.locator("figure#points .card")
    words = set()
    for across in range(1, 24):
        for down in range(1, 16):
            page.mouse.move(box["x"] + box["width"] * across / 24, box["y"] + box["height"] * down / 16)
            words.add(card.inner_text())
    told = [text for text in words if "cluster" in text and "%" in text]
    assert told, words
    trusting = "nearfar.rowsOf(document.querySelector('figure#points')).slice(1).some(row => row[3])"
    if page.locator(".plane").first.get_attribute("data-kind") == "points" and page.evaluate(trusting):
        assert any("trusts" in text for text in told), told
    plane.focus()
    page.keyboard.press("ArrowRight")
    first = card.inner_text()
    page.keyboard.press("ArrowDown")
    assert "membership" in first
    assert "membership" in card.inner_text()
    for figure in ("sizes", "weights-chart", "map-s", "confidence", "reliability", "gaps"):
        if page.locator(f"#{figure}").count():
            picture = page.locator(f"#{figure} svg:visible").first
            picture.scroll_into_view_if_needed()
            box = picture.bounding_box()
            page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.4)
            readout = page.locator(f"#{figure} .readout").inner_text()
            assert any(letter.isdigit() for letter in readout), (figure, readout)


def legend(page: Page) -> None:
    before = drawn_pixels(page)
    button = page.locator("figure#points .which:not(.level) button").first
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    page.mouse.move(0, 0)
    assert drawn_pixels(page) < before
    button.click()
    page.mouse.move(0, 0)
    assert drawn_pixels(page) == before


def colours(page: Page) -> None:
    """The scatter by confidence has other colours, and comes back."""
    if not page.locator("figure#points .colors button").count():
        return
    before = page.evaluate("document.querySelector('figure#points canvas').toDataURL()")
    page.locator("figure#points .colors button").nth(1).click()
    assert page.locator("figure#points .sure").is_visible()
    assert page.evaluate("document.querySelector('figure#points canvas').toDataURL()") != before
    page.screenshot(path=SHOTS / f"by-confidence-{page.viewport_size['width']}.png")
    page.locator("figure#points .colors button").first.click()
    assert page.evaluate("document.querySelector('figure#points canvas').toDataURL()") == before


def download(page: Page, figure: str) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.locator(f"#{figure} button.csv").click()
    assert waiting.value.suggested_filename == f"{figure}.csv"
    return list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8"))))


def main() -> None:
    chromium, nearfar, folder = sys.argv[1], str(Path(sys.argv[2]).resolve()), Path(sys.argv[3]).resolve()
    axe = Path(sys.argv[4]).read_text(encoding="utf-8") if len(sys.argv) > 4 else None
    global SHOTS
    shots, work = folder / "shots", folder / "work"
    SHOTS = shots
    for place in (shots, work):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
    pages = make(nearfar, work)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, path in pages.items():
            for width, scheme in LOOKS:
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                watched = Watched(context.new_page())
                page = watched.page
                watched.open(path)
                assert drawn_pixels(page) > 100, "the scatter is empty"
                look(page)
                page.screenshot(path=shots / f"{name}-{width}-{scheme}.png", full_page=True)
                if (name, width, scheme) == ("customers", 1280, "light"):
                    page.screenshot(path=shots / "report-first-screen.png")  # the picture of README and docs/report.md
                if axe:
                    audit(page, axe)
                if name not in ("compare", "mixed") and scheme == "light":
                    hover(page)
                    legend(page)
                    colours(page)
                    slide(page)
                if width == 1280 and scheme == "light":
                    names = [figure.get_attribute("id") for figure in page.locator("figure:has(button.csv)").all()]
                    for at, figure in enumerate(names):
                        if at % 8 == 7:  # Chromium takes more downloads of one page for a flood
                            watched.open(path)
                        rows = download(page, figure)
                        assert len(rows) > 1, figure
                        assert {len(row) for row in rows} == {len(rows[0])}, rows[:2]
                watched.check_quiet(path)
                context.close()
            print(f"{name}: {path.stat().st_size:,} bytes, seen at {len(LOOKS)} looks")
        context = browser.new_context()
        watched = Watched(context.new_page())
        watched.open(pages["lsdg"])
        weights = download(watched.page, "weights-chart")
        kept = list(csv.reader(io.StringIO((work / "a" / "weights.csv").read_text())))
        assert [row[:3] for row in weights[1:]] == kept[1:], "the CSV differs from the run's weights"
        watched.open(pages["chart"])
        for absent in ("#learning", "#spectrum", "#map-z", "#map-v"):
            assert not watched.page.locator(absent).count(), f"a page of the default method has {absent}"
        for there in ("#tree svg", "#sure svg", "#views svg", "#members table", "#levels svg", ".levels .slide"):
            assert watched.page.locator(there).count(), f"a page of the default method has no {there}"
        watched.page.emulate_media(media="print")
        watched.page.pdf(path=shots / "chart.pdf")
        assert drawn_pixels(watched.page) > 100, "the printed scatter is empty"
        assert not watched.page.locator("nav").is_visible(), "buttons are printed"
        watched.page.emulate_media(media="screen")
        watched.open(pages["pictures"])
        assert watched.page.locator(".faces img").count() >= 4, "no pictures of the representatives"
        watched.open(pages["hostile"])
        assert watched.page.locator("img").count() == 0, "a name became a tag"
        browser.close()
    print(f"screenshots are in {shots}")


if __name__ == "__main__":
    main()
