// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer of shadow copies (plugins/opencl/simulator/shadow): in plain OpenCL, bytes pass
// between the application's memory and a large buffer at maps and unmaps only; the plugin detects
// that.
#include "native.hpp"

#include <cstring>

using namespace opencl_test;

namespace {

constexpr size_t shadow_size = 65536; ///< the layer's default

/// A vendor device in its own context, with a queue.
struct Bare {
    explicit Bare(pi_device on)
        : context(make_cl_context(vendor_of(on))), queue(make_cl_queue(context, vendor_of(on))) {}
    ClMem around(void *host, size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE) const {
        cl_int code = CL_SUCCESS;
        ClMem mem(clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, size, host, &code));
        cl_ok(code);
        return mem;
    }
    /// Blocking.
    void *map(cl_mem mem, cl_map_flags flags, size_t offset, size_t size) const {
        cl_int code = CL_SUCCESS;
        void *const address = clEnqueueMapBuffer(queue, mem, CL_TRUE, flags, offset, size, 0,
                                                 nullptr, nullptr, &code);
        cl_ok(code);
        return address;
    }
    void unmap(cl_mem mem, void *address) const {
        cl_ok(clEnqueueUnmapMemObject(queue, mem, address, 0, nullptr, nullptr));
        cl_ok(clFinish(queue));
    }
    void fill(cl_mem mem, uint8_t value, size_t size) const {
        cl_ok(clEnqueueFillBuffer(queue, mem, &value, 1, 0, size, 0, nullptr, nullptr));
        cl_ok(clFinish(queue));
    }
    std::vector<uint8_t> read(cl_mem mem, size_t size) const {
        std::vector<uint8_t> bytes(size);
        cl_ok(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, size, bytes.data(), 0, nullptr, nullptr));
        return bytes;
    }
    ClContext context;
    ClQueue queue;
};

using Bytes = std::vector<uint8_t>;

/// `value` in [begin, begin + size), `rest` elsewhere.
Bytes with_part(size_t whole, uint8_t rest, size_t begin, size_t size, uint8_t value) {
    Bytes bytes(whole, rest);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), size, value);
    return bytes;
}

pi_mem_import_desc import_desc(void *pointer, uint64_t size) {
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = size;
    desc.handle.type = PI_EXTERNAL_HOST_POINTER;
    desc.handle.pointer = pointer;
    return desc;
}

template <class Test>
void on_each_device(const Test &test) {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        test(Bare(device));
    }
}

} // namespace

TEST_CASE("a shadow copy begins with the host's bytes and keeps the device's to itself",
          "[.shadow]") {
    on_each_device([](const Bare &bare) {
        Bytes host(shadow_size, 1);
        const ClMem mem = bare.around(host.data(), host.size());
        CHECK(bare.read(mem, host.size()) == Bytes(shadow_size, 1));
        bare.fill(mem, 2, host.size());
        CHECK(host == Bytes(shadow_size, 1));
        CHECK(bare.read(mem, host.size()) == Bytes(shadow_size, 2));
        std::fill(host.begin(), host.end(), uint8_t{3});
        CHECK(bare.read(mem, host.size()) == Bytes(shadow_size, 2));
    });
}

TEST_CASE("a map of a shadow copy copies the device's bytes, its unmap the host's", "[.shadow]") {
    on_each_device([](const Bare &bare) {
        constexpr size_t offset = 4096, size = 1000;
        Bytes host(shadow_size, 1);
        const ClMem mem = bare.around(host.data(), host.size());
        bare.fill(mem, 2, host.size());

        // A map for writing too: bytes of it that the host does not write must survive the unmap.
        void *address = bare.map(mem, CL_MAP_WRITE, offset, size);
        CHECK(address == host.data() + offset);
        CHECK(host == with_part(shadow_size, 1, offset, size, 2));
        std::memset(address, 3, size);
        CHECK(bare.read(mem, host.size()) == Bytes(shadow_size, 2));
        bare.unmap(mem, address);
        CHECK(bare.read(mem, host.size()) == with_part(shadow_size, 2, offset, size, 3));

        // The host's writes during a map for reading stay at the host.
        address = bare.map(mem, CL_MAP_READ, 0, host.size());
        CHECK(host == with_part(shadow_size, 2, offset, size, 3));
        std::memset(address, 4, host.size());
        bare.unmap(mem, address);
        CHECK(bare.read(mem, host.size()) == with_part(shadow_size, 2, offset, size, 3));
    });
}

