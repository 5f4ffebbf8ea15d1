// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verification_import.hpp"

#include "verification_pair.hpp"

#include <memory>

namespace pi::loader {
namespace {

pi_coherence coherence_of(const pi_dispatch &plugin, const Memory &memory) {
    pi_coherence answer = PI_COHERENCE_UNKNOWN;
    require(
        plugin.piMemGetInfo(memory.mem(), PI_MEM_INFO_COHERENCE, sizeof answer, &answer, nullptr));
    return answer;
}

// Host memory that src uses.
std::string used_by_src(Check &check, Memory &source, const HostAccess &host) {
    Memory own(check.plugin, check.src.place, PI_MEMORY_KIND_BUFFER, 0, check.layout.size);
    host.fill(check, source);
    std::string seen = check.compare(check.src, source, "written by the host, read by src");
    if (!seen.empty())
        return seen;
    check.fill(check.src, own);
    check.copy(check.src, source, own);
    seen = check.compare(check.src, own, "copied by src out of the host's memory");
    if (!seen.empty())
        return seen;
    check.fill(check.src, source);
    seen = host.compare(check, source, "written by src, read by the host");
    if (!seen.empty())
        return seen;
    check.fill(check.src, own);
    check.copy(check.src, own, source);
    return host.compare(check, source, "copied by src into the host's memory, read by the host");
}

} // namespace

HostMemory::HostMemory(const pi_dispatch &plugin, const VerificationRequest &request)
    : bytes(static_cast<unsigned char *>(request.how.host_ptr), request.how.size) {
    if (request.how.host_ptr != nullptr)
        return;
    uint64_t alignment = 0;
    if (plugin.piDeviceGetInfo(request.src.device, PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT,
                               sizeof alignment, &alignment, nullptr) != PI_SUCCESS)
        alignment = 1;
    alignment = std::clamp<uint64_t>(alignment, 4096, 2 << 20);
    const uint64_t wanted = sampled(largest_sample).size;
    const uint64_t size = (wanted + alignment - 1) / alignment * alignment;
    own_.resize(size + alignment);
    const auto address = reinterpret_cast<uintptr_t>(own_.data());
    bytes = Bytes(own_).subspan((alignment - address % alignment) % alignment, size);
}

std::string
with_import(Check &check, Bytes host, uint64_t base,
            const std::function<std::string(Memory &source, const HostAccess &access)> &use) {
    const Bytes tried = host.subspan(base, check.layout.size);
    const std::vector<unsigned char> saved(tried.begin(), tried.end());
    const auto put_back = [&](Bytes bytes) {
        std::copy(saved.begin(), saved.end(), bytes.begin());
    };
    // Repeated after the import ends, since its end may still overwrite the bytes.
    const auto at_end = [&](const void *) { put_back(tried); };
    const std::unique_ptr<const void, decltype(at_end)> guard(saved.data(), at_end);

    Memory source(check.plugin, check.src.place, host);
    source.base = base;
    const HostAccess access{check.plugin, check.src.lane, source, tried,
                            coherence_of(check.plugin, source)};
    std::string seen = use(source, access);
    access.write(put_back);
    return seen;
}

std::string verify_import(const pi_dispatch &plugin, const VerificationRequest &request) {
    const HostMemory host(plugin, request);
    // The import has the memory's real size; the tested bytes are at its begin and in a few pages
    // at its end.
    const auto run = [&](const Layout &part, uint64_t base) {
        Check check(plugin, request, part);
        return with_import(check, host.bytes, base, [&](Memory &source, const HostAccess &access) {
            return is_one_place(check.request) ? used_by_src(check, source, access)
                                               : verify_pair(check, source);
        });
    };
    std::string seen = with_room(layouts(false, 65537), [&](const Layout &part) {
        return run(host.bytes.size() < part.size ? whole(host.bytes.size()) : part, 0);
    });
    const Layout end = sampled(4097);
    return seen.empty() && host.bytes.size() > end.size ? run(end, host.bytes.size() - end.size)
                                                        : seen;
}

} // namespace pi::loader
