"""Processes that fit together, over a communicator of threads and, where there is one, over MPI.

One file, although long: all tests share the team of threads above them.
"""

import os
import shutil
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import nearfar

RESULTS = (
    "labels_",
    "membership_",
    "factor_",
    "near_weights_",
    "far_weights_",
    "embedding_",
    "eigenvalues_",
    "sigma_",
)


class World:
    """What the threads share: a slot for each, a door, and a box for every message."""

    def __init__(self, size):
        self.size = size
        self.slots = [None] * size
        self.door = threading.Barrier(size, timeout=60)
        self.boxes = {}
        self.bell = threading.Condition()


class Comm:
    """As much of mpi4py's communicator as nearfar uses, for one thread."""

    def __init__(self, world, rank, calls=None):
        self.world, self.rank = world, rank
        self.calls = [] if calls is None else calls

    def Get_size(self):
        return self.world.size

    def Get_rank(self):
        return self.rank

    def Dup(self):
        self.calls.append("Dup")
        return Comm(self.world, self.rank, self.calls)

    def Free(self):
        self.calls.append("Free")

    def _all(self, mine):
        self.world.slots[self.rank] = np.array(mine)
        self.world.door.wait()
        everything = list(self.world.slots)
        self.world.door.wait()
        return everything

    def Allgather(self, mine, everything):
        everything[:] = np.concatenate(self._all(mine))

    def Allgatherv(self, mine, into):
        everything, counts = into
        parts = self._all(mine)
        assert [part.size for part in parts] == list(counts)
        everything[:] = np.concatenate(parts)

    def Isend(self, mine, dest):
        with self.world.bell:
            self.world.boxes.setdefault((self.rank, dest), []).append(np.array(mine))
            self.world.bell.notify_all()
        return self

    def Wait(self):
        pass

    def Recv(self, into, source):
        with self.world.bell:
            assert self.world.bell.wait_for(lambda: self.world.boxes.get((source, self.rank)), timeout=60)
            into[:] = self.world.boxes[(source, self.rank)].pop(0)


def in_threads(size, work):
    """What the work gives or raises in every one of `size` threads, which have a communicator each."""
    world, results = World(size), [None] * size

    def one(rank):
        try:
            results[rank] = work(Comm(world, rank))
        except BaseException as error:
            results[rank] = error

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "a rank hangs"
    return results


@pytest.fixture(scope="module")
def data():
    X, y = nearfar.datasets.make_mixture(1400, n_clusters=4, n_features=12, random_state=3)
    return X, y


