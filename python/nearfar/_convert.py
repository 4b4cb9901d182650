"""Convert input into arrays that the compiled half can read. Copies only if there is no other way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

#: Rows of a sparse matrix that are made dense at a time.
_BATCH = 1024


def from_arrow(X: Any) -> Any:
    """Return an object with the Arrow but not the NumPy interface as an Arrow table, and anything else unchanged."""
    if hasattr(X, "__array__") or not hasattr(X, "__arrow_c_stream__"):
        return X
    import pyarrow

    return pyarrow.table(X)


def check_not_negative(X: Any, kind: str) -> None:
    """Raise an error for the first negative value, in scikit-learn's words."""
    values = X.data if sparse.issparse(X) else X
    if values.size == 0 or values.min() >= 0:
        return
    rows = X.tocoo() if sparse.issparse(X) else None
    if rows is None:
        row, column = np.argwhere(X < 0)[0]
        value = X[row, column]
    else:
        at = np.flatnonzero(rows.data < 0)[0]
        row, column, value = rows.row[at], rows.col[at], rows.data[at]
    raise ValueError(
        f"Negative values in data: precomputed {kind}, row {row}, column {column} is {value}; "
        "every value must be 0 or more"
    )


def from_sparse(X: Any, kind: str) -> tuple[Any, str]:
    """Convert a precomputed sparse matrix: affinities become dense, distances become lists of neighbours."""
    if kind == "affinities":
        return X.toarray(), kind
    n = X.shape[0]
    X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    rows = np.repeat(np.arange(n), np.diff(X.indptr))
    others = rows != X.indices
    rows, columns, distances = rows[others], X.indices[others], X.data[others]
    listed = np.bincount(rows, minlength=n)
    k = int(listed.min()) if n else 0
    if k == 0 and n > 1:
        raise ValueError(
            f"precomputed distances: row {int(listed.argmin())} has no neighbour; every sample needs at least "
            "one stored distance to another (explicit zeros count)"
        )
    # Nearest first. Each row keeps as many as the shortest one has.
    order = np.lexsort((columns, distances, rows))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(listed) - listed, listed)
    order = order[place < k]
    indices = np.ascontiguousarray(columns[order], dtype=np.uint32)
    return (indices, np.ascontiguousarray(distances[order]), n), "neighbors"


def dense_batches(X: Any, kind: str) -> Iterator[np.ndarray]:
    """Yield rows of a sparse matrix to the training samples, made dense a few at a time."""
    for first in range(0, X.shape[0], _BATCH):
        rows = X[first : first + _BATCH]
        if kind == "affinities":
            yield rows.toarray()
            continue
        dense = np.full(rows.shape, np.inf)
        dense[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = rows.data
        yield dense
