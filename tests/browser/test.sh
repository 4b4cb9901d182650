#!/usr/bin/env bash
# Pages in a real browser: no request leaves, nothing fails, charts are drawn, hover, slider and CSV work, and axe-core
# finds nothing serious, at two widths, light and dark.
# Needs Python 3.10 or later and Chromium; fetches playwright and, with npm, axe-core. Screenshots go to
# target/browser/shots.
set -euo pipefail
cd "$(dirname "$0")/../.."
python="${PYTHON:-python3}"
place="target/browser"

skip() { echo "tests/browser/test.sh: skipped: $*"; exit 0; }

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
if ! browser >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 || skip "Chromium could not be installed with apt-get"
  fi
  browser >/dev/null || skip "Chromium was not found; install it (Debian: apt-get install chromium)"
fi
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skip "Python 3.10 or later was not found (set PYTHON to its name)"

if [ ! -x "$place/venv/bin/python" ] || ! "$place/venv/bin/python" -c 'import playwright' 2>/dev/null; then
  rm -rf "$place/venv"
  mkdir -p "$place"
  if ! "$python" -m venv "$place/venv" >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      { apt-get update -qq && apt-get install -y -qq python3-venv python3-pip; } >/dev/null 2>&1 || true
    fi
    "$python" -m venv "$place/venv" || skip "no virtual environment could be made; install python3-venv"
  fi
  "$place/venv/bin/python" -m pip install --quiet "playwright>=1.50,<2" || skip "playwright could not be fetched"
fi

axe="$place/package/axe.min.js"
if [ ! -f "$axe" ]; then
  if command -v npm >/dev/null && (cd "$place" && npm pack --silent "axe-core@4" >/dev/null 2>&1 && tar xzf axe-core-4*.tgz package/axe.min.js); then :
  else
    echo "tests/browser/test.sh: skipped: axe-core could not be fetched with npm; pages are opened without it"
    axe=""
  fi
fi

# With the same set of packages as the other checks, so that nothing is compiled twice.
# shellcheck disable=SC2086
cargo build --workspace --locked --quiet ${NEARFAR_FEATURES:-}
"$place/venv/bin/python" tests/browser/check.py "$(browser)" target/debug/nearfar "$place" ${axe:+"$axe"}
