"""What the tests share."""

import os

# Before SciPy is imported: lets scikit-learn check array API input too.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import matplotlib
import pytest

import nearfar

matplotlib.use("Agg")

ALL = [
    getattr(nearfar, name)
    for name in nearfar.__all__
    if isinstance(getattr(nearfar, name), type) and hasattr(getattr(nearfar, name), "_method")
]
PAIRWISE = [cls for cls in ALL if hasattr(cls(), "affinity")]


@pytest.fixture(params=ALL, ids=lambda cls: cls.__name__)
def any_class(request):
    return request.param


@pytest.fixture(params=PAIRWISE, ids=lambda cls: cls.__name__)
def pairwise_class(request):
    return request.param


@pytest.fixture(scope="session")
def blobs():
    return nearfar.datasets.make_blobs(90, n_clusters=3, n_features=4, noise=0.5, random_state=1)
