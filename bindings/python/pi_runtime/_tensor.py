# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import re
from typing import Any, Optional, Sequence, Union

from . import _core
from ._core import Acquisition, Error
from ._runtime import Access, Buffer, Explanation, PlaceLike, Runtime, Storage

_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
_NAMES = {code: name for name, code in _CODES.items()}
_CPU = (1, 0)


def _dtype_of(dtype: Any) -> tuple[int, int, int]:
    """(code, bits, lanes) of a name, a NumPy dtype or type, or a Tensor's dtype."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    if name == "bool" or name == "bool_":
        return _CODES["bool"], 8, 1
    found = re.fullmatch(r"(int|uint|float|bfloat|complex)(\d+)(?:x(\d+))?", name)
    if found is None:
        try:  # NumPy's short names, "f4", if there is NumPy
            import numpy

            short: Optional[str] = numpy.dtype(dtype).name
        except (ImportError, TypeError):
            short = None
        if short is None or short == name:
            raise ValueError(
                f"dtype: {dtype!r}: must be a name such as 'float32', 'uint8', 'bfloat16' or 'bool'"
            )
        return _dtype_of(short)
    return _CODES[found[1]], int(found[2]), int(found[3] or 1)


def layout_of(
    dtype: Any,
    shape: Union[int, Sequence[int]],
    strides: Optional[Sequence[int]] = None,
    begin: int = 0,
) -> _core.Layout:
    extents = [shape] if isinstance(shape, int) else list(shape)
    return _core.Layout(*_dtype_of(dtype), extents, strides, begin)


class Tensor:
    """Elements in the bytes of a storage, at any place. Created by Runtime.tensor,
    Runtime.from_dlpack and Buffer.tensor.

    It supports DLPack: torch.from_dlpack(tensor) acquires the bytes in place at the tensor's place,
    for read_write (for reading if they are read-only); the other library's tensor holds the
    acquisition until it is deleted.
    """

    def __init__(
        self,
        buffer: Buffer,
        layout: _core.Layout,
        place: int,
        read_only: bool = False,
        copied: bool = False,
    ) -> None:
        first, size = layout.hull()
        begin = layout.begin + first
        if begin < 0 or begin + size > buffer.size:
            raise ValueError(
                f"the elements are bytes [{begin}, {begin + size}); the buffer has {buffer.size}"
            )
        self.buffer = buffer
        self._begin = begin
        self._size = size
        self._layout = _core.Layout(
            *layout.dtype, list(layout.shape), list(layout.strides), -first
        )
        self.place = place  #: of its memory, for import and export; 0: the host
        self.read_only = read_only
        self.copied = copied  #: the producer made a copy

    @property
    def storage(self) -> Storage:
        return self.buffer.storage

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements along each axis."""
        return self._layout.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
        return self._layout.strides

    @property
    def dtype(self) -> str:
        """"float32", "bfloat16", "uint8x4" (with lanes), ..."""
        code, bits, lanes = self._layout.dtype
        if code == _CODES["bool"] and bits == 8 and lanes == 1:
            return "bool"
        return f"{_NAMES.get(code, f'code{code}_')}{bits}" + (f"x{lanes}" if lanes > 1 else "")

    @property
    def nbytes(self) -> int:
        """From the first byte of the elements to the last."""
        return self._size

    def acquire(self, place: PlaceLike, access: Access = "read") -> Acquisition:
        """As Buffer.acquire, for the bytes from the first element to the last; views have the
        elements' type and shape."""
        return self.buffer._core.acquire(
            self.buffer._place(place), access, self._begin, self._size, self._layout
        )

    def explain(self, place: PlaceLike) -> Explanation:
        """As Buffer.explain."""
        return self.buffer.explain(place, self._begin, self._size)

    def prefetch(self, place: PlaceLike) -> None:
        """As Buffer.prefetch."""
        self.buffer.prefetch(place, self._begin, self._size)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(device type, device number) of `place`, as DLPack has them."""
        return self.storage.runtime.topology._core.dlpack_device(self.place)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A DLPack capsule. dl_device: the host's (1, 0), or another place's: bytes that are stale
        there move, which copy=False refuses. copy=True: of a copy, at the host. stream: for CUDA
        memory, the consumer's stream: 1 (the legacy default stream), 2 (the thread's) or a handle
        above 2; its later work begins after PI's pending work on the bytes. -1: no synchronisation.
        None: the bytes are ready on return. Work that the consumer has submitted to a default
        stream by the time its tensor is deleted comes before PI's next use; its work in other
        streams must be complete by then."""
        place = self._place_of(dl_device)
        # Before any byte moves.
        device = self.storage.runtime.topology._core.dlpack_device(place)
        _core.check_stream("__dlpack__", device, stream)
        if copy is False and place != self.place and self.explain(place).bytes_stale != 0:
            raise BufferError("__dlpack__: copy: False: the bytes must be copied to dl_device")
        use = self.acquire(place, "read" if self.read_only or copy else "read_write")
        try:
            return use._give_away(stream, max_version, None, copy)
        except BaseException:
            use.abandon()
            raise

    def _place_of(self, dl_device: Optional[tuple[int, int]]) -> int:
        if dl_device is None or dl_device == self.__dlpack_device__():
            return self.place
        if dl_device == _CPU:
            return 0
        topology = self.storage.runtime.topology
        for place in topology.places[1:]:
            try:
                if topology._core.dlpack_device(place.index) == tuple(dl_device):
                    return place.index
            except Error:
                continue  # DLPack has no name for it
        raise BufferError(f"__dlpack__: dl_device: {tuple(dl_device)}: no place has this device")

    def __repr__(self) -> str:
        name = self.storage.runtime.topology.places[self.place].name
        read_only = ", read-only" if self.read_only else ""
        return f"<Tensor {self.dtype} {list(self.shape)} at {name}{read_only}>"