def settings(**more):
    return {"n_clusters": 4, "n_init": 2, "max_iter": 8, "random_state": 5, "n_jobs": 1} | more


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_bits_of_one_process(data, size):
    X, _ = data
    alone = nearfar.LSDG(**settings(mode="binned")).fit(X)
    for model in in_threads(size, lambda comm: nearfar.LSDG(**settings(comm=comm)).fit(X)):
        for name in RESULTS:
            assert np.array_equal(getattr(model, name), getattr(alone, name)), name
        assert model.n_features_in_ == 12
        assert model.seed_ == 5
        assert all(np.array_equal(model.trace_[name], alone.trace_[name]) for name in alone.trace_)
        assert model.comm.calls == ["Dup", "Free"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("n_clusters", [4, "auto"])
@pytest.mark.parametrize("engine", ["auto", "graph"])
def test_the_default_gives_the_bits_of_one_process(data, size, n_clusters, engine):
    X, y = data
    given = {"n_clusters": n_clusters, "engine": engine, "random_state": 5, "n_jobs": 1}
    alone = nearfar.NearFar(**given).fit(X)
    assert n_clusters == "auto" or nearfar.metrics.accuracy_score(y, alone.labels_) > 0.8
    for model in in_threads(size, lambda comm: nearfar.NearFar(**given, comm=comm).fit(X)):
        assert model.engine_ == alone.engine_
        for name in ("labels_", "probabilities_", "membership_", "tree_", "leaves_"):
            assert np.array_equal(getattr(model, name), getattr(alone, name)), name
        for name in ("n_clusters_", "views_", "mixture_", "seed_"):
            assert getattr(model, name) == getattr(alone, name), name
        assert model.n_features_in_ == 12
        assert model.comm.calls == ["Dup", "Free"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["float32", "columns", "integers", "lists", "table"])
def test_what_can_be_shared(data, kind):
    import pandas

    X = {
        "float32": lambda X: X.astype(np.float32),
        "columns": np.asfortranarray,
        "integers": lambda X: np.round(10 * X).astype(np.int32),
        "lists": lambda X: X.tolist(),
        "table": lambda X: pandas.DataFrame(X).rename(columns=str),
    }[kind](data[0][:700])
    alone = nearfar.LSDG(**settings(mode="binned", metric="cosine")).fit(X)
    for model in in_threads(2, lambda comm: nearfar.LSDG(**settings(metric="cosine", comm=comm)).fit(X)):
        assert np.array_equal(model.labels_, alone.labels_)
        assert np.array_equal(model.factor_, alone.factor_)
        assert hasattr(model, "feature_names_in_") == (kind == "table")


class Watched(np.ndarray):
    """Remembers which rows were looked at."""

    def __getitem__(self, at):
        if isinstance(at, slice):
            self.looked.append((at.start, at.stop))
        return np.asarray(self)[at]


@pytest.mark.filterwarnings("ignore")
def test_only_the_own_rows_are_read(data, tmp_path):
    np.save(tmp_path / "big.npy", data[0])

    def fit(comm):
        X = np.load(tmp_path / "big.npy", mmap_mode="r").view(Watched)
        X.looked = []
        model = nearfar.LSDG(**settings(comm=comm)).fit(X)
        return X.looked, model.labels_

    results = in_threads(2, fit)
    # Rows are cut at multiples of 512.
    assert [looked for looked, _ in results] == [[(0, 512)], [(512, 1400)]]
    assert np.array_equal(results[0][1], results[1][1])


@pytest.mark.filterwarnings("ignore")
def test_a_drawn_seed_is_the_same_in_all(data):
    models = in_threads(2, lambda comm: nearfar.LSDG(**settings(comm=comm, random_state=None)).fit(data[0]))
    assert models[0].seed_ == models[1].seed_
    assert np.array_equal(models[0].labels_, models[1].labels_)


@pytest.mark.filterwarnings("ignore")
def test_what_is_kept(data):
    import pickle

    X = data[0]
    model = in_threads(2, lambda comm: nearfar.LSDG(**settings(comm=comm)).fit(X))[1]
    model.comm = None
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.labels_, model.labels_)
    for kept in (model, again):
        with pytest.raises(ValueError, match="keeps none to compare new points with"):
            kept.predict(X[:3])
        assert not hasattr(kept, "similarity_")
        with pytest.raises(AttributeError, match="was not kept"):
            _ = kept.dissimilarity_


def test_no_communicator(data):
    with pytest.raises(TypeError, match=r"comm = 3 is not allowed: it must be a communicator of mpi4py"):
        nearfar.LSDG(4, comm=3).fit(data[0])


REFUSED = [
    ({"mode": "exact"}, "binned or auto where processes share the rows"),
    ({"n_clusters": 0}, "n_clusters = 0"),
    ({"n_clusters": 5000}, "too few for n_clusters"),
    ({"metric": "precomputed"}, "comm needs samples, and X holds distances"),
    ({"store_affinity": True}, "store_affinity = True needs all rows"),
]


@pytest.mark.parametrize(("wrong", "words"), REFUSED)
def test_all_are_refused_alike(data, wrong, words):
    for error in in_threads(3, lambda comm: nearfar.LSDG(**settings(comm=comm, **wrong)).fit(data[0])):
        assert isinstance(error, ValueError)
        assert words in str(error)


def test_a_bad_value_is_named_by_all(data):
    X = data[0].copy()
    X[1300, 4] = np.nan
    for error in in_threads(2, lambda comm: nearfar.LSDG(**settings(comm=comm)).fit(X)):
        assert isinstance(error, ValueError)
        assert "row 1300, column 4 is NaN" in str(error)


