// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libur_adapter_pi.so as UR's loader sees it: the tables of its functions, and a context with
// queues on the devices of the test's environment.
//
//     Machine machine;
//     auto buffer = machine.buffer(64);
//     OK(ur().Enqueue.pfnMemBufferRead(machine.queue(), buffer, true, 0, 64, bytes.data(), 0,
//                                      nullptr, nullptr));
#pragma once

#include <catch2/catch.hpp>
#include <unified-runtime/ur_ddi.h>

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ur_test {

#define OK(call) REQUIRE((call) == UR_RESULT_SUCCESS)
/// FAILS(UR_RESULT_ERROR_INVALID_SIZE, call); the suffix of the code is enough.
#define FAILS(code, call) CHECK((call) == UR_RESULT_ERROR_##code)

template <class Table>
void load_table(void *library, const char *symbol, Table &table) {
    using Get = ur_result_t(UR_APICALL *)(ur_api_version_t, Table *);
    const auto get = reinterpret_cast<Get>(dlsym(library, symbol));
    INFO(symbol);
    REQUIRE(get != nullptr);
    OK(get(UR_API_VERSION_CURRENT, &table));
}

inline ur_dditable_t load_tables() {
    // Global, because what counts calls of public functions looks for them with RTLD_NEXT.
    void *const library = dlopen(PI_TEST_UR_ADAPTER, RTLD_NOW | RTLD_GLOBAL);
    INFO(PI_TEST_UR_ADAPTER << (library == nullptr ? dlerror() : ""));
    REQUIRE(library != nullptr);
    ur_dditable_t tables{};
#define PI_TEST_TABLE(name) load_table(library, "urGet" #name "ProcAddrTable", tables.name);
    PI_TEST_TABLE(Adapter)
    PI_TEST_TABLE(Platform)
    PI_TEST_TABLE(Context)
    PI_TEST_TABLE(Event)
    PI_TEST_TABLE(EventExp)
    PI_TEST_TABLE(Program)
    PI_TEST_TABLE(ProgramExp)
    PI_TEST_TABLE(Kernel)
    PI_TEST_TABLE(Queue)
    PI_TEST_TABLE(QueueExp)
    PI_TEST_TABLE(Sampler)
    PI_TEST_TABLE(Mem)
    PI_TEST_TABLE(PhysicalMem)
    PI_TEST_TABLE(Enqueue)
    PI_TEST_TABLE(EnqueueExp)
    PI_TEST_TABLE(USM)
    PI_TEST_TABLE(USMExp)
    PI_TEST_TABLE(BindlessImagesExp)
    PI_TEST_TABLE(CommandBufferExp)
    PI_TEST_TABLE(GraphExp)
    PI_TEST_TABLE(IPCExp)
    PI_TEST_TABLE(MemoryExportExp)
    PI_TEST_TABLE(UsmP2PExp)
    PI_TEST_TABLE(VirtualMem)
    PI_TEST_TABLE(Device)
    PI_TEST_TABLE(DeviceExp)
#undef PI_TEST_TABLE
    return tables;
}

/// All functions of the adapter.
inline const ur_dditable_t &ur() {
    static const ur_dditable_t tables = load_tables();
    return tables;
}

/// The function that releases a reference to an object.
template <class Handle>
inline constexpr auto release_of = nullptr;
#define PI_TEST_RELEASE(handle, table)                                                             \
    template <>                                                                                    \
    inline constexpr auto release_of<handle> =                                                     \
        [](handle object) { return ur().table.pfnRelease(object); };
PI_TEST_RELEASE(ur_device_handle_t, Device)
PI_TEST_RELEASE(ur_context_handle_t, Context)
PI_TEST_RELEASE(ur_queue_handle_t, Queue)
PI_TEST_RELEASE(ur_event_handle_t, Event)
PI_TEST_RELEASE(ur_mem_handle_t, Mem)
PI_TEST_RELEASE(ur_sampler_handle_t, Sampler)
PI_TEST_RELEASE(ur_program_handle_t, Program)
PI_TEST_RELEASE(ur_kernel_handle_t, Kernel)
#undef PI_TEST_RELEASE
template <>
inline constexpr auto release_of<ur_usm_pool_handle_t> =
    [](ur_usm_pool_handle_t object) { return ur().USM.pfnPoolRelease(object); };

/// One reference to an object. Converts to the handle.
template <class Handle>
class Owned {
public:
    Owned() = default;
    Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Owned &operator=(Owned &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned() { reset(); }
    operator Handle() const { return handle_; }
    Handle get() const { return handle_; }
    /// For lists of one object.
    const Handle &get_ref() const { return handle_; }
    /// For output arguments.
    Handle *out() {
        reset();
        return &handle_;
    }
    void reset() {
        if (handle_ != nullptr) {
            release_of<Handle>(std::exchange(handle_, nullptr));
        }
    }

private:
    Handle handle_ = nullptr;
};

using Bytes = std::vector<uint8_t>;

/// first, first + 1, ...
inline Bytes counting(size_t size, uint8_t first = 1) {
    Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), first);
    return bytes;
}