TEST_CASE("a map that discards copies nothing to the host, and everything to the device",
          "[.shadow]") {
    on_each_device([](const Bare &bare) {
        Bytes host(shadow_size, 1);
        const ClMem mem = bare.around(host.data(), host.size());
        bare.fill(mem, 2, host.size());
        void *address = bare.map(mem, CL_MAP_WRITE_INVALIDATE_REGION, 100, 50);
        CHECK(address == host.data() + 100);
        CHECK(host == Bytes(shadow_size, 1));
        bare.unmap(mem, address);
        CHECK(bare.read(mem, host.size()) == with_part(shadow_size, 2, 100, 50, 1));
    });
}

TEST_CASE("maps of one address are undone in order, and an unmapped address is refused",
          "[.shadow]") {
    on_each_device([](const Bare &bare) {
        Bytes host(shadow_size, 1);
        const ClMem mem = bare.around(host.data(), host.size());
        void *first = bare.map(mem, CL_MAP_READ, 0, 16),
             *second = bare.map(mem, CL_MAP_READ, 0, 16);
        REQUIRE(first == second);
        CHECK(ask<cl_uint>(clGetMemObjectInfo, mem.get(), CL_MEM_MAP_COUNT) == 2);
        bare.unmap(mem, first);
        bare.unmap(mem, second);
        CHECK(ask<cl_uint>(clGetMemObjectInfo, mem.get(), CL_MEM_MAP_COUNT) == 0);
        CHECK(clEnqueueUnmapMemObject(bare.queue, mem, first, 0, nullptr, nullptr) ==
              CL_INVALID_VALUE);
        cl_int code = CL_SUCCESS;
        CHECK(clEnqueueMapBuffer(bare.queue, mem, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 1,
                                 host.size(), 0, nullptr, nullptr, &code) == nullptr);
        CHECK(code == CL_INVALID_VALUE);
    });
}

TEST_CASE("a map of a shadow copy waits for its wait list", "[.shadow]") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        if (!waits_for_user_events(device))
            continue;
        const Bare bare(device);
        Bytes host(shadow_size, 1);
        const ClMem mem = bare.around(host.data(), host.size());
        bare.fill(mem, 2, host.size());
        const ClEvent gate = make_user_event(bare.context);
        const cl_event wait = gate;
        cl_event mapped = nullptr;
        cl_int code = CL_SUCCESS;
        void *const address = clEnqueueMapBuffer(bare.queue, mem, CL_FALSE, CL_MAP_READ, 0,
                                                 host.size(), 1, &wait, &mapped, &code);
        cl_ok(code);
        const ClEvent owner(mapped);
        CHECK(host == Bytes(shadow_size, 1));
        cl_ok(clSetUserEventStatus(gate, CL_COMPLETE));
        cl_ok(clFlush(bare.queue));
        cl_ok(clWaitForEvents(1, &mapped));
        CHECK(host == Bytes(shadow_size, 2));
        bare.unmap(mem, address);
    }
}

