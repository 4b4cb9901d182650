"""What differs between the estimators, beyond their parameters."""

from __future__ import annotations

import json
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _nearfar
from ._base import BaseClusterer


class NearFarBase(BaseClusterer):
    """The method that finds the number of clusters, and every number of them."""

    # Set by the constructor.
    views: str | Sequence[str]
    noise: float | None
    min_confidence: float | None

    # Set by fit.
    n_clusters_: int
    probabilities_: np.ndarray
    outlier_scores_: np.ndarray
    tree_: np.ndarray
    leaves_: np.ndarray
    leaf_sizes_: np.ndarray
    engine_: str
    views_: dict[str, dict[str, float]]
    mixture_: dict[str, Any] | None
    gap_curve_: dict[int, float]
    candidates_: list[int]
    near_weights_: np.ndarray
    far_weights_: np.ndarray

    def labels_at(self, k: int) -> np.ndarray:
        """Labels of the training samples with another number of clusters, without fitting again.

        The levels are nested: every cluster of ``labels_at(k + 1)`` lies in one of ``labels_at(k)``, and
        ``labels_at(n_clusters_)`` is `labels_`.

        Parameters
        ----------
        k : int
            Number of clusters, 1 to ``len(leaf_sizes_)``; or that of the samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of every training sample, numbered by first appearance; -1 for noise.
        """
        check_is_fitted(self)
        n = len(self.labels_)
        if isinstance(k, bool) or not isinstance(k, numbers.Integral):
            raise TypeError(f"k = {k!r} is not allowed: it must be a whole number")
        if k == self.n_clusters_:
            return self.labels_.copy()
        labels = self._model.labels_at(int(k)) if k > 0 else None
        if labels is None and k in (1, n):  # there is one way only
            labels = np.arange(n) if k == n else np.zeros(n, dtype=np.int64)
        if labels is not None:
            return np.where(self.labels_ < 0, -1, labels)
        if not hasattr(self, "leaf_sizes_"):
            raise ValueError(f"k = {k} is not allowed: a run that was interrupted leaves no tree; fit again")
        raise ValueError(
            f"k = {k} is not allowed: it must be 1 to {len(self.leaf_sizes_)}, the leaves of the tree; "
            f"for more clusters fit again with n_clusters={k}"
        )

    def plot_tree(self, *, ax: Any = None) -> Any:
        """Draw how clusters join, as a dendrogram; see :func:`nearfar.plot.tree`."""
        from . import plot

        return plot.tree(self, ax=ax)

    def plot_gap(self, *, ax: Any = None) -> Any:
        """Plot how well each number of clusters stands out; see :func:`nearfar.plot.counts`."""
        from . import plot

        return plot.counts(self, ax=ax)

    def plot_confidence(self, *, ax: Any = None) -> Any:
        """Plot how sure the labels of every cluster are; see :func:`nearfar.plot.confidence`."""
        from . import plot

        return plot.confidence(self, ax=ax)

    def _settings(self) -> dict[str, Any]:
        for name, value in (("noise", self.noise), ("min_confidence", self.min_confidence)):
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise TypeError(f"{name} = {value!r} is not allowed: it must be a number or None")
            fits = 0 <= value < 1 if name == "noise" else 0 < value <= 1
            if not fits:
                allowed = "0 or more and below 1" if name == "noise" else "above 0 and at most 1"
                raise ValueError(f"{name} = {value} is not allowed: it must be {allowed}")
        if self.noise is not None and self.min_confidence is not None:
            raise ValueError("noise and min_confidence cannot both be given: both say which samples are noise")
        views = self.views
        if isinstance(views, list | tuple) and views and all(isinstance(view, str) for view in views):
            views = ",".join(views)
        return super()._settings() | {"views": views}

    def _take(self, model: _nearfar.Model) -> None:
        super()._take(model)
        # There is no factor, and so neither an objective nor iterations of the best start.
        for name in ("factor_", "objective_", "n_iter_"):
            self.__dict__.pop(name, None)
        about = json.loads(model.about())
        self.n_clusters_ = about["n_clusters"]
        sure = model.confidence()
        if sure.size:
            self.probabilities_ = sure
            self.labels_[_noise(sure, self.noise, self.min_confidence)] = -1
        far = model.outlier_scores()
        if far.size:
            self.outlier_scores_ = far
        tree = model.tree()
        if tree is not None:
            self.tree_ = _linkage(*tree[:2])
            self.leaves_ = tree[2]
            self.leaf_sizes_ = np.bincount(tree[2], minlength=len(self.tree_) + 1)
        account = about.get("account") or {}
        self.engine_ = account.get("engine", "graph")
        self.views_ = {
            view["view"]: {name: view[name] for name in ("weight", "quality", "null")}
            for view in account.get("views", [])
        }
        self.mixture_ = account.get("mixture")
        count = account.get("count")
        if count is not None:
            self.gap_curve_ = dict(enumerate(count["gaps"], start=2))
            self.candidates_ = [count["found"], *count["others"]]


def _noise(sure: np.ndarray, share: float | None, least: float | None) -> np.ndarray:
    """The samples that are noise, as the program has them: the least certain ones, the first among equals."""
    if least is not None:
        return np.flatnonzero(sure < least)
    return np.argsort(sure, kind="stable")[: int((share or 0) * len(sure))]


def _linkage(pairs: np.ndarray, resolutions: np.ndarray) -> np.ndarray:
    """Joins as SciPy writes them: every join makes a cluster with a new number."""
    n_leaves = len(pairs) + 1
    names, leaves = np.arange(n_leaves), np.ones(n_leaves, dtype=np.int64)
    tree = np.empty((len(pairs), 4))
    for join, (into, gone) in enumerate(pairs):
        leaves[into] += leaves[gone]
        first, second = sorted((names[into], names[gone]))
        tree[join] = first, second, 0, leaves[into]
        names[into] = n_leaves + join
    # Leaves of a cluster may join at a lower resolution than their cluster does: no join lies above a later one.
    joined = resolutions > 1e-300
    heights = np.log10(1 + 1 / np.where(joined, resolutions, 1))
    heights[~joined] = heights[joined].max(initial=0) + 1
    tree[:, 2] = np.minimum.accumulate(heights[::-1])[::-1]
    return tree


class LSDGBase(BaseClusterer):
    """The method that learns how far to trust every rank, as near and as far."""

    near_weights_: np.ndarray
    far_weights_: np.ndarray
    affinity_matrix_: np.ndarray
    embedding_: np.ndarray
    eigenvalues_: np.ndarray

    @property
    def dissimilarity_(self) -> sparse.csr_matrix:
        """The learnt dissimilarity D; made from the training samples when it is first asked for."""
        if not hasattr(self, "_model"):
            raise AttributeError("dissimilarity_ is there after fit")
        if not hasattr(self, "_dissimilarity"):
            graph = self._model.dissimilarity(self._n_threads())
            if graph is None:
                raise AttributeError("what this model was learnt from was not kept, so D is not known")
            n = len(self.labels_)
            self._dissimilarity = sparse.csr_matrix(graph, shape=(n, n))
        return self._dissimilarity