@pytest.mark.parametrize(
    ("given", "words"), [({"random_state": 6}, "seed is 6 there and 5"), ({"beta": 2.0}, "beta is 2.0 there and None")]
)
def test_other_settings_are_refused(data, given, words):
    def fit(comm):
        more = given if comm.rank == 1 else {}
        return nearfar.LSDG(**settings(comm=comm) | more).fit(data[0])

    for error in in_threads(3, fit):
        assert isinstance(error, ValueError)
        assert str(error) == f"rank 1 was given something else than rank 0: {words} in rank 0"


def test_other_data_are_refused(data):
    for error in in_threads(2, lambda comm: nearfar.LSDG(**settings(comm=comm)).fit(data[0][comm.rank :])):
        assert isinstance(error, ValueError)
        assert "shape is (1399, 12) there and (1400, 12) in rank 0" in str(error)


def test_other_settings_of_the_default_are_refused(data):
    def fit(comm):
        return nearfar.NearFar(4, engine="graph" if comm.rank == 1 else "auto", comm=comm).fit(data[0])

    for error in in_threads(2, fit):
        assert isinstance(error, ValueError)
        assert "engine is 'graph' there and 'auto' in rank 0" in str(error)


def test_a_failure_of_one_is_an_exception_in_all_with_the_default(data):
    def fail(row):
        raise KeyError("mine")

    def fit(comm):
        callback = fail if comm.rank == 1 else None
        return nearfar.NearFar(4, engine="graph", random_state=0, callback=callback, comm=comm).fit(data[0])

    errors = in_threads(3, fit)
    assert type(errors[1]) is KeyError
    for error in (errors[0], errors[2]):
        assert type(error) is RuntimeError
        assert str(error).startswith("rank 1 failed: KeyError: 'mine'"), error


@pytest.mark.parametrize("failing", [0, 2])
def test_a_failure_of_one_is_an_exception_in_all(data, failing):
    """At the beginning, in the middle, by a limit and by a callback; nobody waits for ever."""

    def callback(row):
        if row["iteration"] == 3:
            raise KeyError("mine")

    cases = [
        ({"callback": 3}, TypeError, "rank {} failed: TypeError: callback = 3"),
        ({"n_jobs": 0}, ValueError, "rank {} failed: ValueError: n_jobs = 0"),
        ({"memory_limit": 1000}, MemoryError, "rank {} failed: MemoryError: this run needs"),
        ({"callback": callback}, KeyError, "rank {} failed: KeyError: 'mine'"),
    ]
    for given, kind, words in cases:

        def fit(comm, given=given):
            more = given if comm.rank == failing else {}
            return nearfar.LSDG(**settings(comm=comm, n_init=20) | more).fit(data[0])

        for rank, error in enumerate(in_threads(3, fit)):
            if rank == failing:
                assert type(error) is kind, error
            else:
                assert type(error) is RuntimeError, error
                assert str(error).startswith(words.format(failing)), error


@pytest.mark.filterwarnings("ignore")
def test_a_callback_of_one_stops_all(data):
    def fit(comm):
        stop = (lambda row: row["iteration"] >= 2) if comm.rank == 1 else None
        return nearfar.LSDG(**settings(comm=comm, callback=stop)).fit(data[0])

    models = in_threads(3, fit)
    assert all(model.stop_reason_ == "stopped" for model in models)
    assert all(np.array_equal(model.labels_, models[0].labels_) for model in models)


class Broken(Comm):
    """Its network fails after some calls."""

    def Dup(self):
        return self

    def Allgatherv(self, mine, into):
        self.calls.append("Allgatherv")
        if len(self.calls) > 12:
            self.world.door.abort()
            raise OSError("the network is gone")
        super().Allgatherv(mine, into)


def test_a_broken_communicator_is_an_exception(data):
    def fit(comm):
        comm = Broken(comm.world, comm.rank) if comm.rank == 1 else comm
        return nearfar.LSDG(**settings(comm=comm)).fit(data[0])

    errors = in_threads(2, fit)
    assert isinstance(errors[1], OSError)
    assert "the network is gone" in str(errors[1])
    assert isinstance(errors[0], threading.BrokenBarrierError)