TEST_CASE("sub-buffers of a shadow copy are parts of it", "[.shadow]") {
    on_each_device([](const Bare &bare) {
        constexpr size_t origin = 8192, size = 4096;
        Bytes host(shadow_size, 1);
        const ClMem mem = bare.around(host.data(), host.size());
        const cl_buffer_region region{origin, size};
        cl_int code = CL_SUCCESS;
        const ClMem part(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
        cl_ok(code);
        CHECK(ask<void *>(clGetMemObjectInfo, part.get(), CL_MEM_HOST_PTR) == host.data() + origin);
        bare.fill(part, 2, size);
        CHECK(host == Bytes(shadow_size, 1));
        void *const address = bare.map(part, CL_MAP_READ, 0, size);
        CHECK(address == host.data() + origin);
        CHECK(host == with_part(shadow_size, 1, origin, size, 2));
        bare.unmap(part, address);
        CHECK(bare.read(mem, host.size()) == host);
    });
}

TEST_CASE("a shadow copy has the flags and the pointer with which it was made", "[.shadow]") {
    on_each_device([](const Bare &bare) {
        Bytes host(shadow_size, 1);
        const ClMem mem = bare.around(host.data(), host.size(), CL_MEM_READ_ONLY);
        CHECK(ask<cl_mem_flags>(clGetMemObjectInfo, mem.get(), CL_MEM_FLAGS) ==
              (CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR));
        CHECK(ask<void *>(clGetMemObjectInfo, mem.get(), CL_MEM_HOST_PTR) == host.data());
    });
}

TEST_CASE("smaller buffers and buffers in the driver's own memory are not shadow copies",
          "[.shadow]") {
    on_each_device([](const Bare &bare) {
        Bytes host(shadow_size, 1);
        const ClMem small = bare.around(host.data(), host.size() - 1);
        bare.fill(small, 2, host.size() - 1);
        CHECK(host == with_part(shadow_size, 1, 0, host.size() - 1, 2));
        const ClMem own = make_cl_buffer(bare.context, host);
        CHECK(ask<void *>(clGetMemObjectInfo, own.get(), CL_MEM_HOST_PTR) == nullptr);
        void *const address = bare.map(own, CL_MAP_READ, 0, host.size());
        CHECK(address != host.data());
        CHECK(std::memcmp(address, host.data(), host.size()) == 0);
        bare.unmap(own, address);
    });
}

// ----- the plugin over the layer -----------------------------------------------------------------

TEST_CASE("host memory of a driver with shadow copies is not imported in place", "[.shadow]") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_IMPORT) == 0);
        CHECK((info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES) &
               1u << PI_EXTERNAL_HOST_POINTER) == 0);
        CHECK((scope_of(device).flags & PI_SCOPE_MAPS_IN_PLACE) == 0);
        Bytes host(shadow_size, 1);
        const auto desc = import_desc(host.data(), host.size());
        Mem mem;
        refused(piMemImport(place.context, device, &desc, mem.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"65536"});
        // The host's alignment is not the device's either.
        auto aligned = pi::desc<pi_mem_buffer_desc>();
        aligned.size = shadow_size;
        aligned.alignment = 4096;
        refused(piMemBufferCreate(place.context, device, &aligned, mem.out()),
                PI_ERROR_INVALID_ALIGNMENT, {"4096"});
    }
}

TEST_CASE("PI_MEM_USE_HOST_PTR over a shadow copy is synchronised by maps", "[.shadow]") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        Bytes host(shadow_size, 1);
        const Mem mem = make_buffer(place.context, device,
                                    buffer_desc(host.size(), PI_MEM_USE_HOST_PTR, host.data()));
        for (uint8_t round = 0; round < 10; ++round) {
            void *address = nullptr;
            wait(map(place.queue, mem, PI_MAP_WRITE_DISCARD, 0, host.size(), &address));
            REQUIRE(address == host.data());
            std::fill(host.begin(), host.end(), round);
            wait(unmap(place.queue, mem, address));
            CHECK(contents(place.queue, mem) == Bytes(shadow_size, round));
            const uint8_t next = static_cast<uint8_t>(round + 100);
            wait(fill(place.queue, mem, &next, 1, 0, host.size()));
            CHECK(host == Bytes(shadow_size, round));
            wait(map(place.queue, mem, PI_MAP_READ, 0, host.size(), &address));
            CHECK(host == Bytes(shadow_size, next));
            wait(unmap(place.queue, mem, address));
        }
    }
}

// The layer makes shadow copies from 16 MiB on: larger than the sizes that trials cover.
TEST_CASE("an import is in place in its real size, or refused", "[.large_shadow]") {
    constexpr uint64_t from = uint64_t{16} << 20;
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_IMPORT) == 1);
        Bytes host(from + 4096, 1);
        uint8_t *const begin =
            host.data() + (4096 - reinterpret_cast<uintptr_t>(host.data()) % 4096);
        Mem mem;
        auto desc = import_desc(begin, from);
        refused(piMemImport(place.context, device, &desc, mem.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"16777216"});
        // Trials never change the application's bytes.
        CHECK(host == Bytes(host.size(), 1));
        for (const uint64_t size : {from - 4096, uint64_t{5} << 20, uint64_t{4096}}) {
            desc = import_desc(begin, size);
            OK(piMemImport(place.context, device, &desc, mem.out()));
            const uint8_t two = 2;
            wait(fill(place.queue, mem, &two, 1, 0, size));
            CHECK(std::count(begin, begin + size, two) == static_cast<std::ptrdiff_t>(size));
            std::fill(host.begin(), host.end(), uint8_t{1});
        }
        desc = import_desc(begin, from);
        refused(piMemImport(place.context, device, &desc, mem.out()), PI_ERROR_UNSUPPORTED_FEATURE);
    }
}
