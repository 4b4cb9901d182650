"""The page of a fitted model."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import nearfar

ESTIMATORS = [getattr(nearfar, name) for name in nearfar.__all__ if hasattr(getattr(nearfar, name), "report")]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


@pytest.fixture(scope="module")
def blobs():
    return nearfar.datasets.make_blobs(60, n_clusters=3, random_state=1)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: e.__name__)
def test_every_estimator_has_a_report(estimator, blobs, tmp_path):
    X, y = blobs
    model = estimator(n_clusters=3, random_state=0).fit(X - X.min(axis=0))
    model.report(tmp_path / "report.html", y=y)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "Truth against found" in text
    assert "http://" not in text
    assert "https://" not in text
    assert len(text) < 3_000_000


def test_the_same_model_gives_the_same_page(blobs, tmp_path):
    X, _ = blobs
    model = nearfar.NearFar(n_clusters=3, random_state=0).fit(X)
    model.report(tmp_path / "a.html")
    # Another fit takes another time.
    nearfar.NearFar(n_clusters=3, random_state=0).fit(X).report(tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_names_are_escaped(blobs, tmp_path):
    X, y = blobs
    bad = "</script><img src=x onerror=alert(1)>"
    model = nearfar.NearFar(n_clusters=3, random_state=0).fit(X)
    model.report(tmp_path / "r.html", y=[f"{bad}{k}" for k in y], ids=[bad] * len(X), title=bad)
    tags = Tags()
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    tags.feed(text)
    assert bad not in text
    assert "img" not in tags.seen


def test_precomputed_and_kept_affinity(blobs, tmp_path):
    X, _ = blobs
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    model = nearfar.LSDG(n_clusters=3, metric="precomputed", random_state=0, n_init=1, store_affinity=True)
    model.fit(distances).report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="map-z"' in text
    assert 'id="map-d"' in text
    assert "a matrix of distances" in text


def test_wrong_arguments_are_named_and_nothing_is_written(blobs, tmp_path):
    X, y = blobs
    model = nearfar.NearFar(n_clusters=3, random_state=0).fit(X)
    path = tmp_path / "r.html"
    with pytest.raises(ValueError, match="y has 3 entries"):
        model.report(path, y=y[:3])
    with pytest.raises(ValueError, match="ids has 2 entries"):
        model.report(path, ids=["a", "b"])
    with pytest.raises(ValueError, match="image_shape"):
        model.report(path, image_shape=(3, 3))
    assert not path.exists()
    with pytest.raises(OSError, match="cannot be written"):
        model.report(tmp_path / "nowhere" / "r.html")
