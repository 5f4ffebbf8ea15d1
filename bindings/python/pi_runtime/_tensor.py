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
        try:  # NumPy's short words, "f4"; it need not be there
            import numpy

            short: Optional[str] = numpy.dtype(dtype).name
        except (ImportError, TypeError):
            short = None
        if short is None or short == name:
            raise ValueError(f"dtype is {dtype!r}; a name such as 'float32', 'uint8', 'bfloat16' or 'bool'")
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
    """Elements in the bytes of a storage, at whichever places they are used. Made by Runtime.tensor, Runtime.from_dlpack
    and Buffer.tensor.

    It has DLPack's protocol: torch.from_dlpack(tensor) acquires the bytes for read_write (for reading where they are
    read-only) at its place, in place, and the other library's tensor holds that acquisition until it is gone.
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
                f"the elements are bytes [{begin}, {begin + size}) of a buffer of {buffer.size}"
            )
        self.buffer = buffer
        self._begin = begin
        self._size = size
        self._layout = _core.Layout(
            *layout.dtype, list(layout.shape), list(layout.strides), -first
        )
        self.place = place  #: whose memory it was given in, and is given out in; 0: the host
        self.read_only = read_only
        self.copied = copied  #: the producer says that it made a copy

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
        """From the first byte of any element to behind the last."""
        return self._size

    def acquire(self, place: PlaceLike, access: Access = "read") -> Acquisition:
        """As Buffer.acquire, of the bytes from the first element to the last; its views have the elements' type and shape."""
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
        """A DLPack capsule. dl_device: the host's (1, 0), or that of another place: bytes that are stale there move, which
        copy=False refuses. copy=True: of a copy, at the host. stream: of CUDA's memory, where the consumer will
        use it: 1 (the legacy default stream), 2 (the thread's) or a handle above 2: its later work begins after all
        that PI still does with the bytes. -1: nothing waits. None: the bytes are there on return. What a consumer
        has put into a default stream when its tensor is gone comes before PI's next use; its work in other streams
        must be complete by then."""
        place = self._place_of(dl_device)
        # Before any byte moves.
        device = self.storage.runtime.topology._core.dlpack_device(place)
        _core.check_stream("__dlpack__", device, stream)
        if copy is False and place != self.place and self.explain(place).bytes_stale != 0:
            raise BufferError("__dlpack__: the bytes would have to be copied to dl_device, and copy is False")
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
                continue  # nobody else can name its memory
        raise BufferError(f"__dlpack__: no place is device {tuple(dl_device)} of DLPack")

    def __repr__(self) -> str:
        name = self.storage.runtime.topology.places[self.place].name
        return f"<Tensor {self.dtype} {list(self.shape)} at {name}{', read-only' if self.read_only else ''}>"


def _capsule_of(
    runtime: Runtime, tensor: Any, place: Optional[int], stream: Any, copy: Optional[bool]
) -> tuple[Any, Any]:
    """The capsule, and the stream in which it is ready."""
    if not hasattr(tensor, "__dlpack__"):
        return tensor, stream  # a capsule, which the import looks at
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
            raise BufferError("from_dlpack: the producer takes no `copy`, so it makes none") from None
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
        raise TypeError(f"from_dlpack: {type(tensor).__name__} has no __dlpack__, and is no capsule")
    storage, buffer, layout, at, read_only, copied = _core.import_capsule(
        runtime._core, capsule, index, stream, name
    )
    if copy is False and copied:
        raise BufferError("from_dlpack: the producer made a copy, and copy is False")
    return Tensor(Buffer(Storage(runtime, storage), buffer), layout, at, read_only, copied)
