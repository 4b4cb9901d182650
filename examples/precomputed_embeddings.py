"""Embeddings from elsewhere: the cosine metric, a matrix of distances, and a sparse graph of neighbours.

python examples/precomputed_embeddings.py [folder for the pictures]
"""

import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

import nearfar
import nearfar.plot

matplotlib.use("Agg")
from matplotlib import pyplot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# Stand-ins for embeddings of a network: directions in 20 dimensions, in single precision, which is read in place.
X, y = load_digits(return_X_y=True)
X, y = X[:500], y[:500]
embeddings = PCA(20, random_state=0).fit_transform(X).astype(np.float32)
directions = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)

figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.4), layout="constrained")


def show(name, model, ax):
    accuracy = nearfar.metrics.accuracy_score(y, model.labels_)
    print(f"{name:22} ACC {accuracy:.3f}")
    nearfar.plot.graph(model, labels=y, ax=ax).set_title(f"{name}: ACC {accuracy:.2f}")


# 1. The vectors themselves, by the angle between them.
by_angle = nearfar.NearFar(10, metric="cosine", random_state=0).fit(embeddings)
show("cosine metric", by_angle, axes[0])

# 2. Distances of one's own: any symmetric matrix will do. New points come as rows of distances to the old ones.
distances = pairwise_distances(directions.astype(float))
by_distance = nearfar.NearFar(10, metric="precomputed", random_state=0).fit(distances)
show("distances", by_distance, axes[1])
assert (by_distance.predict(distances[:5]) == by_distance.labels_[:5]).all()

# 3. A sparse graph, as a vector database gives it: 30 neighbours each, the other pairs unknown.
graph = kneighbors_graph(directions, 30, mode="distance")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", nearfar.NearFarWarning)  # says that the lists are partial
    by_graph = nearfar.NearFar(10, metric="precomputed", random_state=0).fit(graph)
show("30 neighbours", by_graph, axes[2])

figure.savefig(folder / "python-precomputed.png", dpi=80)
