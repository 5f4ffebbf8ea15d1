// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM for the tests: allocations that free themselves, and their bytes, which only commands are
// sure to reach.
#pragma once

#include "regions.hpp"

#include <vector>

namespace pi::suite {

constexpr pi_usm_kind all_usm_kinds[] = {PI_USM_HOST, PI_USM_DEVICE, PI_USM_SHARED};
const char *name_of_kind(pi_usm_kind kind);

/// The kinds that the device says it has; skips the test where it has no USM.
std::vector<pi_usm_kind> need_usm(Fixture &fixture);
/// The first of them, for tests that hold for any.
pi_usm_kind any_usm_kind(Fixture &fixture);

/// A descriptor of scope 0.
pi_usm_desc usm_desc(pi_usm_kind kind, uint64_t size);

using Pool = Owner<pi_usm_pool>;
pi_usm_pool_desc pool_desc(pi_usm_kind kind);
Pool make_pool(const Place &place, const pi_usm_pool_desc &desc);
pi_usm_desc from_pool(pi_usm_pool pool, pi_usm_kind kind, uint64_t size);

/// Where USM of one kind comes from: a pool, or directly from the device.
struct UsmSource {
    pi_usm_kind kind;
    Pool pool; ///< or empty

    pi_usm_desc desc(uint64_t size) const;
    std::string name() const;
};
/// Each kind that the device has; where it has pools, also from a pool. Skips the test where it has
/// no USM.
std::vector<UsmSource> need_usm_sources(Fixture &fixture);
/// In this place.
std::vector<UsmSource> need_usm_sources(Fixture &fixture, const Place &place);

/// An allocation; freed at the end of the scope.
class Usm {
public:
    Usm(Fixture &fixture, pi_usm_kind kind, uint64_t size);
    Usm(const Place &place, const pi_usm_desc &desc);
    /// Takes over an allocation.
    Usm(pi_context context, void *pointer, uint64_t size)
        : context_(context), pointer_(pointer), size_(size) {}
    Usm(Usm &&other) noexcept;
    Usm &operator=(Usm &&other) noexcept;
    ~Usm();

    std::byte *at(uint64_t offset = 0) const { return static_cast<std::byte *>(pointer_) + offset; }
    uint64_t size() const { return size_; }
    /// Frees it now, which must succeed.
    void free();
    /// Gives up ownership: other code frees it.
    void *take();

private:
    pi_context context_ = nullptr;
    void *pointer_ = nullptr;
    uint64_t size_ = 0;
};

/// The value of an info query, which must succeed.
template <typename T>
T usm_info(pi_context context, const void *pointer, pi_usm_info name) {
    T value{};
    require_success(piUsmGetInfo(context, pointer, name, sizeof value, &value, nullptr),
                    "piUsmGetInfo ", name);
    return value;
}
/// The queries of an address inside an allocation in the fixture's place must report it.
void require_reported(Fixture &fixture, const Usm &usm, const UsmSource &source,
                      const std::byte *address);
/// Whether the address is live USM of the context; another error than PI_ERROR_INVALID_USM_POINTER
/// fails the test.
bool is_live_usm(pi_context context, const void *pointer);

// ----- Commands; regions and patterns are borrowed -----

pi_usm_copy_desc usm_copy_desc(const void *src, void *dst, const Regions &regions);
pi_usm_fill_desc usm_fill_desc(void *pointer, const Bytes &pattern, uint64_t size);

/// With waiting.
void usm_upload(Fixture &fixture, pi_queue queue, void *pointer, const Bytes &bytes);
Bytes usm_download(Fixture &fixture, pi_queue queue, const void *pointer, uint64_t size);
void require_usm_contents(Fixture &fixture, pi_queue queue, const void *pointer,
                          const Bytes &expected, const std::string &what);

/// The pattern, repeated up to this size.
Bytes repeated(const Bytes &pattern, uint64_t size);

} // namespace pi::suite
