"""The other side of `cargo xtask bench-readers`: writes the files, then reads one per line of stdin and answers with
the seconds it took (wall clock, processor). One thread."""

import os
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

pa.set_cpu_count(1)
folder = sys.argv[1]


def path(name):
    return os.path.join(folder, name)


def write():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1_000_000, 64), dtype=np.float32)
    columns = {f"x{j}": x[:, j] for j in range(64)}
    pa.parquet.write_table(pa.table(columns), path("x.parquet"))
    np.save(path("x.npy"), x)
    np.savez(path("stored.npz"), X=x)
    np.savez_compressed(path("noise.npz"), X=x)
    # Grey values as in scanned digits: four of five are 0.
    pixels = rng.integers(0, 256, (70_000, 784), dtype=np.uint8) * (rng.random((70_000, 784)) < 0.2)
    np.savez_compressed(path("pixels.npz"), X=pixels.astype(np.uint8))
    numbers = np.round(10 * rng.standard_normal((1_000_000, 20)), 6)
    table = pa.table({f"x{j}": numbers[:, j] for j in range(20)})
    pa.csv.write_csv(table, path("x.csv"))


def csv():
    return pa.csv.read_csv(path("x.csv"), read_options=pa.csv.ReadOptions(use_threads=False))


def parquet():
    return pa.parquet.read_table(path("x.parquet"), use_threads=False)


def matrix(table):
    return np.column_stack([column.to_numpy() for column in table.columns])


def checked(x):
    assert np.isfinite(x).all()
    return x


READ = {
    "csv table": csv,
    "csv matrix": lambda: matrix(csv()),
    "parquet table": parquet,
    "parquet matrix": lambda: matrix(parquet()),
    "npy": lambda: np.load(path("x.npy")),
    "npy, checked": lambda: checked(np.load(path("x.npy"))),
    "npz stored": lambda: np.load(path("stored.npz"))["X"],
    "npz noise": lambda: np.load(path("noise.npz"))["X"],
    "npz pixels": lambda: np.load(path("pixels.npz"))["X"],
}

write()
print("ready", flush=True)
for line in sys.stdin:
    wall, cpu = time.perf_counter(), time.process_time()
    result = READ[line.strip()]()
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
    # As in a program that reads one file: no memory kept from the turn before.
    del result
    pa.default_memory_pool().release_unused()
