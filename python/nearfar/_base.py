"""What all estimators share: parameters in, a fitted model, attributes out.

One class in one file, although long: parameters, fitting and attributes are what an estimator is.
"""

from __future__ import annotations

import copy
import json
import numbers
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _convert, _nearfar, _ranks
from ._explain import Drift, Explanation, Predictions
from ._progress import Bar

if TYPE_CHECKING:
    from typing_extensions import Self

#: Called after every iteration with its row of the trace; a true return value stops the run.
Callback = Callable[[dict[str, float]], bool | None]

#: Attributes derived from the model, which pickles therefore leave out.
_DERIVED = (
    "labels_",
    "membership_",
    "factor_",
    "near_weights_",
    "far_weights_",
    "similarity_",
    "_dissimilarity",
    "affinity_matrix_",
    "embedding_",
    "eigenvalues_",
    "sigma_",
    "trace_",
    "members_",
    "timings_",
    "warnings_",
    "n_iter_",
    "stop_reason_",
    "complete_",
    "objective_",
    "agreement_",
    "seed_",
    "n_clusters_",
    "probabilities_",
    "outlier_scores_",
    "tree_",
    "leaves_",
    "leaf_sizes_",
    "engine_",
    "views_",
    "mixture_",
    "gap_curve_",
    "candidates_",
    "cluster_names_",
    "stability_",
    "_explanation",
)


