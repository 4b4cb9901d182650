"""The program and the package read each other's models and give the same labels."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import nearfar

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target"))
BUILT = [path for path in (TARGET / "release" / "nearfar", TARGET / "debug" / "nearfar") if path.exists()]
# The newest: an old build may lie about.
PROGRAM = str(max(BUILT, key=lambda path: path.stat().st_mtime)) if BUILT else shutil.which("nearfar")


def speaks_of_models():
    if PROGRAM is None:
        return False
    return subprocess.run([PROGRAM, "predict", "--help"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not speaks_of_models(), reason="the program has not been built beside the tests")


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def moons(tmp_path):
    X, _ = nearfar.datasets.make_moons(120, random_state=3)
    np.save(tmp_path / "x.npy", X)
    return X, tmp_path


def test_the_same_seed_gives_the_same_labels(moons):
    X, folder = moons
    labels = np.loadtxt(run("cluster", folder / "x.npy", "-k", 2, "--seed", 5).splitlines(), dtype=int)
    assert (nearfar.NearFar(2, random_state=5).fit(X).labels_ == labels).all()
    labels = np.loadtxt(
        run("cluster", folder / "x.npy", "-k", 2, "--method", "lsdg", "--seed", 5).splitlines(), dtype=int
    )
    assert (nearfar.LSDG(2, random_state=5).fit(X).labels_ == labels).all()
    labels = np.loadtxt(
        run("cluster", folder / "x.npy", "-k", 2, "--method", "anls", "--seed", 5).splitlines(), dtype=int
    )
    assert (nearfar.ANLS(2, random_state=5).fit(X).labels_ == labels).all()


def test_a_model_of_the_package_in_the_program(moons):
    X, folder = moons
    model = nearfar.NearFar(2, random_state=0).fit(X)
    model.save(folder / "m.nearfar")
    new = X + 0.05
    np.save(folder / "new.npy", new)
    labels = np.loadtxt(run("predict", folder / "m.nearfar", folder / "new.npy").splitlines(), dtype=int)
    assert (labels == model.predict(new)).all()


@pytest.mark.parametrize("extra", [[], ["--scale", "standard"], ["--method", "gnmf", "--lambda", "7"]])
def test_a_model_of_the_program_in_the_package(moons, extra):
    X, folder = moons
    file = folder / "m.nearfar"
    text = run("cluster", folder / "x.npy", "-k", 2, "--save-model", file, *extra)
    model = nearfar.load(file)
    assert (model.labels_ == np.loadtxt(text.splitlines(), dtype=int)).all()
    # Rescaled as the training data was.
    assert (model.predict(X) == model.labels_).all()
    if "--lambda" in extra:
        assert isinstance(model, nearfar.GNMF)
        assert model.lam == 7.0


def speaks_of_levels():
    return PROGRAM and subprocess.run([PROGRAM, "relabel", "--help"], capture_output=True).returncode == 0


@pytest.mark.skipif(not speaks_of_levels(), reason="the program beside the tests was built before it had relabel")
def test_levels_confidence_and_noise_are_those_of_the_program(moons):
    X, folder = moons
    model = nearfar.NearFar(2, noise=0.1, engine="graph", random_state=5).fit(X)
    flags = ("-k", 2, "--engine", "graph", "--seed", 5, "--noise", "10%", "--confidence", "--levels", "5,12")
    rows = run("cluster", folder / "x.npy", *flags).splitlines()
    names, *rows = [row.split(",") for row in rows]
    table = {name: np.array(column, dtype=float) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    assert (model.labels_ == table["label"]).all()
    assert np.allclose(model.probabilities_, table["confidence"], rtol=0, atol=1e-12)
    for k in (5, 12):
        assert (model.labels_at(k) == table[f"k{k}"]).all()
    model.noise = None
    model.fit(X).save(folder / "m.nearfar")
    labels = np.loadtxt(run("relabel", folder / "m.nearfar", "-k", 7).splitlines(), dtype=int)
    assert (model.labels_at(7) == labels).all()
