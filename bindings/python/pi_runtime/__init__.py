# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PI's runtime: buffers with only the necessary transfers between devices::

    import numpy
    import pi_runtime as pi

    loader = pi.Loader()                              # finds PI's plugins
    runtime = pi.Runtime(pi.Topology(loader.devices()))
    storage = runtime.use_memory(numpy.arange(1000, dtype="f4"))
    with storage.buffer().acquire(1, "read") as use:  # at the first device
        use.wait()
    print(runtime.log_text())

Places are numbers (0 is the host) or names. Sizes and offsets are bytes, times are seconds. Errors
of PI are an Error with PI's text. Objects keep the objects that they were created from. Every call
that may wait releases the interpreter's lock.
"""

from ._core import Acquisition, Error, Timeout
from ._loader import Connection, Device, Loader, Place, PluginReport, Topology
from ._runtime import (
    Access,
    Buffer,
    Candidate,
    Explanation,
    ExplainedPart,
    Runtime,
    Storage,
    Transfer,
)
from ._tensor import Tensor

__version__ = "1.0.0"

__all__ = [
    "Access",
    "Acquisition",
    "Buffer",
    "Candidate",
    "Connection",
    "Device",
    "Error",
    "ExplainedPart",
    "Explanation",
    "Loader",
    "Place",
    "PluginReport",
    "Runtime",
    "Storage",
    "Tensor",
    "Timeout",
    "Topology",
    "Transfer",
]
