"""The estimators: one class per method, each with its own parameters and everything in common."""

from __future__ import annotations

import json
import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _nearfar
from ._base import BaseClusterer, Callback
from ._docs import documented


@documented
class NearFar(BaseClusterer):
    """Clustering that finds scale, neighbours and number of clusters by itself.

    Looks at the data in several scalings and trusts those whose neighbour graphs fall into clusters far better than
    the graphs of shuffled columns do. In each of them it learns which neighbour ranks to trust, and splits the graph
    into clusters (Leiden); all these answers are merged into a consensus. Where a mixture of Gaussian or heavy-tailed
    groups explains the rows it uses that instead, because no graph is as good there. Nothing needs tuning or labels.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        Number of clusters. "auto" finds it; the answer is in `n_clusters_`, the evidence in `gap_curve_`.
    engine : {"auto", "graph", "mixture"}, default="auto"
        "graph" always uses neighbour graphs. "mixture" always uses a mixture, which needs samples. "auto" uses the
        mixture if it explains the rows, else graphs.
    views : "auto", str or list of str, default="auto"
        Scalings to look at, of "raw", "standard" (columns to mean 0 and deviation 1), "unit" (rows to length 1) and
        "standard-unit" (columns, then rows). "auto" looks at all of them, and at unit rows only from eight columns on.
    noise : float, default=None
        Share of the samples, 0 or more and below 1, that get the label -1: the least certain ones, the first among
        equals. `predict`, saved files and reports know nothing of it.
    min_confidence : float, default=None
        In place of `noise`: samples whose probability is below this number, above 0 to 1, get the label -1.
    comm : communicator of mpi4py, default=None
        Fit together with the other processes of this communicator (``MPI.COMM_WORLD`` under ``mpirun``). X is the
        whole array in each of them, by custom ``np.load("big.npy", mmap_mode="r")``, and each reads its own rows
        alone. All processes get the same labels. Samples are not kept, so there is no `predict` and no `similarity_`.
        A failure in one process is an exception in all.
    %(pairs)s
    %(run)s
    callback : callable, default=None
        Called after every round of every member with a dict (the columns of `trace_`). If it returns a true value
        the run starts no further members and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance; -1 for noise.
    n_clusters_ : int
        Number of clusters, given or found.
    probabilities_ : ndarray of shape (n_samples,)
        How sure every label is, 0 to 1: the share of members and of neighbours that agree with it, or the posterior
        of the mixture.
    outlier_scores_ : ndarray of shape (n_samples,)
        1 - `probabilities_`.
    tree_ : ndarray of shape (n_leaves - 1, 4)
        How clusters join, in SciPy's linkage form: ``scipy.cluster.hierarchy.dendrogram(model.tree_)`` draws it.
        The leaves are fine clusters, not samples. Column 2, the height of a join, is log10(1 + 1 / γ) for the
        resolution γ of modularity at which the join begins to pay. Plain modularity, γ = 1, is at height 0.3. Joins
        of clusters without a common edge lie 1 above all others. Column 3 counts leaves. :meth:`labels_at` cuts the
        tree.
    leaves_ : ndarray of shape (n_samples,)
        The leaf of `tree_` that every sample lies in.
    leaf_sizes_ : ndarray of shape (n_leaves,)
        Samples in every leaf.
    engine_ : {"graph", "mixture"}
        What gave the answer.
    views_ : dict of str to dict
        Every scaling that was looked at, with its `weight` (1: trusted most), its `quality` (modularity of its
        clusters) and the `null` quality of shuffled columns. Empty if there was nothing to choose between.
    mixture_ : dict or None
        What trying a mixture showed; None if none was tried. `explains`: both tests passed. `parts`. `covariance`:
        "full", "tied", "diag" or "spherical". `tail`: degrees of freedom, None for normal tails. `told`: T, how well
        neighbours tell the data from rows drawn from the mixture; 0.5 if they cannot. `sharpness` and
        `drawn_sharpness`: modularity of the graphs of the data and of drawn rows. `certainty`: mean of the largest
        posteriors.
    gap_curve_ : dict of int to float
        Only with ``n_clusters="auto"``: by number of clusters, how much better the data falls into so many than
        shuffled columns do.
    candidates_ : list of int
        Only with ``n_clusters="auto"``: the number that was taken, then the next best ones. The number is the one
        with the largest gap; if a mixture with clear groups explains the rows it is that of its parts instead; it is
        1 if nothing stands out.
    near_weights_ : ndarray of shape (n_samples,)
        Trust in each rank as a neighbour, from rank 0, the point itself; sums to 1.
    far_weights_ : ndarray of shape (n_samples,)
        Trust in each rank as a stranger, learnt from sampled pairs; sums to 1.
    membership_ : ndarray of shape (n_samples, n_clusters_)
        Share of each sample's similarity that lies in each cluster, or its posteriors; rows sum to 1.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The consensus graph; with the mixture the neighbour graph of the scaling that is trusted most. Not with `comm`.
    sigma_ : ndarray of shape (n_samples,)
        Local scales, in the units of the data.
    members_ : list of dict
        How every member went: its view, the ranks it was to trust, and more.
    trace_ : dict of ndarray
        One entry per round of every member: member, iteration, loss (1 - modularity), changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    agreement_ : float
        Mean adjusted Rand index of the members with the result.
    stop_reason_ : str
        Why the run ended: "completed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn"
        (a mixture, one cluster, or as many as samples: there are no members).
    complete_ : bool
        False if the attributes are what Ctrl-C left.
    timings_ : dict of float
        Seconds per stage.
    warnings_ : list of str
        What a person should know; also given as Python warnings.
    seed_ : int
        The seed in force.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X had any.

    Notes
    -----
    Time and memory grow with n. After Ctrl-C there is neither a tree nor `probabilities_`.

    References: Lyu and Jia, *Learnable Similarity and Dissimilarity Guided Symmetric NMF* (the paper's own model is
    :class:`LSDG`); Traag, Waltman and van Eck, *From Louvain to Leiden* (2019).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_moons(120, random_state=3)
    >>> model = nearfar.NearFar(n_clusters=2, random_state=0).fit(X)
    >>> nearfar.metrics.accuracy_score(y, model.labels_)
    1.0
    >>> bool((model.predict(X) == model.labels_).all())
    True

    The number of clusters can be left out, and any other number is there without fitting again:

    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, n_features=4, noise=0.5, random_state=1)
    >>> model = nearfar.NearFar(random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> len(set(model.labels_at(2)))
    2
    """

    _method = "nearfar"
    _own: ClassVar[dict[str, str]] = {"engine": "engine"}

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

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        engine: str = "auto",
        views: str | Sequence[str] = "auto",
        noise: float | None = None,
        min_confidence: float | None = None,
        comm: Any = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.engine = engine
        self.views = views
        self.noise = noise
        self.min_confidence = min_confidence
        self.comm = comm
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback

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
            self.probabilities_, self.outlier_scores_ = sure, 1 - sure
            self.labels_[_noise(sure, self.noise, self.min_confidence)] = -1
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


