// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// IPC handles: memory of one process, imported by another. The other process is this program again,
// with the same test, which imports what it is given.

#include "checks.hpp"
#include "config.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr uint64_t size = 5000;
constexpr std::byte from_first{0x5A}, from_second{0xC3};

std::string hex_of(const pi_external_handle &handle) {
    std::ostringstream text;
    const auto *bytes = reinterpret_cast<const unsigned char *>(&handle);
    for (std::size_t i = 0; i < sizeof handle; ++i)
        text << "0123456789abcdef"[bytes[i] >> 4] << "0123456789abcdef"[bytes[i] & 15];
    return text.str();
}

pi_external_handle handle_of(const std::string &hex) {
    pi_external_handle handle{};
    require_equal(hex.size(), 2 * sizeof handle, "the size of a handle from another process");
    auto *bytes = reinterpret_cast<unsigned char *>(&handle);
    for (std::size_t i = 0; i < sizeof handle; ++i)
        bytes[i] = static_cast<unsigned char>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    handle.pointer = nullptr;
    return handle;
}

// The second process: sees the first one's bytes, and writes its own.
void import_handle(Fixture &fixture, const pi_external_handle &handle) {
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = handle.size;
    desc.handle = handle;
    Mem mem;
    require_success(piMemImport(fixture.context(), fixture.device(), &desc, mem.out()),
                    "piMemImport of an IPC handle in another process");
    const Queue queue = fixture.make_queue();
    fixture.require_contents(queue, mem, Bytes(size, from_first),
                             "memory of another process, as imported");
    fixture.upload(queue, mem, Bytes(size, from_second));
}

// The arguments of this process that select the plugin, the device and the test.
std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline");
    std::vector<std::string> all, own;
    for (std::string argument; std::getline(file, argument, '\0');)
        all.push_back(argument);
    for (std::size_t i = 1; i < all.size(); ++i)
        for (const char *name : {"--plugin", "--device", "--run-test", "--seed"}) {
            if (all[i].starts_with(join(name, "=")))
                own.push_back(all[i]);
            else if (all[i] == name && i + 1 < all.size())
                own.push_back(join(name, "=", all[i + 1]));
        }
    return own;
}

// Runs this test again with the handle; returns what a failing one wrote.
std::string run_second_process(const pi_external_handle &handle) {
    std::vector<std::string> arguments = own_arguments();
    arguments.insert(arguments.begin(), "/proc/self/exe");
    std::vector<char *> argv;
    for (std::string &argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    int ends[2];
    require(pipe2(ends, O_CLOEXEC) == 0, "pipe2 failed");
    std::string variable = join(second_process_variable, "=", hex_of(handle));
    const pid_t child = fork();
    require(child >= 0, "fork failed");
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        putenv(variable.data());
        // Level Zero's handles begin with a file descriptor, which programs pass on.
        int descriptor = -1;
        std::memcpy(&descriptor, handle.ipc, sizeof descriptor);
        if (handle.type == PI_EXTERNAL_ZE_IPC)
            fcntl(descriptor, F_SETFD, 0);
        execv("/proc/self/exe", argv.data());
        _exit(127);
    }
    close(ends[1]);
    std::string output;
    char buffer[4096];
    for (ssize_t length = 0; (length = read(ends[0], buffer, sizeof buffer)) > 0;)
        output.append(buffer, static_cast<std::size_t>(length));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ""
                                                         : join("status ", status, ": ", output);
}

CONFORMANCE_TEST("memory",
                 "memory is imported by its IPC handle in another process, as one storage") {
    const auto types_of = [&](pi_device_info name) {
        return info_or(&piDeviceGetInfo, fixture.device(), name, 0u);
    };
    const uint32_t types = types_of(PI_DEVICE_INFO_EXPORT_HANDLE_TYPES) &
                           types_of(PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES) &
                           (1u << PI_EXTERNAL_CUDA_IPC | 1u << PI_EXTERNAL_ZE_IPC);
    if (types == 0)
        skip("the device exports and imports no IPC handles");
    if (const std::string given = given_to_second_process(); !given.empty())
        return import_handle(fixture, handle_of(given));
    for (const pi_external_type type : {PI_EXTERNAL_CUDA_IPC, PI_EXTERNAL_ZE_IPC}) {
        if ((types >> type & 1) == 0)
            continue;
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = size;
        desc.export_types = 1u << type;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        const Queue queue = fixture.make_queue();
        fixture.upload(queue, mem, Bytes(size, from_first));
        auto export_desc = pi::desc<pi_mem_export_desc>();
        export_desc.external_type = type;
        pi_external_handle handle{};
        require_success(piMemExport(mem, &export_desc, &handle), "piMemExport of an IPC handle");
        const std::string failure = run_second_process(handle);
        require(failure.empty(), "the process that imports fails with ", failure);
        fixture.require_contents(queue, mem, Bytes(size, from_second),
                                 "memory that another process has written");
    }
}

} // namespace
} // namespace pi::suite
