// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine as described by its file. The format is in docs/machine-files.md.
#pragma once

#include "document.hpp"

#include <pi/pi.h>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pi::sim {

/// A place of bytes: the host's memory, or a device's.
using Site = uint32_t;
inline constexpr Site host_site = 0;
/// Device `index` of the machine is site index + 1.
constexpr Site site_of(size_t device) {
    return static_cast<Site>(device + 1);
}

inline constexpr uint64_t never = std::numeric_limits<uint64_t>::max();

/// The largest alignment in a file, and of memory.
inline constexpr uint64_t max_alignment = uint64_t{1} << 30;

/// The duration of moving or computing.
struct Speed {
    uint64_t bandwidth = 0; ///< bytes per second; 0: unknown
    double latency = 0;     ///< nanoseconds
};

struct ScopeSpec {
    pi_memory_scope scope{}; ///< as queries return it
    bool in_host = false;    ///< its bytes are in the host's memory
    uint64_t bus_address = 0;
    /// of the host's caches; by default as within the host's memory
    std::optional<Speed> maintenance;
};

struct KernelSpec {
    double launch_time = 0; ///< nanoseconds per launch
    double item_time = 0;   ///< nanoseconds per work-item
};

struct DeviceSpec {
    std::string name, vendor = "simulated", version = "1";
    pi_device_type type = PI_DEVICE_TYPE_OTHER;
    std::optional<std::array<uint8_t, 16>> uuid;
    std::optional<std::array<uint8_t, 8>> luid;
    std::string pci_address; ///< empty: none
    std::optional<uint32_t> numa_node;
    uint32_t compute_units = 1;
    bool integrated = false;
    bool fp16 = false, fp64 = true;
    bool out_of_order = true;
    bool host_pointer_import = false;
    bool host_pointer_copies = false; ///< imported host pointers get separate bytes
    uint64_t host_pointer_alignment = 1;
    uint32_t external_handle_types = 0; ///< 1 << PI_EXTERNAL_: imported types besides host pointers
    uint32_t export_handle_types = 0;   ///< 1 << PI_EXTERNAL_: of buffers in scope 0
    uint32_t offset_mode = PI_BUFFER_OFFSET_POINTER;
    std::vector<ScopeSpec> scopes; ///< at least one
    /// The connection of its memory to itself in another context.
    pi_memory_connection other_context = PI_MEMORY_CONNECTION_UNIFIED;
    Speed memory; ///< within its own memory
    KernelSpec kernel;
    std::map<std::string, KernelSpec, std::less<>> kernels;
    uint64_t lost_at = never; ///< nanoseconds of the virtual clock
};

/// The commands whose bytes a link may lose.
enum LossyCommands : uint32_t { LOSSY_COPIES = 1, LOSSY_KERNELS = 2 };

/// A link from one site to another, one way.
struct LinkSpec {
    Site from = host_site, to = host_site;
    pi_memory_connection connection = PI_MEMORY_CONNECTION_NONE;
    pi_memory_connection imported = PI_MEMORY_CONNECTION_NONE;
    pi_coherence coherence = PI_COHERENCE_UNKNOWN;
    bool atomics = false;
    pi_residency residency = PI_RESIDENCY_UNKNOWN;
    pi_concurrent_writers concurrent_writers = PI_CONCURRENT_WRITERS_NONE;
    pi_copy_path path = PI_COPY_PATH_UNKNOWN;
    pi_preferred_queue preferred_queue = PI_PREFERRED_QUEUE_EITHER;
    pi_link_kind kind = PI_LINK_UNKNOWN;
    Speed speed;
    std::vector<std::string> channels; ///< shared with other links of the same name; never empty
    /// 1 << PI_EXTERNAL_: which of the types that one end exports and the other imports work
    /// between them.
    uint32_t external_handle_types = ~0u;
    /// Bits of LossyCommands: such commands succeed, but leave every second page unchanged.
    uint32_t loses_pages = 0;
    std::string reason;
    unsigned line = 0;
};

struct FaultSpec {
    std::string function; ///< "piEnqueueMemBufferCopy"
    uint64_t call = 1;    ///< counted from 1
    uint64_t count = 1;   ///< the number of calls, from that one on
    pi_result result = PI_SUCCESS;
    /// For a command: the part of its bytes that it moves before it fails with `result`.
    std::optional<double> part;
    double delay = 0; ///< nanoseconds that a command takes longer
};

struct Machine {
    std::string name, path;
    std::vector<DeviceSpec> devices; ///< at least one
    std::vector<LinkSpec> links;     ///< at most one for each ordered pair of sites
    std::vector<FaultSpec> faults;
    Speed host_memory; ///< within the host's memory
};

/// Reads a machine. PI_ERROR_INVALID_VALUE with file, line, field, the value, and what would be
/// right.
Machine read_machine(const Document &document, const std::string &path);
/// Reads one of its devices, likewise.
DeviceSpec read_device(const Value &value);

} // namespace pi::sim
