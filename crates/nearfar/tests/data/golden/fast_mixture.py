"""Makes fast_mixture.npz: one M step and one E step of fast.py's mixtures on iris with two made categories, from given responsibilities.

    python fast_mixture.py PATH_TO_REFERENCE_FOLDER
"""
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

sys.path.insert(0, sys.argv[1])
import fast  # noqa: E402

K = 3
rng = np.random.default_rng(8)
X = load_iris().data
n = len(X)
color, sort = rng.integers(0, 3, n), (rng.random(n) < 0.3 + 0.4 * (np.arange(n) > 75)).astype(float)
# Numbers, a constant column, a one-hot category of three levels, a number, a two-valued column.
made = np.hstack([X[:, :3], np.full((n, 1), 4.0), 2.5 * np.eye(3)[color], X[:, 3:], 7 + sort[:, None]])
Y, C, _ = fast.columns(made, 0, n)
out = {"X": made, "Y": Y, "C": np.stack(C, 1).astype(float)}
groups = fast.categories(made[:, made.std(0) > 0])
out["group_starts"] = np.array([g[0] for g in groups], float)
out["group_sizes"] = np.array([len(g) for g in groups], float)

R = rng.dirichlet(np.ones(K), n)
pull = 0.2 + rng.random((n, K))
out["R"], out["pull"] = R, pull
for kind in ("full", "tied", "diag", "spherical"):
    for tail in fast.TAILS:
        model = fast.Mixture(K, kind, tail, 0)
        model.levels = [int(c.max()) + 1 for c in C]
        model.maximise(R, pull, Y, C)
        lp, next_pull = model.log_joint(Y, C)
        name = f"{kind}_{'normal' if np.isinf(tail) else int(tail)}_"
        out[name + "lp"], out[name + "pull"] = lp, next_pull
        out[name + "mean"] = model.mean
        out[name + "cov"] = np.stack([L @ L.T for L in model.chol])
        for g, table in enumerate(model.tables):
            out[f"{name}table{g}"] = table
# BIC: of a whole fit that ends after its first round, so that both fits are one M step and one E step from the same labels.
labels = (np.arange(n) * K) // n


class Given:
    def __init__(self, *_, **__): pass
    def fit_predict(self, _): return labels


fast.KMeans = Given
for kind in ("full", "tied", "diag", "spherical"):
    for tail in fast.TAILS:
        model = fast.Mixture(K, kind, tail, 0).fit(Y, C, starts=1, rounds=1)
        out[f"{kind}_{'normal' if np.isinf(tail) else int(tail)}_bic"] = np.array([model.bic])
np.savez_compressed(Path(__file__).with_name("fast_mixture.npz"), **out)
