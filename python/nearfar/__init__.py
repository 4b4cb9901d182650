"""Clustering that learns which neighbours to trust.

Use :class:`NearFar`. :class:`LSDG` is the paper's model as published. The other classes are the methods it is compared
with, on the same engine and with the same interface. All are scikit-learn estimators.

Examples
--------
>>> import nearfar
>>> X, y = nearfar.datasets.make_moons(120, random_state=3)
>>> labels = nearfar.NearFar(n_clusters=2, random_state=0).fit_predict(X)
>>> nearfar.metrics.accuracy_score(y, labels)
1.0
"""

import importlib
from typing import Any

from . import datasets, metrics
from ._base import NearFarWarning
from ._classes import (
    ANLS,
    GNMF,
    GSNMF,
    LSDG,
    NMF,
    NMFAN,
    PHALS,
    RBSMF,
    S3NMF,
    SBSUM,
    AOSymNMF,
    CGSymNMF,
    KMeans,
    NearFar,
    SpectralClustering,
    SymNMF,
)
from ._explain import Drift, Explanation, Predictions
from ._load import load
from ._nearfar import __version__, about_method, methods

__all__ = [
    "ANLS",
    "GNMF",
    "GSNMF",
    "LSDG",
    "NMF",
    "NMFAN",
    "PHALS",
    "RBSMF",
    "S3NMF",
    "SBSUM",
    "AOSymNMF",
    "CGSymNMF",
    "Drift",
    "Explanation",
    "KMeans",
    "NearFar",
    "NearFarWarning",
    "Predictions",
    "SpectralClustering",
    "SymNMF",
    "__version__",
    "about_method",
    "datasets",
    "load",
    "methods",
    "metrics",
    "plot",
    "scanpy",
]

#: Modules that are imported when they are first used, because of what they need.
_LATER = ("plot", "scanpy")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