def _capsule_of(
    runtime: Runtime, tensor: Any, place: Optional[int], stream: Any, copy: Optional[bool]
) -> tuple[Any, Any]:
    """The capsule, and the stream in which it is ready."""
    if not hasattr(tensor, "__dlpack__"):
        return tensor, stream  # a capsule, which the import checks
    if hasattr(tensor, "__dlpack_device__"):
        kind, number = tensor.__dlpack_device__()
        device = int(kind), int(number)
        _core.check_stream("from_dlpack", device, stream)
        if stream is None:
            stream = runtime._core.import_stream(device, place)
    arguments: dict[str, Any] = {} if stream is None else {"stream": stream}
    asked = {} if copy is None else {"copy": copy}
    try:
        return tensor.__dlpack__(**arguments, max_version=(1, 0), **asked), stream
    except TypeError:  # a producer of before 1.0
        if copy:
            raise BufferError("from_dlpack: copy: True: the producer does not support it") from None
        return tensor.__dlpack__(**arguments), stream


def import_tensor(
    runtime: Runtime,
    tensor: Any,
    place: Optional[PlaceLike],
    stream: Any,
    copy: Optional[bool],
    name: str,
) -> Tensor:
    index = None if place is None else runtime.topology.place(place).index
    capsule, stream = _capsule_of(runtime, tensor, index, stream, copy)
    if type(capsule).__name__ != "PyCapsule":
        raise TypeError(
            f"from_dlpack: {type(tensor).__name__}: must have __dlpack__ or be a capsule"
        )
    storage, buffer, layout, at, read_only, copied = _core.import_capsule(
        runtime._core, capsule, index, stream, name
    )
    if copy is False and copied:
        raise BufferError("from_dlpack: copy: False: the producer made a copy")
    return Tensor(Buffer(Storage(runtime, storage), buffer), layout, at, read_only, copied)
