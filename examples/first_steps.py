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

# Nothing to tune. The number of clusters may be given, or is found.
found = nearfar.NearFar(random_state=0).fit(X_train)
print("found", found.n_clusters_, "clusters; the next best numbers are", found.candidates_[1:])
print(pd.DataFrame(found.views_).T.round(3))

# Any other number is there without fitting again, each level nested in the next.
print({k: round(nearfar.metrics.accuracy_score(y_train, found.labels_at(k)), 3) for k in (5, 9, 10, 11, 20)})

# With the number that is known here.
model = nearfar.NearFar(n_clusters=10, random_state=0).fit(X_train)
print("training:", {name: round(score, 3) for name, score in nearfar.metrics.scores(y_train, model.labels_).items()})
print("seconds:", {stage: round(seconds, 2) for stage, seconds in model.timings_.items()})

# Labels that it is less sure of are more often wrong.
right = nearfar.metrics.contingency_matrix(y_train, model.labels_).argmax(axis=0)[model.labels_] == y_train
sure = pd.cut(model.probabilities_, [0, 0.6, 0.8, 0.95, 1], include_lowest=True)
print(pd.Series(right).groupby(sure, observed=True).agg(["mean", "size"]).round(3))

# New points go where their trusted neighbours are.
print("new points: ACC", round(nearfar.metrics.accuracy_score(y_new, model.predict(X_new)), 3))

# How clusters join, how many there are, which neighbour ranks were trusted (and how right that is), and the graph.
figure, axes = pyplot.subplots(2, 2, figsize=(11, 8), layout="constrained")
nearfar.plot.tree(model, ax=axes[0, 0])
nearfar.plot.counts(found, ax=axes[0, 1])
nearfar.plot.weights(model, X_train, y_train, ax=axes[1, 0])
nearfar.plot.graph(model, "similarity", labels=y_train, ax=axes[1, 1])
figure.savefig(folder / "python-first-steps.png", dpi=80)

# The file also works with `nearfar predict`.
with tempfile.TemporaryDirectory() as place:
    file = Path(place, "digits.nearfar")
    model.save(file)
    assert (nearfar.load(file).predict(X_new) == model.predict(X_new)).all()
