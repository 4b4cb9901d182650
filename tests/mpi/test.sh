#!/usr/bin/env bash
# Several processes over MPI: the same bits at any number of ranks, one message for a failure, the end of all when one is killed.
# Needs Open MPI with headers and libclang; installs them where it may (Debian, as root), and is skipped elsewhere.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() { echo "tests/mpi/test.sh: skipped: $*"; exit 0; }

ready() { command -v mpirun >/dev/null && command -v mpicc >/dev/null && ls /usr/lib/llvm-*/lib/libclang*.so* >/dev/null 2>&1; }
if ! ready; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends openmpi-bin libopenmpi-dev libclang-dev; } >/dev/null 2>&1 || skip "Open MPI could not be installed with apt-get"
  fi
  ready || skip "Open MPI and libclang were not found; install them (Debian: apt-get install openmpi-bin libopenmpi-dev libclang-dev)"
fi
mpirun --version | grep -q "Open MPI" || skip "mpirun is not that of Open MPI"

# With the same set of packages as the other checks, so that little is compiled twice.
cargo clippy --workspace --locked --quiet --features nearfar-cli/mpi -- -D warnings
cargo build --workspace --locked --quiet --features nearfar-cli/mpi
mkdir -p target/mpi
cp target/debug/nearfar target/mpi/nearfar
tests/mpi/check.sh "$PWD/target/mpi/nearfar" "$PWD/target/mpi"
