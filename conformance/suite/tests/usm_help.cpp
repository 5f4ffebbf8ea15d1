// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "usm.hpp"

#include <utility>

namespace pi::suite {

const char *name_of_kind(pi_usm_kind kind) {
    return kind == PI_USM_HOST ? "host" : kind == PI_USM_DEVICE ? "device" : "shared";
}

std::vector<pi_usm_kind> need_usm(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_USM, "PI_CAPABILITY_USM");
    const auto said =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_USM_CAPABILITIES);
    std::vector<pi_usm_kind> kinds;
    for (const pi_usm_kind kind : all_usm_kinds)
        if ((said & (1u << kind)) != 0)
            kinds.push_back(kind);
    require(!kinds.empty(), "the device has PI_CAPABILITY_USM, but "
                            "PI_DEVICE_INFO_USM_CAPABILITIES has no kind");
    return kinds;
}

pi_usm_kind any_usm_kind(Fixture &fixture) {
    return need_usm(fixture).front();
}

pi_usm_desc usm_desc(pi_usm_kind kind, uint64_t size) {
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = kind;
    desc.size = size;
    return desc;
}

pi_usm_pool_desc pool_desc(pi_usm_kind kind) {
    auto desc = pi::desc<pi_usm_pool_desc>();
    desc.kind = kind;
    return desc;
}

Pool make_pool(const Place &place, const pi_usm_pool_desc &desc) {
    Pool pool;
    require_success(piUsmPoolCreate(place.context, place.device, &desc, pool.out()),
                    "piUsmPoolCreate of ", name_of_kind(desc.kind), " memory");
    return pool;
}

pi_usm_desc from_pool(pi_usm_pool pool, pi_usm_kind kind, uint64_t size) {
    pi_usm_desc desc = usm_desc(kind, size);
    desc.pool = pool;
    return desc;
}

pi_usm_desc UsmSource::desc(uint64_t size) const {
    return from_pool(pool, kind, size);
}

std::string UsmSource::name() const {
    return join(name_of_kind(kind), pool ? " memory of a pool" : " memory");
}

std::vector<UsmSource> need_usm_sources(Fixture &fixture, const Place &place) {
    std::vector<UsmSource> sources;
    for (const pi_usm_kind kind : need_usm(fixture)) {
        sources.push_back({kind, {}});
        if (fixture.can(PI_CAPABILITY_USM_POOL))
            sources.push_back({kind, make_pool(place, pool_desc(kind))});
    }
    return sources;
}

std::vector<UsmSource> need_usm_sources(Fixture &fixture) {
    return need_usm_sources(fixture, fixture.place());
}

Usm::Usm(Fixture &fixture, pi_usm_kind kind, uint64_t size)
    : Usm(fixture.place(), usm_desc(kind, size)) {}

Usm::Usm(const Place &place, const pi_usm_desc &desc) : context_(place.context), size_(desc.size) {
    require_success(piUsmAlloc(place.context, place.device, &desc, &pointer_), "piUsmAlloc of ",
                    desc.size, " bytes of ", name_of_kind(desc.kind), " memory");
    require(pointer_ != nullptr, "piUsmAlloc of ", desc.size,
            " bytes succeeded, but returned NULL");
}

Usm::Usm(Usm &&other) noexcept
    : context_(other.context_), pointer_(std::exchange(other.pointer_, nullptr)),
      size_(other.size_) {}

Usm &Usm::operator=(Usm &&other) noexcept {
    std::swap(context_, other.context_);
    std::swap(pointer_, other.pointer_);
    std::swap(size_, other.size_);
    return *this;
}

Usm::~Usm() {
    if (pointer_ != nullptr)
        piUsmFree(context_, pointer_);
}

void Usm::free() {
    require_success(piUsmFree(context_, take()), "piUsmFree");
}

void *Usm::take() {
    return std::exchange(pointer_, nullptr);
}

bool is_live_usm(pi_context context, const void *pointer) {
    uint64_t size = 0;
    const pi_result result =
        piUsmGetInfo(context, pointer, PI_USM_INFO_SIZE, sizeof size, &size, nullptr);
    if (result != PI_SUCCESS)
        require_error(result, PI_ERROR_INVALID_USM_POINTER, "piUsmGetInfo of ", pointer);
    return result == PI_SUCCESS;
}

void require_reported(Fixture &fixture, const Usm &usm, const UsmSource &source,
                      const std::byte *address) {
    const pi_context context = fixture.context();
    const std::string what =
        join("byte ", address - usm.at(), " of ", usm.size(), " of ", source.name(), ": ");
    require_equal(usm_info<pi_usm_kind>(context, address, PI_USM_INFO_KIND), source.kind,
                  what + "PI_USM_INFO_KIND");
    require(usm_info<void *>(context, address, PI_USM_INFO_BASE) == usm.at(), what,
            "PI_USM_INFO_BASE is another address");
    require_equal(usm_info<uint64_t>(context, address, PI_USM_INFO_SIZE), usm.size(),
                  what + "PI_USM_INFO_SIZE");
    require(usm_info<pi_device>(context, address, PI_USM_INFO_DEVICE) ==
                (source.kind == PI_USM_HOST ? nullptr : fixture.device()),
            what, "PI_USM_INFO_DEVICE is another device");
    require(usm_info<pi_usm_pool>(context, address, PI_USM_INFO_POOL) == source.pool.get(), what,
            "PI_USM_INFO_POOL is another pool");
}

pi_usm_copy_desc usm_copy_desc(const void *src, void *dst, const Regions &regions) {
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return desc;
}

pi_usm_fill_desc usm_fill_desc(void *pointer, const Bytes &pattern, uint64_t size) {
    auto desc = pi::desc<pi_usm_fill_desc>();
    desc.pointer = pointer;
    desc.pattern = pattern.data();
    desc.pattern_size = pattern.size();
    desc.size = size;
    return desc;
}

void usm_upload(Fixture &fixture, pi_queue queue, void *pointer, const Bytes &bytes) {
    const Regions regions{linear(0, 0, bytes.size())};
    fixture.wait(fixture.enqueue(queue, usm_copy_desc(bytes.data(), pointer, regions)),
                 "a copy from the host to USM");
}

Bytes usm_download(Fixture &fixture, pi_queue queue, const void *pointer, uint64_t size) {
    Bytes bytes(size);
    const Regions regions{linear(0, 0, size)};
    fixture.wait(fixture.enqueue(queue, usm_copy_desc(pointer, bytes.data(), regions)),
                 "a copy from USM to the host");
    return bytes;
}

void require_usm_contents(Fixture &fixture, pi_queue queue, const void *pointer,
                          const Bytes &expected, const std::string &what) {
    const Bytes actual = usm_download(fixture, queue, pointer, expected.size());
    require_same_bytes(actual.data(), expected.data(), expected.size(), what);
}

Bytes repeated(const Bytes &pattern, uint64_t size) {
    Bytes bytes(size);
    for (uint64_t i = 0; i < size; ++i)
        bytes[i] = pattern[i % pattern.size()];
    return bytes;
}

} // namespace pi::suite
