"""The default estimator: the number of clusters, the tree, how sure it is, and how it came to its answer.

One file, although long: a list of short tests of one estimator.
"""

import copy
import pickle
import re
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

import nearfar
from nearfar import NearFar


@pytest.fixture(scope="module")
def moons():
    return nearfar.datasets.make_moons(300, random_state=3)


@pytest.fixture(scope="module")
def chart():
    """Sixty columns, so that all four views are looked at."""
    return nearfar.datasets.make_chart(240, random_state=1)


@pytest.fixture(scope="module")
def model(moons):
    return NearFar(2, engine="graph", random_state=0).fit(moons[0])


@pytest.fixture(scope="module")
def found(chart):
    return NearFar(engine="graph", random_state=0).fit(chart[0])


def test_auto_is_the_default(blobs):
    X, y = blobs
    assert NearFar().get_params()["n_clusters"] == "auto"
    model = NearFar(random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert nearfar.metrics.accuracy_score(y, model.labels_) == 1.0
    assert model.membership_.shape == (90, 3)


def test_how_the_number_was_found(found):
    assert found.candidates_[0] == found.n_clusters_ == len(set(found.labels_))
    assert len(set(found.candidates_)) == len(found.candidates_) == 3
    assert list(found.gap_curve_) == list(range(2, len(found.gap_curve_) + 2))
    assert set(found.candidates_) <= set(found.gap_curve_)
    assert found.gap_curve_[found.n_clusters_] > 0


def test_a_number_that_was_given_needs_no_finding(model):
    assert model.n_clusters_ == 2
    assert not hasattr(model, "gap_curve_")
    assert not hasattr(model, "candidates_")


def test_auto_for_pairs(moons):
    X, y = moons
    distances = pairwise_distances(X)
    for n_clusters in (2, "auto"):
        model = NearFar(n_clusters, metric="precomputed", random_state=0).fit(distances)
        assert model.engine_ == "graph"
        assert model.mixture_ is None
        assert len(set(model.labels_)) == model.n_clusters_
        assert (model.predict(distances[:20]) == model.labels_[:20]).all()
    graph = kneighbors_graph(X, 20, mode="distance")
    model = NearFar(metric="precomputed", random_state=0).fit(graph)
    assert len(set(model.labels_)) == model.n_clusters_
    affinities = np.exp(-(distances**2) / 0.02)
    model = NearFar(2, affinity="precomputed", random_state=0).fit(affinities)
    assert nearfar.metrics.accuracy_score(y, model.labels_) == 1.0


def test_how_sure(model):
    sure = model.probabilities_
    assert sure.shape == (300,)
    assert ((sure >= 0) & (sure <= 1)).all()
    assert ((model.outlier_scores_ >= 0) & (model.outlier_scores_ < 1)).all()


def test_points_between_two_groups_are_less_sure():
    rng = np.random.default_rng(0)
    groups = np.vstack([rng.normal(at, 0.6, (150, 2)) for at in ((0, 0), (5, 0))])
    between = np.column_stack([np.full(11, 2.5), np.linspace(-1, 1, 11)])
    for engine in ("graph", "auto"):
        model = NearFar(2, engine=engine, random_state=0).fit(np.vstack([groups, between]))
        assert model.probabilities_[300:].mean() < model.probabilities_[:300].mean() - 0.05


def test_noise_marks_the_least_certain(chart):
    X, _ = chart
    plain = NearFar(6, engine="graph", random_state=0).fit(X)
    sure = plain.probabilities_
    for settings in ({"noise": 0}, {"noise": 0.051}, {"noise": 0.3}, {"min_confidence": 0.8}):
        model = NearFar(6, engine="graph", random_state=0, **settings).fit(X)
        marked = model.labels_ == -1
        if "noise" in settings:
            assert marked.sum() == int(settings["noise"] * len(X))
        else:
            assert (marked == (sure < 0.8)).all()
        assert (model.labels_[~marked] == plain.labels_[~marked]).all()
        if marked.any():
            assert sure[marked].max() <= sure[~marked].min()
        assert np.array_equal(model.probabilities_, sure)
        for k in (3, 6):
            assert (model.labels_at(k) == np.where(marked, -1, plain.labels_at(k))).all()
        assert (model.predict(X) == plain.labels_).all()
        assert (pickle.loads(pickle.dumps(model)).labels_ == model.labels_).all()
    assert marked.any()


def test_the_first_among_equals_is_noise():
    from nearfar._estimators import _noise

    sure = np.array([0.9, 0.2, 0.5, 0.2, 1.0])
    assert [_noise(sure, share, None).tolist() for share in (None, 0.1, 0.2, 0.6)] == [[], [], [1], [1, 3, 2]]
    assert [_noise(sure, None, least).tolist() for least in (0.2, 0.5, 0.51)] == [[], [1, 3], [1, 2, 3]]


@pytest.mark.parametrize("which", ["model", "found"])
def test_the_tree_is_a_linkage(which, request):
    model = request.getfixturevalue(which)
    tree = model.tree_
    assert hierarchy.is_valid_linkage(tree, throw=True)
    assert hierarchy.is_monotonic(tree)
    assert tree.shape == (len(model.leaf_sizes_) - 1, 4)
    assert np.isfinite(tree).all()
    assert tree[-1, 3] == len(model.leaf_sizes_)
    assert model.leaf_sizes_.sum() == len(model.labels_)
    assert np.array_equal(np.bincount(model.leaves_), model.leaf_sizes_)
    assert len(hierarchy.dendrogram(tree, no_plot=True)["ivl"]) == len(model.leaf_sizes_)


def test_a_linkage_of_known_joins():
    from nearfar._estimators import _linkage

    # The second join of a cluster's leaves pays later than the first join of clusters; the last has no edge.
    pairs = np.array([[0, 2], [1, 4], [0, 1], [0, 3]])
    tree = _linkage(pairs, np.array([9.0, 0.5, 1.0, 0.0]))
    assert tree[:, [0, 1, 3]].tolist() == [[0, 2, 2], [1, 4, 2], [5, 6, 4], [3, 7, 5]]
    height = np.log10(2)
    assert tree[:, 2] == pytest.approx([np.log10(10 / 9), height, height, np.log10(3) + 1])
    assert _linkage(np.empty((0, 2), int), np.empty(0)).shape == (0, 4)


@pytest.mark.parametrize("which", ["model", "found"])
def test_labels_at_every_level(which, request):
    model = request.getfixturevalue(which)
    most = len(model.leaf_sizes_)
    assert most >= 30
    levels = {k: model.labels_at(k) for k in range(1, most + 1)}
    for k, labels in levels.items():
        assert len(set(labels)) == k
        assert labels[0] == 0  # numbered by first appearance
        assert (np.diff(np.unique(labels, return_index=True)[1]) > 0).all()
        if k > 1:  # every cluster lies in one of the level above
            assert len(set(zip(labels, levels[k - 1], strict=True))) == k
    assert (levels[model.n_clusters_] == model.labels_).all()
    # SciPy cuts the same tree: the first joins make k clusters.
    for k in (2, most // 2):
        joined = {leaf: {leaf} for leaf in range(most)}
        for at, (first, second) in enumerate(model.tree_[: most - k, :2].astype(int)):
            joined[most + at] = joined.pop(first) | joined.pop(second)
        cluster_of = {leaf: name for name, leaves in joined.items() for leaf in leaves}
        ours = [cluster_of[leaf] for leaf in model.leaves_]
        assert nearfar.metrics.accuracy_score(levels[k], ours) == 1.0


@pytest.mark.parametrize(
    ("k", "kind", "text"),
    [
        (0, ValueError, "k = 0 is not allowed: it must be 1 to"),
        (-3, ValueError, "k = -3 is not allowed"),
        (10**6, ValueError, "for more clusters fit again with n_clusters=1000000"),
        (2.0, TypeError, "k = 2.0 is not allowed: it must be a whole number"),
        (True, TypeError, "k = True is not allowed"),
    ],
)
def test_levels_that_are_not_there(model, k, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        model.labels_at(k)


def test_one_cluster_and_every_point_alone(blobs):
    X = blobs[0][:20]
    one = NearFar(1, random_state=0).fit(X)
    assert (one.labels_ == 0).all()
    assert (one.labels_at(1) == 0).all()
    every = NearFar(20, random_state=0).fit(X)
    assert sorted(every.labels_) == list(range(20))
    assert (every.labels_at(20) == every.labels_).all()
    assert (every.labels_at(1) == 0).all()
    assert sorted(one.labels_at(20)) == list(range(20))
    for model in (one, every):
        assert hierarchy.is_valid_linkage(model.tree_)
        assert len(set(model.labels_at(3))) == 3
    for model in (one, every):
        assert model.probabilities_.shape == (20,)
        assert model.membership_.shape == (20, model.n_clusters_)


def test_more_clusters_than_the_graph_has_parts():
    X, _ = nearfar.datasets.make_blobs(60, n_clusters=3, noise=0.3, random_state=1)
    for k in (10, 30, 50, 59):
        model = NearFar(k, engine="graph", random_state=0).fit(X)
        assert len(set(model.labels_)) == k


def test_views(found, chart):
    assert list(found.views_) == ["raw", "standard", "unit", "standard-unit"]
    weights = [view["weight"] for view in found.views_.values()]
    assert max(weights) == 1.0
    assert min(weights) >= 0
    for view in found.views_.values():
        assert set(view) == {"weight", "quality", "null"}
        assert -1 <= view["null"] <= 1
    by_view = pd.DataFrame(found.views_).T
    assert by_view.shape == (4, 3)
    learnt = {member["view"] for member in found.members_}
    assert {name for name, view in found.views_.items() if view["weight"] == 1.0} <= learnt <= set(found.views_)


@pytest.mark.parametrize("views", ["raw", "raw,standard", ["standard-unit"], ("unit", "raw")])
def test_views_that_are_asked_for(views, chart, tmp_path):
    X, _ = chart
    model = NearFar(6, views=views, engine="graph", random_state=0).fit(X)
    asked = set(views.split(",") if isinstance(views, str) else views)
    assert {member["view"] for member in model.members_} <= asked
    assert set(model.views_) <= asked
    model.save(tmp_path / "m.nearfar")
    again = nearfar.load(tmp_path / "m.nearfar")
    assert set(again.views) == asked
    assert (clone(again).fit(X).labels_ == model.labels_).all()


def test_few_columns_are_not_made_unit_rows(moons):
    assert set(NearFar(engine="graph", random_state=0).fit(moons[0]).views_) <= {"raw", "standard"}


def test_graph_attributes(model):
    assert model.engine_ == "graph"
    assert model.near_weights_.shape == (300,)
    assert model.near_weights_.sum() == pytest.approx(1)
    assert (model.near_weights_ >= 0).all()
    assert model.sigma_.shape == (300,)
    graph = model.similarity_
    assert graph.shape == (300, 300)
    assert abs(graph - graph.T).max() < 1e-12
    assert np.allclose(model.membership_.sum(axis=1), 1)
    assert len(model.members_) % 4 == 0
    assert set(model.trace_["member"]) == set(range(len(model.members_)))
    assert model.complete_
    for name in ("factor_", "objective_", "n_iter_", "embedding_"):
        assert not hasattr(model, name)


def test_threads_change_nothing(chart):
    X, _ = chart
    one, three = (NearFar(random_state=5, engine="graph", n_jobs=n).fit(X) for n in (1, 3))
    assert (one.labels_ == three.labels_).all()
    assert np.array_equal(one.probabilities_, three.probabilities_)
    assert np.array_equal(one.tree_, three.tree_)
    assert (one.similarity_ != three.similarity_).nnz == 0


def test_single_precision_and_column_order(chart):
    X, _ = chart
    X = np.round(X * 8) / 8
    expected = NearFar(6, engine="graph", random_state=0).fit(X)
    for given in (np.asfortranarray(X), X[::-1][::-1]):
        assert (NearFar(6, engine="graph", random_state=0).fit(given).labels_ == expected.labels_).all()
    single = NearFar(6, engine="graph", random_state=0).fit(X.astype(np.float32))
    assert nearfar.metrics.accuracy_score(expected.labels_, single.labels_) > 0.95


def same(a, b):
    assert set(vars(a)) == set(vars(b))
    for name, value in vars(a).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, getattr(b, name)), name
        elif name == "trace_":
            assert all(np.array_equal(column, b.trace_[name]) for name, column in value.items())
        elif name.endswith("_") and name != "similarity_":
            assert value == getattr(b, name), name
    assert (a.labels_at(2) == b.labels_at(2)).all()


def test_pickles_and_files_keep_all(found, chart, tmp_path):
    same(found, pickle.loads(pickle.dumps(found)))
    same(found, copy.deepcopy(found))
    found.save(tmp_path / "m.nearfar")
    again = nearfar.load(tmp_path / "m.nearfar")
    assert type(again) is NearFar
    assert again.get_params()["n_clusters"] == "auto"
    assert again.get_params()["engine"] == "graph"
    same(found, again)
    assert (again.predict(chart[0]) == found.labels_).all()


def test_refitting_leaves_nothing_behind(chart):
    model = NearFar(engine="graph", random_state=0).fit(chart[0])
    assert hasattr(model, "gap_curve_")
    model.set_params(n_clusters=1).fit(chart[0])
    for name in ("gap_curve_", "candidates_"):
        assert not hasattr(model, name)


def test_new_points(chart):
    X, _ = chart
    model = NearFar(6, random_state=0).fit(X[::2])
    assert (model.predict(X[::2]) == model.labels_).all()
    rng = np.random.default_rng(0)
    moved = X[::2] + 1e-3 * rng.normal(size=X[::2].shape)
    assert nearfar.metrics.accuracy_score(model.labels_, model.predict(moved)) > 0.95


BAD = [
    ({"n_clusters": 0}, ValueError, "n_clusters = 0 is not allowed: it must be 1 or more"),
    ({"n_clusters": 2.5}, TypeError, "n_clusters = 2.5 is not allowed: it must be a whole number"),
    ({"n_clusters": "two"}, TypeError, "n_clusters = 'two' is not allowed: it must be a whole number or \"auto\""),
    ({"n_clusters": None}, TypeError, "n_clusters = None is not allowed"),
    ({"n_clusters": True}, TypeError, "n_clusters = True is not allowed"),
    ({"n_clusters": 91}, ValueError, "n_samples=90 is too few for n_clusters=91"),
    (
        {"engine": "leiden"},
        ValueError,
        'engine = "leiden" is not allowed: it must be one of "auto", "graph"',
    ),
    ({"engine": 3}, TypeError, "engine = 3 is not allowed"),
    ({"views": "colour"}, ValueError, 'views = "colour" is not allowed: it must be "auto"'),
    ({"views": ["raw", "colour"]}, ValueError, 'views = "raw,colour" is not allowed'),
    ({"views": []}, TypeError, "views = [] is not allowed"),
    ({"views": 3}, TypeError, "views = 3 is not allowed"),
    ({"noise": 1.0}, ValueError, "noise = 1.0 is not allowed: it must be 0 or more and below 1"),
    ({"noise": -0.1}, ValueError, "noise = -0.1 is not allowed"),
    ({"noise": float("nan")}, ValueError, "noise = nan is not allowed"),
    ({"noise": "5 %"}, TypeError, "noise = '5 %' is not allowed"),
    ({"min_confidence": 0}, ValueError, "min_confidence = 0 is not allowed: it must be above 0 and at most 1"),
    ({"min_confidence": True}, TypeError, "min_confidence = True is not allowed"),
    ({"min_confidence": 0.5, "noise": 0.1}, ValueError, "noise and min_confidence cannot both be given"),
    ({"metric": "manhattan"}, ValueError, "metric = 'manhattan' is not allowed: it must be one of"),
    ({"metric": "precomputed"}, ValueError, "square matrix"),
    ({"n_jobs": 0}, ValueError, "n_jobs = 0 is not allowed"),
    ({"random_state": -1}, ValueError, "random_state = -1 is not allowed"),
    ({"callback": 3}, TypeError, "callback = 3 is not allowed"),
    ({"comm": 3}, TypeError, "comm = 3 is not allowed: it must be a communicator of mpi4py"),
]


@pytest.mark.parametrize(("settings", "kind", "text"), BAD, ids=lambda value: str(value)[:40])
def test_bad_settings_are_named(settings, kind, text, blobs):
    with pytest.raises(kind, match=re.escape(text)):
        NearFar(**{"n_clusters": 3, **settings}).fit(blobs[0])


def test_pairs_have_no_views_and_no_mixture(moons):
    distances = pairwise_distances(moons[0][:60])
    for settings, text in (({"engine": "mixture"}, "engine = mixture"), ({"views": "raw"}, "views = raw")):
        with pytest.raises(ValueError, match=text):
            NearFar(2, metric="precomputed", **settings).fit(distances)


def test_the_bar(capsys, moons):
    NearFar(2, engine="graph", random_state=0, verbose=1).fit(moons[0])
    stages = [line.split()[0] for line in capsys.readouterr().err.splitlines()]
    assert [stage for stage in dict.fromkeys(stages) if stage != "mixture"][:3] == ["views", "neighbors", "learn"]


def test_a_callback_sees_every_round_and_stops_the_run(chart):
    X, _ = chart
    seen = []
    model = NearFar(6, engine="graph", random_state=0, n_jobs=1, callback=seen.append).fit(X)
    assert len(seen) == len(model.trace_["loss"]) == 2 * len(model.members_)
    assert set(seen[0]) == set(model.trace_)
    assert {row["iteration"] for row in seen} == {1, 2}
    few = NearFar(6, engine="graph", random_state=0, n_jobs=1, callback=lambda row: True).fit(X)
    assert 0 < len(few.members_) < len(model.members_)
    assert len(set(few.labels_)) == 6
    assert few.complete_


INTERRUPTED = """
    import os, pickle, signal, threading, time
    import nearfar

    X, y = nearfar.datasets.make_mixture(20000, n_clusters=10, n_features=32, random_state=0)
    began, pressed = [], []
    def press(row):
        # Once a member has gone both rounds, in the middle of the run.
        if row["iteration"] == 2 and not began:
            began.append(row["member"])
        elif began and not pressed:
            pressed.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
    model = nearfar.NearFar({k}, engine="graph", random_state=0, n_jobs=1, callback=press)
    try:
        model.fit(X)
        raise SystemExit("it was not interrupted")
    except KeyboardInterrupt:
        print("took", time.monotonic() - pressed[0])
    assert model.complete_ is False
    assert model.labels_.shape == (20000,)
    assert len(set(model.labels_)) == model.n_clusters_ > 1
    assert (model.predict(X[:5]) == model.labels_[:5]).all()
    assert (pickle.loads(pickle.dumps(model)).labels_ == model.labels_).all()
    try:
        model.labels_at(model.n_clusters_ + 1)
    except ValueError as error:
        assert "a run that was interrupted leaves no tree" in str(error), error
    print("kept", nearfar.metrics.accuracy_score(y, model.labels_))
"""


@pytest.mark.parametrize("k", [10, '"auto"'])
def test_ctrl_c_keeps_the_best_member(k):
    code = textwrap.dedent(INTERRUPTED.format(k=k))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr
    assert "kept" in done.stdout


def test_a_report(found, chart, tmp_path):
    found.report(tmp_path / "r.html", y=chart[1], title="chart")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "NearFar(" in text


def test_a_memory_limit_that_is_too_small(chart):
    with pytest.raises(MemoryError, match="memory_limit"):
        NearFar(6, memory_limit=1000).fit(chart[0])


def test_a_mixture_answers_where_it_explains_the_rows():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 200)
    X = rng.normal(size=(600, 5)) + np.array([[0] * 5, [4, 0, 0, 4, 0], [0, 4, 4, 0, 0]])[y]
    model = NearFar(3, random_state=0).fit(X)
    assert model.engine_ == "mixture"
    assert nearfar.metrics.accuracy_score(y, model.labels_) > 0.97
    found = model.mixture_
    assert found["explains"] is True
    assert found["parts"] == 3
    assert found["covariance"] in ("full", "tied", "diag", "spherical")
    assert found["tail"] is None or found["tail"] > 0
    assert found["told"] < 0.54
    assert -1 <= found["drawn_sharpness"] <= 1
    assert -1 <= found["sharpness"] <= 1
    assert np.allclose(model.membership_.max(axis=1), model.probabilities_)
    assert (model.predict(X) == model.labels_).all()
    assert nearfar.metrics.accuracy_score(y, NearFar(3, engine="graph", random_state=0).fit(X).labels_) > 0.9
