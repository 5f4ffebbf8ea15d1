// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <algorithm>

namespace pi::fuzz {
namespace {

constexpr size_t most_allocations = 8;

} // namespace

/// Fills new memory with known bytes, and adds it to the model.
void Program::make_known(void *pointer, uint64_t size, pi_usm_kind kind, pi_usm_pool pool) {
    Bytes bytes = some_bytes(size);
    pi_region region{};
    region.extent[0] = size;
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.src = bytes.data();
    desc.dst = pointer;
    desc.region_count = 1;
    desc.regions = &region;
    must(piEnqueueUsmCopy(queues_[0], &desc, 0, nullptr, nullptr), "the first copy");
    usm_.push_back({pointer, std::make_shared<Memory>(std::move(bytes)), kind, pool});
}

void Program::allocate() {
    if (usm_.size() >= most_allocations || !has_usm_) {
        return;
    }
    auto desc = pi::desc<pi_usm_desc>();
    desc.kind = PI_USM_HOST + below(3);
    desc.size = input_.number();
    desc.alignment = below(4) == 0 ? input_.number() : 0;
    if (below(4) == 0 && !pools_.empty()) {
        desc.pool = pools_[0];
        desc.kind = PI_USM_DEVICE;
    }
    if (desc.size > most_bytes && desc.size < uint64_t{1} << 48) {
        return;
    }
    void *pointer = nullptr;
    const pi_result result = piUsmAlloc(place_.context, place_.device, &desc, &pointer);
    judge(result == PI_SUCCESS, desc.size != 0 && desc.size <= most_bytes, desc.alignment == 0,
          "an allocation");
    if (result != PI_SUCCESS) {
        forget_released(result);
        return;
    }
    if (desc.alignment != 0 && reinterpret_cast<uintptr_t>(pointer) % desc.alignment != 0) {
        finding("an allocation is not aligned to ", desc.alignment);
    }
    open_gates();
    make_known(pointer, desc.size, desc.kind, desc.pool);
}

void Program::allocate_in_order() {
    if (usm_.size() >= most_allocations || !has_ordered_usm_) {
        return;
    }
    void *pointer = nullptr;
    auto desc = pi::desc<pi_usm_alloc_desc>();
    desc.pool = below(2) == 0 && !pools_.empty() ? pools_[0] : nullptr;
    desc.size = 1 + below(255);
    desc.out_pointer = &pointer;
    Submission submission = begin({});
    const bool blocking_failure = submission.blocks && submission.fails;
    const Outcome outcome = submit(submission, desc, piEnqueueUsmAlloc);
    judge(outcome != Outcome::refused, true, true, "an allocation in order");
    if (pointer == nullptr) {
        if (!blocking_failure) {
            finding("an allocation in order gives no pointer during the call");
        }
        return;
    }
    // Also if the command fails later: the memory stays until it is freed.
    settle();
    make_known(pointer, desc.size, PI_USM_DEVICE, desc.pool);
}

void Program::copy_usm() {
    const Usm *from = any_of(usm_);
    const Usm *to = any_of(usm_);
    if (from == nullptr) {
        return;
    }
    const bool is_source = below(2) == 0;
    const pi_region region = some_region(is_source ? from->size() : to->size(), is_source);
    uint64_t from_end = 0, to_end = 0;
    const bool fits = region.extent[0] != 0 && end_of(region, source_of(region), from_end) &&
                      from_end <= from->size() && end_of(region, destination_of(region), to_end) &&
                      to_end <= to->size();
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.src = from->pointer;
    desc.dst = to->pointer;
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{from->memory, false}, {to->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueUsmCopy);
    judge(outcome != Outcome::refused, fits, is_row(region) && from->memory != to->memory,
          "a copy of USM");
    if (outcome == Outcome::done) {
        const Bytes before = from->memory->bytes;
        move_bytes(region, before.data(), to->data());
    }
}

void Program::copy_usm_and_host() {
    const Usm *usm = any_of(usm_);
    if (usm == nullptr) {
        return;
    }
    const bool to_host = below(2) == 0;
    const pi_region region = some_region(usm->size(), to_host);
    const Side host = to_host ? destination_of(region) : source_of(region);
    const Side device = to_host ? source_of(region) : destination_of(region);
    uint64_t host_end = 0, end = 0;
    if (!end_of(region, host, host_end) || host_end > most_bytes) {
        return;
    }
    const bool fits = region.extent[0] != 0 && end_of(region, device, end) && end <= usm->size();
    // No allocation is near NULL, also if it has no bytes.
    Bytes bytes = some_bytes(std::max<uint64_t>(host_end, 1));
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.region_count = 1;
    desc.regions = &region;
    Read *read = nullptr;
    const Bytes *source = nullptr;
    if (to_host) {
        read = &reads_.emplace_back();
        read->bytes = read->expected = std::move(bytes);
        desc.src = usm->pointer;
        desc.dst = read->bytes.data();
    } else {
        source = &host_bytes_.emplace_back(std::move(bytes));
        desc.src = source->data();
        desc.dst = usm->pointer;
    }
    Submission submission = begin({{usm->memory, !to_host}});
    const Outcome outcome = submit(submission, desc, piEnqueueUsmCopy);
    judge(outcome != Outcome::refused, fits, is_row(region), "a copy of USM and the host");
    if (outcome == Outcome::done) {
        move_bytes(region, to_host ? usm->data() : source->data(),
                   to_host ? read->expected.data() : usm->data());
    }
}

void Program::fill_usm() {
    const Usm *usm = any_of(usm_);
    if (usm == nullptr) {
        return;
    }
    auto desc = pi::desc<pi_usm_fill_desc>();
    desc.pattern_size = below(8) == 0 ? input_.number() : uint64_t{1} << below(8);
    const uint64_t offset = input_.number() % (usm->size() + 1);
    desc.pointer = static_cast<uint8_t *>(usm->pointer) + offset;
    desc.size = bytes_from(offset, usm->size());
    if (below(2) == 0 && desc.pattern_size != 0) {
        desc.size -= desc.size % desc.pattern_size;
    }
    const Bytes pattern = some_bytes(std::min<uint64_t>(desc.pattern_size, 128));
    desc.pattern = pattern.data();
    const bool good = desc.pattern_size != 0 && desc.pattern_size <= 128 &&
                      (desc.pattern_size & (desc.pattern_size - 1)) == 0 && desc.size != 0 &&
                      desc.size % desc.pattern_size == 0 && desc.size <= usm->size() - offset &&
                      reinterpret_cast<uintptr_t>(desc.pointer) % desc.pattern_size == 0;
    Submission submission = begin({{usm->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueUsmFill);
    judge(outcome != Outcome::refused, good, true, "a fill of USM");
    for (uint64_t byte = 0; outcome == Outcome::done && byte < desc.size; ++byte) {
        usm->data()[offset + byte] = pattern[byte % desc.pattern_size];
    }
}

/// Queries of any address within.
void Program::ask_usm() {
    const Usm *usm = any_of(usm_);
    if (usm == nullptr) {
        return;
    }
    const auto *const address = static_cast<const uint8_t *>(usm->pointer) + below(usm->size());
    const auto ask = [&](pi_usm_info name, auto expected) {
        auto value = expected;
        std::memset(&value, 0xA5, sizeof value);
        must(piUsmGetInfo(place_.context, address, name, sizeof value, &value, nullptr),
             "piUsmGetInfo");
        if (value != expected) {
            finding("information ", name, " of USM is another one");
        }
    };
    ask(PI_USM_INFO_KIND, usm->kind);
    ask(PI_USM_INFO_BASE, usm->pointer);
    ask(PI_USM_INFO_SIZE, usm->size());
    ask(PI_USM_INFO_DEVICE, usm->kind == PI_USM_HOST ? nullptr : place_.device);
    ask(PI_USM_INFO_POOL, usm->pool);
}

void Program::free_now(size_t index) {
    settle(); // no command may use it
    must(piUsmFree(place_.context, usm_[index].pointer), "piUsmFree");
    must_not(piUsmFree(place_.context, usm_[index].pointer), "a second free");
    usm_.erase(usm_.begin() + static_cast<std::ptrdiff_t>(index));
}
void Program::free_usm() {
    if (!usm_.empty()) {
        free_now(below(usm_.size()));
    }
}

void Program::free_usm_in_order() {
    if (usm_.empty() || !has_ordered_usm_) {
        return;
    }
    const size_t index = below(usm_.size());
    auto desc = pi::desc<pi_usm_free_desc>();
    desc.pointer = usm_[index].pointer;
    Submission submission = begin({{usm_[index].memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueUsmFree);
    judge(outcome != Outcome::refused, true, true, "a free in order");
    if (outcome == Outcome::done) {
        must_not(piUsmFree(place_.context, desc.pointer), "a free of what a command frees");
        usm_.erase(usm_.begin() + static_cast<std::ptrdiff_t>(index));
        return;
    }
    settle(); // it is as it was
}

void Program::check(const Usm &usm) {
    Bytes bytes(usm.size());
    pi_region region{};
    region.extent[0] = usm.size();
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.src = usm.pointer;
    desc.dst = bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    must(piEnqueueUsmCopy(queues_[0], &desc, 0, nullptr, nullptr), "the last copy");
    check_bytes(bytes, usm.data(), "USM");
}

} // namespace pi::fuzz