def _cluster(value: Any) -> int:
    """Return the number of a cluster."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"cluster = {value!r} is not allowed: it must be a whole number")
    if value < 0:
        raise ValueError(f"cluster = {value} is not allowed: it must be 0 or more")
    return int(value)


class NearFarWarning(UserWarning):
    """A problem with the data or the result that does not stop the fit."""


class BaseClusterer(ClusterMixin, BaseEstimator):
    """One method of the family. Subclasses declare the method and its own parameters; the rest is here."""

    #: Name of the method, as in `nearfar methods`.
    _method: ClassVar[str]
    #: Parameters that the compiled half takes by the same name.
    _own: ClassVar[tuple[str, ...]] = ()

    # Set by every subclass's constructor.
    n_clusters: int | str
    metric: str
    random_state: Any
    n_jobs: int | None
    verbose: int
    callback: Callback | None
    memory_limit: int | None

    # Set by fit.
    labels_: np.ndarray
    membership_: np.ndarray
    factor_: np.ndarray
    similarity_: sparse.csr_matrix
    sigma_: np.ndarray
    trace_: dict[str, np.ndarray]
    members_: list[dict[str, Any]]
    timings_: dict[str, float]
    warnings_: list[str]
    n_iter_: int
    stop_reason_: str
    complete_: bool
    objective_: float
    agreement_: float
    seed_: int
    _model: _nearfar.Model
    cluster_names_: list[str]
    stability_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Samples, distances with ``metric="precomputed"``, or affinities with ``affinity="precomputed"``. NumPy
            arrays of float64 or float32, by rows or by columns, are read in place. Precomputed matrices may be
            SciPy sparse: pairs that are not stored have affinity 0, or an unknown distance beyond the stored ones.
        y : None
            Not used; here by convention.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        KeyboardInterrupt
            Within a second of Ctrl-C. The best start so far is then available in the attributes, with
            ``complete_ = False``.
        RuntimeError
            With ``comm``, if another process failed or was interrupted. The message says which, and why.
        """
        comm = getattr(self, "comm", None)
        if comm is not None:
            return _ranks.together(comm, lambda ranks: self._fit_part(X, ranks))
        kind = self._kind()
        self._check_callback()
        pairwise = kind in ("distances", "affinities")
        X = validate_data(
            self,
            _convert.from_arrow(X),
            accept_sparse="csr" if pairwise else False,
            dtype=(np.float64, np.float32),
        )
        if pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(f"precomputed {kind} must be a square matrix, but X has shape {X.shape}")
        if pairwise:
            _convert.check_not_negative(X, kind)
        self._check_enough(X.shape[0])
        if sparse.issparse(X):
            X, kind = _convert.from_sparse(X, kind)
        elif isinstance(X, np.ndarray) and not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        names = getattr(self, "feature_names_in_", None)
        bar = Bar() if self.verbose else None
        try:
            model, ended = _nearfar.fit(
                X,
                kind,
                self._settings(),
                feature_names=None if pairwise or names is None else [str(name) for name in names],
                dissimilarity=pairwise,  # from samples, which are kept, D can be computed later
                affinity=bool(getattr(self, "store_affinity", False)),
                callback=self.callback,
                progress=bar,
            )
        finally:
            if bar is not None:
                bar.close()
        if model is not None:
            self._take(model)
        if ended is not None:
            raise ended
        self._warn()
        return self

    def _fit_part(self, X: Any, ranks: _ranks.Ranks) -> Self:
        """Fit together with other processes. Reads only this process's rows of X."""
        kind = self._kind()
        self._check_callback()
        if kind in ("distances", "affinities"):
            raise ValueError(f"comm needs samples, and X holds {kind}; leave out comm")
        if getattr(self, "store_affinity", False):
            raise ValueError("store_affinity = True needs all rows in one process; leave it out, or leave out comm")
        X = _convert.from_arrow(X)
        X = X if hasattr(X, "shape") else np.asarray(X)
        if len(X.shape) != 2:
            raise ValueError(f"X must be two-dimensional, but it has shape {X.shape}")
        validate_data(self, X, skip_check_array=True)
        settings = self._settings()
        if self.n_jobs is None:
            settings["n_threads"] = max(1, settings["n_threads"] // ranks.local)
        if not isinstance(self.random_state, numbers.Integral):
            # All processes use the seed that the first one draws.
            settings["seed"] = int(ranks.texts(str(settings["seed"]))[0])
        each = ("n_threads", "memory_limit")  # may differ
        alike = {name: value for name, value in settings.items() if name not in each}
        ranks.check_alike(shape=tuple(X.shape), metric=kind, **alike)
        self._check_enough(X.shape[0])
        first, behind = _nearfar.rows_of(X.shape[0], ranks.size, ranks.rank)
        rows = X.iloc[first:behind] if hasattr(X, "iloc") else X[first:behind]
        # All processes look for values that are not finite together, so that all name the same row.
        rows = check_array(
            rows, dtype=(np.float64, np.float32), order="C", ensure_all_finite=False, ensure_min_samples=0
        )
        names = getattr(self, "feature_names_in_", None)
        bar = Bar() if self.verbose and ranks.rank == 0 else None
        try:
            model, ended = _nearfar.fit(
                rows,
                kind,
                settings,
                feature_names=None if names is None else [str(name) for name in names],
                callback=self.callback,
                progress=bar,
                ranks=ranks,
                n_samples=X.shape[0],
            )
        finally:
            if bar is not None:
                bar.close()
        if model is not None:
            self._take(model)
        if ended is not None:
            raise ended
        if model is None or not self.complete_:
            raise _ranks.stopped_elsewhere()
        if ranks.rank == 0:
            self._warn()
        return self

    def _check_callback(self) -> None:
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback = {self.callback!r} is not allowed: it must be a function or None")

    def _check_enough(self, n_samples: int) -> None:
        if n_samples < (self.n_clusters if isinstance(self.n_clusters, numbers.Integral) else 0):
            raise ValueError(
                f"n_samples={n_samples} is too few for n_clusters={self.n_clusters}; use at most {n_samples}"
            )

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> np.ndarray:
        """Learn the clusters and return the labels of the training samples.

        Parameters
        ----------
        X : array-like
            As for :meth:`fit`.
        y : None
            Not used; here by convention.
        **kwargs : dict
            Not used; here by convention.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of every sample.
        """
        return super().fit_predict(X, y, **kwargs)

    def predict(self, X: Any) -> np.ndarray:
        """Return the clusters of new points.

        A new point ranks the training samples by distance. Each votes for its cluster with the weight learnt for its
        rank times its self-tuned affinity; methods without weights count the log2(n) + 1 nearest alike. With `NearFar`
        every trusted scaling votes, or the likeliest part of the mixture decides. A point that equals a training
        sample gets that sample's label. The label of a point does not depend on the other points of the batch.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), or (n_new, n_samples) if precomputed
            New points, or their distances or affinities to all training samples, in the order of the fit.

        Returns
        -------
        labels : ndarray of shape (n_new,)
            Cluster of every new point.
        """
        batches, threads = self._new_rows(X), self._n_threads()
        return np.concatenate([self._model.predict(rows, threads) for rows in batches])

    def predictions(self, X: Any, *, reject: float | None = None) -> Predictions:
        """Return the clusters of new points, how sure they are, the next best clusters, and who lies far out.

        Parameters
        ----------
        X : array-like
            As for :meth:`predict`.
        reject : float, default=None
            Label points -1 that lie farther out than all but this share of the training samples, such as 0.01.

        Returns
        -------
        predictions : Predictions
            A tuple of four arrays with names: ``labels``, ``confidence``, ``second`` and ``outlier_scores``.

        Examples
        --------
        >>> import nearfar
        >>> X, y = nearfar.datasets.make_moons(120, random_state=3)
        >>> model = nearfar.NearFar(n_clusters=2, random_state=0).fit(X)
        >>> model.predictions([[100.0, 100.0]], reject=0.01).labels
        array([-1])
        """
        batches, threads = self._new_rows(X), self._n_threads()
        parts = [self._model.predictions(rows, threads) for rows in batches]
        said = Predictions(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        if reject is not None:
            if not 0 < reject < 1:
                raise ValueError(f"reject = {reject} is not allowed: it must be above 0 and below 1")
            scores = self._model.outlier_scores()
            if not scores.size:
                raise ValueError("this model knows no distances between neighbours; leave out reject")
            limit = np.quantile(scores, 1 - reject, method="inverted_cdf")
            said.labels[said.outlier_scores > limit] = -1
        return said

    def _new_rows(self, X: Any) -> list[np.ndarray]:
        """Return new points as the compiled half takes them, in batches where they are sparse."""
        check_is_fitted(self)
        kind = self._kind()
        pairwise = kind in ("distances", "affinities")
        X = validate_data(
            self,
            _convert.from_arrow(X),
            reset=False,
            accept_sparse="csr" if pairwise else False,
            dtype=(np.float64, np.float32),
        )
        if sparse.issparse(X):
            return list(_convert.dense_batches(X, kind))
        if not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        return [X]

    def explain(self, *, ids: Any = None, image_shape: tuple[int, int] | None = None) -> Explanation:
        """Say what the clusters are: sizes, typical rows, columns that set them apart, rules, how sure they are.

        Effects are in spreads: the difference of two means, divided by the root of the mean of the two variances. A
        rule has at most three conditions; it is found on one half of the samples, and its precision and recall are
        those on the other half.

        Parameters
        ----------
        ids : array-like of shape (n_samples,), default=None
            Names of the training samples. By default, the row numbers.
        image_shape : tuple of (height, width), default=None
            Shape of samples that are grey images. By default, square images are detected.

        Returns
        -------
        explanation : Explanation
            Prints as text, shows as a table in a notebook, and has ``to_frame()``, ``to_markdown()``, ``to_html()``.

        Examples
        --------
        >>> import nearfar
        >>> X, y = nearfar.datasets.make_moons(120, random_state=3)
        >>> told = nearfar.NearFar(n_clusters=2, random_state=0).fit(X).explain()
        >>> [story["size"] for story in told.clusters]
        [60, 60]
        """
        check_is_fitted(self)
        if ids is None and image_shape is None:
            if not hasattr(self, "_explanation"):
                self._explanation = Explanation(self._model.explain(self._n_threads()))
            return self._explanation
        named = None if ids is None else [str(name) for name in column_or_1d(ids)]
        self._check_described(named, image_shape)
        return Explanation(self._model.explain(self._n_threads(), named, image_shape))

    def _check_described(self, named: list[str] | None, image_shape: tuple[int, int] | None) -> None:
        if named is not None and len(named) != len(self.labels_):
            raise ValueError(f"ids has {len(named)} entries, but the model was fitted on {len(self.labels_)} samples")
        if image_shape is not None and image_shape[0] * image_shape[1] != self.n_features_in_:
            raise ValueError(
                f"image_shape = {image_shape} is not allowed: height times width must be the number of features, "
                f"{self.n_features_in_}"
            )

    def stability(self) -> np.ndarray:
        """Return how far every cluster is found again in fits to 20 halves of the samples.

        The result is also kept as `stability_`, saved with the model, and part of :meth:`explain`.

        Returns
        -------
        stability : ndarray of shape (n_clusters,)
            Mean overlap (Jaccard) with the most similar cluster, 0 to 1.
        """
        check_is_fitted(self)
        if self._kind() in ("distances", "affinities"):
            raise ValueError("stability needs the samples, and this model was fitted on pairs, which it does not keep")
        self._model = self._model.with_stability(self._settings())
        self.__dict__.pop("_explanation", None)
        self.stability_ = np.array(json.loads(self._model.about())["stability"])
        return self.stability_

    def _with(self, model: _nearfar.Model) -> Self:
        """Return a fitted estimator like this one with another model."""
        other = copy.copy(self)
        other._take(model)
        return other

    def merge(self, *clusters: int) -> Self:
        """Return a fitted estimator with these clusters joined into one.

        It keeps the lowest of the numbers; those behind close up.

        Parameters
        ----------
        *clusters : int
            Two clusters or more.

        Returns
        -------
        estimator : object
            A new estimator; this one stays as it is.
        """
        check_is_fitted(self)
        return self._with(self._model.merge([_cluster(c) for c in clusters]))

    def split(self, cluster: int) -> Self:
        """Return a fitted estimator with a cluster divided in two, where the tree joined its parts last.

        The larger part keeps the number; the other gets a new one at the end.

        Parameters
        ----------
        cluster : int
            The cluster.

        Returns
        -------
        estimator : object
            A new estimator; this one stays as it is.
        """
        check_is_fitted(self)
        return self._with(self._model.split(_cluster(cluster)))

    def rename(self, names: Mapping[int, str] | Sequence[str]) -> Self:
        """Return a fitted estimator whose clusters have names, shown by :meth:`explain` and kept by :meth:`save`.

        Parameters
        ----------
        names : dict of int to str, or list of str
            The name of every cluster, or of some; an empty name takes one away.

        Returns
        -------
        estimator : object
            A new estimator; this one stays as it is.
        """
        check_is_fitted(self)
        pairs = names.items() if isinstance(names, Mapping) else enumerate(names)
        return self._with(self._model.rename([(_cluster(c), str(name)) for c, name in pairs]))

    def match_labels(self, older: BaseClusterer) -> Self:
        """Return a fitted estimator whose clusters have the numbers and names that they have in an older one.

        Clusters are matched by the labels that the older estimator predicts for the samples of this one. Clusters that
        it does not have get numbers behind all of its.

        Parameters
        ----------
        older : estimator
            A fitted estimator of this package, of the same columns.

        Returns
        -------
        estimator : object
            A new estimator; this one stays as it is.
        """
        check_is_fitted(self)
        check_is_fitted(older)
        return self._with(self._model.with_numbers_of(older._model, self._n_threads()))

    def drift(self, X: Any) -> Drift:
        """Tell how well new rows fit, and which clusters grew, shrank or are gone.

        Parameters
        ----------
        X : array-like
            As for :meth:`predict`.

        Returns
        -------
        drift : Drift
            Has an ``answer`` and ``to_frame()``. The usual range is that of resamples of the training samples.
        """
        rows = self._new_rows(X)
        return Drift(self._model.drift(np.concatenate(rows), self._n_threads()))

    def _repr_html_(self) -> str:
        told = self.explain().to_html() if hasattr(self, "_model") else ""
        return told + super()._repr_mimebundle_().get("text/html", "")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = super()._repr_mimebundle_(**kwargs)
        return shown | {"text/html": self._repr_html_()} if hasattr(self, "_model") else shown

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file.

        The format is that of ``nearfar cluster --save-model`` and ``nearfar predict``: arrays and a JSON header,
        nothing that is ever executed. The file is written under a temporary name first.

        Parameters
        ----------
        path : str or path-like
            Where to write. The name usually ends in ``.nearfar``.
        """
        check_is_fitted(self)
        self._model.save(Path(path))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        y: Any = None,
        ids: Any = None,
        title: str | None = None,
        image_shape: tuple[int, int] | None = None,
    ) -> None:
        """Write a page that shows the fitted model: one HTML file for a browser, which needs no network.

        The page has the answer in a few sentences, the points, and every stage with its figures; all numbers can be
        downloaded as CSV. It is written under a temporary name first, and the same model gives the same page.

        Parameters
        ----------
        path : str or path-like
            Where to write. The name usually ends in ``.html``.
        y : array-like of shape (n_samples,), default=None
            Known classes of the training samples, to compare with the clusters.
        ids : array-like of shape (n_samples,), default=None
            Names of the training samples. By default, the row numbers.
        title : str, default=None
            Name of the data on the page. By default, the name of the class.
        image_shape : tuple of (height, width), default=None
            Shape of samples that are grey images. By default, square images are detected.

        Notes
        -----
        The dissimilarity is computed again from the training samples. The merged similarity Z is shown if it was kept
        (``store_affinity=True``).

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import nearfar
        >>> X, y = nearfar.datasets.make_moons(60, random_state=3)
        >>> model = nearfar.NearFar(n_clusters=2, random_state=0).fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(Path(folder) / "moons.html", y=y, title="moons")
        ...     text = (Path(folder) / "moons.html").read_text(encoding="utf-8")
        >>> "2 clusters in 60 points" in text
        True
        """
        check_is_fitted(self)
        n = len(self.labels_)
        classes = None
        if y is not None:
            names, codes = np.unique(column_or_1d(y), return_inverse=True)
            classes = ([int(code) for code in codes], [str(name) for name in names])
        named = None if ids is None else [str(name) for name in column_or_1d(ids)]
        if classes is not None and len(classes[0]) != n:
            raise ValueError(f"y has {len(classes[0])} entries, but the model was fitted on {n} samples")
        self._check_described(named, image_shape)
        self._model.report(
            Path(path),
            self._n_threads(),
            title=title if title is not None else type(self).__name__,
            command=f"{self!r}.fit(X)",
            settings=[(name, str(value)) for name, value in sorted(self.get_params().items())],
            notes=self.warnings_,
            ids=named,
            classes=classes,
            picture=image_shape,
        )

    def plot_map(self, X: Any = None, *, labels: Any = None, ax: Any = None) -> Any:
        """Draw the samples in the plane, coloured by cluster; see :func:`nearfar.plot.map`."""
        from . import plot

        return plot.map(self, X, labels=labels, ax=ax)

    def _kind(self) -> str:
        """Return what X holds: a metric of samples, "distances" or "affinities"."""
        affinity = getattr(self, "affinity", "self_tuning")
        takes_pairs = hasattr(self, "affinity")
        metrics = ("euclidean", "cosine", "precomputed") if takes_pairs else ("euclidean", "cosine")
        for name, value, allowed in (
            ("metric", self.metric, metrics),
            ("affinity", affinity, ("self_tuning", "precomputed")),
        ):
            if value not in allowed:
                words = ", ".join(f'"{word}"' for word in allowed)
                raise ValueError(f"{name} = {value!r} is not allowed: it must be one of {words}")
        if affinity == "precomputed":
            if self.metric == "precomputed":
                raise ValueError(
                    'metric and affinity cannot both be "precomputed": X holds either distances or affinities'
                )
            return "affinities"
        return "distances" if self.metric == "precomputed" else self.metric

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._own} | {
            "method": self._method,
            "n_clusters": self.n_clusters,
            "seed": self._seed(),
            "n_threads": self._n_threads(),
            "memory_limit": self.memory_limit,
        }

    def _seed(self) -> int:
        # An integer is the seed itself, so that the program gives the same labels with `--seed`.
        if isinstance(self.random_state, numbers.Integral):
            seed = int(self.random_state)
            if not 0 <= seed < 2**63:
                raise ValueError(f"random_state = {seed} is not allowed: it must be 0 to 2**63 - 1")
            return seed
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _n_threads(self) -> int:
        if self.n_jobs is None:
            # joblib sets this variable to tell its worker processes how many threads to use.
            told = os.environ.get("OMP_NUM_THREADS", "")
            cores = joblib.cpu_count()
            return max(1, min(cores, int(told))) if told.isdigit() else cores
        if not isinstance(self.n_jobs, numbers.Integral) or self.n_jobs == 0:
            raise ValueError(f"n_jobs = {self.n_jobs!r} is not allowed: it must be None or a number other than 0")
        return int(self.n_jobs) if self.n_jobs > 0 else max(1, joblib.cpu_count() + 1 + int(self.n_jobs))

    def _take(self, model: _nearfar.Model) -> None:
        """Set the attributes from a model."""
        for name in _DERIVED:
            self.__dict__.pop(name, None)
        about = json.loads(model.about())
        self._model = model
        self.labels_ = model.labels()
        self.membership_ = model.membership()
        self.factor_ = model.factor()
        columns = model.trace().T
        self.trace_ = {
            name: column.astype(np.int64) if at < 2 else np.ascontiguousarray(column)
            for at, (name, column) in enumerate(zip(_nearfar.TRACE_COLUMNS, columns, strict=True))
        }
        self.n_iter_ = about["n_iter"]
        self.stop_reason_ = about["stop_reason"]
        self.complete_ = about["complete"]
        self.objective_ = about["objective"]
        self.agreement_ = about["agreement"]
        self.seed_ = about["params"]["seed"]
        self.members_ = about["members"]
        self.timings_ = dict(about["timings"])
        self.warnings_ = [text for _, text in about["warnings"]]
        if about.get("cluster_names"):
            self.cluster_names_ = about["cluster_names"]
        if about.get("stability"):
            self.stability_ = np.array(about["stability"])
        n = about["n_samples"]
        graph = model.similarity()
        if graph is not None:
            self.similarity_ = sparse.csr_matrix(graph, shape=(n, n))
        for name, values in (
            ("near_weights_", model.near_weights()),
            ("far_weights_", model.far_weights()),
            ("embedding_", model.embedding()),
            ("eigenvalues_", model.eigenvalues()),
            ("sigma_", model.sigma()),
            ("affinity_matrix_", model.affinity()),
        ):
            if values is not None and values.size:
                setattr(self, name, values)

    def _warn(self) -> None:
        for text in self.warnings_:
            warnings.warn(text, NearFarWarning, stacklevel=3)
        if self.stop_reason_ == "max_iterations":
            most = getattr(self, "max_iter", None)
            warnings.warn(
                f"the iterations ran out (max_iter={most}) before the loss settled; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _DERIVED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in self.__dict__:
            self._take(self._model)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairwise = "precomputed" in (self.metric, getattr(self, "affinity", None))
        tags.input_tags.pairwise = tags.input_tags.sparse = tags.input_tags.positive_only = pairwise
        return tags