@documented
class LSDG(BaseClusterer):
    r"""The paper's model, LSDG-SymNMF: learns which neighbour ranks to trust as near and as far.

    Every point ranks all others by distance. One weight per rank is learnt for "same cluster" (near) and one for
    "different cluster" (far), together with a nonnegative factor; the three are merged into one similarity whose
    spectral clustering gives the labels. :class:`NearFar` learns near weights the same way, but labels in place of
    the factor: it is much faster and more often right. Use this class to reproduce the paper, and for the factor.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    preset : {"default", "paper", "demo"}, default="default"
        Named settings: a consensus of twelve scale-free starts, or the published numbers with one start.
    n_neighbors : int, default=None
        Neighbour ranks to trust; 12 in the preset "default", where `mu` follows.
    alpha : float, default=None
        Orthogonality, 0 to 1e9. In the preset "default" a share of the graph's leading eigenvalue (0.5), in the
        others the published number (0.1).
    beta : float, default=None
        Weight of the dissimilarity, 0 to 1e9; 10, and 1 in "demo".
    mu : float, default=None
        Density of the weights, 1e-9 to 1e9, instead of `n_neighbors`.
    eta : float, default=None
        Price of overlap, 0 or more and below `mu`; 0.99 `mu` if left out.
    dissimilarity : bool, default=True
        Whether the far weights take part.
    orthogonality : bool, default=True
        Whether the orthogonality term takes part.
    solver : {"columns", "multiplicative"}, default=None
        How the factor is found; columns with the proposed regulariser, else multiplicative.
    regularizer : {"proposed", "offdiagonal", "logdet"}, default="proposed"
        What keeps the columns of the factor apart.
    reseed : bool, default=False
        Start columns of the factor again when they die.
    init : {"random", "spectral", "both"}, default=None
        Where the starts begin; both in the preset "default", else random.
    prune : {"none", "quarter", "half", "outliers"}, default=None
        Which starts are left out of the consensus; outliers in the preset "default", else none.
    precision : {"auto", "double", "single"}, default="auto"
        Storage of the n x n matrices; single where only that fits.
    mode : {"auto", "exact", "binned"}, default="auto"
        How pairs are held: all of them, or near ranks one by one and far ranks in bins, which needs samples and
        grows with n only. By itself exact where that fits in memory and does not take long.
    near : int, default=None
        Binned mode: ranks with a weight of their own; 128, and 64 above 50,000 points.
    far : int, default=None
        Binned mode: partners drawn for every point; 128, and 64 above 50,000 points.
    bins : int, default=None
        Binned mode: bins that share the other ranks; 64.
    store_affinity : bool, default=False
        Keep the merged similarity as `affinity_matrix_`, n x n.
    comm : communicator of mpi4py, default=None
        Fit together with the other processes of this communicator (``MPI.COMM_WORLD`` under ``mpirun``). X is the
        whole array in each of them, by custom ``np.load("big.npy", mmap_mode="r")``, and each reads its own rows
        alone. Pairs are binned, and all processes get the bits of one with ``mode="binned"``. Samples are not kept,
        so there is no `predict`, and neither `similarity_` nor `dissimilarity_`. A failure in one process is an
        exception in all.
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    %(weights)s

    Notes
    -----
    In exact mode memory grows with n squared: 14 n\ :sup:`2` bytes in double, 8 n\ :sup:`2` in single precision.
    In binned mode it grows with n.

    References: Lyu and Jia, *Learnable Similarity and Dissimilarity Guided Symmetric NMF*.

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_moons(120, random_state=3)
    >>> model = nearfar.LSDG(n_clusters=2, random_state=0).fit(X)
    >>> nearfar.metrics.accuracy_score(y, model.labels_)
    1.0
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _method = "lsdg"
    _own: ClassVar[dict[str, str]] = {
        "preset": "preset",
        "n_neighbors": "n_neighbors",
        "alpha": "alpha",
        "beta": "beta",
        "mu": "mu",
        "eta": "eta",
        "dissimilarity": "dissimilarity",
        "orthogonality": "orthogonality",
        "solver": "solver",
        "regularizer": "regularizer",
        "reseed": "reseed",
        "init": "init",
        "prune": "prune",
        "precision": "precision",
        "mode": "mode",
        "near": "near",
        "far": "far",
        "bins": "bins",
    }

    near_weights_: np.ndarray
    far_weights_: np.ndarray
    affinity_matrix_: np.ndarray
    embedding_: np.ndarray
    eigenvalues_: np.ndarray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        preset: str = "default",
        n_neighbors: int | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        mu: float | None = None,
        eta: float | None = None,
        dissimilarity: bool = True,
        orthogonality: bool = True,
        solver: str | None = None,
        regularizer: str = "proposed",
        reseed: bool = False,
        init: str | None = None,
        prune: str | None = None,
        precision: str = "auto",
        mode: str = "auto",
        near: int | None = None,
        far: int | None = None,
        bins: int | None = None,
        store_affinity: bool = False,
        comm: Any = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.preset = preset
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.beta = beta
        self.mu = mu
        self.eta = eta
        self.dissimilarity = dissimilarity
        self.orthogonality = orthogonality
        self.solver = solver
        self.regularizer = regularizer
        self.reseed = reseed
        self.init = init
        self.prune = prune
        self.precision = precision
        self.mode = mode
        self.near = near
        self.far = far
        self.bins = bins
        self.store_affinity = store_affinity
        self.comm = comm
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit

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


@documented
class PHALS(BaseClusterer):
    """Symmetric NMF of a fixed graph, column by column with exact line search.

    Minimises the misfit of the graph and V times its transpose over nonnegative V.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Hou, Chu and Liao, *A progressive hierarchical alternating least squares method for symmetric
    nonnegative matrix factorization* (2023).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.PHALS(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "phals"
    _own: ClassVar[dict[str, str]] = {
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class AOSymNMF(BaseClusterer):
    """Symmetric NMF with a term that keeps the columns of the factor apart.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=0.1
        Strength of the regulariser, 0 to 1e9; of use below the graph's leading eigenvalue.
    regularizer : {"proposed", "offdiagonal", "logdet"}, default="proposed"
        What keeps the columns apart.
    solver : {"columns", "multiplicative"}, default=None
        How the factor is found; columns with the proposed regulariser, else multiplicative.
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: the starting problem of LSDG-SymNMF (Lyu and Jia).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.AOSymNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "aosymnmf"
    _own: ClassVar[dict[str, str]] = {
        "alpha": "alpha",
        "regularizer": "regularizer",
        "solver": "solver",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.1,
        regularizer: str = "proposed",
        solver: str | None = None,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.regularizer = regularizer
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class SymNMF(BaseClusterer):
    """Symmetric NMF of a fixed graph by multiplicative, gradient or Newton-like steps.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    solver : {"multiplicative", "gradient", "newton"}, default="multiplicative"
        How the factor is found.
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Kuang, Ding and Park (2012); Kuang, Yun and Park (2015).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.SymNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "symnmf"
    _own: ClassVar[dict[str, str]] = {
        "solver": "solver",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = "multiplicative",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class ANLS(BaseClusterer):
    """Symmetric NMF with symmetry dropped and priced: alternating nonnegative least squares.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=0.5
        Price of two different factors, 0 to 1e9.
    solver : {"pivoting", "columns"}, default="pivoting"
        How one factor is found given the other: exactly, or by one pass over the columns (SymHALS).
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Zhu, Li, Liu and Li, *Dropping symmetry for fast symmetric NMF* (2018).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.ANLS(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "anls"
    _own: ClassVar[dict[str, str]] = {
        "lam": "lam",
        "solver": "solver",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.5,
        solver: str = "pivoting",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class SBSUM(BaseClusterer):
    """Symmetric NMF one entry, or one row, at a time.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    solver : {"scalar", "vector"}, default="scalar"
        What is updated at once: an entry or a row of the factor.
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Shi, Sun, Lu, Hong and Razaviyayn, *Inexact block coordinate descent methods for symmetric NMF*
    (2017).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.SBSUM(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "sbsum"
    _own: ClassVar[dict[str, str]] = {
        "solver": "solver",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = "scalar",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class GSNMF(BaseClusterer):
    """Symmetric NMF with the graph Laplacian as a regulariser.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=1.0
        Weight of the Laplacian term, 0 to 1e9.
    solver : {"multiplicative", "admm"}, default="multiplicative"
        How the factor is found; "admm" is the authors' scheme, which may diverge.
    penalty : float, default=1.0
        Price of two different copies in "admm", above 0 to 1e9.
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Gao, Guan and Su, *Graph regularized symmetric NMF for graph clustering* (2018).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.GSNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "gsnmf"
    _own: ClassVar[dict[str, str]] = {
        "lam": "lam",
        "solver": "solver",
        "penalty": "penalty",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 1.0,
        solver: str = "multiplicative",
        penalty: float = 1.0,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.solver = solver
        self.penalty = penalty
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class S3NMF(BaseClusterer):
    """Rounds of many symmetric NMFs; each round's graph is the vote of the last.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    tau : float, default=2.0
        How evenly members are weighed, above 1 to 1000.
    members : int, default=20
        Factorisations per round.
    rounds : int, default=2
        Rounds.
    hard_votes : bool, default=True
        Whether a member votes with its labels instead of its factor.
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Jia, Liu, Hou, Kwong and Zhang, *Self-supervised symmetric nonnegative matrix factorization* (2022).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.S3NMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "s3nmf"
    _own: ClassVar[dict[str, str]] = {
        "tau": "tau",
        "members": "members",
        "rounds": "rounds",
        "hard_votes": "hard_votes",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        tau: float = 2.0,
        members: int = 20,
        rounds: int = 2,
        hard_votes: bool = True,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.tau = tau
        self.members = members
        self.rounds = rounds
        self.hard_votes = hard_votes
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class SpectralClustering(BaseClusterer):
    """Spectral clustering of the self-tuned graph.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    %(graph)s
    %(pairs)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Ng, Jordan and Weiss (2001); Zelnik-Manor and Perona (2004).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.SpectralClustering(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "spectral"
    _own: ClassVar[dict[str, str]] = {
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.affinity = affinity
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class GNMF(BaseClusterer):
    """NMF of the samples with the graph Laplacian as a regulariser; k-means on the factor.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=100.0
        Weight of the Laplacian term, 0 to 1e9.
    %(graph)s
    %(samples)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    Negative features are shifted to 0.

    References: Cai, He, Han and Huang, *Graph regularized NMF for data representation* (2011).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.GNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "gnmf"
    _own: ClassVar[dict[str, str]] = {
        "lam": "lam",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 100.0,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class CGSymNMF(BaseClusterer):
    r"""Symmetric NMF of a graph that is learnt by self-expression.

    A reconstruction from the paper: n x n matrices and n\ :sup:`3` work.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=0.1
        Weight of self-expression, 0 to 1e9.
    beta : float, default=1.0
        How strongly the graph is held to the first one, 0 to 1e9.
    precision : {"auto", "double", "single"}, default="auto"
        Of the n x n matrices; "auto" is single, which takes half of the time.
    %(graph)s
    %(samples)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Jia, Liu, Hou and Kwong, *Clustering-aware graph construction: a joint learning perspective* (2020).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.CGSymNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "cgsymnmf"
    _own: ClassVar[dict[str, str]] = {
        "alpha": "alpha",
        "beta": "beta",
        "precision": "precision",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.1,
        beta: float = 1.0,
        precision: str = "auto",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.precision = precision
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class RBSMF(BaseClusterer):
    r"""Robust factorisation with a bi-stochastic graph that is learnt along.

    A reconstruction from the paper: n x n matrices and n\ :sup:`3` work.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=1.0
        Weight of the Laplacian term, 0 to 1e9.
    mu : float, default=1.0
        How strongly the graph is held to the first one, 1e-9 to 1e9.
    %(graph)s
    %(samples)s
    %(common)s

    Attributes
    ----------
    %(attributes)s
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    References: Wang, He, Jiang and Li, *Robust bi-stochastic graph regularized matrix factorization for data
    clustering* (2022).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.RBSMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "rbsmf"
    _own: ClassVar[dict[str, str]] = {
        "lam": "lam",
        "mu": "mu",
        "graph": "graph",
        "n_neighbors": "graph_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 1.0,
        mu: float = 1.0,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        metric: str = "euclidean",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.mu = mu
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class NMFAN(BaseClusterer):
    """NMF of the samples with a neighbour graph that is learnt along.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=100.0
        Weight of the Laplacian term, 0 to 1e9.
    n_neighbors : int, default=5
        Neighbours of the first graph.
    %(samples)s
    %(common)s

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    References: Huang, Xu et al., NMF with adaptive neighbours (2017).

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.NMFAN(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "nmfan"
    _own: ClassVar[dict[str, str]] = {
        "lam": "lam",
        "n_neighbors": "n_neighbors",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 100.0,
        n_neighbors: int = 5,
        metric: str = "euclidean",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class KMeans(BaseClusterer):
    """k-means on the samples: k-means++ and Lloyd's iteration, the best of 20 restarts per start.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    %(samples)s
    %(common)s

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    For comparison; the engine is the one that labels embeddings.

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.KMeans(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "kmeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "euclidean",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit


@documented
class NMF(BaseClusterer):
    """Plain NMF of the samples; k-means on the factor.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    %(samples)s
    %(common)s

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    For comparison. Negative features are shifted to 0.

    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.NMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "nmf"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str = "euclidean",
        n_init: int | None = None,
        max_iter: int = 1000,
        tol: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.memory_limit = memory_limit
