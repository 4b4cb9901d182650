"""scikit-learn's own checks, for every estimator, on samples, distances and affinities; none is expected to fail."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearfar

CLASSES = [
    getattr(nearfar, name)
    for name in nearfar.__all__
    if isinstance(getattr(nearfar, name), type) and hasattr(getattr(nearfar, name), "_method")
]
# As scikit-learn does for its own: fewer iterations where a method takes long. All else is the default.
FASTER = {
    nearfar.LSDG: {"n_init": 4},
    nearfar.S3NMF: {"rounds": 2, "members": 4},
    nearfar.RBSMF: {"max_iter": 5},
}
PAIRWISE = [cls for cls in CLASSES if hasattr(cls(), "affinity")]

pytestmark = pytest.mark.filterwarnings("ignore")


def instances(classes, **settings):
    return [cls(**FASTER.get(cls, {}), **settings) for cls in classes]


def test_every_method_has_its_estimator():
    assert sorted(cls._method for cls in CLASSES) == sorted(name for name, _ in nearfar.methods())


@parametrize_with_checks(instances(CLASSES), expected_failed_checks=lambda _: {})
def test_samples(estimator, check):
    check(estimator)


def on_pairs(estimator, check, matrix):
    """`check_clustering` alone hands samples to pairwise estimators too (another check wants those refused): give it
    an estimator that makes the matrix first."""
    if check.func.__name__ != "check_clustering":
        return estimator

    class Paired(type(estimator)):
        def fit(self, X, y=None):
            return super().fit(matrix(np.asarray(X)))

    return Paired(**estimator.get_params())


@parametrize_with_checks(instances(PAIRWISE, metric="precomputed"), expected_failed_checks=lambda _: {})
def test_precomputed_distances(estimator, check):
    check(on_pairs(estimator, check, euclidean_distances))


@parametrize_with_checks(instances(PAIRWISE, affinity="precomputed"), expected_failed_checks=lambda _: {})
def test_precomputed_affinities(estimator, check):
    check(on_pairs(estimator, check, rbf_kernel))
