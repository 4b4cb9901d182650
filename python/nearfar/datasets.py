"""Generated data with known classes: the generators of ``nearfar make``.

Every generator is a pure function of its parameters and a seed.

Examples
--------
>>> from nearfar import datasets
>>> X, y = datasets.make_moons(80, random_state=0)
>>> X.shape, sorted(set(y.tolist()))
((80, 2), [0, 1])
"""

from __future__ import annotations

import numpy as np

from . import _nearfar

__all__ = [
    "make",
    "make_blobs",
    "make_chart",
    "make_circles",
    "make_customers",
    "make_heavy",
    "make_mixture",
    "make_moons",
    "make_overlap",
    "make_rings",
    "make_spirals",
    "make_stripes",
    "make_uniform",
    "make_varied",
]

Dataset = tuple[np.ndarray, np.ndarray]


def make(
    kind: str,
    n_samples: int | None = None,
    *,
    noise: float | None = None,
    n_clusters: int | None = None,
    n_features: int | None = None,
    random_state: int = 0,
) -> Dataset:
    r"""Make a data set by the name of its kind.

    Parameters
    ----------
    kind : {"moons", "circles", "spirals", "rings", "blobs", "varied", "stripes", "overlap", "heavy", "uniform", \
            "customers", "chart", "mixture"}
        What to make.
    n_samples : int, default=None
        Number of samples; each kind has a default.
    noise : float, default=None
        Standard deviation of the noise, or width of the clusters.
    n_clusters, n_features : int, default=None
        For the kinds that have this choice.
    random_state : int, default=0
        The seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        Their classes, from 0.

    Examples
    --------
    >>> from nearfar.datasets import make
    >>> X, y = make("rings", 90)
    >>> X.shape
    (90, 2)
    """
    x, y, _ = _nearfar.make(kind, n_samples, noise, n_clusters, n_features, random_state)
    return x, y


def make_moons(n_samples: int = 300, *, noise: float = 0.05, random_state: int = 0) -> Dataset:
    """Two half moons that reach into each other; see :func:`make`."""
    return make("moons", n_samples, noise=noise, random_state=random_state)


def make_circles(n_samples: int = 300, *, noise: float = 0.04, random_state: int = 0) -> Dataset:
    """A circle inside another; see :func:`make`."""
    return make("circles", n_samples, noise=noise, random_state=random_state)


def make_spirals(n_samples: int = 400, *, n_clusters: int = 2, noise: float = 0.02, random_state: int = 0) -> Dataset:
    """Arms that wind around each other; see :func:`make`."""
    return make("spirals", n_samples, n_clusters=n_clusters, noise=noise, random_state=random_state)


def make_rings(n_samples: int = 600, *, noise: float = 0.05, random_state: int = 0) -> Dataset:
    """Two rings around a small dense blob; see :func:`make`."""
    return make("rings", n_samples, noise=noise, random_state=random_state)


def make_blobs(
    n_samples: int = 500,
    *,
    n_clusters: int = 5,
    n_features: int = 2,
    noise: float = 1.0,
    random_state: int = 0,
) -> Dataset:
    """Round clusters of one width and size; see :func:`make`."""
    return make(
        "blobs",
        n_samples,
        n_clusters=n_clusters,
        n_features=n_features,
        noise=noise,
        random_state=random_state,
    )


def make_varied(
    n_samples: int = 500,
    *,
    n_clusters: int = 4,
    n_features: int = 2,
    noise: float = 1.0,
    random_state: int = 0,
) -> Dataset:
    """Round clusters of different widths and sizes; see :func:`make`."""
    return make(
        "varied",
        n_samples,
        n_clusters=n_clusters,
        n_features=n_features,
        noise=noise,
        random_state=random_state,
    )


def make_stripes(n_samples: int = 450, *, n_clusters: int = 3, noise: float = 0.15, random_state: int = 0) -> Dataset:
    """Long, narrow, parallel Gaussians; see :func:`make`."""
    return make("stripes", n_samples, n_clusters=n_clusters, noise=noise, random_state=random_state)


def make_overlap(
    n_samples: int = 1_000,
    *,
    n_clusters: int = 2,
    n_features: int = 8,
    noise: float = 1.0,
    random_state: int = 0,
) -> Dataset:
    """Gaussian groups that overlap; see :func:`make`."""
    return make(
        "overlap",
        n_samples,
        n_clusters=n_clusters,
        n_features=n_features,
        noise=noise,
        random_state=random_state,
    )


def make_heavy(
    n_samples: int = 1_000,
    *,
    n_clusters: int = 2,
    n_features: int = 8,
    noise: float = 1.0,
    random_state: int = 0,
) -> Dataset:
    """Overlapping groups with heavy tails (Student's t); see :func:`make`."""
    return make(
        "heavy",
        n_samples,
        n_clusters=n_clusters,
        n_features=n_features,
        noise=noise,
        random_state=random_state,
    )


def make_uniform(n_samples: int = 500, *, n_features: int = 2, noise: float = 1.0, random_state: int = 0) -> Dataset:
    """Uniform noise in a cube with sides of length ``noise``: no groups at all; see :func:`make`."""
    return make("uniform", n_samples, n_features=n_features, noise=noise, random_state=random_state)


def make_customers(n_samples: int = 4_500, *, noise: float = 1.0, random_state: int = 0) -> Dataset:
    """A table of customers: six numbers and a category, five overlapping groups, standardised; see :func:`make`."""
    return make("customers", n_samples, noise=noise, random_state=random_state)


def make_chart(n_samples: int = 600, *, n_features: int = 60, noise: float = 2.0, random_state: int = 0) -> Dataset:
    """Control charts: six kinds of time series; see :func:`make`."""
    return make("chart", n_samples, n_features=n_features, noise=noise, random_state=random_state)


def make_mixture(
    n_samples: int = 10_000,
    *,
    n_clusters: int = 10,
    n_features: int = 32,
    noise: float = 1.0,
    random_state: int = 0,
) -> Dataset:
    """Separable Gaussian components of any size and dimension; see :func:`make`."""
    return make(
        "mixture",
        n_samples,
        n_clusters=n_clusters,
        n_features=n_features,
        noise=noise,
        random_state=random_state,
    )
