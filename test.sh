#!/usr/bin/env bash
# Every check of the project: format, lints, documentation, tests, the Python package in a clean environment, reports in a browser, and several processes over MPI.
# Needs Rust with rustfmt and clippy, and Python 3.10 or later; fetches crates and Python packages.
# The tests in a browser and over MPI take Chromium and Open MPI where they are, install them where they may (Debian, as root), and are skipped elsewhere.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v cargo >/dev/null; then
  echo "test.sh: cargo was not found; install Rust 1.90 or later (https://rustup.rs) and run this again" >&2
  exit 2
fi
for component in fmt clippy; do
  if ! cargo "$component" --version >/dev/null 2>&1; then
    rustup component add "${component/fmt/rustfmt}"
  fi
done

# Where there is MPI everything that runs is built with it, once: another set of features would compile the dependencies a second time.
NEARFAR_FEATURES=""
if tests/mpi/ready.sh; then
  NEARFAR_FEATURES="--features nearfar-cli/mpi"
fi
export NEARFAR_FEATURES

step() { printf '\n== %s\n' "$*"; "$@"; }
step cargo fmt --all --check
step cargo clippy --workspace --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" step cargo doc --workspace --no-deps --locked --quiet
RUSTDOCFLAGS="-D warnings" step cargo run --quiet --locked --package xtask -- public-items --most 190
# shellcheck disable=SC2086
step cargo test --workspace --locked --no-fail-fast $NEARFAR_FEATURES
step python/test.sh
step tests/browser/test.sh
step tests/mpi/test.sh
echo "all checks passed"
