// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plugin_fixture.hpp"

#include <numeric>

namespace cuda_test {

Owned<pi_loader> make_loader(const std::string &library, const std::string &nvrtc,
                             const std::string &nvml) {
    return load_one_plugin(PI_TEST_CUDA_PLUGIN,
                           {{"PI_CUDA_LIBRARY", library.c_str()},
                            {"PI_NVRTC_LIBRARY", nvrtc.c_str()},
                            {"PI_NVML_LIBRARY", nvml.c_str()}},
                           {.log = no_log});
}

std::string unavailable(const std::string &library) {
    return why_unavailable(make_loader(library), "cuda");
}

Machine::Machine(const std::vector<size_t> &of_context, const std::string &nvrtc,
                 const std::string &nvml, const std::string &library)
    : PlatformFixture(make_loader(library, nvrtc, nvml), of_context) {
    REQUIRE(devices.size() == 4);
}

Owned<pi_program> Machine::create(pi_program_format format, const std::string &lines) const {
    return make_unbuilt(context, format,
                        "PI simulated CUDA module 1\nlibrary " PI_TEST_CUDA_KERNELS "\n" + lines);
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
