"""Parameters, attributes and input, as a user meets them."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

import nearfar
from nearfar import LSDG, NearFar, NearFarWarning


def test_only_n_clusters_is_positional(any_class):
    parameters = list(inspect.signature(any_class.__init__).parameters.values())[2:]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    names = {parameter.name for parameter in parameters}
    assert {"metric", "random_state", "n_jobs", "verbose", "callback", "memory_limit"} <= names
    # Nobody takes a parameter that it does not use: NearFar has no starts, spectral clustering no loop.
    without = {"n_init": {NearFar}}
    without["max_iter"] = without["n_init"] | {nearfar.SpectralClustering}
    without["tol"] = without["max_iter"] | {nearfar.KMeans}
    for name, classes in without.items():
        assert (name in names) == (any_class not in classes)


def test_a_setting_of_another_method_is_refused(blobs):
    settings = {"method": "phals", "n_clusters": 3, "tau": 2.0}
    with pytest.raises(TypeError, match="tau is no setting of phals; it is one of s3nmf"):
        nearfar._nearfar.fit(blobs[0], "euclidean", settings)


def test_every_method_finds_blobs(any_class, blobs):
    X, y = blobs
    model = any_class(n_clusters=3, random_state=0)
    labels = model.fit_predict(X)
    assert nearfar.metrics.accuracy_score(y, labels) == 1.0
    assert (model.predict(X) == labels).all()
    assert np.allclose(model.membership_.sum(axis=1), 1)
    assert model.stop_reason_
    assert model.complete_
    assert model.n_features_in_ == 4
    assert sum(model.timings_.values()) >= 0
    again = clone(model).fit(X)
    assert (again.labels_ == labels).all()
    assert (again.membership_ == model.membership_).all()
    if any_class is not NearFar:
        assert model.factor_.shape == (90, 3)
        assert model.n_iter_ >= 1
        assert len(pd.DataFrame(model.trace_)) == len(model.trace_["loss"]) > 0
        assert (again.factor_ == model.factor_).all()


def test_only_nearfar_finds_the_number_of_clusters(any_class, blobs):
    if any_class is NearFar:
        assert any_class("auto", random_state=0).fit(blobs[0]).n_clusters_ == 3
        return
    with pytest.raises(ValueError, match=r'n_clusters = "auto" is not allowed: .* NearFar alone finds it'):
        any_class("auto").fit(blobs[0])


def test_attributes_of_the_papers_model(blobs):
    X, _ = blobs
    model = LSDG(3, random_state=0, store_affinity=True).fit(X)
    assert model.near_weights_.sum() == pytest.approx(1)
    assert model.far_weights_.sum() == pytest.approx(1)
    assert model.near_weights_.shape == (90,)
    for matrix in (model.similarity_, model.dissimilarity_):
        assert matrix.shape == (90, 90)
        assert abs(matrix - matrix.T).max() < 1e-15
    assert model.affinity_matrix_.shape == (90, 90)
    assert model.embedding_.shape == (90, 3)
    assert model.eigenvalues_.shape == (4,)
    assert model.sigma_.shape == (90,)
    assert len(model.members_) == 12
    assert set(model.trace_["member"]) == set(range(12))
    assert not hasattr(LSDG(3, random_state=0).fit(X), "affinity_matrix_")
    model.set_params(store_affinity=False).fit(X)
    assert not hasattr(model, "affinity_matrix_")


def test_the_number_of_threads_changes_nothing(blobs):
    X, _ = blobs
    one, three = (LSDG(3, random_state=5, n_jobs=n).fit(X) for n in (1, 3))
    assert (one.factor_ == three.factor_).all()
    assert (one.near_weights_ == three.near_weights_).all()


def test_seeds():
    X, _ = nearfar.datasets.make_moons(60, random_state=1)
    seeded = [nearfar.PHALS(2, random_state=seed).fit(X) for seed in (7, 7, 8)]
    assert (seeded[0].factor_ == seeded[1].factor_).all()
    assert (seeded[0].factor_ != seeded[2].factor_).any()
    assert seeded[0].seed_ == 7
    from_numpy = [nearfar.PHALS(2, random_state=np.random.RandomState(3)).fit(X).seed_ for _ in range(2)]
    assert from_numpy[0] == from_numpy[1]


KINDS = {
    "float64 rows": lambda X: X,
    "float64 columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: X.astype(np.int32),
    "lists": lambda X: X.tolist(),
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[::-1][::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
    "arrow": lambda X: pa.table({f"f{j}": X[:, j] for j in range(X.shape[1])}),
}


class OnlyArrow:
    """Speaks the Arrow interface and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("kind", [*KINDS, "arrow stream"])
