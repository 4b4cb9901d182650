"""What is said of clusters, and what is done with them by hand."""

import pickle

import numpy as np
import pytest

import nearfar


@pytest.fixture(scope="module")
def customers():
    X, y = nearfar.datasets.make_customers(1500, random_state=0)
    pandas = pytest.importorskip("pandas")
    names = ["age", "income", "visits", "basket", "tenure", "returns", "plan_basic", "plan_plus", "plan_pro"]
    return pandas.DataFrame(np.asarray(X), columns=names), y


@pytest.fixture(scope="module")
def model(customers):
    return nearfar.NearFar(n_clusters=5, random_state=0).fit(customers[0])


def test_explain_tells_what_was_planted(model):
    told = model.explain()
    assert len(told.clusters) == 5
    frame = told.to_frame()
    assert list(frame["size"]) == [int((model.labels_ == c).sum()) for c in range(5)]
    assert frame["marks"].str.contains("plan = pro").any()
    assert (frame["precision"] > 0.6).all()
    assert frame["standing"].isin(["solid", "shaky", "not there"]).all()
    assert "spreads above the rest" in str(told)
    assert told.to_markdown().count("\n| ") == 6
    assert model.explain() is told
    named = model.explain(ids=[f"c{i}" for i in range(1500)])
    assert named.clusters[0]["exemplars"][0]["id"].startswith("c")
    with pytest.raises(ValueError, match="ids has 2 entries"):
        model.explain(ids=["a", "b"])


def test_a_notebook_shows_the_answer(model):
    shown = model._repr_mimebundle_()
    assert model.explain().answer.split(":")[0] in shown["text/html"]
    assert "NearFar" in shown["text/plain"]
    assert "5 clusters" not in nearfar.NearFar()._repr_mimebundle_().get("text/html", "")


def test_predictions_have_a_second_choice(model, customers):
    said = model.predictions(customers[0])
    assert (said.labels == model.labels_).all()
    assert ((said.confidence >= 0) & (said.confidence <= 1)).all()
    assert (said.second != said.labels).all()
    far = customers[0].iloc[:3] + 50.0
    assert (model.predictions(far, reject=0.01).labels == -1).all()
    assert (model.predictions(far).labels >= 0).all()
    assert (model.predictions(customers[0], reject=0.05).labels == -1).mean() == pytest.approx(0.05, abs=0.01)
    with pytest.raises(ValueError, match="reject"):
        model.predictions(far, reject=2)


def test_refined_by_hand(model, customers):
    merged = model.rename({0: "regulars"}).merge(1, 3)
    assert merged.n_clusters_ == 4
    assert model.n_clusters_ == 5
    assert merged.cluster_names_ == ["regulars", "", "", ""]
    assert (merged.labels_ == 1).sum() == np.isin(model.labels_, [1, 3]).sum()
    split = merged.split(1)
    assert split.n_clusters_ == 5
    assert pickle.loads(pickle.dumps(split)).cluster_names_ == split.cluster_names_
    assert "regulars" in str(split.explain())
    again = nearfar.NearFar(n_clusters=5, random_state=7).fit(customers[0]).match_labels(model)
    assert (again.labels_ == model.labels_).mean() > 0.9
    with pytest.raises(ValueError, match="not allowed"):
        model.merge(1)
    with pytest.raises(TypeError, match="whole number"):
        model.split("a")


def test_drift(model, customers):
    rows = customers[0]
    same = model.drift(rows.iloc[::3])
    assert set(same.to_frame()["change"]) == {"as before"}
    other = model.drift(rows[model.labels_ != 0])
    assert other.to_frame()["change"][0] in ("gone", "shrank")
    assert "differ" in other.answer
    assert "gone" in other._repr_html_() or "shrank" in other._repr_html_()


