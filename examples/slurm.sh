#!/usr/bin/env bash
# A run on four machines of a Slurm cluster, two ranks each. Adapt the first lines; `sbatch examples/slurm.sh big.parquet`.
#SBATCH --job-name=nearfar
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=16
#SBATCH --mem=0
#SBATCH --time=12:00:00
set -euo pipefail

input="${1:?name a Parquet, NPY or CSV file that all machines can read}"
# Built once with: cargo build --release --features mpi   (in a shell with the cluster's MPI loaded)
program="${NEARFAR:-nearfar}"

# One rank per socket, its threads on that socket. Where Slurm and MPI do not know each other, `mpirun` does the same.
srun --mpi=pmix --cpu-bind=sockets \
  "$program" cluster "$input" -k 100 --threads "$SLURM_CPUS_PER_TASK" \
  -o "labels-$SLURM_JOB_ID.npy" --out-dir "run-$SLURM_JOB_ID"
