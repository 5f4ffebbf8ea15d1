// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "samples.hpp"

#include "tests/globals.hpp"
#include "tests/image.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t size = 256;
constexpr uint64_t part = 64;
constexpr uint64_t side = 4; // of an image, pixels of 16 bytes at most

void PI_CALL do_nothing(void *) {}

} // namespace

Samples::Samples(Fixture &fixture)
    : fixture_(fixture), queue_(fixture.make_queue()),
      a_(fixture.make_buffer(fixture.place(), Bytes(size))),
      b_(fixture.make_buffer(fixture.place(), Bytes(size))),
      mapped_mem_(fixture.make_buffer(fixture.place(), Bytes(size))), host_(size), color_(16),
      region_(linear(0, 0, part)) {
    describe_buffers();
    function_.function = &do_nothing;
    if (has_kernels(fixture))
        describe_launch();
    if (fixture.can(PI_CAPABILITY_USM))
        describe_usm();
    if (has_variables(fixture))
        describe_globals();
    if (fixture.can(PI_CAPABILITY_IMAGE))
        describe_images();
}

Samples::~Samples() {
    // A failed test may have left commands that use them.
    piQueueFinish(queue_);
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = mapped_mem_;
    unmap.pointer = mapped_;
    try_enqueue(queue_, unmap);
    piQueueFinish(queue_);
}

void Samples::describe_buffers() {
    read_.mem = write_.mem = fill_.mem = map_.mem = a_;
    read_.host_ptr = host_.data();
    write_.host_ptr = host_.data();
    read_.region_count = write_.region_count = copy_.region_count = 1;
    read_.regions = write_.regions = copy_.regions = &region_;
    copy_.src = a_;
    copy_.dst = b_;
    fill_.pattern = host_.data();
    fill_.pattern_size = 4;
    fill_.size = part;
    map_.flags = PI_MAP_READ;
    map_.size = part;
    map_.out_pointer = &out_pointer_;
    const Event event = fixture_.map(queue_, mapped_mem_, PI_MAP_READ, 0, part, &mapped_);
    fixture_.wait(event, "mapping a buffer");
    unmap_.mem = mapped_mem_;
    unmap_.pointer = mapped_;
}

void Samples::describe_launch() {
    program_ = make_program(fixture_);
    kernel_ = make_kernel(program_, "add");
    arguments_.buffer(a_).value(uint32_t{0});
    launch_ = launch_desc(kernel_, arguments_, 4);
}

void Samples::describe_usm() {
    usm_.emplace(fixture_, any_usm_kind(fixture_), size);
    usm_copy_.src = host_.data();
    usm_copy_.dst = usm_->at();
    usm_copy_.region_count = 1;
    usm_copy_.regions = &region_;
    usm_fill_.pointer = usm_->at();
    usm_fill_.pattern = host_.data();
    usm_fill_.pattern_size = 4;
    usm_fill_.size = part;
    usm_prefetch_.pointer = usm_advise_.pointer = usm_->at();
    usm_prefetch_.size = usm_advise_.size = size;
    usm_advise_.advice = PI_USM_ADVICE_RESET;
}

void Samples::describe_globals() {
    variables_ = make_variables_program(fixture_);
    global_read_ = global_read_desc(variables_, "table", host_.data(), 0, part);
    global_write_ = global_write_desc(variables_, "table", host_.data(), 0, part);
}

void Samples::describe_images() {
    const pi_mem_image_desc desc = any_image_desc(fixture_, side, side);
    image_a_ = make_image(fixture_, desc);
    image_b_ = make_image(fixture_, desc);
    const Pixels extent = extent_of(desc);
    for (uint64_t *const all :
         {image_region_.extent, image_copy_region_.extent, image_fill_.extent})
        std::copy(extent.begin(), extent.end(), all);
    image_read_.image = image_write_.image = image_fill_.image = image_a_;
    image_read_.host_ptr = host_.data();
    image_write_.host_ptr = host_.data();
    image_read_.region_count = image_write_.region_count = image_copy_.region_count = 1;
    image_read_.regions = image_write_.regions = &image_region_;
    image_copy_.regions = &image_copy_region_;
    image_copy_.src = image_a_;
    image_copy_.dst = image_b_;
    image_fill_.color = color_.data();
}

void Samples::clean_up(const pi_buffer_map_desc &desc, pi_event event) {
    fixture_.wait(event, "piEnqueueMemBufferMap");
    fixture_.wait(fixture_.unmap(queue_, desc.mem, *desc.out_pointer), "piEnqueueMemUnmap");
}

} // namespace pi::suite