def test_kinds_of_input(kind):
    X = np.round(nearfar.datasets.make_blobs(60, n_clusters=3, noise=0.5, random_state=2)[0] * 16)
    expected = NearFar(3, engine="graph", random_state=0).fit(X)
    given = OnlyArrow(KINDS["arrow"](X)) if kind == "arrow stream" else KINDS[kind](X)
    model = NearFar(3, engine="graph", random_state=0).fit(given)
    assert (model.labels_ == expected.labels_).all()
    # Rounding moves ranks that are nearly equal.
    assert np.allclose(model.near_weights_, expected.near_weights_, atol=2e-3 if kind == "float32" else 1e-8)
    assert (model.predict(given) == model.labels_).all()
    if kind in ("pandas", "polars"):
        assert list(model.feature_names_in_) == ["f0", "f1"]


def test_arrays_are_read_in_place():
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(400, 2000))
    tracemalloc.start()
    for given in (X, np.asfortranarray(X), X.astype(np.float32)):
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        nearfar.KMeans(2, max_iter=1, random_state=0).fit(given)
        peak = tracemalloc.get_traced_memory()[1] - before
        assert peak < given.nbytes / 2, f"{peak} bytes for an array of {given.nbytes}"
    tracemalloc.stop()


def test_precomputed_matrices_agree_with_samples(pairwise_class, blobs):
    X, y = blobs
    distances = pairwise_distances(X)
    model = pairwise_class(3, metric="precomputed", random_state=0).fit(distances)
    assert nearfar.metrics.accuracy_score(y, model.labels_) == 1.0
    assert model.n_features_in_ == 90
    assert (model.predict(distances) == model.labels_).all()
    affinities = np.exp(-(distances**2))
    np.fill_diagonal(affinities, 0)
    model = pairwise_class(3, affinity="precomputed", random_state=0).fit(affinities)
    assert nearfar.metrics.accuracy_score(y, model.labels_) == 1.0
    assert (model.predict(affinities) == model.labels_).all()
    assert (model.predict(affinities[:7] * 0.99) == model.labels_[:7]).all()


def test_sparse_graphs(pairwise_class, blobs):
    X, y = blobs
    graph = kneighbors_graph(X, 10, mode="distance")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearFarWarning)
        model = pairwise_class(3, metric="precomputed", random_state=0).fit(graph)
    assert nearfar.metrics.accuracy_score(y, model.labels_) == 1.0
    assert (model.predict(graph) == model.labels_).all()
    graph.data = np.exp(-(graph.data**2))
    graph = graph.maximum(graph.T)
    model = pairwise_class(3, affinity="precomputed", random_state=0).fit(sparse.coo_array(graph))
    assert nearfar.metrics.accuracy_score(y, model.labels_) == 1.0
    assert (model.predict(graph) == model.labels_).all()


