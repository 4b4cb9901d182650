"""Paragraphs shared by the documentation of the estimators."""

from __future__ import annotations

from typing import TypeVar

_Class = TypeVar("_Class", bound=type)

_PARTS = {
    "graph": """
graph : {"ncut", "lsdg"}, default="ncut"
    Which graph of nearest neighbours: normalised without self-loops, or the starting graph of LSDG.
n_neighbors : int, default=None
    Nearest others that count in the graph. By default, chosen by the number of samples.
""",
    "pairs": """
metric : {"euclidean", "cosine", "precomputed"}, default="euclidean"
    Distance between samples. With "precomputed", X holds distances, n x n.
affinity : {"self_tuning", "precomputed"}, default="self_tuning"
    With "precomputed", X holds affinities, n x n, symmetric and 0 or more.
""",
    "samples": """
metric : {"euclidean", "cosine"}, default="euclidean"
    Distance between samples. With "cosine" every sample is first scaled to length 1.
""",
    "common": """
n_init : int, default=None
    Independent starts, 1 to 1000. By default, the method's own number.
max_iter : int, default=1000
    Maximum number of iterations of a start.
tol : float, default=None
    Stop when the loss changes by no more than this share. By default, the method's own tolerance. A negative value
    never stops.
%(run)s
callback : callable, default=None
    Called after every iteration with a dict (the columns of `trace_`). If it returns a true value, the run stops and
    labels what it has learnt.
""",
    "run": """
random_state : int, RandomState instance or None, default=None
    Seed of everything random. The same number gives the same bits for any number of threads, and the same labels as
    the program's ``--seed``.
n_jobs : int, default=None
    Worker threads. None: all cores, or OMP_NUM_THREADS if it is set, as joblib does in its workers. -1: all.
verbose : int, default=0
    1 shows a progress bar on stderr.
memory_limit : int, default=None
    Bytes the run may use. By default, 80 % of the free memory.
""",
    "attributes": """
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
""",
    "weights": """
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
""",
}


def documented(cls: _Class) -> _Class:
    """Fill the shared paragraphs into the documentation of a class."""
    if cls.__doc__:  # not with python -OO
        for name, part in _PARTS.items():
            cls.__doc__ = cls.__doc__.replace(f"%({name})s", part.strip().replace("\n", "\n    "))
    return cls
