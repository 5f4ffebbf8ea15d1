// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"

#include <pi/sdk/object.hpp>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pi::sim {

class Instance;
class Platform;

/// Work-items of a work-group, and bytes of its local memory: the limits of native functions.
inline constexpr uint64_t max_work_group_size = 65536;
inline constexpr uint64_t local_memory_size = uint64_t{1024} * 1024;

/// The used bytes of one scope of a device. Thread-safe.
class ScopeMemory {
public:
    /// Bytes that are in use while the object lives.
    class Reservation {
    public:
        Reservation() = default;
        Reservation(ScopeMemory &memory, uint64_t size, std::optional<uint64_t> run)
            : memory_(&memory), size_(size), run_(run) {}
        Reservation(Reservation &&other) noexcept
            : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_), run_(other.run_) {
        }
        Reservation &operator=(Reservation &&) = delete;
        ~Reservation() {
            if (memory_)
                memory_->release(*this);
        }
        /// For contiguous memory: its offset in the scope, in bytes.
        std::optional<uint64_t> run() const { return run_; }

    private:
        friend class ScopeMemory;
        ScopeMemory *memory_ = nullptr;
        uint64_t size_ = 0;
        std::optional<uint64_t> run_;
    };

    ScopeMemory(const ScopeSpec &spec, std::string owner) : spec_(spec), owner_(std::move(owner)) {}

    const ScopeSpec &spec() const { return spec_; }
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY, with the requested and the free size. A contiguous
    /// reservation is one range that begins at a multiple of `alignment`.
    Reservation reserve(uint64_t size, uint64_t alignment, bool contiguous);
    uint64_t available(); ///< bytes

private:
    void release(const Reservation &reservation);
    std::optional<uint64_t> find_run(uint64_t size, uint64_t alignment) const;
    [[noreturn]] void fail(const char *why, uint64_t size) const;

    const ScopeSpec &spec_;
    const std::string owner_;
    std::mutex mutex_;
    uint64_t used_ = 0;
    std::map<uint64_t, uint64_t> runs_; ///< begin to end
};

/// A root device; simulated machines have no sub-devices.
class Device : public sdk::Object<Device, pi_device> {
public:
    Device(const pi_host *host, Platform &platform, const DeviceSpec &spec, Site site);

    Platform &platform() const { return platform_; }
    Instance &instance() const;
    const DeviceSpec &spec() const { return spec_; }
    const std::string &description() const { return spec_.name; }
    Site site() const { return site_; }
    /// 1 << PI_EXTERNAL_: the types in the machine file that this system can make.
    uint32_t export_types() const;
    /// The types that it imports, host pointers included.
    uint32_t import_types() const;
    uint32_t scope_count() const { return static_cast<uint32_t>(spec_.scopes.size()); }
    /// The speed of flush, invalidate and maps in place in a scope that is not coherent.
    const Speed &maintenance_speed(const ScopeSpec &scope) const;
    ScopeMemory &scope(uint32_t index) { return *scopes_.at(index); }
    /// PI_ERROR_DEVICE_LOST from the virtual time on at which the machine file loses the device.
    void require_alive() const;

private:
    Platform &platform_;
    const DeviceSpec &spec_;
    const Site site_;
    std::vector<std::unique_ptr<ScopeMemory>> scopes_;
};

} // namespace pi::sim
