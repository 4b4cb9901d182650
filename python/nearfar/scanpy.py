"""Clusters of cells, for scanpy: AnnData in, AnnData out.

Examples
--------
>>> import nearfar                                                     # doctest: +SKIP
>>> sc.pp.neighbors(adata)                                             # doctest: +SKIP
>>> model = nearfar.scanpy.cluster(adata)                              # doctest: +SKIP
>>> sc.pl.umap(adata, color=["nearfar", "nearfar_confidence"])         # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ._classes import NearFar

__all__ = ["cluster"]


def cluster(
    adata: Any,
    n_clusters: int | str = "auto",
    *,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    key_added: str = "nearfar",
    random_state: Any = 0,
    **params: Any,
) -> NearFar:
    """Cluster the cells of an AnnData object.

    By default the distances that ``scanpy.pp.neighbors`` left in ``obsp`` are used. Without these, the cells are
    clustered by ``obsm["X_pca"]`` where it is there, or else by ``X``.

    Parameters
    ----------
    adata : anndata.AnnData
        The cells. Gets ``obs[key_added]`` (the clusters, as a categorical column of strings),
        ``obs[key_added + "_confidence"]``, ``obs[key_added + "_second"]`` (the next best cluster) and
        ``uns[key_added]`` (how it was done).
    n_clusters : int or "auto", default="auto"
        Number of clusters.
    use_rep : str, default=None
        Cluster by ``obsm[use_rep]``, or by ``X`` for "X", whatever neighbours there are.
    neighbors_key : str, default=None
        Where in ``uns`` the neighbours are described; "neighbors" by default. If given, they must be there.
    key_added : str, default="nearfar"
        Name of the new columns.
    random_state : int, default=0
        Seed of everything random.
    **params : dict
        Further parameters of :class:`nearfar.NearFar`.

    Returns
    -------
    model : NearFar
        The fitted estimator, with the tree and everything else.
    """
    for name in ("obs", "obsm", "obsp", "uns", "X"):
        if not hasattr(adata, name):
            raise TypeError(f"adata must be an AnnData object, but {type(adata).__name__} has no {name}")
    X, source = _values(adata, use_rep, neighbors_key)
    if source == "distances":
        params = {"metric": "precomputed"} | params
    model = NearFar(n_clusters=n_clusters, random_state=random_state, **params).fit(X)
    import pandas

    order = [str(c) for c in range(model.n_clusters_)]
    index = adata.obs_names
    named = np.where(model.labels_ < 0, "noise", model.labels_.astype(str))
    categories = order + (["noise"] if (model.labels_ < 0).any() else [])
    adata.obs[key_added] = pandas.Series(pandas.Categorical(named, categories=categories), index=index)
    adata.obs[f"{key_added}_confidence"] = pandas.Series(model.probabilities_, index=index)
    second = _second(model)
    adata.obs[f"{key_added}_second"] = pandas.Series(pandas.Categorical(second, categories=order), index=index)
    adata.uns[key_added] = {
        "params": {"n_clusters": str(n_clusters), "random_state": str(random_state), "source": source},
        "n_clusters": model.n_clusters_,
        "answer": model.explain().answer,
    }
    return model


def _values(adata: Any, use_rep: str | None, neighbors_key: str | None) -> tuple[Any, str]:
    """Return what to cluster by, and what it is called."""
    if use_rep is not None:
        if use_rep == "X":
            return _dense(adata.X), "X"
        if use_rep not in adata.obsm:
            known = ", ".join(map(repr, adata.obsm)) or "nothing"
            raise KeyError(f"use_rep = {use_rep!r} is not in adata.obsm, which holds {known}")
        return _dense(adata.obsm[use_rep]), use_rep
    described = adata.uns.get(neighbors_key or "neighbors")
    if described is None and neighbors_key is not None:
        raise KeyError(f"neighbors_key = {neighbors_key!r} is not in adata.uns; run scanpy.pp.neighbors first")
    if described is not None:
        key = described.get("distances_key", "distances")
        if key in adata.obsp:
            return sparse.csr_matrix(adata.obsp[key]), "distances"
    if "X_pca" in adata.obsm:
        return _dense(adata.obsm["X_pca"]), "X_pca"
    return _dense(adata.X), "X"


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _second(model: NearFar) -> list[str | None]:
    """Return the name of the next best cluster of every cell; none where no other has any share."""
    shares = model.membership_.copy()
    own = model.labels_ >= 0
    shares[own, model.labels_[own]] = -1
    best = shares.argmax(axis=1)
    there = shares[np.arange(len(shares)), best] > 0
    return [str(cluster) if is_there else None for cluster, is_there in zip(best, there, strict=True)]