/// An info of fixed size: of an object, or of an object for a device.
template <class T, class Get, class... Question>
T info(Get get, Question... question) {
    T value{};
    size_t size = 0;
    OK(get(question..., sizeof value, &value, &size));
    CHECK(size == sizeof value);
    return value;
}

/// Why the calling thread's last call failed.
inline std::string last_error() {
    const char *text = nullptr;
    int32_t code = 0;
    ur().Adapter.pfnGetLastError(nullptr, &text, &code);
    return text == nullptr ? "" : text;
}

inline ur_platform_handle_t first_platform() {
    ur_adapter_handle_t adapter = nullptr;
    OK(ur().Adapter.pfnGet(1, &adapter, nullptr));
    ur_platform_handle_t platform = nullptr;
    uint32_t count = 0;
    OK(ur().Platform.pfnGet(adapter, 1, &platform, &count));
    OK(ur().Adapter.pfnRelease(adapter));
    REQUIRE(count > 0);
    return platform;
}

/// The root devices of the first platform.
inline std::vector<ur_device_handle_t> all_devices() {
    uint32_t count = 0;
    OK(ur().Device.pfnGet(first_platform(), UR_DEVICE_TYPE_ALL, 0, nullptr, &count));
    std::vector<ur_device_handle_t> devices(count);
    OK(ur().Device.pfnGet(first_platform(), UR_DEVICE_TYPE_ALL, count, devices.data(), nullptr));
    return devices;
}

/// GENERATE(from_range(device_counts())): with one device and with two, where there are two.
inline std::vector<size_t> device_counts() {
    return all_devices().size() > 1 ? std::vector<size_t>{1, 2} : std::vector<size_t>{1};
}

/// A context of the first devices, and a queue with these flags for each. Flags of 0 are an
/// in-order queue.
struct Machine {
    explicit Machine(size_t count = 1, ur_queue_flags_t flags = 0) : devices(all_devices()) {
        REQUIRE(devices.size() >= count);
        devices.resize(count);
        OK(ur().Context.pfnCreate(static_cast<uint32_t>(count), devices.data(), nullptr,
                                  context.out()));
        ur_queue_properties_t properties{};
        properties.stype = UR_STRUCTURE_TYPE_QUEUE_PROPERTIES;
        properties.flags = flags;
        queues.resize(count);
        for (size_t i = 0; i < count; ++i) {
            OK(ur().Queue.pfnCreate(context, devices[i], &properties, queues[i].out()));
        }
    }

    ur_queue_handle_t queue(size_t index = 0) const { return queues[index]; }

    Owned<ur_mem_handle_t> buffer(size_t size,
                                  ur_mem_flags_t flags = UR_MEM_FLAG_READ_WRITE) const {
        Owned<ur_mem_handle_t> mem;
        OK(ur().Mem.pfnBufferCreate(context, flags, size, nullptr, mem.out()));
        return mem;
    }
    /// With these bytes.
    Owned<ur_mem_handle_t> buffer(Bytes bytes) const {
        ur_buffer_properties_t properties{};
        properties.stype = UR_STRUCTURE_TYPE_BUFFER_PROPERTIES;
        properties.pHost = bytes.data();
        Owned<ur_mem_handle_t> mem;
        OK(ur().Mem.pfnBufferCreate(context,
                                    UR_MEM_FLAG_READ_WRITE | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER,
                                    bytes.size(), &properties, mem.out()));
        return mem;
    }
    Bytes read(ur_mem_handle_t mem, size_t size, size_t offset = 0, size_t at = 0) const {
        Bytes bytes(size);
        OK(ur().Enqueue.pfnMemBufferRead(queue(at), mem, true, offset, size, bytes.data(), 0,
                                         nullptr, nullptr));
        return bytes;
    }
    void write(ur_mem_handle_t mem, const Bytes &bytes, size_t offset = 0, size_t at = 0) const {
        OK(ur().Enqueue.pfnMemBufferWrite(queue(at), mem, true, offset, bytes.size(), bytes.data(),
                                          0, nullptr, nullptr));
    }

    std::vector<ur_device_handle_t> devices;
    Owned<ur_context_handle_t> context;
    std::vector<Owned<ur_queue_handle_t>> queues;
};

} // namespace ur_test
