"""How well labels agree with a known truth.

Labels may be numbers or strings; only equality matters. Every score is 1 for equal partitions.

Examples
--------
>>> from nearfar import metrics
>>> metrics.accuracy_score(["a", "a", "b", "b"], [1, 1, 0, 0])
1.0
>>> metrics.scores([0, 0, 1, 1], [0, 0, 0, 1])["purity"]
0.75
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _nearfar

__all__ = [
    "acc",
    "accuracy_score",
    "adjusted_rand_score",
    "ari",
    "contingency_matrix",
    "nmi",
    "normalized_mutual_info_score",
    "pair_scores",
    "purity_score",
    "scores",
]


def _codes(labels: Any, name: str) -> np.ndarray:
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, but has shape {labels.shape}")
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(-1)


def scores(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """All scores at once.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The known classes.
    labels_pred : array-like of shape (n_samples,)
        The clusters found.

    Returns
    -------
    scores : dict
        ``accuracy``, ``nmi``, ``ari``, ``purity``, ``pair_precision``, ``pair_recall`` and ``pair_f1``.

    Examples
    --------
    >>> from nearfar.metrics import scores
    >>> scores([0, 0, 1, 1], [1, 1, 0, 0])["ari"]
    1.0
    """
    return _nearfar.scores(_codes(labels_pred, "labels_pred"), _codes(labels_true, "labels_true"))


def accuracy_score(labels_true: Any, labels_pred: Any) -> float:
    """Share of the samples on the best one-to-one matching of clusters and classes (ACC).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The known classes and the clusters found.

    Returns
    -------
    score : float
        Between 0 and 1.

    Examples
    --------
    >>> from nearfar.metrics import accuracy_score
    >>> accuracy_score([0, 0, 1, 1], [1, 1, 0, 1])
    0.75
    """
    return scores(labels_true, labels_pred)["accuracy"]


def normalized_mutual_info_score(labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic") -> float:
    """Mutual information over a mean of the entropies (NMI).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The known classes and the clusters found.
    average_method : {"arithmetic", "geometric", "min", "max", "joint"}, default="arithmetic"
        Which mean of the entropies divides the mutual information.

    Returns
    -------
    score : float
        Between 0 and 1.

    Examples
    --------
    >>> from nearfar.metrics import normalized_mutual_info_score
    >>> round(normalized_mutual_info_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8
    """
    labels, truth = _codes(labels_pred, "labels_pred"), _codes(labels_true, "labels_true")
    return _nearfar.nmi(labels, truth, average_method)


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """Rand index, corrected so that chance gives 0 (ARI).

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The known classes and the clusters found.

    Returns
    -------
    score : float
        At most 1; may be below 0.

    Examples
    --------
    >>> from nearfar.metrics import adjusted_rand_score
    >>> round(adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    return scores(labels_true, labels_pred)["ari"]


def purity_score(labels_true: Any, labels_pred: Any) -> float:
    """Share of the samples in the commonest class of their cluster.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The known classes and the clusters found.

    Returns
    -------
    score : float
        Between 0 and 1.

    Examples
    --------
    >>> from nearfar.metrics import purity_score
    >>> purity_score([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    return scores(labels_true, labels_pred)["purity"]


def pair_scores(labels_true: Any, labels_pred: Any) -> tuple[float, float, float]:
    """Precision, recall and F of the statement "these two belong together".

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The known classes and the clusters found.

    Returns
    -------
    precision, recall, f1 : float
        Each between 0 and 1.

    Examples
    --------
    >>> from nearfar.metrics import pair_scores
    >>> pair_scores([0, 0, 1, 1], [0, 0, 1, 2])
    (1.0, 0.5, 0.6666666666666666)
    """
    found = scores(labels_true, labels_pred)
    return found["pair_precision"], found["pair_recall"], found["pair_f1"]


def contingency_matrix(labels_true: Any, labels_pred: Any) -> np.ndarray:
    """Number of samples in class i and cluster j.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        The known classes and the clusters found.

    Returns
    -------
    counts : ndarray of shape (n_classes, n_clusters)
        Rows are classes and columns clusters, each in the order of their values.

    Examples
    --------
    >>> from nearfar.metrics import contingency_matrix
    >>> contingency_matrix(["a", "a", "b"], [0, 1, 1])
    array([[1, 1],
           [0, 1]])
    """
    truth, labels = _codes(labels_true, "labels_true"), _codes(labels_pred, "labels_pred")
    if len(truth) != len(labels):
        raise ValueError(f"labels and truth differ in length: {len(labels)} against {len(truth)}")
    counts = np.zeros((truth.max(initial=-1) + 1, labels.max(initial=-1) + 1), dtype=np.int64)
    np.add.at(counts, (truth, labels), 1)
    return counts


acc, nmi, ari = accuracy_score, normalized_mutual_info_score, adjusted_rand_score
