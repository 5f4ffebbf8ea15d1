# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Sequence, Tuple, Union

from . import _core
from ._core import Acquisition
from ._loader import Place, Topology

if TYPE_CHECKING:
    from ._tensor import Tensor

#: "read" transfers stale bytes; "write" writes part of the range, so that stale bytes are
#: transferred as well; "read_write"; "discard_write" writes every byte before it reads any, and
#: transfers nothing.
Access = str
PlaceLike = Union[int, str, Place]
Ranges = Tuple[Tuple[int, int], ...]


@dataclass(frozen=True)
class Transfer:
    """A line of the transfer log."""

    acquisition: int  #: the acquire's number; transfers may share one
    storage: str
    source: int
    destination: int
    ranges: Ranges  #: (begin, end) in bytes of the storage
    route: str  #: "none", "direct use", "import", "migrate" or "host bounce"
    style: str  #: of a bounce
    reason: str  #: why this route; for a failure, its text
    error: str  #: the result's name; empty on success
    bytes: int  #: that moved
    hops: Tuple[Tuple[int, int], ...]  #: the links, (from, to)
    predicted: float  #: seconds on idle links
    predicted_delay: float  #: seconds of delay by transfers in flight
    begin: float  #: seconds of time.monotonic()'s clock
    end: float


@dataclass(frozen=True)
class Candidate:
    """A possible route of bytes to a place."""

    route: str
    style: str
    source: int
    hops: Tuple[Tuple[int, int], ...]
    possible: bool
    seconds: float  #: predicted, on idle links
    delay: float  #: seconds of delay by transfers in flight
    reason: str  #: of its refusal, or of its cost


@dataclass(frozen=True)
class ExplainedPart:
    ranges: Ranges
    candidates: Tuple[Candidate, ...]  #: best first; [0] is chosen if it is possible


