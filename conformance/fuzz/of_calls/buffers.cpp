// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

namespace pi::fuzz {
namespace {

constexpr size_t most_buffers = 12;

/// More than a test should allocate, although a machine may have it.
bool is_excessive(uint64_t number, uint64_t least) {
    return number > least && number < uint64_t{1} << 48;
}

} // namespace

void Program::create_buffer() {
    if (buffers_.size() >= most_buffers) {
        return;
    }
    const uint64_t size = input_.number();
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    const bool small = size <= most_bytes;
    desc.scope = below(16) == 0 ? input_.take<uint32_t>() : 0;
    desc.alignment = below(8) == 0 ? input_.number() : 0;
    desc.flags = below(8) == 0 ? input_.take<uint64_t>() : 0;
    desc.flags &= ~uint64_t{PI_MEM_USE_HOST_PTR}; // the memory would have to stay valid
    if (is_excessive(size, most_bytes) || is_excessive(desc.alignment, 1 << 20)) {
        return;
    }
    const bool plain = desc.scope == 0 && desc.alignment == 0 && desc.flags == 0;
    Bytes bytes = some_bytes(small ? size : 0);
    if ((desc.flags & PI_MEM_COPY_HOST_PTR) != 0) {
        if (!small) {
            return; // there is no memory to copy from
        }
        desc.host_ptr = bytes.data();
    }
    pi_mem mem = nullptr;
    const pi_result result = piMemBufferCreate(place_.context, place_.device, &desc, &mem);
    if (result != PI_SUCCESS) {
        forget_released(result);
        if (plain && small && size != 0) {
            finding("a buffer of ", size, " bytes is refused: ", last_error());
        }
        return;
    }
    if (size == 0) {
        finding("a buffer of no bytes is made");
    }
    if (!small) { // too many for the model
        must(piMemRelease(mem), "piMemRelease");
        return;
    }
    auto write = pi::desc<pi_buffer_write_desc>();
    pi_region region{};
    region.extent[0] = size;
    write.flags = PI_COMMAND_BLOCKING;
    write.mem = mem;
    write.host_ptr = bytes.data();
    write.region_count = 1;
    write.regions = &region;
    if (desc.host_ptr == nullptr) {
        open_gates();
        must(piEnqueueMemBufferWrite(queues_[0], &write, 0, nullptr, nullptr), "the first write");
    }
    buffers_.push_back({mem, std::make_shared<Memory>(std::move(bytes)), 0, size});
}

void Program::partition() {
    const Buffer *root = any_of(buffers_);
    if (root == nullptr || buffers_.size() >= most_buffers) {
        return;
    }
    auto desc = pi::desc<pi_mem_partition_desc>();
    desc.offset = input_.number();
    desc.size = bytes_from(desc.offset, root->size);
    pi_mem mem = nullptr;
    if (piMemBufferPartition(root->mem, &desc, &mem) != PI_SUCCESS) {
        return; // the offset may have to be aligned
    }
    if (desc.size == 0 || desc.size > root->size || desc.offset > root->size - desc.size) {
        finding("a view of ", desc.size, " bytes from ", desc.offset, " on is made of ",
                root->size);
    }
    buffers_.push_back({mem, root->memory, root->offset + desc.offset, desc.size});
}

void Program::write_buffer() {
    const Buffer *buffer = any_of(buffers_);
    if (buffer == nullptr) {
        return;
    }
    const pi_region region = some_region(buffer->size, false);
    uint64_t host_end = 0, end = 0;
    if (!end_of(region, source_of(region), host_end) || host_end > most_bytes) {
        return;
    }
    const bool fits =
        region.extent[0] != 0 && end_of(region, destination_of(region), end) && end <= buffer->size;
    const Bytes &bytes = host_bytes_.emplace_back(some_bytes(host_end));
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = buffer->mem;
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{buffer->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemBufferWrite);
    judge(outcome != Outcome::refused, fits, is_row(region), "a write");
    if (outcome == Outcome::done) {
        move_bytes(region, bytes.data(), buffer->data());
    }
}

void Program::read_buffer() {
    const Buffer *buffer = any_of(buffers_);
    if (buffer == nullptr) {
        return;
    }
    const pi_region region = some_region(buffer->size, true);
    uint64_t host_end = 0, end = 0;
    if (!end_of(region, destination_of(region), host_end) || host_end > most_bytes) {
        return;
    }
    const bool fits =
        region.extent[0] != 0 && end_of(region, source_of(region), end) && end <= buffer->size;
    Read &read = reads_.emplace_back();
    read.bytes = read.expected = some_bytes(host_end);
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.mem = buffer->mem;
    desc.host_ptr = read.bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{buffer->memory, false}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemBufferRead);
    judge(outcome != Outcome::refused, fits, is_row(region), "a read");
    if (outcome == Outcome::done) {
        move_bytes(region, buffer->data(), read.expected.data());
    }
    if (submission.blocks && read.bytes != read.expected) {
        finding("a read that blocks gives other bytes");
    }
}

