"""Labels of new points."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import nearfar


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:1200], order[1200:]
    model = nearfar.NearFar(10, random_state=0).fit(X[train])
    return model, X[train], X[test], y[test]


def test_held_out_digits_as_well_as_the_nearest_neighbour(digits):
    model, train, test, truth = digits
    labels = model.predict(test)
    nearest = KNeighborsClassifier(1).fit(train, model.labels_).predict(test)
    ours, theirs = (nearfar.metrics.accuracy_score(truth, found) for found in (labels, nearest))
    print(f"held-out accuracy: predict {ours:.4f}, 1-NN on the training labels {theirs:.4f}")
    assert ours >= theirs - 0.005
    assert np.mean(labels == nearest) > 0.95


def test_training_rows_get_their_labels(digits):
    model, train, _, _ = digits
    assert (model.predict(train) == model.labels_).all()


def test_an_answer_does_not_depend_on_its_batch(digits):
    model, _, test, _ = digits
    whole = model.predict(test)
    assert (np.concatenate([model.predict(rows) for rows in np.array_split(test, 7)]) == whole).all()
    assert [model.predict(row[None])[0] for row in test[:40]] == whole[:40].tolist()
    assert (model.predict(test[::-1]) == whole[::-1]).all()
    assert (model.predict(np.asfortranarray(test)) == whole).all()


def test_many_points(digits):
    model, _, test, _ = digits
    many = np.tile(test, (20, 1))
    assert (model.predict(many) == np.tile(model.predict(test), 20)).all()


def test_wrong_new_points(digits):
    model, train, _, _ = digits
    with pytest.raises(ValueError, match="64 features"):
        model.predict(train[:, :5])
    bad = train[:3].copy()
    bad[1, 2] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.predict(bad)
