"""Plots of fitted models, with matplotlib (``pip install nearfar[plot]``).

Every function draws into the given axes, or into new ones, and returns them.

Examples
--------
>>> import nearfar
>>> X, y = nearfar.datasets.make_moons(120, random_state=3)
>>> model = nearfar.NearFar(n_clusters=2, random_state=0).fit(X)
>>> axes = nearfar.plot.tree(model)
>>> axes.get_ylabel()
'height of a join'
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from . import _nearfar
from .metrics import _codes

__all__ = ["confidence", "convergence", "counts", "embedding", "graph", "map", "tree", "weights"]

_NEAR, _FAR, _RATE = "#1b7837", "#b2182b", "#333333"


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("nearfar.plot needs matplotlib: pip install nearfar[plot]") from error
    return pyplot.subplots(layout="constrained")[1]


def weights(model: Any, X: Any = None, y: Any = None, *, max_rank: int | None = None, ax: Any = None) -> Any:
    """Plot the learnt weights over rank: near above the axis, far below, the share of right neighbours as a line.

    Parameters
    ----------
    model : NearFar or LSDG
        The fitted model.
    X, y : array-like, default=None
        The training data and its known classes, for the line.
    max_rank : int, default=None
        Number of ranks shown. By default, up to the last one with any weight.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    if not hasattr(model, "near_weights_"):
        raise ValueError(f"this {type(model).__name__} has no near_weights_; NearFar (by graphs) and LSDG learn them")
    if (X is None) != (y is None):
        raise ValueError("the correct rate needs both X and y, or neither")
    ax = _axes(ax)
    near = model.near_weights_
    far = getattr(model, "far_weights_", np.zeros_like(near))
    used = np.flatnonzero((near > 0) | (far > 0))
    last = len(near) if max_rank is None else min(max_rank, len(near))
    if max_rank is None and used.size:
        last = int(used[-1]) + 1
    ranks = np.arange(last)
    for values, sign, color, name in ((near, 1, _NEAR, "near weight"), (far, -1, _FAR, "far weight")):
        if values.max() > 0:
            ax.fill_between(ranks, sign * values[:last] / values.max(), step="mid", color=color, label=name)
    if X is not None:
        kind = model._kind()
        X = check_array(X, dtype=(np.float64, np.float32), order="C")
        rate = _nearfar.correct_rate(X, kind, _codes(y, "y"), model._n_threads())
        ax.plot(ranks, rate[:last], color=_RATE, linewidth=1, label="correct rate")
    ax.axhline(0, color="black", linewidth=0.5)
    ax.set(xlabel="rank", ylabel="weight, as a share of the largest", ylim=(-1.05, 1.05))
    ax.legend(loc="upper right", frameon=False)
    return ax


def convergence(model: Any, *, ax: Any = None) -> Any:
    """Plot the loss of every start over its iterations; starts that were left out are grey.

    Parameters
    ----------
    model : estimator
        The fitted model.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    ax = _axes(ax)
    trace = model.trace_
    for member in np.unique(trace["member"]):
        rows = trace["member"] == member
        kept = model.members_[member]["kept"]
        style = {"color": _NEAR, "alpha": 0.8} if kept else {"color": "#999999", "alpha": 0.5}
        ax.plot(trace["iteration"][rows], trace["loss"][rows], linewidth=1, **style)
    ax.set(xlabel="iteration", ylabel="loss")
    return ax


def graph(model: Any, which: str = "similarity", *, labels: Any = None, ax: Any = None) -> Any:
    """Draw a learnt graph as a heat map, ordered by cluster.

    Parameters
    ----------
    model : estimator
        The fitted model.
    which : {"similarity", "dissimilarity", "affinity"}, default="similarity"
        Which graph; "affinity" needs ``store_affinity=True``.
    labels : array-like of shape (n_samples,), default=None
        Order by these labels, such as the known classes, instead of `labels_`.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    names = {"similarity": "similarity_", "dissimilarity": "dissimilarity_", "affinity": "affinity_matrix_"}
    if which not in names:
        raise ValueError(f"which = {which!r} is not allowed: it must be one of {', '.join(names)}")
    if not hasattr(model, names[which]):
        tip = "; fit with store_affinity=True" if which == "affinity" else ""
        raise ValueError(f"this {type(model).__name__} has no {names[which]}{tip}")
    matrix = getattr(model, names[which])
    codes = _codes(model.labels_ if labels is None else labels, "labels")
    order = np.argsort(codes, kind="stable")
    # Large graphs are summed into as many cells as a picture can show.
    n = len(order)
    cells = min(n, 800)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n) * cells // n
    image = np.zeros((cells, cells))
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        np.add.at(image, (place[entries.row], place[entries.col]), entries.data)
    else:
        np.add.at(image, (place[:, None], place[None, :]), matrix)
    ax = _axes(ax)
    # Without this limit the diagonal and a few strong pairs would make everything else white.
    off = image[~np.eye(cells, dtype=bool)]
    most = np.quantile(off[off > 0], 0.98) if (off > 0).any() else 1.0
    cmap = "Reds" if which == "dissimilarity" else "Greens"
    ax.imshow(image, cmap=cmap, vmin=0, vmax=most, interpolation="nearest")
    for edge in np.flatnonzero(np.diff(codes[order])) + 1:
        ax.axhline(edge * cells / n - 0.5, color="black", linewidth=0.4)
        ax.axvline(edge * cells / n - 0.5, color="black", linewidth=0.4)
    ax.set(xticks=[], yticks=[], title=f"{which}, ordered by {'cluster' if labels is None else 'class'}")
    return ax