void Program::copy_buffer() {
    const Buffer *from = any_of(buffers_);
    const Buffer *to = any_of(buffers_);
    if (from == nullptr) {
        return;
    }
    const bool is_source = below(2) == 0;
    const pi_region region = some_region(is_source ? from->size : to->size, is_source);
    uint64_t from_end = 0, to_end = 0;
    const bool fits = region.extent[0] != 0 && end_of(region, source_of(region), from_end) &&
                      from_end <= from->size && end_of(region, destination_of(region), to_end) &&
                      to_end <= to->size;
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = from->mem;
    desc.dst = to->mem;
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{from->memory, false}, {to->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemBufferCopy);
    // The plugin decides whether the two overlap; the next read checks it.
    judge(outcome != Outcome::refused, fits, is_row(region) && from->memory != to->memory,
          "a copy");
    if (outcome == Outcome::done) {
        const Bytes before(from->data(), from->data() + from->size);
        move_bytes(region, before.data(), to->data());
    }
}

void Program::fill_buffer() {
    const Buffer *buffer = any_of(buffers_);
    if (buffer == nullptr) {
        return;
    }
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.pattern_size = below(4) == 0 ? input_.number() : uint64_t{1} << below(8);
    desc.offset = input_.number();
    desc.size = bytes_from(desc.offset, buffer->size);
    if (below(2) == 0 && desc.pattern_size != 0) {
        desc.offset -= desc.offset % desc.pattern_size;
        desc.size -= desc.size % desc.pattern_size;
    }
    const Bytes pattern = some_bytes(std::min<uint64_t>(desc.pattern_size, 128));
    desc.mem = buffer->mem;
    desc.pattern = pattern.data();
    const bool good = desc.pattern_size != 0 && desc.pattern_size <= 128 &&
                      (desc.pattern_size & (desc.pattern_size - 1)) == 0 && desc.size != 0 &&
                      desc.offset % desc.pattern_size == 0 && desc.size % desc.pattern_size == 0 &&
                      desc.size <= buffer->size && desc.offset <= buffer->size - desc.size;
    Submission submission = begin({{buffer->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemBufferFill);
    judge(outcome != Outcome::refused, good, true, "a fill");
    for (uint64_t byte = 0; outcome == Outcome::done && byte < desc.size; ++byte) {
        buffer->data()[desc.offset + byte] = pattern[byte % desc.pattern_size];
    }
}

void Program::map_buffer() {
    const Buffer *buffer = any_of(buffers_);
    if (buffer == nullptr) {
        return;
    }
    settle(); // the host uses the range until the unmap
    void *pointer = nullptr;
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.mem = buffer->mem;
    desc.offset = input_.number();
    desc.size = bytes_from(desc.offset, buffer->size);
    desc.flags = PI_COMMAND_BLOCKING |
                 (below(8) == 0 ? input_.take<uint64_t>() : uint64_t{PI_MAP_READ} << below(2));
    desc.out_pointer = &pointer;
    const bool fits =
        desc.size != 0 && desc.size <= buffer->size && desc.offset <= buffer->size - desc.size;
    const pi_queue queue = queues_[below(queues_.size())];
    if (piEnqueueMemBufferMap(queue, &desc, 0, nullptr, nullptr) != PI_SUCCESS) {
        return;
    }
    if (!fits || pointer == nullptr) {
        finding("a map of ", desc.size, " bytes from ", desc.offset, " on of ", buffer->size,
                " succeeds");
    }
    if ((desc.flags & PI_MAP_WRITE_DISCARD) == 0 &&
        std::memcmp(pointer, buffer->data() + desc.offset, desc.size) != 0) {
        finding("a map gives other bytes");
    }
    if ((desc.flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0) {
        const Bytes bytes = some_bytes(desc.size);
        std::memcpy(pointer, bytes.data(), desc.size);
        std::memcpy(buffer->data() + desc.offset, bytes.data(), desc.size);
    }
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.flags = PI_COMMAND_BLOCKING;
    unmap.mem = buffer->mem;
    unmap.pointer = pointer;
    must(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr), "an unmap");
    must_not(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, nullptr), "a second unmap");
}

void Program::release_buffer() {
    if (buffers_.empty()) {
        return;
    }
    const auto which = buffers_.begin() + below(buffers_.size());
    must(piMemRelease(which->mem), "piMemRelease");
    released_.push_back(which->mem);
    buffers_.erase(which);
}

/// Checks all its bytes.
void Program::check(const Buffer &buffer) {
    Bytes bytes(buffer.size);
    pi_region region{};
    region.extent[0] = buffer.size;
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = buffer.mem;
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    must(piEnqueueMemBufferRead(queues_[0], &desc, 0, nullptr, nullptr), "the last read");
    check_bytes(bytes, buffer.data(), "a buffer");
}

} // namespace pi::fuzz
