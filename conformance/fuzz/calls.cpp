// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any sequence of calls on one device of host or sim, with the layer validate: buffers, views,
// images and USM, on queues in order and out of order, whose commands wait for each other and for
// host events that fail or are abandoned. Good calls do to memory what they do to plain bytes.
// Numbers that are too large, released handles and handles of another kind are refused and change
// nothing. Memory is exactly as large as the call says, so that a sanitizer sees accesses beyond
// it.
#include "of_calls/program.hpp"

#include <iterator>

namespace pi::fuzz {
namespace {

const Place &some_place(Input &input) {
    static const Equipment equipment(true);
    return equipment.places()[input.below(static_cast<uint32_t>(equipment.places().size()))];
}

} // namespace

Program::Program(Input input)
    : input_(input), place_(some_place(input_)),
      has_images_((place_.capabilities & PI_CAPABILITY_IMAGE) != 0),
      has_usm_((place_.capabilities & PI_CAPABILITY_USM) != 0),
      has_pools_((place_.capabilities & PI_CAPABILITY_USM_POOL) != 0),
      has_ordered_usm_((place_.capabilities & PI_CAPABILITY_USM_ASYNC) != 0) {
    uint64_t known = 0;
    must(piDeviceGetInfo(place_.device, PI_DEVICE_INFO_QUEUE_FLAGS, sizeof known, &known, nullptr),
         "PI_DEVICE_INFO_QUEUE_FLAGS");
    for (const uint64_t flags : {0, 0, +PI_QUEUE_OUT_OF_ORDER}) {
        if ((flags & ~known) == 0) {
            auto desc = pi::desc<pi_queue_desc>();
            desc.flags = flags;
            must(piQueueCreate(place_.context, place_.device, &desc, &queues_.emplace_back()),
                 "piQueueCreate");
            in_order_ += flags == 0;
        }
    }
    if (has_pools_) {
        auto desc = pi::desc<pi_usm_pool_desc>();
        desc.kind = PI_USM_DEVICE;
        must(piUsmPoolCreate(place_.context, place_.device, &desc, &pools_.emplace_back()),
             "piUsmPoolCreate");
    }
}

Program::~Program() {
    while (!usm_.empty()) {
        free_now(0);
    }
    tokens_.clear();
    for (const Image &image : images_) {
        must(piMemRelease(image.mem), "piMemRelease");
    }
    for (const Buffer &buffer : buffers_) {
        must(piMemRelease(buffer.mem), "piMemRelease");
    }
    for (const pi_usm_pool pool : pools_) {
        must(piUsmPoolRelease(pool), "piUsmPoolRelease");
    }
    for (const pi_queue queue : queues_) {
        must(piQueueRelease(queue), "piQueueRelease");
    }
}

void Program::run() {
    using Step = void (Program::*)();
    // A step that is listed twice is chosen twice as often.
    static constexpr Step steps[] = {&Program::create_buffer,
                                     &Program::create_buffer,
                                     &Program::partition,
                                     &Program::write_buffer,
                                     &Program::write_buffer,
                                     &Program::read_buffer,
                                     &Program::copy_buffer,
                                     &Program::copy_buffer,
                                     &Program::fill_buffer,
                                     &Program::map_buffer,
                                     &Program::release_buffer,
                                     &Program::create_image,
                                     &Program::view_as_image,
                                     &Program::write_image,
                                     &Program::read_image,
                                     &Program::copy_image,
                                     &Program::copy_image_and_buffer,
                                     &Program::fill_image,
                                     &Program::release_image,
                                     &Program::allocate,
                                     &Program::allocate_in_order,
                                     &Program::copy_usm,
                                     &Program::copy_usm_and_host,
                                     &Program::fill_usm,
                                     &Program::ask_usm,
                                     &Program::free_usm,
                                     &Program::free_usm_in_order,
                                     &Program::make_gate,
                                     &Program::order_all,
                                     &Program::wait_for_some,
                                     &Program::use_released,
                                     &Program::confuse,
                                     &Program::misuse_usm,
                                     &Program::retain,
                                     &Program::ask};
    for (int step = 0; step < 64 && !input_.empty(); ++step) {
        (this->*steps[below(std::size(steps))])();
    }
    settle();
    for (const Buffer &buffer : buffers_) {
        check(buffer);
    }
    for (const Image &image : images_) {
        check(image);
    }
    for (const Usm &usm : usm_) {
        check(usm);
    }
}

Bytes Program::some_bytes(uint64_t size) {
    Bytes bytes(size);
    uint32_t state = input_.take<uint16_t>() + 1U;
    for (uint8_t &byte : bytes) {
        state = state * 1664525 + 1013904223;
        byte = static_cast<uint8_t>(state >> 24);
    }
    return bytes;
}

uint64_t Program::bytes_from(uint64_t offset, uint64_t size) {
    const uint64_t any = input_.number();
    const uint32_t end = below(6);
    return end < 3 ? size - offset + end - 1 : any;
}

/// A region of a command whose source or destination has `size` bytes.
pi_region Program::some_region(uint64_t size, bool is_source) {
    pi_region region{};
    region.src_offset = input_.number();
    region.dst_offset = input_.number();
    region.extent[0] = bytes_from(is_source ? region.src_offset : region.dst_offset, size);
    if (below(2) == 0) {
        region.extent[1] = input_.number();
        region.extent[2] = below(4) == 0 ? input_.number() : 0;
        for (uint64_t *pitches : {region.src_pitch, region.dst_pitch}) {
            pitches[0] = below(2) == 0 ? input_.number() : 0;
            pitches[1] = below(4) == 0 ? input_.number() : 0;
        }
    }
    region.reserved = below(32) == 0 ? input_.take<uint64_t>() : 0;
    return region;
}

void Program::judge(bool taken, bool fits, bool plain, const char *what) const {
    if (taken && !fits) {
        finding(what, " of no bytes, or past the end, is accepted");
    }
    if (!taken && fits && plain) {
        finding(what, " is refused: ", last_error());
    }
}

std::vector<std::vector<uint8_t>> generated_inputs() {
    return random_inputs(256, 512);
}

} // namespace pi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pi::fuzz::Program(pi::fuzz::Input(data, size)).run();
    return 0;
}