def counts(model: Any, *, ax: Any = None) -> Any:
    """Plot how much better the data falls into 2, 3, ... clusters than shuffled columns, and mark the chosen number.

    Parameters
    ----------
    model : NearFar
        A model fitted with ``n_clusters="auto"``.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    if not hasattr(model, "gap_curve_"):
        raise ValueError(f'this {type(model).__name__} was given its n_clusters; fit NearFar with n_clusters="auto"')
    ax = _axes(ax)
    ax.plot(list(model.gap_curve_), list(model.gap_curve_.values()), color=_NEAR, linewidth=1, marker=".")
    ax.axvline(model.n_clusters_, color="black", linewidth=0.8, linestyle="--")
    ax.set(xlabel="clusters", ylabel="modularity beyond shuffled columns")
    return ax


def tree(model: Any, *, ax: Any = None) -> Any:
    """Draw how clusters join, as a dendrogram. Each leaf is labelled with its number of samples.

    The dashed line lies below the joins that the result does not make.

    Parameters
    ----------
    model : NearFar
        The fitted model.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    if not hasattr(model, "tree_"):
        raise ValueError(f"this {type(model).__name__} has no tree_; NearFar has one after a whole run")
    from scipy.cluster import hierarchy

    ax = _axes(ax)
    joins = model.tree_
    hierarchy.dendrogram(
        joins,
        ax=ax,
        labels=[str(size) for size in model.leaf_sizes_],
        color_threshold=0,
        above_threshold_color=_RATE,
    )
    left = model.n_clusters_ - 1
    if 0 < left <= len(joins):
        ends = joins[len(joins) - left - 1, 2] if left < len(joins) else 0.0
        ax.axhline((ends + joins[len(joins) - left, 2]) / 2, color=_FAR, linewidth=0.8, linestyle="--")
    ax.set(xlabel="samples in a leaf", ylabel="height of a join")
    return ax


