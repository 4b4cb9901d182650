"""Other clusterers, beside nearfar.

    peers.py sets FOLDER                                  write the unseen sets as NPZ files with X and y
    peers.py one METHOD FILE K SEED PREPARE OUT TIMES     one method in a process of its own; seconds as JSON, labels into OUT
    peers.py bench PROGRAM FOLDER LIMIT FILE:K:METHODS …  seconds, peak memory and scores of nearfar and of the methods
    peers.py study SEEDS METHODS PREPARE FILE:K …         scores of the methods, one line of JSON each
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

THREADS = int(os.environ.get("NEARFAR_THREADS", "2"))


def standard(X):
    deviation = X.std(0)
    return (X - X.mean(0)) / np.where(deviation > 0, deviation, 1)


# -- methods: (X, k, seed) -> labels, and how many clusters are asked for


def kmeans(X, k, seed):
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def ward(X, k, seed):
    from sklearn.cluster import AgglomerativeClustering

    return AgglomerativeClustering(k).fit_predict(X)


def gmm(X, k, seed):
    from sklearn.mixture import GaussianMixture

    # A full covariance where there are rows enough for it.
    kind = "full" if X.shape[1] <= 64 and len(X) >= 1.5 * k * X.shape[1] else "diag"
    return GaussianMixture(k, covariance_type=kind, n_init=3, reg_covar=1e-4, random_state=seed).fit_predict(X)


def spectral(X, k, seed):
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed, n_jobs=THREADS).fit_predict(X)


def smallest(X, k):
    return max(5, len(X) // (10 * k))


def hdbscan(X, k, seed):
    from hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=smallest(X, k), core_dist_n_jobs=THREADS).fit_predict(X)


def fuzzy_graph(X, seed):
    import igraph
    import scipy.sparse as sp
    from umap.umap_ import fuzzy_simplicial_set

    W = fuzzy_simplicial_set(X, 15, np.random.RandomState(seed), "euclidean")[0]
    upper = sp.triu(W, 1).tocoo()
    graph = igraph.Graph(n=len(X), edges=np.stack([upper.row, upper.col], 1))
    return graph, upper.data


def partition(graph, weights, resolution, seed):
    import random

    random.seed(seed)
    found = graph.community_leiden("modularity", weights=weights, resolution=resolution, n_iterations=2)
    return np.array(found.membership)


def leiden(X, k, seed):
    return partition(*fuzzy_graph(X, seed), 1.0, seed)


def leiden_to_k(X, k, seed):
    """Bisection for the resolution that gives k clusters; the nearest number it meets."""
    graph, weights = fuzzy_graph(X, seed)
    low, high, best = 0.0, None, None
    gamma = 1.0
    for _ in range(20):
        labels = partition(graph, weights, gamma, seed)
        found = labels.max() + 1
        if best is None or abs(found - k) < abs(best.max() + 1 - k):
            best = labels
        if found == k:
            break
        low, high = (gamma, high) if found < k else (low, gamma)
        gamma = 2 * gamma if high is None else (low + high) / 2
    return best


def umap_hdbscan(X, k, seed):
    from umap import UMAP

    made = UMAP(n_neighbors=30, min_dist=0.0, n_components=2, random_state=seed, n_jobs=1).fit_transform(X)
    return hdbscan(made, k, seed)


def evoc(X, k, seed):
    from evoc import EVoC

    return EVoC(random_state=seed).fit_predict(np.ascontiguousarray(X, dtype=np.float32))


METHODS = {
    "kmeans": (kmeans, "k-means"),
    "ward": (ward, "Ward"),
    "gmm": (gmm, "GMM"),
    "spectral": (spectral, "spectral"),
    "leiden-k": (leiden_to_k, "Leiden to k (UMAP graph)"),
    "leiden": (leiden, "Leiden (UMAP graph)"),
    "hdbscan": (hdbscan, "HDBSCAN"),
    "umap-hdbscan": (umap_hdbscan, "UMAP + HDBSCAN"),
    "evoc": (evoc, "EVoC"),
}


def scores(labels, truth):
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(truth, labels)
    rows, columns = linear_sum_assignment(-table)
    return dict(
        acc=float(table[rows, columns].sum() / len(truth)),
        nmi=float(normalized_mutual_info_score(truth, labels)),
        ari=float(adjusted_rand_score(truth, labels)),
        clusters=int(len(set(labels.tolist()) - {-1})),
    )


def prepared(path, prepare):
    X = np.load(path)["X"].astype(np.float64)
    return standard(X) if prepare == "standard" else X


def one(method, path, k, seed, prepare, out, times):
    import warnings

    warnings.filterwarnings("ignore")
    X = prepared(path, prepare).astype(np.float32)
    seconds = []
    for _ in range(int(times)):
        clock = time.monotonic()
        labels = METHODS[method][0](X, int(k), int(seed))
        seconds.append(time.monotonic() - clock)
    np.save(out, labels)
    print(json.dumps(dict(first=seconds[0], seconds=seconds[-1])))


# -- the benchmark


def watched(command, limit):
    """Seconds (None where the limit came first), peak bytes, standard output and status of a process."""
    clock = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            seconds = time.monotonic() - clock
            if pid:
                # Popen must not wait for it again.
                process.returncode = status
                out.seek(0)
                err.seek(0)
                text = out.read() if status == 0 else err.read()
                return seconds, usage.ru_maxrss * 1024, text, status
            if seconds > limit:
                process.kill()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = status
                return None, usage.ru_maxrss * 1024, "", status
            time.sleep(min(0.05, 0.002 + seconds / 50))


def bench(program, folder, limit, jobs):
    lines = []
    for job in jobs:
        path, k, methods = job.rsplit(":", 2)
        truth = np.load(path)["y"]
        shape = np.load(path)["X"].shape
        name = os.path.splitext(os.path.basename(path))[0]
        print(f"\n### {name}: {shape[0]} x {shape[1]}, {k} clusters\n", flush=True)
        print("| | seconds | ours / its | first call | whole process | peak memory | clusters | ACC | NMI | ARI |")
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)

        def say(method, seconds, first, process, peak, found, ours):
            if seconds is None:
                print(f"| {method} | {first} | | | | {peak / 2**30:.2f} GiB | | | | |", flush=True)
            else:
                head = f"| {method} | {seconds:.2f} | {ours / seconds:.2f} | {first} | {process:.2f} "
                tail = " | ".join(f"{found[key]:.3f}" for key in ("acc", "nmi", "ari"))
                print(f"{head}| {peak / 2**30:.2f} GiB | {found['clusters']} | {tail} |", flush=True)
            record = dict(data=name, n=shape[0], m=shape[1], k=int(k), method=method, seconds=seconds, process=process)
            lines.append(record | dict(peak=peak, note=first) | (found or {}))

        command = [program, "cluster", path, "-k", k, "--truth", "y", "--threads", str(THREADS), "--json"]
        process, peak, text, status = watched(command, limit)
        if process is None or status:
            sys.exit(f"nearfar cluster {path} failed: {text[-2000:]}")
        summary = json.loads(text)
        given = summary["scores"]
        found = dict(acc=given["accuracy"], nmi=given["nmi"], ari=given["ari"], clusters=summary["n_clusters"])
        ours = summary["seconds_total"]
        say("**nearfar**", ours, "", process, peak, found, ours)
        for method in methods.split(","):
            out = os.path.join(folder, "labels.npy")
            command = [sys.executable, __file__, "one", method, path, k, "0", "raw", out, "2"]
            process, peak, text, status = watched(command, limit)
            if process is None:
                say(METHODS[method][1], None, f"not done in {limit:.0f} s", None, peak, None, ours)
            elif status:
                reason = (text.strip().splitlines() or ["no message"])[-1][:60]
                say(METHODS[method][1], None, f"failed: {reason}", process, peak, None, ours)
            else:
                told = json.loads(text.strip().splitlines()[-1])
                found = scores(np.load(out), truth)
                say(METHODS[method][1], told["seconds"], f"{told['first']:.2f}", process, peak, found, ours)
    with open(os.path.join(folder, "bench-peers.json"), "w") as file:
        json.dump(lines, file, indent=1)


# -- the study


def study(seeds, methods, prepare, files):
    import warnings

    warnings.filterwarnings("ignore")
    for job in files:
        path, k = job.rsplit(":", 1)
        X, truth = prepared(path, prepare), np.load(path)["y"]
        for method in methods.split(","):
            # These have nothing random in them.
            for seed in range(1 if method in ("ward", "hdbscan") else int(seeds)):
                clock = time.monotonic()
                try:
                    found = scores(METHODS[method][0](X, int(k), seed), truth)
                except Exception as error:  # a peer that is not there, or that cannot do this set
                    found = dict(failed=f"{type(error).__name__}: {error}"[:200])
                found |= dict(data=os.path.splitext(os.path.basename(path))[0], method=method, name=METHODS[method][1])
                found |= dict(prepare=prepare, seed=seed, seconds=time.monotonic() - clock)
                print(json.dumps(found), flush=True)


# -- unseen sets: four that scikit-learn brings, ten that are made and were never tuned on


def sets(folder):
    from sklearn import datasets

    rng = np.random.default_rng(20_240_601)
    made = {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("iris", "wine", "breast_cancer", "digits")}

    # Breiman's waveform (UCI): two of three triangles in random parts, noise on 21 steps.
    steps = np.arange(1, 22)
    bumps = [np.maximum(6 - abs(steps - at), 0) for at in (7, 15, 11)]
    y = rng.integers(0, 3, 2_000)
    part = rng.random((2_000, 1))
    pairs = [(0, 1), (0, 2), (1, 2)]
    one, other = (np.stack([bumps[pairs[c][side]] for c in y]) for side in (0, 1))
    made["waveform"] = (part * one + (1 - part) * other + rng.normal(size=(2_000, 21)), y)

    # The LED display (UCI): seven segments, each inverted with a chance of one in ten.
    digits = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011".split()
    y = rng.integers(0, 10, 1_500)
    lit = np.array([[int(s) for s in d] for d in digits])[y]
    made["led"] = (np.where(rng.random(lit.shape) < 0.1, 1 - lit, lit).astype(float), y)

    # Breiman's two and three normals in 20 columns.
    y, a = rng.integers(0, 2, 1_500), 2 / np.sqrt(20)
    made["twonorm"] = (rng.normal(size=(1_500, 20)) + a * np.where(y, 1, -1)[:, None], y)
    y, sign = rng.integers(0, 2, 1_500), rng.choice([-1, 1], 1_500)
    mean = np.where(y[:, None] == 0, sign[:, None] * a * np.ones(20), a * np.where(np.arange(20) % 2, -1, 1))
    made["threenorm"] = (rng.normal(size=(1_500, 20)) + mean, y)

    made["hypercube"] = datasets.make_classification(
        2_000, 20, n_informative=8, n_redundant=4, n_classes=4, n_clusters_per_class=1, class_sep=1.8, random_state=17
    )
    X, y = datasets.make_blobs(1_200, 2, centers=4, random_state=170)
    made["sheared"] = (X @ [[0.6, -0.6], [-0.4, 0.8]], y)

    # Two bent bananas and a ball between them; a face; four corners of a simplex (mlbench).
    turn = rng.uniform(0, np.pi, 400)
    banana = np.stack([np.cos(turn), np.sin(turn)], 1) * rng.uniform(0.8, 1.2, (400, 1))
    ball = rng.normal(size=(200, 2)) * 0.12
    made["cassini"] = (
        np.vstack([banana + [0, 0.35], banana * [1, -1] - [0, 0.35], ball]), np.repeat([0, 1, 2], [400, 400, 200]))
    eyes = [rng.normal(size=(150, 2)) * 0.1 + [x, 1] for x in (-0.8, 0.8)]
    nose = np.stack([rng.uniform(-0.2, 0.2, 200), rng.uniform(-0.3, 0.6, 200)], 1)
    x = rng.uniform(-1, 1, 300)
    mouth = np.stack([x, x**2 - 1.6], 1) + rng.normal(size=(300, 2)) * 0.05
    made["smiley"] = (np.vstack([*eyes, nose, mouth]), np.repeat([0, 1, 2, 3], [150, 150, 200, 300]))
    y = rng.integers(0, 6, 900)
    made["simplex"] = (np.eye(6)[y][:, :5] + rng.normal(size=(900, 5)) * 0.18, y)

    # Word counts of 1,000 short documents on five topics that share half of their words.
    y, words = rng.integers(0, 5, 1_000), 200
    common = rng.dirichlet(np.full(words, 0.3))
    topics = np.stack([0.5 * common + 0.5 * rng.dirichlet(np.full(words, 0.1)) for _ in range(5)])
    made["documents"] = (np.stack([rng.multinomial(rng.integers(40, 160), topics[c]) for c in y]).astype(float), y)

    order = []
    for name, (X, y) in made.items():
        shuffle = rng.permutation(len(X))
        np.savez(os.path.join(folder, f"{name}.npz"), X=np.asarray(X, float)[shuffle], y=np.asarray(y, np.int64)[shuffle])
        order.append(name)
    print(json.dumps(order))


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "sets":
        sets(*rest)
    elif what == "one":
        one(*rest)
    elif what == "bench":
        bench(rest[0], rest[1], float(rest[2]), rest[3:])
    else:
        study(*rest[:3], rest[3:])
