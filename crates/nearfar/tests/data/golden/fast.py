"""Makes fast.npz and fast_leiden.npz: every step of the default but the partition by its NumPy form, and igraph's modularity.

    python fast.py PATH_TO_REFERENCE_FOLDER PROGRAM

The folder holds the prototype of the default, fast.py; the program is a built `nearfar`, whose `make` gives the points of the graphs.
Needs numpy, scipy, scikit-learn (for iris) and igraph. Iris holds equal rows and many equal distances; neighbours are therefore
looked up by differences and ordered by distance, then by index, which leaves nothing for two programs to break differently.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_iris

here = os.path.dirname(os.path.abspath(__file__))
# This script has the name of the prototype: its own folder must not come first.
sys.path[0] = sys.argv[1]
import fast  # noqa: E402

program = os.path.abspath(sys.argv[2])


def made(kind, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.npz")
        subprocess.run([program, "make", kind, *flags, "-o", path], check=True)
        z = np.load(path)
        return z["X"], z["y"]


def knn(X, k):
    """The k nearest others by differences; ties by index. Checked against the prototype's."""
    d = np.sqrt(np.stack([((X - x) ** 2).sum(1) for x in X]))
    np.fill_diagonal(d, np.inf)
    i = np.argsort(d, axis=1, kind="stable")[:, :k]
    d = np.take_along_axis(d, i, 1)
    assert np.allclose(d, fast.knn(X, k)[0], atol=1e-6)
    return d, i


def put(name, **arrays):
    for key, value in arrays.items():
        out[f"{name}_{key}"] = np.asarray(value, dtype=np.float64)


out = {}
iris = load_iris().data
sets = {"iris": (iris, 3), "moons": (made("moons", "-n", "200", "--seed", "3")[0], 2)}

# Views: eight columns with spread, so that all four are looked at, and one without.
wide = np.hstack([iris, iris**2 - 3.0, np.full((150, 1), 2.5)])
put("wide", X=wide, **{v.replace("-", "_"): Z for v, Z in fast.views(wide).items()})

K = 20
for name, (X, k) in sets.items():
    d, i = knn(X, K)
    A = fast.slices(d, i)
    start = fast.Graph(fast.start_graph(d, i))
    labels = start.partition(k, 1)
    c = fast.agreement(A, i, labels)
    put(name, X=X, d=d, i=i, A=A, start=start.W.toarray(), labels=labels, agreement=c)
    put(name, modularity=start.modularity(labels))
    for trusted in fast.TRUSTED:
        w = fast.weights(c, trusted)
        put(name, **{f"weights_{trusted}": w})
        put(name, **{f"similarity_{trusted}": fast.similarity(A, i, w).toarray()})
    # Every level of the tree from a fine partition; levels below the pieces of the graph are left to chance by the prototype.
    fine = start.fine(12, 1)
    pieces = sp.csgraph.connected_components(start.W)[0]
    tree = start.merge_tree(fine, pieces, set(range(pieces, fine.max() + 2)))
    put(name, fine=fine, pieces=pieces, levels=sorted(tree))
    put(name, tree=[tree[level] for level in sorted(tree)])
    put(name, curve=[start.modularity(tree[level]) for level in sorted(tree)])

# The mark of a view: (Q - N/2)/(1 - N/2), which the prototype has inside `fit`.
pairs = np.random.default_rng(2).random((20, 2)) * [0.9, 0.6]
put("judge", pairs=pairs, mark=[(q - null / 2) / (1 - null / 2) for q, null in pairs])

# The consensus of two members on each of two views.
members, weight = [], {"raw": 0.7, "standard": 1.0}
for v, Z in fast.views(iris).items():
    d, i = knn(Z, K)
    A = fast.slices(d, i)
    put(f"consensus_{v}", A=A, i=i)
    for m, trusted in enumerate((6, 15)):
        before = fast.Graph(fast.start_graph(d, i)).partition(3, m)
        w = fast.weights(fast.agreement(A, i, before), trusted)
        S = fast.similarity(A, i, w)
        labels = fast.Graph(S).partition(4, m)
        members.append((v, labels, S / S.sum()))
        put(f"consensus_{v}", **{f"w_{m}": w, f"labels_{m}": labels})
put("consensus", weights=[weight["raw"], weight["standard"]])
caught = []
fast.Graph.partition = lambda self, k, seed: caught.append(self.W)
fast.consensus(members, weight, 3, 0)
put("consensus", graph=caught[0].toarray())
np.savez_compressed(os.path.join(here, "fast.npz"), **out)
print(len(out), "arrays")

# igraph's best modularity of five seeds, on graphs whose points our own generators make.
RESOLUTIONS, SEEDS = (0.5, 1.0, 2.0), 5
leiden = {}
for kind, flags in [
    ("chart", ["-n", "600"]),
    ("moons", ["-n", "1000"]),
    ("blobs", ["-n", "1000", "--noise", "2"]),
    ("varied", ["-n", "1500", "--features", "8", "-k", "8", "--noise", "4"]),
    ("mixture", ["-n", "1500", "--features", "16"]),
    ("customers", ["-n", "1500"]),
    ("uniform", ["-n", "1500", "--features", "3"]),
    ("heavy", ["-n", "1000", "--features", "16"]),
]:
    W = fast.start_graph(*knn(made(kind, *flags)[0], 30))
    leiden[kind] = W
ring = sp.lil_matrix((240, 240))
for c in range(40):
    for a in range(6):
        for b in range(a):
            ring[6 * c + a, 6 * c + b] = ring[6 * c + b, 6 * c + a] = 1.0
    one, other = 6 * c, 6 * ((c + 1) % 40) + 1
    ring[one, other] = ring[other, one] = 1.0
leiden["ring"] = ring.tocsr()
out = {}
for name, W in leiden.items():
    graph = fast.Graph(W)
    best = []
    for gamma in RESOLUTIONS:
        def quality(labels):
            c = labels.max() + 1
            H = sp.csr_matrix((np.ones(graph.n), (np.arange(graph.n), labels)), (graph.n, c))
            m = graph.degree.sum()
            return (H.T @ W @ H).diagonal().sum() / m - gamma * ((np.bincount(labels, graph.degree, c) / m) ** 2).sum()
        best.append(max(quality(graph.leiden(gamma, seed)) for seed in range(SEEDS)))
    put(name, best=best, total=graph.degree.sum(), edges=len(graph.edge))
    print(name, np.round(best, 5), len(graph.edge))
np.savez_compressed(os.path.join(here, "fast_leiden.npz"), **out)