def test_long_messages_are_sent_in_parts(monkeypatch):
    from nearfar import _ranks

    monkeypatch.setattr(_ranks, "_MOST", 7)

    def work(comm):
        def talk(ranks):
            mine = bytes(range(5 * ranks.rank, 5 * ranks.rank + 10 * ranks.rank))
            lengths = [10 * rank for rank in range(3)]
            gathered = ranks.gather(mine, lengths).tobytes()
            table = [[3 * p + q + 5 * (p == q) for q in range(3)] for p in range(3)]
            sent = b"".join(bytes([16 * ranks.rank + q]) * table[ranks.rank][q] for q in range(3))
            swapped = ranks.exchange(sent, table[ranks.rank], [table[p][ranks.rank] for p in range(3)])
            passed = ranks.pass_on(bytes([ranks.rank]) * (20 + ranks.rank), 20 + (ranks.rank - 1) % 3)
            expected = b"".join(bytes([16 * p + ranks.rank]) * table[p][ranks.rank] for p in range(3))
            assert swapped.tobytes() == expected
            assert passed.tobytes() == bytes([(ranks.rank - 1) % 3]) * (20 + (ranks.rank - 1) % 3)
            return gathered

        return _ranks.together(comm, talk)

    everything = bytes(range(5, 15)) + bytes(range(10, 30))
    assert in_threads(3, work) == [everything] * 3


TRAIN = """
    import os, signal, sys, threading, time
    import numpy as np
    from mpi4py import MPI
    import nearfar

    comm = MPI.COMM_WORLD
    X = np.load("big.npy", mmap_mode="r")
    model = nearfar.LSDG(4, n_init=2, max_iter=8, random_state=5, n_jobs=1, comm=comm).fit(X)
    np.savez(f"rank-{comm.rank}.npz", labels=model.labels_, factor=model.factor_, weights=model.near_weights_)

    # A failure of one is an exception in all.
    try:
        nearfar.LSDG(4, n_jobs=1, comm=comm, memory_limit=1000 if comm.rank == 1 else None).fit(X)
    except MemoryError:
        assert comm.rank == 1
    except RuntimeError as error:
        assert comm.rank != 1 and "rank 1 failed: MemoryError" in str(error), error

    # Ctrl-C in one process ends all, and none is left waiting.
    if comm.rank == comm.size - 1:
        def press():
            time.sleep(1.5)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=press).start()
    try:
        nearfar.LSDG(4, n_init=900, tol=-1, max_iter=100000, random_state=0, n_jobs=1, comm=comm).fit(X)
        raise SystemExit("it was not interrupted")
    except KeyboardInterrupt:
        assert comm.rank == comm.size - 1
    except RuntimeError as error:
        assert comm.rank < comm.size - 1 and "KeyboardInterrupt" in str(error), error
    # The communicator can still be used.
    assert comm.allreduce(1) == comm.size
    open(f"done-{comm.rank}", "w").close()  # what ranks print may be mixed up
"""


@pytest.mark.filterwarnings("ignore")
def test_over_mpi(data, tmp_path):
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun was not found")
    # Not imported here: that would start MPI in this process.
    found = subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip(f"mpi4py cannot be used: {found.stderr.strip().splitlines()[-1]}")
    X = data[0]
    np.save(tmp_path / "big.npy", X)
    (tmp_path / "train.py").write_text(textwrap.dedent(TRAIN))
    # More ranks than processors, as root or not, as tests/mpi does.
    told = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
    }
    command = ["mpirun", "-n", "2", sys.executable, "train.py"]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | told, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((tmp_path / f"done-{rank}").exists() for rank in range(2))
    alone = nearfar.LSDG(4, n_init=2, max_iter=8, random_state=5, mode="binned").fit(X)
    for rank in range(2):
        found = np.load(tmp_path / f"rank-{rank}.npz")
        assert np.array_equal(found["labels"], alone.labels_)
        assert np.array_equal(found["factor"], alone.factor_)
        assert np.array_equal(found["weights"], alone.near_weights_)
