"""What the Python layer costs at n = 2000: the whole call of fit, against the time inside the compiled call, and
against the seconds that the engine counts for its stages (the rest of the compiled call makes a model to be saved).

python python/benches/overhead.py [repeats]
"""

import statistics
import sys
import time
from typing import Any

import nearfar
from nearfar import _base

inside = 0.0


class Timed:
    """The compiled module with a clock on its fit."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        global inside
        began = time.perf_counter()
        result = self.module.fit(*args, **kwargs)
        inside = time.perf_counter() - began
        return result


_base._nearfar = Timed(_base._nearfar)  # type: ignore[assignment]
repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
X, _ = nearfar.datasets.make_mixture(2000, n_clusters=10, n_features=64, random_state=0)
print(f"medians of {repeats} fits; percent of the compiled call")
for name, model in {
    "NearFar": nearfar.NearFar(10, random_state=0),
    "LSDG, 1 start": nearfar.LSDG(10, n_init=1, random_state=0),
    "SymNMF": nearfar.SymNMF(10, random_state=0),
}.items():
    model.fit(X)
    walls, layers, glue = [], [], []
    for _ in range(repeats):
        began = time.perf_counter()
        model.fit(X)
        wall = time.perf_counter() - began
        walls.append(inside)
        layers.append(wall - inside)
        glue.append(inside - sum(model.timings_.values()))
    compiled, layer, made = (statistics.median(seconds) for seconds in (walls, layers, glue))
    print(
        f"{name:20} {compiled:8.3f} s; Python {1e3 * layer:5.1f} ms = {100 * layer / compiled:4.2f} %; "
        f"making the model {1e3 * made:5.1f} ms = {100 * made / compiled:4.2f} %"
    )
