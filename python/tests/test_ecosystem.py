"""Inside pipelines, searches, joblib and Dask."""

import joblib
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearfar


def test_pipeline(blobs):
    X, y = blobs
    model = make_pipeline(StandardScaler(), nearfar.NearFar(3, random_state=0))
    assert nearfar.metrics.accuracy_score(y, model.fit_predict(X)) == 1.0
    assert (model.predict(X) == model[-1].labels_).all()


def search(**settings):
    return GridSearchCV(
        nearfar.LSDG(3, n_init=2, random_state=0),
        {"n_neighbors": [4, 12], "beta": [1, 10]},
        scoring=make_scorer(adjusted_rand_score),
        cv=2,
        **settings,
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_with_a_clustering_scorer(blobs, n_jobs):
    X, y = blobs
    found = search(n_jobs=n_jobs).fit(X, y)
    assert found.best_score_ == 1.0
    assert (found.predict(X) == found.best_estimator_.labels_).all()


def _accuracy(estimator, X, y):
    return nearfar.metrics.accuracy_score(y, estimator.predict(X))


def test_a_scorer_of_ones_own_and_precomputed_folds(blobs):
    X, y = blobs
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    model = nearfar.NearFar(3, metric="precomputed", random_state=0)
    # scikit-learn takes rows and columns of a pairwise matrix, because the estimator says that it is one.
    assert cross_val_score(model, distances, y, scoring=_accuracy, cv=3).min() == 1.0


def _fit(seed, X):
    return nearfar.NearFar(3, random_state=seed).fit(X).labels_


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(blobs, backend):
    X, _ = blobs
    expected = [_fit(seed, X) for seed in range(3)]
    with joblib.parallel_config(backend, n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(_fit)(seed, X) for seed in range(3))
    assert all((a == b).all() for a, b in zip(expected, found, strict=True))


def test_dask_local_cluster(blobs):
    distributed = pytest.importorskip("distributed")
    X, y = blobs
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        found = search().fit(X, y)
    assert found.best_score_ == 1.0
    assert (found.predict(X) == found.best_estimator_.labels_).all()
