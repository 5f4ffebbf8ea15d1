// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is exported from the machine as a file, and imported again.
#include "fixture.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

using namespace sim_test;

namespace {

/// Two GPUs with a special link, and one without any link. From the host a byte takes 1 ns.
std::string three_gpus(const std::string &link = "") {
    const auto gpu = [](const std::string &name) {
        return R"({"name": ")" + name + R"(", "type": "gpu", "external_handle_types": ["opaque_fd"],
            "export_handle_types": ["opaque_fd"], "scopes": [
            {"name": "global", "capacity": "1 MiB"}, {"name": "other", "capacity": "1 MiB"}]})";
    };
    return R"({"pi_machine": 1, "name": "three", "devices": [)" + gpu("a") + ", " + gpu("b") +
           ", " + gpu("c") + R"(], "links": [
        {"from": "host", "to": "a", "bandwidth": "1 GB/s"}, {"from": "host", "to": "b",
            "bandwidth": "1 GB/s"},
        {"between": ["a", "b"], "connection": "none")" +
           link + "}]}";
}

pi_mem_buffer_desc exportable(uint64_t size) {
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = size;
    d.export_types = 1u << PI_EXTERNAL_OPAQUE_FD;
    return d;
}

Owned<pi_mem> make_exportable(const Simulation &machine, size_t device, uint64_t size) {
    const auto d = exportable(size);
    Owned<pi_mem> mem;
    OK(piMemBufferCreate(machine.context, machine.device(device), &d, mem.out()));
    return mem;
}

int export_fd(pi_mem mem) {
    auto d = pi::desc<pi_mem_export_desc>();
    d.external_type = PI_EXTERNAL_OPAQUE_FD;
    pi_external_handle handle{};
    OK(piMemExport(mem, &d, &handle));
    return handle.fd;
}

pi_mem_import_desc import_desc(int fd, uint64_t size) {
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = size;
    d.handle.type = PI_EXTERNAL_OPAQUE_FD;
    d.handle.fd = fd;
    return d;
}

Owned<pi_mem> import_fd(const Simulation &machine, size_t device, int fd, uint64_t size) {
    const auto d = import_desc(fd, size);
    Owned<pi_mem> mem;
    OK(piMemImport(machine.context, machine.device(device), &d, mem.out()));
    return mem;
}

uint32_t shared_types(const Simulation &machine, size_t src, size_t dst, uint32_t scope = 0) {
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = PI_MEMORY_KIND_BUFFER;
    query.src_scope = scope;
    auto info = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(machine.device(src), machine.context, machine.device(dst),
                                 machine.context, &query, &info));
    return info.external_handle_types;
}

} // namespace

TEST_CASE("simulated memory is a real file, which another process could map", "[sim]") {
    const Simulation machine(three_gpus());
    const auto queue = machine.queue();
    const auto mem = make_exportable(machine, 0, 5000);
    const Descriptor file(export_fd(mem));
    auto *bytes = static_cast<std::byte *>(
        mmap(nullptr, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, 0));
    REQUIRE(bytes != MAP_FAILED);
    const Bytes written = some_bytes(5000);
    OK(piEventWait(write(queue, mem, written), patience));
    CHECK(Bytes(bytes, bytes + 5000) == written);
    std::memset(bytes, 7, 5000);
    CHECK(read(queue, mem, 5000) == Bytes(5000, std::byte{7}));
    munmap(bytes, 5000);
}

TEST_CASE("the connection reports what both ends share, and the link may allow less", "[sim]") {
    constexpr uint32_t file = 1u << PI_EXTERNAL_OPAQUE_FD;
    const Simulation all(three_gpus());
    CHECK(shared_types(all, 0, 0) == file);
    CHECK(shared_types(all, 0, 1) == file);
    CHECK(shared_types(all, 0, 2) == 0); // without a link
    CHECK(shared_types(all, 0, 1, 1) == 0);
    const Simulation less(three_gpus(R"(, "external_handle_types": ["dma_buf_fd"])"));
    CHECK(shared_types(less, 0, 0) == file);
    CHECK(shared_types(less, 0, 1) == 0);
}

TEST_CASE("memory of a device whose link does not share it is not imported", "[sim]") {
    const Simulation machine(three_gpus());
    const auto mem = make_exportable(machine, 0, 64);
    const Descriptor file(export_fd(mem));
    const auto d = import_desc(file.fd, 64);
    Owned<pi_mem> imported;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "memory of a, which c cannot import",
            piMemImport(machine.context, machine.device(2), &d, imported.out()));
    OK(piMemImport(machine.context, machine.device(1), &d, imported.out()));
}

TEST_CASE("transfers of imported memory use the links of the device that it comes from", "[sim]") {
    const Simulation machine(three_gpus());
    const auto queue = machine.queue(1);
    const auto mem = make_exportable(machine, 0, 1000);
    const Descriptor file(export_fd(mem));
    const auto imported = import_fd(machine, 1, file.fd, 1000);
    OK(piEventWait(write(queue, imported, some_bytes(1000)), patience));
    CHECK(machine.link("host", "a").bytes == 1000);
    CHECK(machine.link("host", "b").bytes == 0);
    CHECK(read(machine.queue(0), mem, 1000) == some_bytes(1000));
    // Memory imported from another machine is in the host's memory.
    const Simulation other(three_gpus());
    const auto elsewhere = import_fd(other, 0, file.fd, 1000);
    CHECK(read(other.queue(0), elsewhere, 1000) == some_bytes(1000));
    CHECK(other.link("a", "host").bytes == 0);
}

