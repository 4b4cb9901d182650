#!/usr/bin/env bash
# The Python package as a user gets it: a wheel, installed into a clean virtual environment, and its tests.
# Needs Python 3.10 or later; fetches packages. PROFILE is the cargo profile of the wheel (dev shares work with cargo test).
set -euo pipefail
cd "$(dirname "$0")/.."
profile="${PROFILE:-dev}"
python="${PYTHON:-python3}"
place="${NEARFAR_VENV:-target/python}"

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  echo "python/test.sh: Python 3.10 or later was not found (set PYTHON to its name)" >&2
  exit 2
fi

# Debian keeps venv and pip in packages of their own.
make_venv() { rm -rf "$1" && "$python" -m venv "$1" && "$1/bin/python" -m pip --version >/dev/null; }
new_venv() {
  if ! make_venv "$1" >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
      apt-get update -qq && apt-get install -y -qq python3-venv python3-pip >/dev/null
    fi
    make_venv "$1" || {
      echo "python/test.sh: no virtual environment could be made; install python3-venv" >&2
      exit 2
    }
  fi
}

step() { printf '\n== %s\n' "$*"; "$@"; }
mkdir -p "$place"
new_venv "$place/build"
step "$place/build/bin/python" -m pip install --quiet "maturin>=1.9,<2"
rm -rf "$place/wheels"
step "$place/build/bin/maturin" build --locked --quiet --profile "$profile" --out "$place/wheels"
new_venv "$place/clean"
wheel="$(ls "$place"/wheels/nearfar-*.whl)"
# Alone first: it must import with its own dependencies and nothing else.
step "$place/clean/bin/python" -m pip install --quiet "$wheel"
(cd "$place" && step clean/bin/python -c 'import nearfar; print("nearfar", nearfar.__version__, nearfar.NearFar(2).fit_predict([[0.0], [0.1], [5.0], [5.1]]))')
step "$place/clean/bin/python" -m pip install --quiet "$wheel[test]"
step "$place/clean/bin/ruff" check python examples tests/browser
step "$place/clean/bin/ruff" format --check python examples tests/browser
step "$place/clean/bin/mypy"
step "$place/clean/bin/python" -m pytest -p no:cacheprovider "$@"