def test_a_botanist_recognises_the_rules_of_iris():
    from sklearn.datasets import load_iris

    iris = load_iris(as_frame=True)
    model = nearfar.NearFar(n_clusters=3, random_state=0).fit(iris.data)
    told = model.explain()
    setosa = model.labels_[0]
    for story in told.clusters:
        names = {condition["name"] for condition in story["rule"]["conditions"]}
        assert any(name.startswith("petal") for name in names), names
        assert story["rule"]["precision"] > 0.8
        assert story["rule"]["recall"] > 0.7
        assert story["marks"][0]["name"].startswith("petal"), story["marks"]
    # Setosa is what has small petals: at most 2.45 cm long, or 0.8 cm wide.
    rule = told.clusters[setosa]["rule"]
    assert (rule["precision"], rule["recall"]) == (1.0, 1.0)
    limit = rule["conditions"][0]["at_most"]
    assert 0.6 <= limit <= 1.0 or 1.9 <= limit <= 3.0


def test_digits_have_mean_images():
    from sklearn.datasets import load_digits

    digits = load_digits()
    model = nearfar.NearFar(n_clusters=10, random_state=0).fit(digits.data)
    told = model.explain(image_shape=(8, 8))
    assert "data:image/png" in told.to_html()
    first = told.clusters[0]
    assert np.allclose(first["mean"], digits.data[model.labels_ == 0].mean(axis=0))
    assert "pixel" not in str(told)


def test_shuffled_columns_hold_nothing():
    from sklearn.datasets import load_wine

    rng = np.random.default_rng(0)
    X = np.column_stack([rng.permutation(column) for column in load_wine().data.T])
    model = nearfar.NearFar(random_state=0).fit(X)
    told = model.explain()
    assert told.answer.startswith("No groups")
    assert all(story["certainty"]["standing"] == "not-there" for story in told.clusters)
    # Asked for four, it makes four, but does not call them all solid.
    asked = nearfar.NearFar(n_clusters=4, random_state=0).fit(X).explain()
    assert any(story["certainty"]["standing"] == "not-there" for story in asked.clusters)


def test_stability():
    X, _ = nearfar.datasets.make_moons(120, random_state=3)
    model = nearfar.NearFar(n_clusters=2, random_state=0).fit(X)
    assert (model.stability() > 0.8).all()
    assert model.explain().clusters[0]["certainty"]["stability"] == model.stability_[0]


def test_outlier_scores_find_what_lies_apart():
    X, _ = nearfar.datasets.make_moons(200, random_state=3)
    X = np.vstack([X, [[6.0, 6.0]]])
    model = nearfar.NearFar(n_clusters=2, random_state=0).fit(X)
    assert model.outlier_scores_.argmax() == 200


def test_plots_are_methods(model, customers):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    auto = nearfar.NearFar(random_state=0).fit(customers[0])
    for axes in (
        model.plot_tree(),
        model.plot_map(),
        model.plot_map(customers[0]),
        model.plot_confidence(),
        auto.plot_gap(),
    ):
        assert axes.get_xlabel()
        assert axes.get_ylabel()
    pyplot.close("all")
    assert nearfar.plot.tree is not None


def test_scanpy_reads_neighbours_and_writes_columns():
    anndata = pytest.importorskip("anndata")
    from sklearn.neighbors import kneighbors_graph

    X, y = nearfar.datasets.make_blobs(200, random_state=1)
    adata = anndata.AnnData(np.asarray(X, dtype=np.float32))
    model = nearfar.scanpy.cluster(adata, 5)
    assert list(adata.obs["nearfar"].astype(int)) == list(model.labels_)
    assert adata.uns["nearfar"]["params"]["source"] == "X"
    adata.obsp["distances"] = kneighbors_graph(X, 20, mode="distance")
    adata.uns["neighbors"] = {"distances_key": "distances"}
    nearfar.scanpy.cluster(adata, 5, key_added="by_graph")
    assert adata.uns["by_graph"]["params"]["source"] == "distances"
    assert nearfar.metrics.accuracy_score(y, adata.obs["by_graph"].astype(int)) > 0.85
    assert adata.obs["by_graph_confidence"].between(0, 1).all()
    with pytest.raises(KeyError, match="use_rep"):
        nearfar.scanpy.cluster(adata, use_rep="X_none")
    with pytest.raises(TypeError, match="AnnData"):
        nearfar.scanpy.cluster(X)
