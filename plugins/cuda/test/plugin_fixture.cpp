// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin_fixture.hpp"

#include "one_plugin.hpp"

#include <numeric>

namespace cuda_test {

Owned<pi_loader> make_loader(const std::string &library, const std::string &nvrtc,
                             const std::string &nvml) {
    return load_one_plugin(PI_TEST_CUDA_PLUGIN,
                           {{"PI_CUDA_LIBRARY", library.c_str()},
                            {"PI_NVRTC_LIBRARY", nvrtc.c_str()},
                            {"PI_NVML_LIBRARY", nvml.c_str()}},
                           no_log);
}

std::string unavailable(const std::string &library) {
    return why_unavailable(make_loader(library), "cuda");
}

Machine::Machine(const std::vector<size_t> &of_context, const std::string &nvrtc,
                 const std::string &nvml, const std::string &library)
    : loader(make_loader(library, nvrtc, nvml)) {
    pi_plugin plugin = nullptr;
    uint32_t count = 0;
    OK(piPluginsGet(loader, 1, &plugin, &count));
    REQUIRE(count == 1);
    OK(piPlatformsGet(plugin, 1, &platform, &count));
    devices.resize(4);
    OK(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 4, devices.data(), &count));
    REQUIRE(count == 4);
    context = make_context(of_context);
}

Owned<pi_context> Machine::make_context(const std::vector<size_t> &of) const {
    std::vector<pi_device> list;
    for (const size_t index : of)
        list.push_back(devices.at(index));
    auto d = pi::desc<pi_context_desc>();
    d.device_count = static_cast<uint32_t>(list.size());
    d.devices = list.data();
    Owned<pi_context> made;
    OK(piContextCreate(platform, &d, made.out()));
    return made;
}

Owned<pi_queue> Machine::queue(size_t device, uint64_t flags) const {
    auto d = pi::desc<pi_queue_desc>();
    d.flags = flags;
    Owned<pi_queue> made;
    OK(piQueueCreate(context, devices.at(device), &d, made.out()));
    return made;
}

Owned<pi_mem> Machine::buffer(size_t device, uint64_t size) const {
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = size;
    Owned<pi_mem> made;
    OK(piMemBufferCreate(context, devices.at(device), &d, made.out()));
    return made;
}

pi_memory_connection_info Machine::connection(size_t src, size_t dst) const {
    auto info = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(devices.at(src), context, devices.at(dst), context, nullptr,
                                 &info));
    return info;
}

Owned<pi_program> Machine::create(pi_program_format format, const std::string &lines) const {
    const std::string image =
        "PI simulated CUDA module 1\nlibrary " PI_TEST_CUDA_KERNELS "\n" + lines;
    auto d = pi::desc<pi_program_desc>();
    d.format = format;
    d.data = image.data();
    d.size = image.size();
    Owned<pi_program> made;
    OK(piProgramCreate(context, &d, made.out()));
    return made;
}

Owned<pi_program> Machine::program(const std::string &lines) const {
    Owned<pi_program> made = create(PI_PROGRAM_FORMAT_CUBIN, lines);
    OK(piProgramBuild(made, nullptr));
    return made;
}

Owned<pi_program> Machine::part(const std::string &lines) const {
    Owned<pi_program> made = create(PI_PROGRAM_FORMAT_PTX, lines);
    OK(piProgramCompile(made, nullptr));
    return made;
}

std::string build_text(pi_program program, pi_device device, pi_program_build_info name) {
    uint64_t size = 0;
    OK(piProgramGetBuildInfo(program, device, name, 0, nullptr, &size));
    std::string text(size, '\0');
    OK(piProgramGetBuildInfo(program, device, name, size, text.data(), nullptr));
    return text.c_str();
}

Bytes counting(size_t size) {
    Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), uint8_t{1});
    return bytes;
}

Bytes read_bytes(pi_queue queue, pi_mem mem, size_t size) {
    return read_items<uint8_t>(queue, mem, size);
}

} // namespace cuda_test
