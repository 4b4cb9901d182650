"""A progress bar on stderr. Terminals and notebooks redraw one line; logs get one line per stage."""

from __future__ import annotations

import sys
import time

_WIDTH = 24


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"


class Bar:
    """A progress bar. The run calls it with every event."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty() or _in_notebook()
        self._shown = 0.0
        self._began = time.monotonic()
        self._drawn = 0
        self._stage = ""
        self._done = self._total = 0
        self._message = ""

    def __call__(self, event: str, stage: str, first: float, second: float) -> None:
        if event == "started":
            self._stage, self._done, self._total, self._message = stage, 0, 0, ""
            self._began = time.monotonic()
            self._draw(force=True)
        elif event == "progress":
            self._done, self._total = self._done + int(first), int(second)
            self._draw()
        elif event == "iteration":
            self._message = f"start {int(first) + 1}, iteration {int(second)}"
            self._draw()
        elif event == "finished":
            self._clear()
            print(f"{stage:10} {first:7.2f} s", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Clear an unfinished line."""
        self._clear()

    def _draw(self, force: bool = False) -> None:
        now = time.monotonic()
        if not self._live or (now - self._shown < 0.1 and not force):
            return
        self._shown = now
        share = min(1.0, self._done / self._total) if self._total else 0.0
        full = round(share * _WIDTH)
        bar = "#" * full + "-" * (_WIDTH - full)
        line = f"{self._stage:10} [{bar}] {share:4.0%} {now - self._began:6.1f} s  {self._message}"
        print("\r" + line.ljust(self._drawn), end="", file=sys.stderr, flush=True)
        self._drawn = len(line)

    def _clear(self) -> None:
        if self._drawn:
            print("\r" + " " * self._drawn + "\r", end="", file=sys.stderr, flush=True)
            self._drawn = 0