@dataclass(frozen=True)
class Explanation:
    """What an acquire for reading would do now, and why. str() is a text for people."""

    place: int
    range: Tuple[int, int]
    bytes_stale: int  #: that would move or be synchronised
    bytes_never_written: int  #: nothing to fetch
    parts: Tuple[ExplainedPart, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def _with_tuples(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {**fields, **{name: tuple(fields[name]) for name in names}}


class Runtime:
    """Moves bytes between the places of a topology; a context manager, which waits for work in
    flight.

    costs: the file of `pi-bench calibrate --costs FILE`, with the measured costs of this machine's
    links; None: the costs that the plugins report (a file that is missing or of another machine is
    an Error); staging_limit: bytes of staging memory in use at each place; bounce_limit: bytes of
    host memory that keep bytes on their way from device to device, for the next place; pool_limit:
    bytes of idle device memory kept at each place; copy_after_repeated_use: a place that uses
    another device's memory repeatedly over a link gets a copy when that is cheaper; log_capacity:
    lines of the log; log_up_to_date: acquires without a transfer have a line, too.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        costs: Union[str, os.PathLike[str], None] = None,
        staging_limit: int = 64 << 20,
        bounce_limit: int = 1 << 30,
        pool_limit: int = 256 << 20,
        copy_after_repeated_use: bool = True,
        log_capacity: int = 4096,
        log_up_to_date: bool = False,
    ) -> None:
        self.topology = topology
        self._core = _core.Runtime(
            topology._core,
            None if costs is None else os.fspath(costs),
            staging_limit,
            bounce_limit,
            pool_limit,
            copy_after_repeated_use,
            log_capacity,
            log_up_to_date,
        )

    def storage(
        self, size: int, name: str = "", *, alignment: int = 0, scope: str = ""
    ) -> Storage:
        """`size` bytes, with memory at each place that acquires them. alignment: bytes, a power of
        two; 0: each place's own. scope: the name of a memory that every place has."""
        return Storage(self, _core.Storage(self._core, size, name, alignment, scope))

    def use_memory(self, memory: Any, name: str = "") -> Storage:
        """A storage with the memory of an object with the buffer protocol (bytearray, numpy array,
        mmap; C-contiguous) as its host memory, in place; its bytes are the initial content. The
        object is kept until the storage is deleted. Read-only memory makes a read-only storage.
        Bytes that a device writes are in the object after an acquire for reading at the host."""
        return Storage(self, _core.Storage.adopt(self._core, memory, name))

    def tensor(
        self, shape: Union[int, Sequence[int]], dtype: Any = "uint8", name: str = ""
    ) -> Tensor:
        """A new storage for one dense tensor. dtype: a name ("float32", "bfloat16") or a NumPy
        dtype."""
        from ._tensor import layout_of

        layout = layout_of(dtype, shape)
        return self.storage(layout.hull()[1], name).buffer().tensor(shape, dtype)

    def from_dlpack(
        self,
        tensor: Any,
        *,
        place: Optional[PlaceLike] = None,
        stream: Any = None,
        copy: Optional[bool] = None,
        name: str = "",
    ) -> Tensor:
        """A tensor of another library, in place: an object with __dlpack__, or its capsule.

        Host memory becomes the host's replica; memory of a device (kDLCUDA, kDLOneAPI, kDLOpenCL)
        becomes the replica of that device's place; `place` selects one of several. The tensor is
        released after the storage is deleted and the last use has ended.

        stream: for CUDA memory, the stream in which the tensor is ready. The producer makes it wait
        for its work (1: the legacy default stream, 2: the thread's, otherwise a handle above 2),
        and every use of PI begins after the work that is now in it. None: a stream of PI's, or for
        a capsule the legacy default stream. -1: no synchronisation. Work on memory of devices
        without streams must be complete. copy: passed to the producer; a producer without this
        argument refuses copy=True (BufferError).
        """
        from ._tensor import import_tensor

        return import_tensor(self, tensor, place, stream, copy, name)

    def counters(self) -> dict[str, Any]:
        """Of all storages: bytes_required (stale when they were acquired), bytes_delivered,
        bytes_copy_in_copy_out (of a runtime with copies around each use), link_bytes {(from, to):
        bytes}, transfers {route: count}, and more."""
        return self._core.counters()

    def log(self) -> list[Transfer]:
        """The transfer log, oldest first."""
        return [Transfer(**_with_tuples(line, "ranges", "hops")) for line in self._core.log()]

    def log_text(self) -> str:
        """The transfer log as a table for people."""
        return self._core.log_text()

    def clear_log(self) -> None:
        """Empties the transfer log. Counters are unchanged."""
        self._core.clear_log()

    def finish(self, timeout: Optional[float] = None) -> bool:
        """Waits until nothing is in flight. timeout: seconds; False if that time passes first."""
        return self._core.finish(timeout)

    def trim(self, bytes_to_keep: int = 0) -> None:
        """Frees idle device memory until at most so many bytes are kept at each place."""
        self._core.trim(bytes_to_keep)

    def pool(self, place: PlaceLike) -> dict[str, int]:
        """Of a device's place: bytes_kept, bytes_in_use, hits and misses of its pool."""
        return self._core.pool(self.topology.place(place).index)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *error: Any) -> None:
        self.finish()

    def __repr__(self) -> str:
        return f"<Runtime on {self.topology!r}>"


class Storage:
    """One allocation's worth of bytes, with replicas at places. Created by Runtime.storage,
    use_memory and from_dlpack."""

    def __init__(self, runtime: Runtime, core: _core.Storage) -> None:
        self.runtime = runtime
        self._core = core

    @property
    def size(self) -> int:
        """Bytes."""
        return self._core.size

    def buffer(self, offset: int = 0, size: Optional[int] = None) -> Buffer:
        """Bytes [offset, offset + size); None: to the end."""
        length = self.size - offset if size is None else size
        if offset < 0 or length < 0:
            raise ValueError(f"offset {offset} and size {length}: must be 0 or more bytes")
        return Buffer(self, self._core.buffer(offset, length))

    def valid(self, place: PlaceLike) -> list[tuple[int, int]]:
        """The ranges that are valid at a place now, as (begin, end)."""
        return self._core.valid(self.runtime.topology.place(place).index)

    def memory_of(self, place: PlaceLike) -> Optional[int]:
        """A number for a place's memory: places with the same number share the bytes. None before
        its first use."""
        return self._core.memory_of(self.runtime.topology.place(place).index)

    def counters(self) -> dict[str, Any]:
        """As Runtime.counters, of this storage."""
        return self._core.counters()

    def finish(self, timeout: Optional[float] = None) -> bool:
        """As Runtime.finish, for this storage."""
        return self._core.finish(timeout)

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<Storage of {self.size} bytes>"


class Buffer:
    """A range of a storage."""

    def __init__(self, storage: Storage, core: _core.Buffer) -> None:
        self.storage = storage
        self._core = core

    @property
    def size(self) -> int:
        """Bytes."""
        return self._core.size

    @property
    def offset(self) -> int:
        """Bytes into the storage."""
        return self._core.offset

    def _range(self, offset: int, size: Optional[int]) -> tuple[int, int]:
        length = self.size - offset if size is None else size
        if offset < 0 or length < 0:
            raise ValueError(f"offset {offset} and size {length}: must be 0 or more bytes")
        return offset, length

    def _place(self, place: PlaceLike) -> int:
        return self.storage.runtime.topology.place(place).index

    def acquire(
        self,
        place: PlaceLike,
        access: Access = "read",
        offset: int = 0,
        size: Optional[int] = None,
    ) -> Acquisition:
        """Makes bytes [offset, offset + size) usable at a place; only stale bytes move. Does not
        wait for them: wait() and access to the bytes do. access: "read", "write", "read_write" or
        "discard_write". Error if it would wait for an acquisition that this thread still holds."""
        begin, length = self._range(offset, size)
        layout = _core.Layout(1, 8, 1, [length], None, 0)
        return self._core.acquire(self._place(place), access, begin, length, layout)

    def prefetch(self, place: PlaceLike, offset: int = 0, size: Optional[int] = None) -> None:
        """Starts transfers of stale bytes to a place."""
        self._core.prefetch(self._place(place), *self._range(offset, size))

    def broadcast(self, places: Sequence[PlaceLike]) -> None:
        """Starts transfers to all these places, over each link at most once."""
        self._core.broadcast([self._place(place) for place in places])

    def explain(
        self, place: PlaceLike, offset: int = 0, size: Optional[int] = None
    ) -> Explanation:
        """What acquire(place, "read") would do now, and why. Changes nothing."""
        found = self._core.explain(self._place(place), *self._range(offset, size))
        found["parts"] = tuple(
            ExplainedPart(
                tuple(ranges),
                tuple(Candidate(**_with_tuples(each, "hops")) for each in candidates),
            )
            for ranges, candidates in found["parts"]
        )
        return Explanation(**found)

    def tensor(
        self,
        shape: Union[int, Sequence[int]],
        dtype: Any = "uint8",
        *,
        strides: Optional[Sequence[int]] = None,
        offset: int = 0,
    ) -> Tensor:
        """Elements in these bytes. dtype: a name ("float32", "bfloat16") or a NumPy dtype; strides:
        in elements, one for each axis; None: dense; offset: of element 0, in bytes."""
        from ._tensor import Tensor, layout_of

        return Tensor(self, layout_of(dtype, shape, strides, offset), 0)

    def counters(self) -> dict[str, Any]:
        """As Runtime.counters, of this buffer's uses."""
        return self._core.counters()

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<Buffer [{self.offset}, {self.offset + self.size}) of {self.storage!r}>"
