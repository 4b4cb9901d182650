"""Processes that fit together: this package's side of an mpi4py communicator.

The compiled half calls three functions (gather, exchange, pass_on) and links no MPI itself, so any MPI of the
communicator works. Before each of them the processes tell each other whether all is well. If one has failed, all leave
with an exception instead of waiting forever.
"""

from __future__ import annotations

import itertools
import platform
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Bytes = NDArray[np.uint8]
_Result = TypeVar("_Result")

#: Bytes of one message. Many MPI libraries count in 31 bits.
_MOST = 1 << 30
#: Methods that a communicator must have.
_NEEDED = ("Get_size", "Get_rank", "Dup", "Free", "Allgather", "Allgatherv", "Isend", "Recv")


class _Elsewhere(RuntimeError):
    """This process ended because another did; that one reports the reason."""


class Ranks:
    """The processes of one fit."""

    size: int
    rank: int
    #: Processes on this machine.
    local: int

    def __init__(self, comm: Any) -> None:
        if not all(callable(getattr(comm, name, None)) for name in _NEEDED):
            raise TypeError(
                f"comm = {comm!r} is not allowed: it must be a communicator of mpi4py, such as MPI.COMM_WORLD, or None"
            )
        # A duplicate keeps the caller's messages apart from ours.
        self._comm = comm.Dup()
        self.size, self.rank = self._comm.Get_size(), self._comm.Get_rank()
        self._over = self._broken = False
        self._pressed: list[tuple[int, FrameType | None]] = []
        self._handler: Any = None
        hosts = self.texts(platform.node())
        self.local = hosts.count(hosts[self.rank])

    # What the compiled half calls.

    def gather(self, mine: bytes, lengths: Sequence[int]) -> _Bytes:
        """Return what all processes pass in, concatenated by rank."""
        self._together()
        with self._meeting():
            return self._gather(_array(mine), lengths)

    def exchange(self, mine: bytes, lengths: Sequence[int], theirs: Sequence[int]) -> _Bytes:
        """Return what all processes send to this one. `mine` holds `lengths[p]` bytes for process p."""
        self._together()
        sent, taken = _array(mine), np.empty(sum(theirs), np.uint8)
        to, come = _places(lengths), _places(theirs)
        with self._meeting():
            taken[come[self.rank]] = sent[to[self.rank]]
            for step in range(1, self.size):
                target, source = (self.rank + step) % self.size, (self.rank - step) % self.size
                self._swap(sent[to[target]], target, taken[come[source]], source)
        return taken

    def pass_on(self, mine: bytes, coming: int) -> _Bytes:
        """Send `mine` to the next process and return what the previous one sends."""
        self._together()
        taken = np.empty(coming, np.uint8)
        with self._meeting():
            self._swap(_array(mine), (self.rank + 1) % self.size, taken, (self.rank - 1) % self.size)
        return taken

    def signals(self) -> None:
        """Deliver a Ctrl-C that came during a collective."""
        if self._pressed:
            number, frame = self._pressed.pop()
            self._pressed.clear()
            self._handler(number, frame)

    # What the Python half calls.

    def texts(self, mine: str) -> list[str]:
        """Return a text from every process, by rank."""
        self._together()
        return self._texts(mine)

    def check_alike(self, **facts: Any) -> None:
        """Raise an exception in all processes if one was given other values than the first."""
        here = {name: repr(value) for name, value in facts.items()}
        lines = self.texts("\0".join(here.values()))
        for rank, line in enumerate(lines):
            if line != lines[0]:
                pairs = zip(here, line.split("\0"), lines[0].split("\0"), strict=False)
                told = [
                    f"{name} is {other} there and {first} in rank 0" for name, other, first in pairs if other != first
                ]
                raise ValueError(f"rank {rank} was given something else than rank 0: {', '.join(told[:4])}")

    # Internal.

    @contextmanager
    def _meeting(self) -> Iterator[None]:
        """Mark the communicator as broken if it raises, so that nobody calls it again."""
        try:
            yield
        except BaseException:
            self._over = self._broken = True
            raise

    def _together(self, failure: str | None = None) -> None:
        """Wait for all processes. If one has failed, raise in all that have no exception of their own."""
        if self._over:
            return
        told = np.zeros(self.size, np.uint8)
        with self._meeting():
            self._comm.Allgather(np.array([failure is not None], np.uint8), told)
            if not told.any():
                return
            texts = self._texts(failure or "")
        self._over = True
        if not failure:
            rank = next((rank for rank, text in enumerate(texts) if text), int(told.argmax()))
            raise RuntimeError(f"rank {rank} failed: {texts[rank] or 'it was stopped'}")

    def _texts(self, mine: str) -> list[str]:
        own = _array(mine.encode())
        lengths = np.empty(self.size, np.int64)
        with self._meeting():
            self._comm.Allgather(np.array([own.size], np.int64), lengths)
            everything = self._gather(own, lengths.tolist())
        return [everything[place].tobytes().decode() for place in _places(lengths.tolist())]

    def _gather(self, mine: _Bytes, lengths: Sequence[int]) -> _Bytes:
        everything = np.empty(sum(lengths), np.uint8)
        if everything.size <= _MOST:
            self._comm.Allgatherv(mine, [everything, list(lengths)])
            return everything
        # Gather a slice from every process at a time, then copy it to its place.
        most = max(1, _MOST // self.size)
        for first in range(0, max(lengths), most):
            here = [min(max(length - first, 0), most) for length in lengths]
            part = np.empty(sum(here), np.uint8)
            self._comm.Allgatherv(mine[first : first + most], [part, here])
            for whole, piece in zip(_places(lengths), _places(here), strict=True):
                begin = whole.start + first
                everything[begin : begin + piece.stop - piece.start] = part[piece]
        return everything

    def _swap(self, sent: _Bytes, target: int, taken: _Bytes, source: int) -> None:
        """Send to one process and receive from another, in messages that MPI can count."""
        requests = [self._comm.Isend(sent[at : at + _MOST], target) for at in range(0, sent.size, _MOST)]
        for at in range(0, taken.size, _MOST):
            self._comm.Recv(taken[at : at + _MOST], source)
        for request in requests:
            request.Wait()

    @contextmanager
    def _calm(self) -> Iterator[None]:
        """Hold Ctrl-C back: an exception in the middle of a collective would leave the others waiting."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or not callable(before):
            yield
            return
        self._handler = before
        signal.signal(signal.SIGINT, lambda number, frame: self._pressed.append((number, frame)))
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def together(comm: Any, work: Callable[[Ranks], _Result]) -> _Result:
    """Do the work in every process, or raise in every process."""
    ranks = Ranks(comm)
    try:
        with ranks._calm():
            try:
                result = work(ranks)
                ranks.signals()
            except BaseException as error:
                named = "" if isinstance(error, _Elsewhere) else _told(error)
                try:
                    ranks._together(named)
                except RuntimeError as other:
                    raise other from None
                raise
            ranks._together()
            return result
    finally:
        if not ranks._broken:
            ranks._comm.Free()


def stopped_elsewhere() -> BaseException:
    """Return the exception of a process that ended because another did; :func:`together` replaces it by the reason."""
    return _Elsewhere("another rank has ended the fit")


def _told(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _array(data: bytes) -> _Bytes:
    return np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)


def _places(lengths: Sequence[int]) -> list[slice]:
    """Return the slices of consecutive parts of these lengths."""
    ends = np.cumsum([0, *lengths]).tolist()
    return [slice(begin, end) for begin, end in itertools.pairwise(ends)]
