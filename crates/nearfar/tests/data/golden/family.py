"""Makes family.npz: what the NumPy forms of the compared methods do on iris from one start.

    python family.py PATH_TO_REFERENCE_FOLDER

Every method runs a fixed number of iterations (no stopping), so that agreement does not hang on a tolerance.
"""
import sys
import numpy as np
from sklearn.datasets import load_iris

sys.path.insert(0, sys.argv[1])
import baselines_check as bc  # noqa: E402

ITERATIONS = 12
out = {}
# Iris holds equal rows and equal distances; a little noise leaves no ties for two programs to break differently.
X = load_iris().data + 1e-3 * np.random.default_rng(4).random((150, 4))
n, r = len(X), 3
V0 = np.random.default_rng(5).random((n, r))
out["X"], out["V0"] = X, V0
graphs = {kind: bc.graph(X, kind) for kind in ("ncut", "lsdg")}
for kind, S in graphs.items():
    out["S_" + kind] = S
S = graphs["ncut"]
never = dict(tol=-1.0, maxiter=ITERATIONS)


def keep(name, result):
    out[name + "_V"], out[name + "_loss"] = result[0], np.array(result[1])
    if len(result) > 2:
        out[name + "_U"] = result[2]


keep("symnmf_mu", bc.symnmf_mu(S, V0, None, **never))
keep("symnmf_gradient", bc.symnmf_pgd(S, V0, None, **never))
keep("symnmf_newton", bc.symnmf_newton(S, V0, None, tol=0.0, maxiter=ITERATIONS))
keep("anls_pivoting", bc.anls(S, V0, None, lam=0.5, **never))
keep("anls_columns", bc.symhals(S, V0, None, lam=0.5, **never))
keep("sbsum", bc.sbsum(S, V0, None, **never))
keep("sbsum_lsdg", bc.sbsum(graphs["lsdg"], V0, None, **never))
keep("phals", bc.phals(S, V0, None, **never))
keep("gsnmf", bc.gsnmf_mu(S, V0, None, lam=1.0, **never))
for reg in ("offdiag", "logdet", "propall"):
    keep("ao_" + reg, bc.aosymnmf_mu(S, V0, None, alpha=0.1, reg=reg, **never))
keep("ao_columns", bc.phals(S, V0, None, alpha=0.1, **never))
rng = np.random.default_rng(6)
U0 = rng.random((X.shape[1], r))
out["U0"] = U0


class Given:
    """Hands out arrays drawn beforehand, so that the other implementation can have the same."""

    def __init__(self, *arrays):
        self.arrays = list(arrays)

    def random(self, shape):
        a = self.arrays.pop(0)
        assert a.shape == tuple(shape), (a.shape, shape)
        return a.copy()


Xt = X.T.copy()
keep("gnmf", bc.gnmf(Xt, V0, S, lam=10.0, rng=Given(U0), **never))
keep("nmfan", bc.nmfan(Xt, V0, lam=10.0, k=5, rng=Given(U0), tol=-1.0, maxiter=ITERATIONS))
noise = rng.random((n, n))
out["noise"] = noise
keep("cgsymnmf", bc.cgsymnmf(bc.unit_cols(Xt), S, V0, alpha=0.1, beta=1.0, rng=Given(noise), **never))
keep("rbsmf", bc.rbsmf(Xt, S, V0, lam=1.0, mu=1.0, rng=Given(U0), tol=-1.0, maxiter=6))
out["rbsmf_S"] = bc.rbsmf.S
for reg in ("offdiag", "logdet", "propall"):
    V, Sl, Dl, loss = bc.lsdg(X, V0, alpha=0.1, beta=10.0, mu=0.1, solver="mu", reg=reg, tol=-1.0, maxiter=ITERATIONS)
    out["lsdg_" + reg + "_V"], out["lsdg_" + reg + "_loss"] = V, np.array(loss)
    out["lsdg_" + reg + "_w"], out["lsdg_" + reg + "_p"] = bc.lsdg.wp
np.savez_compressed("family.npz", **out)
print({k: v.shape for k, v in out.items()})
