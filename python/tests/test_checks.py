"""scikit-learn's own checks, for every estimator, on samples, distances and affinities; none is expected to fail."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearfar

CLASSES = [
    getattr(nearfar, name)
    for name in nearfar.__all__
    if isinstance(getattr(nearfar, name), type) and hasattr(getattr(nearfar, name), "_method")
]
ESTIMATORS = [cls() for cls in CLASSES]
PRECOMPUTED = [cls(metric="precomputed") for cls in CLASSES if hasattr(cls(), "affinity")]
AFFINITIES = [cls(affinity="precomputed") for cls in CLASSES if hasattr(cls(), "affinity")]

pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_method_has_its_estimator():
    assert sorted(cls._method for cls in CLASSES) == sorted(name for name, _ in nearfar.methods())


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: {})
def test_samples(estimator, check):
    check(estimator)


@parametrize_with_checks(PRECOMPUTED, expected_failed_checks=lambda _: {})
def test_precomputed_distances(estimator, check):
    check(estimator)


@parametrize_with_checks(AFFINITIES, expected_failed_checks=lambda _: {})
def test_precomputed_affinities(estimator, check):
    check(estimator)
