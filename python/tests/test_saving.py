"""Pickles, joblib, and the file that the program shares."""

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import nearfar


def fitted(cls, blobs, **settings):
    return cls(3, random_state=0, **settings).fit(blobs[0])


def same(a, b):
    assert (a.labels_ == b.labels_).all()
    for name in vars(a):
        if name.endswith("_") and isinstance(getattr(a, name), np.ndarray):
            assert (getattr(a, name) == getattr(b, name)).all(), name
    assert a.stop_reason_ == b.stop_reason_
    assert a.timings_ == b.timings_


def test_pickle_joblib_and_copy(any_class, blobs, tmp_path):
    model = fitted(any_class, blobs)
    same(model, pickle.loads(pickle.dumps(model)))
    same(model, copy.deepcopy(model))
    joblib.dump(model, tmp_path / "model.joblib")
    same(model, joblib.load(tmp_path / "model.joblib"))


def test_a_pickle_holds_the_bytes_of_a_file(blobs):
    model = fitted(nearfar.NearFar, blobs)
    state = model.__getstate__()
    assert "labels_" not in state
    assert model._model.to_bytes() in pickle.dumps(model)


def test_unfitted_models_are_pickled_too(any_class):
    assert pickle.loads(pickle.dumps(any_class(5))).n_clusters == 5


def test_save_and_load(any_class, blobs, tmp_path):
    model = fitted(any_class, blobs)
    path = tmp_path / "model.nearfar"
    model.save(path)
    back = nearfar.load(path)
    assert type(back) is any_class
    same(model, back)
    assert (back.predict(blobs[0]) == model.labels_).all()
    # The settings in force fit the same model again.
    assert (clone(back).fit(blobs[0]).membership_ == model.membership_).all()


def test_precomputed_and_names_come_back(blobs, tmp_path):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(blobs[0], columns=list("abcd"))
    path = tmp_path / "model.nearfar"
    nearfar.LSDG(3, n_init=2, mu=0.5, preset="paper", random_state=0).fit(X).save(path)
    back = nearfar.load(path)
    assert list(back.feature_names_in_) == list("abcd")
    assert (back.mu, back.preset) == (0.5, "paper")
    distances = np.sqrt(((blobs[0][:, None] - blobs[0][None]) ** 2).sum(-1))
    nearfar.PHALS(3, metric="precomputed", random_state=0).fit(distances).save(path)
    back = nearfar.load(path)
    assert back.metric == "precomputed"
    assert (back.predict(distances) == back.labels_).all()


def test_damaged_and_hostile_files_are_refused(blobs, tmp_path):
    path = tmp_path / "model.nearfar"
    fitted(nearfar.NearFar, blobs).save(path)
    sound = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        bad = bytearray(sound)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        path.write_bytes(bad)
        try:
            nearfar.load(path)
        except ValueError:
            continue
        pytest.fail("a flipped bit went unnoticed")
    for length in (0, 1, 8, 100, len(sound) // 2, len(sound) - 1):
        path.write_bytes(sound[:length])
        with pytest.raises(ValueError, match=r"no nearfar model|damaged"):
            nearfar.load(path)
    # Would run a command, were it ever unpickled.
    path.write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "owned").encode() + b"'\ntR.")
    with pytest.raises(ValueError, match="no nearfar model"):
        nearfar.load(path)
    assert not (tmp_path / "owned").exists()
    with pytest.raises(FileNotFoundError, match="cannot be read"):
        nearfar.load(tmp_path / "missing.nearfar")
    with pytest.raises(OSError, match="cannot be written"):
        fitted(nearfar.PHALS, blobs).save(tmp_path / "no" / "folder.nearfar")


def test_nothing_half_written_is_left(blobs, tmp_path):
    fitted(nearfar.PHALS, blobs).save(tmp_path / "model.nearfar")
    assert [path.name for path in tmp_path.iterdir()] == ["model.nearfar"]
