"""First steps: cluster a table, look at what was learnt, label new points, keep the model.

python examples/first_steps.py [folder for the pictures]
"""

import sys
import tempfile
from pathlib import Path

import matplotlib
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import nearfar
import nearfar.plot

matplotlib.use("Agg")
from matplotlib import pyplot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# 1,797 small pictures of digits. The classes are set aside: the method never sees them.
X, y = load_digits(return_X_y=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, train_size=1000, random_state=0)

# One setting for all data: nothing to tune but the number of clusters.
model = nearfar.NearFar(n_clusters=10, random_state=0).fit(X_train)
print("training:", {name: round(score, 3) for name, score in nearfar.metrics.scores(y_train, model.labels_).items()})
print("stopped because", model.stop_reason_, "after", model.n_iter_, "iterations;", model.timings_)

# New points go where their trusted neighbours are.
print("new points: ACC", round(nearfar.metrics.accuracy_score(y_new, model.predict(X_new)), 3))

# The trace is a table.
trace = pd.DataFrame(model.trace_)
print(trace.groupby("member")["loss"].agg(["first", "last", "size"]).head(3))

# What was learnt: which ranks mean "same cluster", which "different cluster", and how right that is.
figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
nearfar.plot.weights(model, X_train, y_train, ax=axes[0, 0])
nearfar.plot.convergence(model, ax=axes[0, 1])
nearfar.plot.graph(model, "similarity", labels=y_train, ax=axes[1, 0])
nearfar.plot.embedding(model, labels=y_train, components=(1, 2), ax=axes[1, 1])
figure.savefig(folder / "python-first-steps.png", dpi=80)

# The file also works with `nearfar predict`.
with tempfile.TemporaryDirectory() as place:
    file = Path(place, "digits.nearfar")
    model.save(file)
    assert (nearfar.load(file).predict(X_new) == model.predict(X_new)).all()
