"""What the Python layer costs at n = 2000: the whole call of fit against the seconds the engine counts itself.

python python/benches/overhead.py [repeats]
"""

import statistics
import sys
import time

import nearfar

repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
X, _ = nearfar.datasets.make_mixture(2000, n_clusters=10, n_features=64, random_state=0)
for name, model in {
    "NearFar, 12 starts": nearfar.NearFar(10, random_state=0),
    "NearFar, 1 start": nearfar.NearFar(10, n_init=1, random_state=0),
    "SymNMF": nearfar.SymNMF(10, random_state=0),
}.items():
    shares, walls = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        model.fit(X)
        wall = time.perf_counter() - began
        walls.append(wall)
        shares.append((wall - sum(model.timings_.values())) / wall)
    wall, share = statistics.median(walls), statistics.median(shares)
    print(f"{name:20} {wall:8.3f} s, of which the Python layer {1000 * share * wall:6.1f} ms = {100 * share:5.2f} %")
