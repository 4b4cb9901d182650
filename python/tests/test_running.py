"""While it runs: callbacks, the bar, Ctrl-C, threads and forks."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import nearfar


def test_a_callback_sees_every_iteration(any_class, blobs):
    seen = []
    model = any_class(3, random_state=0, n_jobs=1, callback=seen.append).fit(blobs[0])
    if any_class is nearfar.NearFar:
        # The blobs are a mixture, which has no members.
        model = any_class(3, engine="graph", random_state=0, n_jobs=1, callback=seen.append).fit(blobs[0])
    if any_class._method not in ("kmeans", "spectral"):
        assert len(seen) == (model.trace_["iteration"] > 0).sum()
        first = [row["iteration"] for row in seen if row["member"] == 0]
        assert first == list(range(1, len(first) + 1))
        assert set(seen[0]) == set(model.trace_)


def test_a_callback_stops_the_run():
    X, _ = nearfar.datasets.make_chart(120, random_state=1)
    model = nearfar.LSDG(6, random_state=0, n_jobs=1, callback=lambda row: row["iteration"] >= 4).fit(X)
    assert model.stop_reason_ == "stopped"
    assert model.n_iter_ == 4
    assert model.complete_
    assert len(model.members_) == 1
    assert len(set(model.labels_)) == 6


def test_an_error_in_a_callback_comes_out(blobs):
    def fail(row):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        nearfar.NearFar(3, engine="graph", callback=fail).fit(blobs[0])
    with pytest.raises(KeyError, match="mine"):
        nearfar.LSDG(3, callback=fail).fit(blobs[0])


def test_the_bar(capsys, blobs):
    nearfar.LSDG(3, random_state=0, verbose=1).fit(blobs[0])
    text = capsys.readouterr().err
    assert [line.split()[0] for line in text.splitlines()] == [
        "neighbors",
        "slices",
        "learn",
        "augment",
        "spectral",
        "labels",
    ]
    nearfar.NearFar(3, random_state=0).fit(blobs[0])
    assert capsys.readouterr().err == ""


def test_the_bar_moves_on_a_terminal(capsys, monkeypatch, blobs):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    nearfar.SymNMF(3, random_state=0, verbose=1).fit(blobs[0])
    text = capsys.readouterr().err
    assert "\r" in text
    assert "[" in text


INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np
    import nearfar

    X, y = nearfar.datasets.make_mixture(3000, n_clusters=10, random_state=0)
    model = nearfar.{name}(10, n_init=900, tol=-1, max_iter=100000, random_state=0)
    def press():
        time.sleep({delay})
        global pressed
        pressed = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=press).start()
    try:
        model.fit(X)
    except KeyboardInterrupt:
        print("took", time.monotonic() - pressed, file=sys.stderr)
        assert model.complete_ is False
        assert model.labels_.shape == (3000,)
        assert len(model.trace_["loss"]) > 0
        assert (model.predict(X[:5]) == model.labels_[:5]).all()
        import pickle
        assert (pickle.loads(pickle.dumps(model)).labels_ == model.labels_).all()
        print("partial result kept")
"""


@pytest.mark.parametrize(("name", "delay"), [("LSDG", 6), ("SymNMF", 2.5)])
def test_ctrl_c_stops_and_keeps_what_there_is(name, delay):
    code = textwrap.dedent(INTERRUPTED.format(name=name, delay=delay))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "partial result kept" in done.stdout
    print(done.stderr)


def test_ctrl_c_during_any_stage():
    code = textwrap.dedent(
        """
        import os, signal, threading, time
        import nearfar
        X, y = nearfar.datasets.make_mixture(4000, n_clusters=10, n_features=64, random_state=0)
        def long(cls):
            return cls(40, n_init=100, random_state=0)
        models = [long(cls) for cls in (nearfar.LSDG, nearfar.KMeans, nearfar.RBSMF, nearfar.SpectralClustering)]
        models += [nearfar.NearFar(engine=engine, random_state=0) for engine in ("graph", "mixture")]
        for model in models:
            for delay in (0.05, 0.3):
                pressed = []
                def press():
                    time.sleep(delay)
                    pressed.append(time.monotonic())
                    os.kill(os.getpid(), signal.SIGINT)
                thread = threading.Thread(target=press)
                thread.start()
                try:
                    model.fit(X)
                    raise SystemExit(f"{model} was not interrupted")
                except KeyboardInterrupt:
                    print(f"{model} {delay} {time.monotonic() - pressed[0]:.2f}")
                thread.join()
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_other_threads_run_meanwhile():
    X, _ = nearfar.datasets.make_mixture(1200, n_clusters=5, random_state=0)
    counted = 0
    fitting = threading.Thread(target=lambda: nearfar.LSDG(5, n_init=4, random_state=0, n_jobs=1).fit(X))
    fitting.start()
    while fitting.is_alive():
        counted += 1
        time.sleep(0.001)
    assert counted > 20


def test_two_fits_at_once_agree_with_one(blobs):
    expected = nearfar.NearFar(3, random_state=0).fit(blobs[0])
    models = [nearfar.NearFar(3, random_state=0) for _ in range(4)]
    threads = [threading.Thread(target=model.fit, args=(blobs[0],)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((model.membership_ == expected.membership_).all() for model in models)


def _fit_in_child(queue):
    X, _ = nearfar.datasets.make_moons(100, random_state=0)
    model = nearfar.NearFar(2, random_state=0).fit(X)
    queue.put((model.labels_, model.predict(X)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_processes_work():
    X, _ = nearfar.datasets.make_moons(100, random_state=0)
    expected = nearfar.NearFar(2, random_state=0).fit(X).labels_  # threads were made before the fork
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_fit_in_child, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    for _ in children:
        labels, predicted = queue.get(timeout=60)
        assert (labels == expected).all()
        assert (predicted == expected).all()
    for child in children:
        child.join(timeout=10)
        assert child.exitcode == 0


def test_threads_as_told(monkeypatch):
    import joblib

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = joblib.cpu_count()
    assert nearfar.NearFar()._n_threads() == cores
    assert nearfar.NearFar(n_jobs=-1)._n_threads() == cores
    assert nearfar.NearFar(n_jobs=3)._n_threads() == 3
    assert nearfar.NearFar(n_jobs=-cores - 5)._n_threads() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert nearfar.NearFar()._n_threads() == 1


def test_a_signal_handler_of_ones_own_is_heard():
    code = textwrap.dedent(
        """
        import os, signal, threading, time
        import nearfar
        class Enough(Exception):
            pass
        def handler(*_):
            raise Enough
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        X, _ = nearfar.datasets.make_mixture(2000, random_state=0)
        try:
            nearfar.SymNMF(10, n_init=900, tol=-1).fit(X)
        except Enough:
            print("heard")
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "heard", done.stderr
