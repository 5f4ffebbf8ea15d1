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

#: "read" fetches what is stale; "write" writes some of the range, so that the rest must be fetched; "read_write";
#: "discard_write" writes every byte before it reads any, and fetches nothing.
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
    style: str  #: how a bounce went
    reason: str  #: why this route; of a failure, its text
    error: str  #: the result's name, empty when it succeeded
    bytes: int  #: that moved
    hops: Tuple[Tuple[int, int], ...]  #: the links that they crossed, (from, to)
    predicted: float  #: seconds on idle links
    predicted_delay: float  #: by which transfers under way made it later, in seconds
    begin: float  #: seconds of time.monotonic()'s clock
    end: float


@dataclass(frozen=True)
class Candidate:
    """A way for bytes to come to a place."""

    route: str
    style: str
    source: int
    hops: Tuple[Tuple[int, int], ...]
    possible: bool
    seconds: float  #: predicted, on idle links
    delay: float  #: by which transfers under way would make it later, in seconds
    reason: str  #: why refused; else why it costs that


@dataclass(frozen=True)
class ExplainedPart:
    ranges: Ranges
    candidates: Tuple[Candidate, ...]  #: best first; [0] is the one chosen, if it is possible


@dataclass(frozen=True)
class Explanation:
    """What acquiring for reading would do now, and why. str() is all of it for people."""

    place: int
    range: Tuple[int, int]
    bytes_stale: int  #: that would move or be handed over
    bytes_never_written: int  #: nothing to fetch
    parts: Tuple[ExplainedPart, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def _with_tuples(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {**fields, **{name: tuple(fields[name]) for name in names}}


class Runtime:
    """Moves bytes between the places of a topology, counts and logs; a context manager, which waits for what is in flight.

    costs: the file in which `pi-bench calibrate --costs FILE` wrote what links cost on this machine, None: as the plugins tell (a
    file that is missing or of another machine is an Error); staging_limit: bytes of staging memory in use at one time at each
    place; bounce_limit: bytes of host memory in which what goes from device to device through the host stays, for the next place
    that wants it; pool_limit: bytes of device memory kept idle at each place; copy_after_repeated_use: a place that uses another
    device's memory over a link again and again gets a copy once that costs less; log_capacity: lines of the log; log_up_to_date:
    acquires that need no transfer have a line, too.
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
        """`size` bytes, which have memory at a place once it is first acquired. alignment: bytes, a power of two, 0:
        each place's own; scope: the name of a memory that every place has."""
        return Storage(self, _core.Storage(self._core, size, name, alignment, scope))

    def use_memory(self, memory: Any, name: str = "") -> Storage:
        """A storage whose host memory is that of an object with the buffer protocol (bytearray, numpy array, mmap; C-contiguous), in
        place; its bytes are the first content. It is kept until the storage is gone. Read-only memory makes a
        read-only storage. What a device writes is in it once the host is acquired for reading."""
        return Storage(self, _core.Storage.adopt(self._core, memory, name))

    def tensor(self, shape: Union[int, Sequence[int]], dtype: Any = "uint8", name: str = "") -> Tensor:
        """A new storage of just this dense tensor. dtype: a name ("float32", "bfloat16") or a NumPy dtype."""
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

        Memory of the host becomes the host's replica, memory of a device (kDLCUDA, kDLOneAPI, kDLOpenCL) that of the
        place whose device it is; `place` names one where there are several. It is released when the storage is gone
        and no use is in flight.

        stream: of CUDA's memory, the stream in which the tensor is ready: the producer makes it wait for its work
        (1: the legacy default stream, 2: the thread's, else a handle above 2), and every use of PI begins after
        what is in it now. None: a stream of PI's own, or for a capsule the legacy default one. -1: nothing waits.
        What devices without streams do with the memory must be complete. copy: given to the producer; one that
        does not accept it refuses copy=True (BufferError).
        """
        from ._tensor import import_tensor

        return import_tensor(self, tensor, place, stream, copy, name)

    def counters(self) -> dict[str, Any]:
        """Of all storages: bytes_required (that had to move), bytes_delivered, bytes_copy_in_copy_out (of a runtime that copies
        in and out around each use), link_bytes {(from, to): bytes}, transfers {route: count}, and more."""
        return self._core.counters()

    def log(self) -> list[Transfer]:
        """The transfer log, oldest first."""
        return [Transfer(**_with_tuples(line, "ranges", "hops")) for line in self._core.log()]

    def log_text(self) -> str:
        """The transfer log as a table for people."""
        return self._core.log_text()

    def clear_log(self) -> None:
        """The transfer log is empty; counters go on."""
        self._core.clear_log()

    def finish(self, timeout: Optional[float] = None) -> bool:
        """Waits until nothing is in flight. timeout: seconds; False when it is over first."""
        return self._core.finish(timeout)

    def trim(self, bytes_to_keep: int = 0) -> None:
        """Gives idle device memory back until no more than so many bytes are kept at each place."""
        self._core.trim(bytes_to_keep)

    def pool(self, place: PlaceLike) -> dict[str, int]:
        """Of a device's place: bytes_kept, bytes_in_use, hits and misses of its idle memory."""
        return self._core.pool(self.topology.place(place).index)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *error: Any) -> None:
        self.finish()

    def __repr__(self) -> str:
        return f"<Runtime on {self.topology!r}>"


class Storage:
    """One allocation's worth of bytes, with replicas at places. Made by Runtime.storage, use_memory and from_dlpack."""

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
            raise ValueError(f"offset {offset} and size {length}: bytes, 0 or more")
        return Buffer(self, self._core.buffer(offset, length))

    def valid(self, place: PlaceLike) -> list[tuple[int, int]]:
        """Which bytes are valid at a place now, as (begin, end)."""
        return self._core.valid(self.runtime.topology.place(place).index)

    def memory_of(self, place: PlaceLike) -> Optional[int]:
        """A number for the memory that a place uses: places that share one use the same bytes. None before its first use."""
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
            raise ValueError(f"offset {offset} and size {length}: bytes, 0 or more")
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
        """Makes bytes [offset, offset + size) usable at a place; only stale bytes move. Never waits for them: wait(),
        or looking at them, does. access: "read", "write", "read_write" or "discard_write". Error if it would wait for
        an acquisition that this thread still holds."""
        begin, length = self._range(offset, size)
        layout = _core.Layout(1, 8, 1, [length], None, 0)
        return self._core.acquire(self._place(place), access, begin, length, layout)

    def prefetch(self, place: PlaceLike, offset: int = 0, size: Optional[int] = None) -> None:
        """Begins to bring the bytes to a place."""
        self._core.prefetch(self._place(place), *self._range(offset, size))

    def broadcast(self, places: Sequence[PlaceLike]) -> None:
        """Begins to bring the bytes to all these places, each link at most once."""
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
        """Elements in these bytes. dtype: a name ("float32", "bfloat16") or a NumPy dtype; strides: in elements, as many as axes, None:
        dense; offset: of element 0, in bytes."""
        from ._tensor import Tensor, layout_of

        return Tensor(self, layout_of(dtype, shape, strides, offset), 0)

    def counters(self) -> dict[str, Any]:
        """As Runtime.counters, of this buffer's uses."""
        return self._core.counters()

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<Buffer [{self.offset}, {self.offset + self.size}) of {self.storage!r}>"