def embedding(model: Any, *, labels: Any = None, components: tuple[int, int] = (0, 1), ax: Any = None) -> Any:
    """Plot the samples in two spectral coordinates (or columns of the factor), coloured by cluster.

    Parameters
    ----------
    model : estimator
        The fitted model.
    labels : array-like of shape (n_samples,), default=None
        Colour by these labels instead of `labels_`.
    components : tuple of two int, default=(0, 1)
        The two coordinates.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    points = getattr(model, "embedding_", getattr(model, "factor_", None))
    if points is None:
        raise ValueError(f"{type(model).__name__} has no coordinates to show; LSDG and SpectralClustering have")
    for component in components:
        if not 0 <= component < points.shape[1]:
            raise ValueError(f"components = {components} is not allowed: each must be 0 to {points.shape[1] - 1}")
    ax = _axes(ax)
    codes = _codes(model.labels_ if labels is None else labels, "labels")
    first, second = components
    ax.scatter(points[:, first], points[:, second], c=codes, cmap="tab20", s=8, linewidths=0)
    ax.set(xlabel=f"coordinate {first}", ylabel=f"coordinate {second}")
    return ax


def map(model: Any, X: Any = None, *, labels: Any = None, ax: Any = None) -> Any:
    """Draw the samples in the plane, coloured by cluster, with the number or name of each cluster on it.

    Parameters
    ----------
    model : estimator
        The fitted model.
    X : array-like of shape (n_samples, n_features), default=None
        The training data, which is then seen along its two widest directions (principal components of the standardised
        columns). By default, samples lie near those that the learnt similarity joins them with (the two smoothest
        eigenvectors of the graph).
    labels : array-like of shape (n_samples,), default=None
        Colour by these labels instead of `labels_`.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    if X is None:
        if not hasattr(model, "similarity_"):
            raise ValueError(f"this {type(model).__name__} keeps no graph; give the training data as X")
        points = _of_graph(model.similarity_)
        names = ["first eigenvector", "second eigenvector"]
    else:
        X = check_array(X, dtype=np.float64)
        if len(X) != len(model.labels_):
            raise ValueError(f"X has {len(X)} rows, but the model was fitted on {len(model.labels_)} samples")
        points, names = _components(X), ["first component", "second component"]
    ax = _axes(ax)
    codes = _codes(model.labels_ if labels is None else labels, "labels")
    ax.scatter(points[:, 0], points[:, 1], c=codes, cmap="tab20", s=8, linewidths=0)
    known = getattr(model, "cluster_names_", [])
    for cluster in np.unique(model.labels_) if labels is None else []:
        if cluster >= 0:
            name = known[cluster] if known and known[cluster] else str(cluster)
            x, y = np.median(points[model.labels_ == cluster], axis=0)
            ax.annotate(name, (x, y), ha="center", va="center", weight="bold", bbox={"fc": "white", "alpha": 0.7})
    ax.set(xlabel=names[0], ylabel=names[1])
    return ax


def _components(X: np.ndarray) -> np.ndarray:
    """Return the rows along the two widest directions of the standardised columns."""
    deviation = X.std(axis=0)
    rows = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    _values, vectors = np.linalg.eigh(rows.T @ rows)
    axes = vectors[:, ::-1][:, :2]
    # The sign of an eigenvector is free: its largest entry is positive.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    points = rows @ axes
    return points if points.shape[1] == 2 else np.column_stack([points, np.zeros(len(points))])


def _of_graph(graph: Any) -> np.ndarray:
    """Return the two smoothest eigenvectors of a graph, but for the constant one."""
    from scipy import sparse
    from scipy.sparse.linalg import eigsh

    n = graph.shape[0]
    if n < 4:
        return np.column_stack([np.arange(n), np.zeros(n)])
    graph = sparse.csr_matrix(graph)
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    normal = sparse.diags(scale) @ graph @ sparse.diags(scale)
    start = np.random.default_rng(0).standard_normal(n)
    values, vectors = eigsh(normal, k=3, which="LA", v0=start)
    points = vectors[:, np.argsort(-values, kind="stable")][:, 1:3] * scale[:, None]
    return points * np.sign(points[np.abs(points).argmax(axis=0), np.arange(2)])


def confidence(model: Any, *, ax: Any = None) -> Any:
    """Plot how sure the labels are: the samples of every cluster side by side, the surest first.

    Parameters
    ----------
    model : NearFar
        The fitted model.
    ax : matplotlib axes, default=None
        Where to draw.

    Returns
    -------
    ax : matplotlib axes
        The axes with the plot.
    """
    check_is_fitted(model)
    if not hasattr(model, "probabilities_"):
        raise ValueError(f"{type(model).__name__} does not tell how sure it is; NearFar does")
    ax = _axes(ax)
    known, first = getattr(model, "cluster_names_", []), 0
    ticks: list[float] = []
    names: list[str] = []
    for cluster in np.unique(model.labels_):
        sure = np.sort(model.probabilities_[model.labels_ == cluster])[::-1]
        places = np.arange(first, first + len(sure))
        ax.fill_between(places, sure, step="mid", color=_NEAR if len(ticks) % 2 == 0 else "#7fbf7b")
        ticks.append(first + len(sure) / 2)
        named = cluster >= 0 and known and known[cluster]
        names.append(known[cluster] if named else "noise" if cluster < 0 else str(cluster))
        first += len(sure)
    ax.axhline(0.5, color=_FAR, linewidth=0.8, linestyle="--")
    ax.set(xticks=ticks, xticklabels=names, xlabel="cluster", ylabel="confidence", ylim=(0, 1.02), xlim=(0, first))
    return ax
