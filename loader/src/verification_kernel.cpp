// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verification_kernel.hpp"

#include "error.hpp"
#include "verification_import.hpp"

#include <pi/pi_verification_kernel.h>

namespace pi::loader {
namespace {

constexpr uint64_t word = sizeof(uint32_t);

/// Says nothing about the plugin's kernel: the same call may succeed later, or elsewhere.
bool is_passing(pi_result result) {
    return result == PI_ERROR_OUT_OF_HOST_MEMORY || result == PI_ERROR_OUT_OF_DEVICE_MEMORY ||
           result == PI_ERROR_OUT_OF_RESOURCES || result == PI_ERROR_DEVICE_LOST;
}

/// The plugin's verification kernel, built for one place. Throws NoKernel if there is none.
class CopyKernel {
public:
    CopyKernel(const pi_dispatch &plugin, pi_plugin instance, const VerifiedPlace &place)
        : CopyKernel(plugin) {
        const auto need = [](pi_result result, const char *what) {
            if (is_passing(result))
                throw CallFailed{result};
            if (result != PI_SUCCESS)
                throw NoKernel{fmt::format("{}: {}", what, ErrorScope::text(result))};
        };
        const void *table = nullptr;
        need(plugin.piPluginGetExtension(instance, PI_VERIFICATION_KERNEL_V1,
                                         sizeof(pi_verification_kernel_v1), &table),
             "the plugin does not provide " PI_VERIFICATION_KERNEL_V1);
        pi_verification_kernel known{};
        need(
            static_cast<const pi_verification_kernel_v1 *>(table)->get_kernel(place.device, &known),
            "the device has no verification kernel");
        constexpr const char *unbuilt = "the verification kernel does not build";
        auto desc = pi::desc<pi_program_desc>();
        desc.format = known.format;
        desc.data = known.data;
        desc.size = known.size;
        need(plugin.piProgramCreate(place.context, &desc, &program_), unbuilt);
        auto build = pi::desc<pi_program_build_desc>();
        build.device_count = 1;
        build.devices = &place.device;
        need(plugin.piProgramBuild(program_, &build), unbuilt);
        need(plugin.piKernelCreate(program_, known.name, nullptr, &kernel_), unbuilt);
    }
    CopyKernel(const CopyKernel &) = delete;
    CopyKernel &operator=(const CopyKernel &) = delete;
    ~CopyKernel() {
        if (kernel_ != nullptr)
            plugin_.piKernelRelease(kernel_);
        if (program_ != nullptr)
            plugin_.piProgramRelease(program_);
    }

    pi_kernel handle() const noexcept { return kernel_; }

private:
    // Once this one has run, the destructor runs even if the other constructor throws.
    explicit CopyKernel(const pi_dispatch &plugin) noexcept : plugin_(plugin) {}

    const pi_dispatch &plugin_;
    pi_program program_ = nullptr;
    pi_kernel kernel_ = nullptr;
};

/// src writes and reads its memory by fill() and compare(what).
template <typename Fill, typename Compare>
std::string used_by_kernel(Check &check, const CopyKernel &kernel, Memory &source,
                           const std::string &src, Fill &&fill, Compare &&compare) {
    Memory target(check.plugin, check.dst.place, check.own_kind(), check.request.how.dst_scope,
                  check.layout.size);
    const auto launch = [&](const Memory &from, Memory &to) {
        check.dst.lane.launch(kernel.handle(), from, to, check.layout.size / word).wait();
        to.hold({to.now.round, from.now.round});
    };
    fill();
    check.fill(check.dst, target);
    launch(source, target);
    std::string seen = check.compare(check.dst, target,
                                     fmt::format("written by {}, read by a kernel of dst", src));
    if (!seen.empty())
        return seen;
    check.fill(check.dst, target);
    launch(target, source);
    return compare(fmt::format("written by a kernel of dst, read by {}", src));
}

std::string used_by_kernel(Check &check, const CopyKernel &kernel, Memory &source) {
    return used_by_kernel(
        check, kernel, source, "src", [&] { check.fill(check.src, source); },
        [&](const std::string &what) { return check.compare(check.src, source, what); });
}

// For kernels of the place itself, the host is the other end.
std::string used_by_kernel(Check &check, const CopyKernel &kernel, Memory &source,
                           const HostAccess &host) {
    if (!is_one_place(check.request))
        return used_by_kernel(check, kernel, source);
    return used_by_kernel(
        check, kernel, source, "the host", [&] { host.fill(check, source); },
        [&](const std::string &what) { return host.compare(check, source, what); });
}

} // namespace

std::string verify_kernels(const pi_dispatch &plugin, pi_plugin instance,
                           const VerificationRequest &request) {
    const CopyKernel kernel(plugin, instance, request.dst);
    const pi_memory_verification_desc &how = request.how;
    const auto words_of = [](uint64_t size) { return whole(size / word * word); };
    if (how.kind != PI_MEMORY_KIND_IMPORTED)
        return with_room(
            layouts((how.flags & PI_VERIFY_DEEP) != 0, largest_sample), [&](const Layout &layout) {
                Check check(plugin, request, words_of(layout.sections.back().size));
                Memory source(plugin, request.src, how.kind, how.src_scope, check.layout.size);
                return used_by_kernel(check, kernel, source);
            });
    const HostMemory host(plugin, request);
    const uint64_t base = -reinterpret_cast<uintptr_t>(host.bytes.data()) % word;
    if (host.bytes.size() < base + word)
        return "";
    const uint64_t size = std::min<uint64_t>(host.bytes.size() - base, largest_sample);
    Check check(plugin, request, words_of(size));
    return with_import(check, host.bytes, base, [&](Memory &source, const HostAccess &access) {
        return used_by_kernel(check, kernel, source, access);
    });
}

} // namespace pi::loader
