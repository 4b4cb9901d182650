"""Load models from files as estimators."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import _classes, _nearfar
from ._base import BaseClusterer

_CLASSES: dict[str, type[BaseClusterer]] = {
    cls._method: cls for cls in (getattr(_classes, name) for name in _classes.__all__)
}

#: Names of the methods' own parameters in a file, if they differ from the names here.
_NAMES = {"lam": "lambda", "n_neighbors": "neighbors", "hard_votes": "hard"}

#: Where a file keeps the settings that methods share.
_SHARED = {
    "n_init": ("starts",),
    "max_iter": ("stop", "max_iter"),
    "tol": ("stop", "loss_tolerance"),
    "kmeans_restarts": ("kmeans_restarts",),
    "precision": ("precision",),
    "graph": ("graph", "kind"),
}

#: Scalings, in the order of a file.
_VIEWS = ("raw", "standard", "unit", "standard-unit")


def load(path: str | os.PathLike[str]) -> BaseClusterer:
    """Load a model that :meth:`save`, or ``nearfar cluster --save-model``, wrote.

    Nothing in the file is executed. A file that is damaged, made up, of another format or of an unknown version raises
    an error.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : estimator
        A fitted estimator of the class of the method, with the settings of the run.

    Raises
    ------
    ValueError
        If the file is not a valid model.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import nearfar, tempfile, pathlib
    >>> X, y = nearfar.datasets.make_moons(120, random_state=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "moons.nearfar")
    ...     nearfar.NearFar(n_clusters=2, random_state=0).fit(X).save(path)
    ...     model = nearfar.load(path)
    >>> nearfar.metrics.accuracy_score(y, model.predict(X))
    1.0
    """
    model = _nearfar.Model.load(Path(path))
    about = json.loads(model.about())
    try:
        estimator = _CLASSES[about["method"]](**_parameters(about))
        estimator._take(model)
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as error:
        # The checksum is not a signature, so the settings may be made up.
        raise ValueError(f"{path}: the model's settings make no sense ({error}); fit anew") from error
    names = about["feature_names"]
    estimator.n_features_in_ = about["n_features"] or about["n_samples"]
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def _parameters(about: dict[str, Any]) -> dict[str, Any]:
    """Return the constructor's arguments that give these settings."""
    params = about["params"]
    cls = _CLASSES[about["method"]]
    given: dict[str, Any] = {"random_state": params["seed"], "metric": about["metric"]}
    if about["input"] in ("distances", "neighbors"):
        given["metric"] = "precomputed"
    elif about["input"] == "affinities":
        given["affinity"] = "precomputed"
    if about["method"] == "nearfar":
        return given | _of_nearfar(params)
    given["n_clusters"] = params["n_clusters"]
    for name in cls._own:
        if name in _SHARED:
            value = params
            for key in _SHARED[name]:
                value = value[key]
            given[name] = value
        elif about["method"] == "lsdg":
            continue
        elif name == "n_neighbors" and "graph" in cls._own:
            given[name] = params["graph"]["neighbors"]
        elif about["method"] == "sbsum":
            given[name] = params["method"]["block"]
        else:
            given[name] = params["method"][_NAMES.get(name, name)]
    return given | (_of_lsdg(params) if about["method"] == "lsdg" else {})


def _of_nearfar(params: dict[str, Any]) -> dict[str, Any]:
    own = params["method"]
    asked = [view for view, asked in zip(_VIEWS, own["views"]["asked"], strict=True) if asked]
    return {
        "n_clusters": "auto" if params["find_clusters"] else params["n_clusters"],
        "engine": own["engine"],
        "views": asked or "auto",
    }


def _of_lsdg(params: dict[str, Any]) -> dict[str, Any]:
    own = params["lsdg"]
    density = own["density"]
    weights = density["mu"] if "mu" in density else {"n_neighbors": density["neighbors"]}
    return {
        "preset": params["preset"],
        "alpha": next(iter(own["alpha"].values())),
        "beta": own["beta"],
        **weights,
        "dissimilarity": own["dissimilarity"],
        "orthogonality": own["orthogonality"],
        "solver": own["solver"],
        "regularizer": own["regularizer"],
        "reseed": own["reseed"] != "never",
        "init": params["start"],
        "prune": params["pruning"],
        "mode": params.get("mode", "auto"),
        **{name: params.get("binned", {}).get(name) for name in ("near", "far", "bins")},
    }