def test_a_sparse_row_without_neighbours_is_named():
    graph = sparse.csr_matrix(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    with pytest.raises(ValueError, match="row 2 has no neighbour"):
        NearFar(2, metric="precomputed").fit(graph)


BAD = [
    ({"n_clusters": 0}, ValueError, "n_clusters = 0 is not allowed: it must be 1 or more"),
    ({"n_clusters": 2.5}, TypeError, "n_clusters = 2.5 is not allowed: it must be a whole number"),
    ({"n_clusters": "two"}, TypeError, "n_clusters = 'two' is not allowed"),
    ({"n_clusters": True}, TypeError, "n_clusters = True is not allowed"),
    ({"n_clusters": 91}, ValueError, "n_samples=90 is too few for n_clusters=91"),
    ({"n_init": 0}, ValueError, "n_init = 0 is not allowed: it must be 1 to 1000"),
    ({"n_init": -1}, ValueError, "n_init = -1 is not allowed: it must be 0 or more"),
    ({"max_iter": 0}, ValueError, "max_iter = 0 is not allowed: it must be 1 or more"),
    ({"tol": 2.0}, ValueError, "tol = 2 is not allowed: it must be below 1"),
    ({"tol": "a"}, TypeError, "tol = 'a' is not allowed: it must be a number"),
    ({"alpha": -1}, ValueError, "alpha = -1 is not allowed: it must be 0 to 1e9"),
    ({"alpha": float("nan")}, ValueError, "alpha = NaN is not allowed"),
    ({"n_neighbors": 0}, ValueError, "n_neighbors = 0 is not allowed"),
    ({"mu": 1.0, "n_neighbors": 3}, ValueError, "mu and n_neighbors cannot both be given"),
    ({"eta": 1.0}, ValueError, "eta goes with mu"),
    ({"preset": "papr"}, ValueError, 'preset = "papr" is not allowed: it must be one of "default"'),
    ({"metric": "manhattan"}, ValueError, "metric = 'manhattan' is not allowed: it must be one of"),
    ({"affinity": "rbf"}, ValueError, "affinity = 'rbf' is not allowed"),
    ({"metric": "precomputed"}, ValueError, "square matrix"),
    ({"n_jobs": 0}, ValueError, "n_jobs = 0 is not allowed"),
    ({"n_jobs": 5000}, ValueError, "n_jobs = 5000 is not allowed: it must be 1 to 1024"),
    ({"random_state": -1}, ValueError, "random_state = -1 is not allowed: it must be 0 to"),
    ({"callback": 3}, TypeError, "callback = 3 is not allowed"),
    ({"memory_limit": 1000}, MemoryError, "memory_limit"),
]


@pytest.mark.parametrize(("settings", "kind", "text"), BAD, ids=lambda value: str(value)[:40])
def test_bad_settings_are_named(settings, kind, text, blobs):
    import re

    with pytest.raises(kind, match=re.escape(text)):
        LSDG(**{"n_clusters": 3, **settings}).fit(blobs[0])


def test_bad_data_is_named():
    X = np.zeros((10, 3))
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        NearFar(2).fit(X)
    skew = np.zeros((10, 10))
    skew[2, 3] = 1
    with pytest.raises(ValueError, match="row 3, column 2"):
        NearFar(2, metric="precomputed").fit(skew)
    with pytest.raises(ValueError, match="row 0 is all zeros"):
        NearFar(2, metric="cosine").fit(np.zeros((10, 3)))
    with pytest.raises(NotFittedError):
        NearFar(2).predict(X)


def test_warnings():
    with pytest.warns(NearFarWarning, match="all points are equal"):
        NearFar(2, random_state=0).fit(np.ones((12, 2)))
    X, _ = nearfar.datasets.make_moons(80)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        nearfar.PHALS(2, max_iter=1, random_state=0).fit(X)


def test_the_paper_preset_and_its_parts(blobs):
    X, y = blobs
    for settings in ({"preset": "paper"}, {"preset": "demo", "alpha": 0.2, "mu": 0.4, "eta": 0.1}):
        model = LSDG(3, random_state=0, **settings).fit(X)
        assert len(model.members_) == 1
    plain = LSDG(3, dissimilarity=False, orthogonality=False, n_init=2, random_state=0).fit(X)
    assert nearfar.metrics.accuracy_score(y, plain.labels_) == 1.0


def test_metrics_agree_with_scikit_learn():
    from sklearn import metrics as theirs

    rng = np.random.default_rng(0)
    truth, labels = rng.integers(0, 5, 200), rng.integers(0, 4, 200)
    ours = nearfar.metrics.scores(truth, labels)
    assert ours["ari"] == pytest.approx(theirs.adjusted_rand_score(truth, labels))
    for average in ("arithmetic", "geometric", "min", "max"):
        assert nearfar.metrics.nmi(truth, labels, average_method=average) == pytest.approx(
            theirs.normalized_mutual_info_score(truth, labels, average_method=average)
        )
    counts = nearfar.metrics.contingency_matrix(truth, labels)
    assert (counts == theirs.cluster.contingency_matrix(truth, labels)).all()
    with pytest.raises(ValueError, match="differ in length"):
        nearfar.metrics.acc([0, 1], [0])
    with pytest.raises(ValueError, match='average = "mean"'):
        nearfar.metrics.nmi([0, 1], [0, 1], average_method="mean")


def test_datasets():
    kinds = ("moons", "circles", "spirals", "rings", "blobs", "varied", "chart")
    for kind in (*kinds, "stripes", "overlap", "heavy", "uniform", "customers"):
        X, y = nearfar.datasets.make(kind, 60, random_state=1)
        assert len(X) == len(y) == 60
        assert (nearfar.datasets.make(kind, 60, random_state=1)[0] == X).all()
    with pytest.raises(ValueError, match="kind = mons is not allowed"):
        nearfar.datasets.make("mons")
    with pytest.raises(ValueError, match="noise"):
        nearfar.datasets.make_moons(60, noise=-1)


def test_methods_are_explained():
    assert dict(nearfar.methods())["kmeans"].startswith("k-means")
    assert nearfar.about_method("lsdg").startswith("LSDG")
    with pytest.raises(ValueError, match='name = "lsgd"'):
        nearfar.about_method("lsgd")


def test_binned_mode_keeps_near_ranks_and_bins(tmp_path):
    X, y = nearfar.datasets.make_moons(300, random_state=3)
    model = nearfar.LSDG(2, mode="binned", near=40, far=30, bins=8, n_init=2, random_state=0).fit(X)
    assert nearfar.metrics.accuracy_score(y, model.labels_) == 1.0
    assert model.near_weights_.shape == (300,)
    assert np.isclose(model.far_weights_.sum(), 1.0)
    # Ranks of one bin share their weight.
    assert len(np.unique(model.far_weights_[40:].round(12))) <= 8
    path = tmp_path / "binned.nearfar"
    model.save(path)
    again = nearfar.load(path)
    assert again.get_params()["mode"] == "binned"
    assert again.get_params()["near"] == 40
    assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mode": "fast"}, 'mode = "fast" is not allowed: it must be one of'),
        ({"near": 3}, "near = 3 is not allowed: it must be 8 to 30000"),
        ({"mode": "binned", "metric": "precomputed"}, "binned mode needs samples"),
    ],
)
def test_settings_of_binned_mode_are_judged(settings, message):
    X, _ = nearfar.datasets.make_moons(60, random_state=3)
    if settings.get("metric") == "precomputed":
        X = np.linalg.norm(X[:, None] - X[None], axis=2)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        nearfar.LSDG(2, **settings).fit(X)
