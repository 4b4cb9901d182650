#!/usr/bin/env bash
# Whether programs can be built and run over MPI here: installs Open MPI and libclang where it may (Debian, as root); else says why not, and fails.
set -euo pipefail

ready() { command -v mpirun >/dev/null && command -v mpicc >/dev/null && ls /usr/lib/llvm-*/lib/libclang*.so* >/dev/null 2>&1; }
if ! ready; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends openmpi-bin libopenmpi-dev libclang-dev; } >/dev/null 2>&1 || {
      echo "Open MPI could not be installed with apt-get"
      exit 1
    }
  fi
  ready || {
    echo "Open MPI and libclang were not found; install them (Debian: apt-get install openmpi-bin libopenmpi-dev libclang-dev)"
    exit 1
  }
fi
mpirun --version | grep -q "Open MPI" || {
  echo "mpirun is not that of Open MPI"
  exit 1
}
