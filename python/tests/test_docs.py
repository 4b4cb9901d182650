"""Documentation that runs, stubs that fit, pictures that are drawn."""

import doctest
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

import nearfar

MODULES = ["nearfar", *(f"nearfar.{name}" for name in ("_base", "_classes", "_load", "datasets", "metrics", "plot"))]
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted > 0


def test_every_parameter_and_attribute_is_described(any_class, blobs):
    text = inspect.getdoc(any_class)
    sections = ["Parameters", "Attributes", "Notes", "Examples"]
    places = [text.index(f"\n{name}\n{'-' * len(name)}\n") for name in sections]
    assert places == sorted(places)
    assert "%(" not in text
    parameters, attributes = text[places[0] : places[1]], text[places[1] : places[2]]
    for name in inspect.signature(any_class.__init__).parameters:
        assert name == "self" or f"\n{name} : " in parameters, name
    model = any_class(3, random_state=0).fit(blobs[0])
    names = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    if any_class is nearfar.NearFar:
        names |= {name for name in vars(any_class(random_state=0).fit(blobs[0])) if name.endswith("_")}
    for name in names:
        assert f"\n{name} : " in attributes, name


@pytest.mark.parametrize("name", ["fit", "fit_predict", "predict", "save"])
def test_methods_are_described(any_class, name):
    text = inspect.getdoc(getattr(any_class, name))
    assert "Parameters\n----------" in text


def test_the_stubs_fit_the_compiled_half():
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "nearfar._nearfar", "--ignore-missing-stub"],
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_typed():
    assert Path(nearfar.__file__).with_name("py.typed").exists()


@pytest.fixture(scope="module")
def model():
    X, y = nearfar.datasets.make_blobs(90, n_clusters=3, n_features=4, noise=0.5, random_state=1)
    return nearfar.LSDG(3, random_state=0, store_affinity=True).fit(X), X, y


def test_pictures(model):
    model, X, y = model
    figure, axes = pyplot.subplots(2, 4)
    nearfar.plot.weights(model, ax=axes[0, 0])
    nearfar.plot.weights(model, X, y, max_rank=40, ax=axes[0, 1])
    rate = axes[0, 1].lines[0].get_ydata()
    assert len(rate) == 40
    assert rate[0] == 1.0
    nearfar.plot.convergence(model, ax=axes[0, 2])
    assert len(axes[0, 2].lines) == 12
    for ax, which in zip(axes[1], ("similarity", "dissimilarity", "affinity"), strict=False):
        nearfar.plot.graph(model, which, ax=ax)
        assert ax.images[0].get_array().shape == (90, 90)
    nearfar.plot.embedding(model, labels=y, ax=axes[0, 3])
    nearfar.plot.embedding(nearfar.PHALS(3, random_state=0).fit(X), ax=axes[1, 3])
    figure.canvas.draw()
    pyplot.close(figure)


def test_pictures_of_the_default():
    X, _ = nearfar.datasets.make_moons(200, random_state=3)
    model = nearfar.NearFar(engine="graph", random_state=0).fit(X)
    figure, axes = pyplot.subplots(2, 3)
    nearfar.plot.tree(model, ax=axes[0, 0])
    names = [text.get_text() for text in axes[0, 0].get_xticklabels()]
    assert sum(map(int, names)) == 200
    nearfar.plot.counts(model, ax=axes[0, 1])
    assert len(axes[0, 1].lines[0].get_xdata()) == len(model.gap_curve_)
    nearfar.plot.weights(model, ax=axes[0, 2])
    nearfar.plot.graph(model, ax=axes[1, 0])
    nearfar.plot.convergence(model, ax=axes[1, 1])
    figure.canvas.draw()
    pyplot.close(figure)
    with pytest.raises(ValueError, match="NearFar has no coordinates to show"):
        nearfar.plot.embedding(model)
    with pytest.raises(ValueError, match="was given its n_clusters"):
        nearfar.plot.counts(nearfar.NearFar(2, random_state=0).fit(X))
    with pytest.raises(ValueError, match="KMeans has no tree_"):
        nearfar.plot.tree(nearfar.KMeans(2, random_state=0).fit(X))


def test_the_correct_rate_is_that_of_the_ranks(model):
    _, X, y = model
    order = np.argsort(((X[:, None] - X[None]) ** 2).sum(-1), axis=1, kind="stable")
    expected = (y[order] == y[:, None]).mean(axis=0)
    rate = nearfar._nearfar.correct_rate(X, "euclidean", y, 1)
    assert np.allclose(rate, expected)


def test_pictures_that_cannot_be_drawn(model):
    model, X, _ = model
    other = nearfar.KMeans(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="this KMeans has no near_weights_"):
        nearfar.plot.weights(other)
    with pytest.raises(ValueError, match="which = 'z' is not allowed"):
        nearfar.plot.graph(model, "z")
    with pytest.raises(ValueError, match="KMeans has no similarity_"):
        nearfar.plot.graph(other)
    with pytest.raises(ValueError, match="each must be 0 to 2"):
        nearfar.plot.embedding(model, components=(0, 3))
    with pytest.raises(ValueError, match="both X and y"):
        nearfar.plot.weights(model, X)


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not beside the tests")
@pytest.mark.parametrize("name", ["first_steps", "precomputed_embeddings", "compare_methods"])
def test_example_scripts(name, tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", tmp_path], capture_output=True, text=True, timeout=170, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("python-*.png"))