TEST_CASE("memory stays reserved as long as an import of it exists", "[sim]") {
    const Simulation machine(three_gpus());
    auto mem = make_exportable(machine, 0, 1 << 20);
    const Descriptor file(export_fd(mem));
    auto imported = import_fd(machine, 1, file.fd, 100);
    mem.reset();
    const auto d = exportable(1);
    Owned<pi_mem> more;
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "0 bytes (0 bytes) free",
            piMemBufferCreate(machine.context, machine.device(0), &d, more.out()));
    imported.reset();
    OK(piMemBufferCreate(machine.context, machine.device(0), &d, more.out()));
}

TEST_CASE("the host's view of memory imported without coherence is stale", "[sim]") {
    const Simulation machine(R"({"pi_machine": 1, "name": "board", "devices": [
        {"name": "x", "type": "accelerator", "integrated": true,
            "external_handle_types": ["opaque_fd"],
         "export_handle_types": ["opaque_fd"], "scopes": [
            {"name": "global", "flags": ["host_visible", "maps_in_place"],
                "capacity": "1 MiB"}]}]})");
    const auto queue = machine.queue();
    const auto mem = make_exportable(machine, 0, 64);
    OK(piEventWait(write(queue, mem, Bytes(64, std::byte{1})), patience));
    const Descriptor file(export_fd(mem));
    const auto imported = import_fd(machine, 0, file.fd, 64);
    CHECK(info<pi_coherence>(piMemGetInfo, imported, PI_MEM_INFO_COHERENCE) ==
          PI_COHERENCE_FLUSH_INVALIDATE);
    void *pointer = nullptr;
    OK(piMemGetHostPointer(imported, &pointer));
    OK(piEventWait(write(queue, mem, Bytes(64, std::byte{2})), patience));
    CHECK(static_cast<std::byte *>(pointer)[5] == std::byte{1});
    OK(piMemInvalidate(imported, 0, 64));
    CHECK(static_cast<std::byte *>(pointer)[5] == std::byte{2});
}

TEST_CASE("memory that cannot be exported is refused with the reason", "[sim]") {
    const Simulation machine(three_gpus());
    const auto refused = [&](const char *words, const pi_mem_buffer_desc &d) {
        Owned<pi_mem> mem;
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, words,
                piMemBufferCreate(machine.context, machine.device(0), &d, mem.out()));
    };
    auto d = exportable(64);
    d.scope = 1;
    refused("memory of scope 0 is exported", d);
    d = exportable(64);
    d.export_types |= 1u << PI_EXTERNAL_DMA_BUF_FD;
    refused("a exports 0x8 (export_handle_types in the machine file)", d);
    alignas(64) std::byte bytes[64];
    d = exportable(64);
    d.flags = PI_MEM_USE_HOST_PTR;
    d.host_ptr = bytes;
    refused("PI_MEM_USE_HOST_PTR", d);
}

TEST_CASE(
    "a dma-buf that this kernel cannot make is not reported, and refused with what would help",
    "[sim]") {
    const Simulation machine(
        R"({"pi_machine": 1, "name": "m", "devices": [{"name": "a", "type": "gpu",
        "export_handle_types": ["dma_buf_fd"], "scopes": [{"name": "global",
            "capacity": 4096}]}]})");
    const bool possible = !access("/dev/udmabuf", R_OK | W_OK);
    CHECK(info<uint32_t>(piDeviceGetInfo, machine.device(), PI_DEVICE_INFO_EXPORT_HANDLE_TYPES) ==
          (possible ? 1u << PI_EXTERNAL_DMA_BUF_FD : 0));
    if (possible)
        return;
    auto d = exportable(64);
    d.export_types = 1u << PI_EXTERNAL_DMA_BUF_FD;
    Owned<pi_mem> mem;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "CONFIG_UDMABUF",
            piMemBufferCreate(machine.context, machine.device(), &d, mem.out()));
}

TEST_CASE("the processor and a simulated device share memory, in both directions", "[sim]") {
    const Simulation machine(three_gpus());
    const char *plugins[] = {PI_TEST_HOST_PLUGIN};
    auto loading = pi::desc<pi_loader_desc>();
    loading.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    loading.plugins = plugins;
    loading.plugin_count = 1;
    Owned<pi_loader> loader;
    OK(piLoaderCreate(&loading, loader.out()));
    pi_device host = nullptr;
    uint32_t count = 0;
    OK(piLoaderSelectDevices(loader, "host:0:0", 1, &host, &count));
    pi_platform platform = nullptr;
    OK(piDeviceGetInfo(host, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform, nullptr));
    auto of_host = pi::desc<pi_context_desc>();
    of_host.device_count = 1;
    of_host.devices = &host;
    Owned<pi_context> context;
    OK(piContextCreate(platform, &of_host, context.out()));
    const Bytes bytes = some_bytes(3000);
    const auto pointer_to = [](pi_mem mem) {
        void *pointer = nullptr;
        OK(piMemGetHostPointer(mem, &pointer));
        return static_cast<std::byte *>(pointer);
    };
    {
        const auto mem = make_exportable(machine, 0, 3000);
        const Descriptor file(export_fd(mem));
        const auto d = import_desc(file.fd, 3000);
        Owned<pi_mem> imported;
        OK(piMemImport(context, host, &d, imported.out()));
        OK(piEventWait(write(machine.queue(), mem, bytes), patience));
        CHECK(Bytes(pointer_to(imported), pointer_to(imported) + 3000) == bytes);
    }
    const auto d = exportable(3000);
    Owned<pi_mem> mem;
    OK(piMemBufferCreate(context, host, &d, mem.out()));
    std::memcpy(pointer_to(mem), bytes.data(), 3000);
    const Descriptor file(export_fd(mem));
    const auto imported = import_fd(machine, 0, file.fd, 3000);
    CHECK(read(machine.queue(), imported, 3000) == bytes);
}
