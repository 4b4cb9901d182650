"""The estimators, one class per method.

Made by `cargo xtask python-classes` of the table of methods: change that, not this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ._base import BaseClusterer, Callback
from ._estimators import LSDGBase, NearFarBase


class NearFar(NearFarBase):
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
        How the answer is found: by neighbour graphs, by a mixture of Gaussian or heavy-tailed groups, or auto: by
        the mixture where it explains the points, else by graphs.
    views : "auto", str or list of str, default="auto"
        Scalings of the data to look at: auto, or some of raw, standard, unit and standard-unit.
    noise : float, default=None
        Share of the samples, 0 or more and below 1, that get the label -1: the least certain ones, the first among
        equals. `predict`, saved files and reports know nothing of it.
    min_confidence : float, default=None
        In place of `noise`: samples whose probability is below this number, above 0 to 1, get the label -1.
    comm : communicator of mpi4py, default=None
        Fit together with the other processes of this communicator (``MPI.COMM_WORLD`` under ``mpirun``). X is the
        whole array in each of them, by custom ``np.load("big.npy", mmap_mode="r")``, and each reads its own rows
        alone. All processes get the same labels. Samples are not kept, so there is no `predict` and no
        `similarity_`. A failure in one process is an exception in all.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
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
        How far out every training sample lies, from 0 to 1: 0.5 is twice as far from its neighbours as is usual in
        its cluster.
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
    _own: ClassVar[tuple[str, ...]] = (
        "engine",
        "views",
    )

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


class LSDG(LSDGBase):
    """The paper's model, LSDG-SymNMF: learns which neighbour ranks to trust as near and as far.

    Every point ranks all others by distance. One weight per rank is learnt for "same cluster" (near) and one for
    "different cluster" (far), together with a nonnegative factor; the three are merged into one similarity whose
    spectral clustering gives the labels. :class:`NearFar` learns near weights the same way, but labels in place of
    the factor: it is much faster and more often right. Use this class to reproduce the paper, and for the factor.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    preset : {"default", "paper", "demo"}, default="default"
        Named settings: default (scale-free, a consensus of 12 starts), paper or demo (the published numbers, one
        start).
    n_neighbors : int, default=None
        Neighbour ranks to trust; mu follows; 1 or more. By default: 12 in the preset default.
    alpha : float, default=None
        Orthogonality: in the preset default a share of the graph's leading eigenvalue, else the published number; 0
        to 1e9. By default: 0.5 in the preset default, else 0.1.
    beta : float, default=None
        Weight of the dissimilarity; 0 to 1e9. By default: 10; 1 in the preset demo.
    mu : float, default=None
        Density of the weights, in place of a number of ranks to trust; 1e-9 to 1e9. By default: 0.1 in the preset
        paper, 0.5 in demo.
    eta : float, default=None
        Price of overlap; 0 or more and below mu. By default: 0.99 mu.
    dissimilarity : bool, default=True
        Let the dissimilarity take part.
    orthogonality : bool, default=True
        Let the orthogonality term take part.
    regularizer : {"proposed", "offdiagonal", "logdet"}, default="proposed"
        What keeps the columns of the factor apart.
    solver : {"columns", "multiplicative"}, default=None
        How the factor is found. By default: columns with the proposed regulariser, else multiplicative.
    reseed : bool, default=False
        Start columns of the factor again when they die.
    n_init : int, default=None
        Independent starts; 1 to 1000. By default: 12 in the preset default, else 1.
    init : {"random", "spectral", "both"}, default=None
        Where starts begin. By default: both in the preset default, else random.
    prune : {"none", "quarter", "half", "outliers"}, default=None
        Starts left out of the consensus: outliers (a cut three times the best), the worse quarter or half, or none.
        By default: outliers in the preset default, else none.
    mode : {"auto", "exact", "binned"}, default="auto"
        How pairs are held: exact (n squared), binned (grows with n), or auto: exact where it fits and does not take
        long.
    near : int, default=None
        Neighbour ranks with a weight of their own, in binned mode; 8 to 30000. By default: 128, or 64 for more than
        50,000 points.
    far : int, default=None
        Far partners drawn for every point, in binned mode; 1 to 30000. By default: 128, or 64 for more than 50,000
        points.
    bins : int, default=None
        Bins that share the far ranks, in binned mode; 1 to 30000. By default: 64.
    precision : {"auto", "double", "single"}, default="auto"
        Storage of the pairs, or of n x n matrices; auto is double where it fits, and single for cgsymnmf.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=0.0001
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    kmeans_restarts : int, default=20
        Runs of k-means, the best of which counts; 1 or more.
    store_affinity : bool, default=False
        Keep the merged similarity as `affinity_matrix_`, n x n.
    comm : communicator of mpi4py, default=None
        Fit together with the other processes of this communicator (``MPI.COMM_WORLD`` under ``mpirun``). X is the
        whole array in each of them, by custom ``np.load("big.npy", mmap_mode="r")``, and each reads its own rows
        alone. Pairs are binned, and all processes get the bits of one with ``mode="binned"``. Samples are not kept,
        so there is no `predict`, and neither `similarity_` nor `dissimilarity_`. A failure in one process is an
        exception in all.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    near_weights_ : ndarray of shape (n_samples,)
        Trust in each rank as a neighbour, from rank 0, the point itself; sums to 1.
    far_weights_ : ndarray of shape (n_samples,)
        Trust in each rank as a stranger; sums to 1.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The learnt similarity S.
    dissimilarity_ : csr_matrix of shape (n_samples, n_samples)
        The learnt dissimilarity D, computed on first access.
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        S, D and the factor merged, with `store_affinity`.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Spectral coordinates.
    eigenvalues_ : ndarray of shape (n_clusters + 1,)
        Leading eigenvalues of the normalised merged similarity.
    sigma_ : ndarray of shape (n_samples,)
        Local scales, in the units of the data. Not set for affinities.

    Notes
    -----
    In exact mode memory grows with n squared: 14 n² bytes in double, 8 n² in single precision.
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
    _own: ClassVar[tuple[str, ...]] = (
        "preset",
        "n_neighbors",
        "alpha",
        "beta",
        "mu",
        "eta",
        "dissimilarity",
        "orthogonality",
        "regularizer",
        "solver",
        "reseed",
        "n_init",
        "init",
        "prune",
        "mode",
        "near",
        "far",
        "bins",
        "precision",
        "max_iter",
        "tol",
        "kmeans_restarts",
    )

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
        regularizer: str = "proposed",
        solver: str | None = None,
        reseed: bool = False,
        n_init: int | None = None,
        init: str | None = None,
        prune: str | None = None,
        mode: str = "auto",
        near: int | None = None,
        far: int | None = None,
        bins: int | None = None,
        precision: str = "auto",
        max_iter: int = 1000,
        tol: float = 0.0001,
        kmeans_restarts: int = 20,
        store_affinity: bool = False,
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
        self.preset = preset
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.beta = beta
        self.mu = mu
        self.eta = eta
        self.dissimilarity = dissimilarity
        self.orthogonality = orthogonality
        self.regularizer = regularizer
        self.solver = solver
        self.reseed = reseed
        self.n_init = n_init
        self.init = init
        self.prune = prune
        self.mode = mode
        self.near = near
        self.far = far
        self.bins = bins
        self.precision = precision
        self.max_iter = max_iter
        self.tol = tol
        self.kmeans_restarts = kmeans_restarts
        self.store_affinity = store_affinity
        self.comm = comm
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class PHALS(BaseClusterer):
    """Symmetric NMF of a fixed graph, column by column with exact line search (Hou, Chu, Liao 2023).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    As the best plain symmetric NMF here: few iterations, no parameter. It is also the column step of LSDG. A column
    that becomes zero stays zero; the run then reports dead columns.


    References: Hou, Chu, Liao, "A progressive hierarchical alternating least squares method for symmetric
    nonnegative matrix factorization", IEEE TPAMI 2023, as the program of the LSDG authors has it.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.PHALS(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "phals"
    _own: ClassVar[tuple[str, ...]] = (
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class AOSymNMF(BaseClusterer):
    """Symmetric NMF with an orthogonality term: the paper's own by column steps, or one of three by multiplicative
    updates.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=0.1
        Strength of the regulariser; of use below the graph's leading eigenvalue (1 for ncut); 0 to 1e9.
    regularizer : {"proposed", "offdiagonal", "logdet"}, default="proposed"
        What keeps the columns of the factor apart.
    solver : {"columns", "multiplicative"}, default=None
        How the factor is found. By default: columns with the proposed regulariser, else multiplicative.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    When columns of V overlap too much and clusters blur. At large α the off-diagonal term makes columns vanish; the
    proposed term does not shrink V.


    References: Lyu, Jia, "Learnable Similarity and Dissimilarity Guided Symmetric Non-Negative Matrix
    Factorization". The multiplicative updates are our derivation; it is not known which ones the authors ran.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.AOSymNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "aosymnmf"
    _own: ClassVar[tuple[str, ...]] = (
        "alpha",
        "regularizer",
        "solver",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.1,
        regularizer: str = "proposed",
        solver: str | None = None,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.regularizer = regularizer
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class SymNMF(BaseClusterer):
    """Symmetric NMF of a fixed graph: multiplicative, projected gradient or Newton-like (Kuang et al. 2012, 2015).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    solver : {"multiplicative", "gradient", "newton"}, default="multiplicative"
        How the factor is found.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    `multiplicative` is the control for the other methods; it stops early and far from a minimum unless the tolerance
    is small. `newton` reaches the best minima of the three on up to a few thousand points, `gradient` on more.


    References: Kuang, Ding, Park, "Symmetric nonnegative matrix factorization for graph clustering", SDM 2012;
    Kuang, Yun, Park, "SymNMF: nonnegative low-rank approximation of a similarity matrix for graph clustering", J.
    Global Optimization 2015. `newton` follows their program, except that a Hessian is renewed after ten iterations
    even if the free set does not change. From the figures of the LSDG paper we infer that it ran the multiplicative
    form.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.SymNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "symnmf"
    _own: ClassVar[tuple[str, ...]] = (
        "solver",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = "multiplicative",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class ANLS(BaseClusterer):
    """Symmetry dropped and priced: alternating least squares by pivoting or by columns (Zhu et al. 2018).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=0.5
        Price of two different factors; 0 to 1e9.
    solver : {"pivoting", "columns"}, default="pivoting"
        How one factor is found given the other: exactly, or by one pass over the columns (SymHALS).
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    A good symmetric NMF with the guarantees of least squares. On most data it is as good as Newton's method at a
    fraction of its cost. Choose `columns` for many clusters.


    References: Zhu, Li, Liu, Li, "Dropping symmetry for fast symmetric nonnegative matrix factorization", NeurIPS
    2018; formulas as in their program. Pivoting: Kim, Park, "Fast nonnegative matrix factorization: an
    active-set-like method and comparisons", SIAM J. Sci. Comput. 2011.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.ANLS(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "anls"
    _own: ClassVar[tuple[str, ...]] = (
        "lam",
        "solver",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 0.5,
        solver: str = "pivoting",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class SBSUM(BaseClusterer):
    """Symmetric NMF one entry (or one row) at a time, each step an exact minimum of a bound (Shi et al. 2017).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    solver : {"scalar", "vector"}, default="scalar"
        What is updated at once: an entry or a row of the factor.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    As the first plain symmetric NMF to try beside `phals`: few iterations, good minima, no parameter to choose.


    References: Shi, Sun, Lu, Hong, Razaviyayn, "Inexact block coordinate descent methods for symmetric nonnegative
    matrix factorization", IEEE Trans. Signal Processing 2017. The scalar form agrees with the authors' program, and
    we proved it again. The bound of the vector form is our derivation of the paper's idea (see the module's source).


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.SBSUM(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "sbsum"
    _own: ClassVar[tuple[str, ...]] = (
        "solver",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = "scalar",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class GSNMF(BaseClusterer):
    """Symmetric NMF with the graph Laplacian as a regulariser (Gao, Guan, Su 2018).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=1.0
        Weight of the Laplacian term; 0 to 1e9.
    solver : {"multiplicative", "admm"}, default="multiplicative"
        How the factor is found; admm is the authors' scheme, which may diverge.
    penalty : float, default=1.0
        Price of two different copies in the solver admm; it diverges below 1; above 0, at most 1e9.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    When neighbours should share labels more firmly than in plain symmetric NMF; use λ of about 1.


    References: Gao, Guan, Su, "Graph regularized symmetric non-negative matrix factorization for graph clustering",
    ICDM workshops 2018. The objective and `admm` are taken from the authors' program, whose λ is in effect half of
    ours. The multiplicative form and its proof are our derivation. We assume that labels are the largest entries.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.GSNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "gsnmf"
    _own: ClassVar[tuple[str, ...]] = (
        "lam",
        "solver",
        "penalty",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 1.0,
        solver: str = "multiplicative",
        penalty: float = 1.0,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.solver = solver
        self.penalty = penalty
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class GNMF(BaseClusterer):
    """NMF of the samples with the graph Laplacian as a regulariser; k-means on V (Cai et al. 2011).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=100.0
        Weight of the Laplacian term; 0 to 1e9.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    kmeans_restarts : int, default=20
        Runs of k-means, the best of which counts; 1 or more.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between samples. With "cosine" every sample is first scaled to length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    When features are additive parts (counts, pixels) and U should be readable. λ has no natural scale: (cU, V/c)
    fits equally well and makes the graph term arbitrarily small. Only the normalised start prevents that.


    References: Cai, He, Han, Huang, "Graph regularized nonnegative matrix factorization for data representation",
    IEEE TPAMI 2011. Objective and update are those of the published program. It used a binary 5-neighbour graph and
    ten short restarts; we use the graph that all methods share, and `--starts`.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.GNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "gnmf"
    _own: ClassVar[tuple[str, ...]] = (
        "lam",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
        "kmeans_restarts",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 100.0,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        kmeans_restarts: int = 20,
        metric: str = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.kmeans_restarts = kmeans_restarts
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class NMFAN(BaseClusterer):
    """NMF of the samples with a neighbour graph that is learnt along (Huang et al. 2017).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=100.0
        Weight of the Laplacian term; 0 to 1e9.
    n_neighbors : int, default=5
        Neighbours of the first graph; 1 or more.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    kmeans_restarts : int, default=20
        Runs of k-means, the best of which counts; 1 or more.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between samples. With "cosine" every sample is first scaled to length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    When the graph of the raw data cannot be trusted and X is nonnegative. It starts from random U and V and needs
    hundreds of iterations; the 50 of the published program are too few.


    References: Huang, Xu et al., NMF with adaptive neighbours, 2017. The update is that of the published program
    with one correction. There a point may be its own neighbour, whose zero distance takes most of the weight (all of
    it from λ = 1000 on); here s_ii = 0. The program corresponds exactly to the stated objective with weight 1 on
    tr(XL_SXᵀ) and γ/2 on ‖S‖².


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.NMFAN(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "nmfan"
    _own: ClassVar[tuple[str, ...]] = (
        "lam",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
        "kmeans_restarts",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 100.0,
        n_neighbors: int = 5,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        kmeans_restarts: int = 20,
        metric: str = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.kmeans_restarts = kmeans_restarts
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class CGSymNMF(BaseClusterer):
    """Symmetric NMF of a graph learnt by self-expression (Jia et al. 2020; a reconstruction).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=0.1
        Weight of self-expression; 0 to 1e9.
    beta : float, default=1.0
        How strongly the graph is held to the first one; 0 to 1e9.
    precision : {"auto", "double", "single"}, default="auto"
        Storage of the pairs, or of n x n matrices; auto is double where it fits, and single for cgsymnmf.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between samples. With "cosine" every sample is first scaled to length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    When samples of a cluster are combinations of each other (faces under varying light) and n is a few thousand at
    most.


    References: Jia, Liu, Hou, Kwong, "Clustering-aware graph construction: a joint learning perspective", 2020. The
    objective is as the LSDG paper states it, and the abstract confirms the constraints. The updates are our
    derivation; the scaling of X, the first S and the label rule are our choice. The original grid is not known; we
    searched α from 0.001 to 10 and β from 0.01 to 100.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.CGSymNMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "cgsymnmf"
    _own: ClassVar[tuple[str, ...]] = (
        "alpha",
        "beta",
        "precision",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.1,
        beta: float = 1.0,
        precision: str = "auto",
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.precision = precision
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class RBSMF(BaseClusterer):
    """Robust factorisation with a bi-stochastic graph that is learnt along (Wang et al. 2022; a reconstruction).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    lam : float, default=1.0
        Weight of the Laplacian term; 0 to 1e9.
    mu : float, default=1.0
        How strongly the graph is held to the first one; 1e-9 to 1e9.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    kmeans_restarts : int, default=20
        Runs of k-means, the best of which counts; 1 or more.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between samples. With "cosine" every sample is first scaled to length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    With outliers, and when a result without randomness is worth n² memory. In our runs most of its strength comes
    from spectral clustering.


    References: Wang, He, Jiang, Li, "Robust bi-stochastic graph regularized matrix factorization for data
    clustering", IEEE TPAMI 2022. Known are the robust loss with its weights, and that S is bi-stochastic and learnt
    jointly. The coupling terms, the orthogonality of V and the label rule are guesses. On ORL our form does better
    than the published one, which shows that the two differ.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.RBSMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "rbsmf"
    _own: ClassVar[tuple[str, ...]] = (
        "lam",
        "mu",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
        "kmeans_restarts",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 1.0,
        mu: float = 1.0,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        kmeans_restarts: int = 20,
        metric: str = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.mu = mu
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.kmeans_restarts = kmeans_restarts
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class S3NMF(BaseClusterer):
    """Rounds of many symmetric NMFs; each round's graph is the vote of the last (Jia et al. 2022).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    tau : float, default=2.0
        How evenly members are weighed; above 1, at most 1000.
    members : int, default=20
        Factorisations per round; 1 to 1000.
    rounds : int, default=2
        Rounds; 1 to 1000.
    hard_votes : bool, default=True
        Let members vote with their labels instead of their factors.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    When single starts disagree and time is no concern. It trades many runs for a stable result, and often improves
    plain symmetric NMF a lot.


    References: Jia, Liu, Hou, Kwong, Zhang, "Self-supervised symmetric nonnegative matrix factorization", IEEE TCSVT
    2022, and its published program, which has τ = 2, 20 members, 10 rounds and hard votes. Two rounds are the
    default here: accuracy falls with more, and two give the figures that the LSDG paper reports. The program uses
    the squared *spectral* norm for h, unlike the paper's model; we use the Frobenius norm, as in the model. The
    original grid of τ is not known.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.S3NMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "s3nmf"
    _own: ClassVar[tuple[str, ...]] = (
        "tau",
        "members",
        "rounds",
        "hard_votes",
        "graph",
        "n_neighbors",
        "n_init",
        "max_iter",
        "tol",
    )

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
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.tau = tau
        self.members = members
        self.rounds = rounds
        self.hard_votes = hard_votes
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class KMeans(BaseClusterer):
    """k-means++ on the samples.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    kmeans_restarts : int, default=20
        Runs of k-means, the best of which counts; 1 or more.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between samples. With "cosine" every sample is first scaled to length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    As the first comparison: if it does as well, the clusters are round and of similar size, and nothing better is
    needed. It needs samples, and their scale matters.


    References: Lloyd 1982; Arthur, Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.KMeans(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "kmeans"
    _own: ClassVar[tuple[str, ...]] = (
        "n_init",
        "max_iter",
        "kmeans_restarts",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 1,
        max_iter: int = 1000,
        kmeans_restarts: int = 20,
        metric: str = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.kmeans_restarts = kmeans_restarts
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class SpectralClustering(BaseClusterer):
    """Spectral clustering of the same self-tuned graph (Ng, Jordan, Weiss).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    graph : {"ncut", "lsdg"}, default="ncut"
        Which graph of nearest neighbours: ncut (normalised, no self-loops) or lsdg (the starting graph of lsdg).
    n_neighbors : int, default=None
        Nearest others that count in the graph; 1 or more. By default: by the number of points.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    kmeans_restarts : int, default=20
        Runs of k-means, the best of which counts; 1 or more.
    metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
        Distance between samples. With "precomputed", X holds distances, n x n.
    affinity : {"self_tuning", "precomputed"}, default="self_tuning"
        With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.
    similarity_ : csr_matrix of shape (n_samples, n_samples)
        The graph that was factored or cut.
    sigma_ : ndarray of shape (n_samples,)
        Local scales; not where affinities were given.

    Notes
    -----
    As the second comparison: strong on clusters of any shape that the graph keeps apart, and nearly independent of
    the seed.


    References: Ng, Jordan, Weiss, "On spectral clustering: analysis and an algorithm", NeurIPS 2001; local scales:
    Zelnik-Manor, Perona 2004.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.SpectralClustering(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "spectral"
    _own: ClassVar[tuple[str, ...]] = (
        "graph",
        "n_neighbors",
        "n_init",
        "kmeans_restarts",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        graph: str = "ncut",
        n_neighbors: int | None = None,
        n_init: int = 1,
        kmeans_restarts: int = 20,
        metric: str = "euclidean",
        affinity: str = "self_tuning",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.kmeans_restarts = kmeans_restarts
        self.metric = metric
        self.affinity = affinity
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


class NMF(BaseClusterer):
    """Plain NMF of the samples; k-means on V.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_init : int, default=1
        Independent starts; 1 to 1000.
    max_iter : int, default=1000
        Maximum number of iterations of a start; 1 or more.
    tol : float, default=1e-05
        Stop when the loss, or the variables, change by no more than this share (below 0: never); below 1.
    kmeans_restarts : int, default=20
        Runs of k-means, the best of which counts; 1 or more.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance between samples. With "cosine" every sample is first scaled to length 1.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. The same number gives the same bits for any number of threads, and the same labels
        as the program's ``--seed``.
    n_jobs : int, default=None
        Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    memory_limit : int, default=None
        Bytes the run may use. By default, 80 % of the free memory.
    callback : callable, default=None
        Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops
        and labels what it has learnt.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every training sample, numbered by first appearance.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Share of each sample's similarity that lies in each cluster; rows sum to 1.
    factor_ : ndarray of shape (n_samples, n_clusters)
        V of the best start.
    trace_ : dict of ndarray
        One entry per iteration of every start: member, iteration, loss and its terms, changes.
        ``pandas.DataFrame(model.trace_)`` makes a table of it.
    n_iter_ : int
        Iterations of the best start.
    stop_reason_ : str
        Why the best start ended: "loss_settled", "variables_settled", "stationary", "completed", "max_iterations",
        "collapsed", "stopped" (by the callback), "cancelled" (by Ctrl-C) or "nothing_to_learn".
    complete_ : bool
        False if Ctrl-C stopped the fit; the attributes then hold the best start so far.
    objective_ : float
        Objective of the best start.
    agreement_ : float
        Mean adjusted Rand index of the starts with the result.
    timings_ : dict of float
        Seconds per stage.
    members_ : list of dict
        One entry per start, with its outcome.
    warnings_ : list of str
        Warnings about data and result; also issued as Python warnings.
    seed_ : int
        The seed that was used.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    As the baseline of the methods that factor samples, and for parts-based data such as images or word counts. V is
    not a clustering by itself, hence k-means.


    References: Lee, Seung 1999; updates: Cichocki, Phan, "Fast local algorithms for large scale nonnegative matrix
    and tensor factorizations", IEICE 2009.


    Examples
    --------
    >>> import nearfar
    >>> X, y = nearfar.datasets.make_blobs(90, n_clusters=3, noise=0.4, random_state=1)
    >>> labels = nearfar.NMF(n_clusters=3, random_state=0).fit_predict(X)
    >>> nearfar.metrics.accuracy_score(y, labels)
    1.0
    """

    _method = "nmf"
    _own: ClassVar[tuple[str, ...]] = (
        "n_init",
        "max_iter",
        "tol",
        "kmeans_restarts",
    )

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-05,
        kmeans_restarts: int = 20,
        metric: str = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        memory_limit: int | None = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.kmeans_restarts = kmeans_restarts
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory_limit = memory_limit
        self.callback = callback


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
    "KMeans",
    "NearFar",
    "SpectralClustering",
    "SymNMF",
]
