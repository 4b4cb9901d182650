#!/usr/bin/env bash
# Several processes over MPI: the same bits at any number of ranks, one message for a failure, the end of all when one is killed.
# Needs Open MPI with headers and libclang; installs them where it may (Debian, as root), and is skipped elsewhere.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! why="$(tests/mpi/ready.sh)"; then
  echo "tests/mpi/test.sh: skipped: $why"
  exit 0
fi

# With the same set of packages as the other checks, so that nothing is compiled twice.
cargo clippy --workspace --locked --quiet --features nearfar-cli/mpi -- -D warnings
cargo build --workspace --locked --quiet --features nearfar-cli/mpi
mkdir -p target/mpi
cp target/debug/nearfar target/mpi/nearfar
tests/mpi/check.sh "$PWD/target/mpi/nearfar" "$PWD/target/mpi"
