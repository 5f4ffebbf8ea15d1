# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Optional, Sequence, Tuple, Union

from . import _core

_DEVICE_TYPES = {1: "cpu", 2: "gpu", 4: "accelerator", 8: "other"}
_STATUS = {1: "loaded", 2: "unavailable", 3: "refused", 4: "shadowed"}
_CONNECTIONS = {0: "none", 1: "migratable", 2: "unified"}


@dataclass(frozen=True)
class PluginReport:
    """The state of a plugin file."""

    name: str
    path: str
    status: str  #: "loaded", "unavailable" (no driver or device), "refused" or "shadowed"
    reason: str  #: empty when loaded


class Device:
    """A device of a plugin. It keeps its loader alive."""

    def __init__(self, core: _core.Device) -> None:
        self._core = core

    @property
    def selector(self) -> str:
        """"plugin:platform:device", as Loader.devices accepts it."""
        return self._core.selector

    @property
    def name(self) -> str:
        """As the backend reports it."""
        return self._core.name

    @property
    def vendor(self) -> str:
        """As the backend reports it."""
        return self._core.vendor

    @property
    def type(self) -> str:
        """"cpu", "gpu", "accelerator" or "other"."""
        return _DEVICE_TYPES.get(self._core.type, "other")

    @property
    def memory_bytes(self) -> Optional[int]:
        """Of its ordinary memory; None if the plugin does not report it."""
        return self._core.memory_bytes

    def __repr__(self) -> str:
        memory = "" if self.memory_bytes is None else f", {self.memory_bytes} bytes"
        return f"<Device {self.selector}: {self.name}, {self.type}{memory}>"


class Loader:
    """Finds, opens and checks PI's plugins; a context manager.

    plugins: files by path, or names ("opencl"), loaded before those of a search; directories:
    searched for more; layers: outermost first ("validate", "trace", ...); options: values of
    variables ({"PI_TRACE_FILE": "trace.json"}), which take precedence over the environment;
    default_search: False to use only plugins and directories named here; environment: False to read
    no variable.
    """

    def __init__(
        self,
        plugins: Sequence[Union[str, os.PathLike[str]]] = (),
        directories: Sequence[Union[str, os.PathLike[str]]] = (),
        layers: Sequence[str] = (),
        options: Optional[Mapping[str, str]] = None,
        *,
        default_search: bool = True,
        environment: bool = True,
    ) -> None:
        self._core = _core.Loader(
            [os.fspath(plugin) for plugin in plugins],
            [os.fspath(directory) for directory in directories],
            list(layers),
            dict(options or {}),
            default_search,
            environment,
        )

    def devices(self, selector: Optional[str] = None) -> list[Device]:
        """The devices of a selector ("opencl:0,host"), in its order; None: of PI_DEVICE_SELECTOR,
        or all."""
        return [Device(core) for core in self._core.devices(selector)]

    def plugins(self) -> list[PluginReport]:
        """The state of each plugin file, with the reason."""
        return [
            PluginReport(name, path, _STATUS.get(status, str(status)), reason)
            for name, path, status, reason in self._core.reports()
        ]

    def close(self) -> None:
        """Releases the loader, which ends with its last topology. This object cannot be used any
        more."""
        self._core.close()

    @property
    def closed(self) -> bool:
        return self._core.closed

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<Loader, closed>"
        loaded = [plugin.name for plugin in self.plugins() if plugin.status == "loaded"]
        return f"<Loader of {', '.join(loaded) or 'no plugin'}>"


@dataclass(frozen=True)
class Place:
    """The host, or a device in a context."""

    index: int
    name: str
    key: str  #: identifies the device in another process
    type: str  #: as Device.type
    integrated: bool  #: shares physical memory with the host
    scopes: Tuple[Tuple[str, int], ...]  #: (name, capacity in bytes) of its memories


@dataclass(frozen=True)
class Connection:
    """How one place can use memory of another, and why."""

    kind: str  #: "none", "migratable" or "unified"
    reason: str
    bandwidth: int  #: bytes per second; 0 = unknown
    latency: float  #: seconds; 0 = unknown

    def __str__(self) -> str:
        return self.kind


class Topology:
    """The host (place 0) and the devices (1, 2, ...), with the connections between them. Immutable.

    names: one for each device; None: their selectors. contexts: the number of contexts, each with
    all devices, which makes so many places of each device.
    """

    def __init__(
        self,
        devices: Sequence[Device],
        names: Optional[Sequence[str]] = None,
        *,
        contexts: int = 1,
    ) -> None:
        if contexts < 1:
            raise ValueError(f"Topology: contexts: {contexts}: must be 1 or more")
        chosen = [device.selector for device in devices] if names is None else list(names)
        if len(chosen) != len(devices):
            raise ValueError(
                f"Topology: names: {len(chosen)}: must be one for each of {len(devices)} devices"
            )
        all_names = [
            name if context == 0 else f"{name} ({context + 1})"
            for context in range(contexts)
            for name in chosen
        ]
        self._core = _core.Topology(
            [[device._core for device in devices] for _ in range(contexts)], all_names
        )
        self.places: Tuple[Place, ...] = tuple(
            self._place(index) for index in range(self._core.size)
        )

    def _place(self, index: int) -> Place:
        found = self._core.place(index)
        return Place(
            index,
            found["name"],
            found["key"],
            _DEVICE_TYPES.get(found["type"], "other"),
            found["integrated"],
            tuple(found["scopes"]),
        )

    def place(self, place: Union[int, str, Place]) -> Place:
        """A place by its number, its name, or itself. LookupError, with a list of places, for any
        other."""
        for each in self.places:
            if place is each or place == each.index or place == each.name:
                return each
        names = ", ".join(f"{each.index} '{each.name}'" for each in self.places)
        raise LookupError(f"no place {place!r}: the places are {names}")

    def connection(
        self, source: Union[int, str, Place], destination: Union[int, str, Place]
    ) -> Connection:
        """How destination can use ordinary memory of source; directed. For the host see explain."""
        found = self._core.connection(self.place(source).index, self.place(destination).index)
        return Connection(
            _CONNECTIONS.get(found["kind"], str(found["kind"])),
            found["reason"],
            found["bandwidth"],
            found["latency"] * 1e-9,
        )

    def matrix(self) -> list[list[Connection]]:
        """connection(source, destination) as [source][destination], of all places."""
        return [[self.connection(source, to) for to in self.places] for source in self.places]

    def same_device(
        self, a: Union[int, str, Place], b: Union[int, str, Place]
    ) -> Optional[bool]:
        """Whether both are one physical device; None if their backends do not say."""
        return {0: False, 1: True}.get(
            self._core.same_device(self.place(a).index, self.place(b).index)
        )

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the devices as a machine file, which the sim plugin simulates."""
        self._core.save(os.fspath(path))

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Place]:
        return iter(self.places)

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<Topology of {', '.join(place.name for place in self.places)}>"
