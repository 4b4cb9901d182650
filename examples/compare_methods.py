"""The family side by side: every method on a few data sets, and a search over a parameter with scikit-learn.

python examples/compare_methods.py [folder for the pictures]
"""

import sys
import time
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearfar

matplotlib.use("Agg")
from matplotlib import pyplot

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
warnings.simplefilter("ignore")

digits, truth = load_digits(return_X_y=True)
DATA = {
    "moons": nearfar.datasets.make_moons(160),
    "rings": nearfar.datasets.make_rings(160),
    "chart": nearfar.datasets.make_chart(120),
    "digits": (digits[:200], truth[:200]),
}
METHODS = [
    nearfar.NearFar,
    nearfar.LSDG,
    nearfar.PHALS,
    nearfar.AOSymNMF,
    nearfar.SymNMF,
    nearfar.ANLS,
    nearfar.SBSUM,
    nearfar.GSNMF,
    nearfar.GNMF,
    nearfar.NMFAN,
    nearfar.CGSymNMF,
    nearfar.RBSMF,
    nearfar.S3NMF,
    nearfar.SpectralClustering,
    nearfar.KMeans,
    nearfar.NMF,
]

# The two slowest, cut short to save time.
SHORTER = {nearfar.S3NMF: {"rounds": 3}, nearfar.RBSMF: {"max_iter": 50}}

table = np.zeros((len(METHODS), len(DATA)))
print(f"{'':20}" + "".join(f"{name:>10}" for name in DATA) + f"{'seconds':>10}")
for row, method in enumerate(METHODS):
    began = time.perf_counter()
    for column, (X, y) in enumerate(DATA.values()):
        model = method(n_clusters=len(set(y)), random_state=0, **SHORTER.get(method, {}))
        labels = model.fit_predict(X)
        table[row, column] = nearfar.metrics.accuracy_score(y, labels)
    cells = "".join(f"{accuracy:10.3f}" for accuracy in table[row])
    print(f"{method.__name__:20}{cells}{time.perf_counter() - began:10.2f}")

figure, ax = pyplot.subplots(figsize=(6, 6.5), layout="constrained")
ax.imshow(table, cmap="Greens", vmin=0.3, vmax=1, aspect="auto")
ax.set_xticks(range(len(DATA)), DATA)
ax.set_yticks(range(len(METHODS)), [method.__name__ for method in METHODS])
for row, column in np.ndindex(table.shape):
    color = "white" if table[row, column] > 0.75 else "black"
    ax.text(column, row, f"{table[row, column]:.2f}", ha="center", va="center", color=color)
ax.set_title("ACC, one seed")
figure.savefig(folder / "python-methods.png", dpi=80)

# They are scikit-learn estimators: pipelines and searches work as they do everywhere. predict labels the held-out part.
X, y = DATA["chart"]
search = GridSearchCV(
    make_pipeline(StandardScaler(), nearfar.LSDG(6, n_init=4, random_state=0)),
    {"lsdg__n_neighbors": [6, 12]},
    scoring=make_scorer(adjusted_rand_score),
    cv=2,
)
search.fit(X, y)
print("best of the search:", search.best_params_, f"ARI {search.best_score_:.3f}")
