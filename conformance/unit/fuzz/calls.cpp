// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any sequence of calls on buffers of one device, in a queue in order, with the layer validate: good ones, ones with numbers that
// are too large, with handles that were released or are of another kind, with descriptors of any size and chain. Good ones do
// what they do to plain bytes; the others are refused and change nothing. The memory that is passed is as large as the call
// says: what is read or written behind it a sanitizer sees.
#include "input.hpp"

#include <pi/pi_loader.h>

#include <array>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace pi::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t most_bytes = 8192; // of a buffer, and of what a command moves
constexpr size_t most_buffers = 12;

std::string last_error() {
    const char *text = "";
    piGetLastError(nullptr, &text);
    return text;
}

void must(pi_result result, const char *what) {
    if (result != PI_SUCCESS) {
        finding(what, " fails: ", result, ": ", last_error());
    }
}
void must_not(pi_result result, const char *what) {
    if (result == PI_SUCCESS) {
        finding(what, " succeeds");
    }
}

template <class Desc>
Desc describe(pi_struct_type type) {
    Desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = type;
    return desc;
}

/// The devices of host and sim, once for all inputs.
class Equipment {
public:
    static const Equipment &get() {
        static const Equipment equipment;
        return equipment;
    }
    const std::vector<pi_device> &devices() const { return devices_; }
    pi_context context(size_t device) const { return contexts_[device]; }

private:
    Equipment() {
        const char *const plugins[] = {PI_FUZZ_HOST, PI_FUZZ_SIM};
        const char *const layers[] = {"validate"};
        const pi_loader_option options[] = {{"PI_SIM_MACHINE", PI_FUZZ_MACHINE}};
        auto desc = describe<pi_loader_desc>(PI_TYPE_LOADER_DESC);
        desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        desc.plugins = plugins;
        desc.plugin_count = static_cast<uint32_t>(std::size(plugins));
        desc.layers = layers;
        desc.layer_count = static_cast<uint32_t>(std::size(layers));
        desc.options = options;
        desc.option_count = static_cast<uint32_t>(std::size(options));
        desc.log = [](uint32_t, const char *, void *) {}; // validate tells of each misuse
        must(piLoaderCreate(&desc, &loader_), "piLoaderCreate");
        for (const char *selector : {"host:0:0", "sim:0:0"}) {
            pi_device device = nullptr;
            uint32_t count = 0;
            must(piLoaderSelectDevices(loader_, selector, 1, &device, &count), selector);
            pi_platform platform = nullptr;
            must(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof platform, &platform,
                                 nullptr),
                 "PI_DEVICE_INFO_PLATFORM");
            auto context_desc = describe<pi_context_desc>(PI_TYPE_CONTEXT_DESC);
            context_desc.device_count = 1;
            context_desc.devices = &device;
            pi_context context = nullptr;
            must(piContextCreate(platform, &context_desc, &context), "piContextCreate");
            devices_.push_back(device);
            contexts_.push_back(context);
        }
    }
    ~Equipment() {
        for (const pi_context context : contexts_) {
            piContextRelease(context);
        }
        piLoaderRelease(loader_);
    }

    pi_loader loader_ = nullptr;
    std::vector<pi_device> devices_;
    std::vector<pi_context> contexts_;
};

/// One dimension of a rectangle; the numbers may be any.
struct Side {
    uint64_t offset, pitch[2];
};
/// One past its last byte, or nothing where that is no number of 64 bits.
bool end_of(const pi_region &region, const Side &side, uint64_t &end) {
    const uint64_t row = region.extent[0];
    const uint64_t rows = std::max<uint64_t>(1, region.extent[1]);
    const uint64_t slices = std::max<uint64_t>(1, region.extent[2]);
    const uint64_t row_pitch = side.pitch[0] != 0 ? side.pitch[0] : row;
    uint64_t slice_pitch = side.pitch[1], whole_rows = 0, whole_slices = 0;
    if (slice_pitch == 0 && __builtin_mul_overflow(rows, row_pitch, &slice_pitch)) {
        return false;
    }
    return !__builtin_mul_overflow(rows - 1, row_pitch, &whole_rows) &&
           !__builtin_mul_overflow(slices - 1, slice_pitch, &whole_slices) &&
           !__builtin_add_overflow(whole_rows, whole_slices, &end) &&
           !__builtin_add_overflow(end, row, &end) &&
           !__builtin_add_overflow(end, side.offset, &end);
}
Side source_of(const pi_region &region) {
    return {region.src_offset, {region.src_pitch[0], region.src_pitch[1]}};
}
Side destination_of(const pi_region &region) {
    return {region.dst_offset, {region.dst_pitch[0], region.dst_pitch[1]}};
}
/// Where byte x of a row of a slice lies.
uint64_t place_of(const pi_region &region, const Side &side, uint64_t slice, uint64_t row,
                  uint64_t x) {
    const uint64_t row_pitch = side.pitch[0] != 0 ? side.pitch[0] : region.extent[0];
    const uint64_t slice_pitch =
        side.pitch[1] != 0 ? side.pitch[1] : row_pitch * std::max<uint64_t>(1, region.extent[1]);
    return side.offset + slice * slice_pitch + row * row_pitch + x;
}
/// What the region does to plain bytes.
void move_bytes(const pi_region &region, const uint8_t *from, uint8_t *to) {
    for (uint64_t slice = 0; slice < std::max<uint64_t>(1, region.extent[2]); ++slice) {
        for (uint64_t row = 0; row < std::max<uint64_t>(1, region.extent[1]); ++row) {
            for (uint64_t x = 0; x < region.extent[0]; ++x) {
                to[place_of(region, destination_of(region), slice, row, x)] =
                    from[place_of(region, source_of(region), slice, row, x)];
            }
        }
    }
}

/// A buffer or a view, and the bytes that it ought to have.
struct Buffer {
    pi_mem mem;
    std::shared_ptr<Bytes> bytes; ///< of the root
    uint64_t offset, size;

    uint8_t *data() const { return bytes->data() + offset; }
};

/// One program.
class Program {
public:
    explicit Program(Input input) : input_(input) {
        const Equipment &equipment = Equipment::get();
        const size_t which = input_.below(static_cast<uint32_t>(equipment.devices().size()));
        device_ = equipment.devices()[which];
        context_ = equipment.context(which);
        const auto desc = describe<pi_queue_desc>(PI_TYPE_QUEUE_DESC);
        must(piQueueCreate(context_, device_, &desc, &queue_), "piQueueCreate");
    }
    ~Program() {
        for (const pi_event event : events_) {
            must(piEventRelease(event), "piEventRelease");
        }
        for (const Buffer &buffer : buffers_) {
            must(piMemRelease(buffer.mem), "piMemRelease");
        }
        must(piQueueFinish(queue_), "piQueueFinish");
        must(piQueueRelease(queue_), "piQueueRelease");
    }
    Program(const Program &) = delete;

    void run() {
        using Step = void (Program::*)();
        static constexpr Step steps[] = {
            &Program::create,  &Program::create, &Program::partition, &Program::write,
            &Program::write,   &Program::read,   &Program::copy,      &Program::copy,
            &Program::fill,    &Program::map,    &Program::release,   &Program::use_released,
            &Program::confuse, &Program::retain, &Program::ask,       &Program::wait,
            &Program::chain};
        for (int step = 0; step < 64 && !input_.empty(); ++step) {
            (this->*steps[input_.below(static_cast<uint32_t>(std::size(steps)))])();
        }
        for (const Buffer &buffer : buffers_) {
            check(buffer);
        }
    }

private:
    const Buffer *any_buffer() {
        return buffers_.empty() ? nullptr
                                : &buffers_[input_.below(static_cast<uint32_t>(buffers_.size()))];
    }
    Bytes some_bytes(uint64_t size) {
        Bytes bytes(size);
        uint32_t state = input_.take<uint16_t>() + 1U;
        for (uint8_t &byte : bytes) {
            state = state * 1664525 + 1013904223;
            byte = static_cast<uint8_t>(state >> 24);
        }
        return bytes;
    }
    std::vector<pi_event> some_events() {
        std::vector<pi_event> waits;
        for (uint32_t count = input_.below(4); count > 1 && !events_.empty(); --count) {
            waits.push_back(events_[input_.below(static_cast<uint32_t>(events_.size()))]);
        }
        return waits;
    }
    /// Of a good command, which has succeeded.
    void keep(pi_event event) {
        if (events_.size() < 8) {
            events_.push_back(event);
            return;
        }
        must(piEventRelease(event), "piEventRelease");
    }

    void create() {
        if (buffers_.size() >= most_buffers) {
            return;
        }
        const uint64_t size = input_.number();
        auto desc = describe<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
        desc.size = size;
        const bool small = size <= most_bytes;
        desc.scope = input_.below(16) == 0 ? input_.take<uint32_t>() : 0;
        desc.alignment = input_.below(8) == 0 ? input_.number() : 0;
        desc.flags = input_.below(8) == 0 ? input_.take<uint64_t>() : 0;
        desc.flags &= ~uint64_t{PI_MEM_USE_HOST_PTR}; // the memory would have to stay
        // What a machine may have, and nobody here would use.
        const auto excessive = [](uint64_t number, uint64_t least) {
            return number > least && number < uint64_t{1} << 48;
        };
        if (excessive(size, most_bytes) || excessive(desc.alignment, 1 << 20)) {
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
        const pi_result result = piMemBufferCreate(context_, device_, &desc, &mem);
        if (result != PI_SUCCESS) {
            if (result == PI_ERROR_OUT_OF_HOST_MEMORY || result == PI_ERROR_OUT_OF_DEVICE_MEMORY) {
                released_.clear(); // the layer has given back what it kept of them
            }
            if (plain && small && size != 0) {
                finding("a buffer of ", size, " bytes is refused: ", last_error());
            }
            return;
        }
        if (size == 0) {
            finding("a buffer of no bytes is made");
        }
        if (!small) { // of so many the model keeps none
            must(piMemRelease(mem), "piMemRelease");
            return;
        }
        auto write = describe<pi_buffer_write_desc>(PI_TYPE_BUFFER_WRITE_DESC);
        pi_region region{};
        region.extent[0] = size;
        write.flags = PI_COMMAND_BLOCKING;
        write.mem = mem;
        write.host_ptr = bytes.data();
        write.region_count = 1;
        write.regions = &region;
        if (desc.host_ptr == nullptr) {
            must(piEnqueueMemBufferWrite(queue_, &write, 0, nullptr, nullptr), "the first write");
        }
        buffers_.push_back({mem, std::make_shared<Bytes>(std::move(bytes)), 0, size});
    }

    void partition() {
        const Buffer *root = any_buffer();
        if (root == nullptr || buffers_.size() >= most_buffers) {
            return;
        }
        auto desc = describe<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
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
        buffers_.push_back({mem, root->bytes, root->offset + desc.offset, desc.size});
    }

    /// Bytes of a range in `size` from `offset` on: any, or such that it ends where that does, or one beside it.
    uint64_t bytes_from(uint64_t offset, uint64_t size) {
        const uint64_t any = input_.number();
        const uint32_t end = input_.below(6);
        return end < 3 ? size - offset + end - 1 : any;
    }
    /// Of a command that has the buffer at its source or destination.
    pi_region some_region(const Buffer &buffer, bool is_source) {
        pi_region region{};
        region.src_offset = input_.number();
        region.dst_offset = input_.number();
        region.extent[0] =
            bytes_from(is_source ? region.src_offset : region.dst_offset, buffer.size);
        if (input_.below(2) == 0) {
            region.extent[1] = input_.number();
            region.extent[2] = input_.below(4) == 0 ? input_.number() : 0;
            for (uint64_t *pitches : {region.src_pitch, region.dst_pitch}) {
                pitches[0] = input_.below(2) == 0 ? input_.number() : 0;
                pitches[1] = input_.below(4) == 0 ? input_.number() : 0;
            }
        }
        region.reserved = input_.below(32) == 0 ? input_.take<uint64_t>() : 0;
        return region;
    }
    static bool is_row(const pi_region &region) {
        return region.extent[0] != 0 && region.extent[1] == 0 && region.extent[2] == 0 &&
               region.src_pitch[0] == 0 && region.src_pitch[1] == 0 && region.dst_pitch[0] == 0 &&
               region.dst_pitch[1] == 0 && region.reserved == 0;
    }
    /// A result that the model contradicts. `fits`: whether the regions lie within what they name.
    static void judge(pi_result result, bool fits, const pi_region &region, const char *what) {
        if (result == PI_SUCCESS && !fits) {
            finding(what, " past the end succeeds");
        }
        if (result == PI_SUCCESS && region.extent[0] == 0) {
            finding(what, " of no bytes succeeds");
        }
        if (result != PI_SUCCESS && fits && is_row(region)) {
            finding(what, " is refused: ", last_error());
        }
    }

    void write() {
        const Buffer *buffer = any_buffer();
        if (buffer == nullptr) {
            return;
        }
        const pi_region region = some_region(*buffer, false);
        uint64_t host_end = 0, end = 0;
        if (!end_of(region, source_of(region), host_end) || host_end > most_bytes) {
            return;
        }
        const bool fits = end_of(region, destination_of(region), end) && end <= buffer->size;
        const Bytes bytes = some_bytes(host_end);
        auto desc = describe<pi_buffer_write_desc>(PI_TYPE_BUFFER_WRITE_DESC);
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = buffer->mem;
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        const std::vector<pi_event> waits = some_events();
        pi_event event = nullptr;
        const pi_result result =
            piEnqueueMemBufferWrite(queue_, &desc, static_cast<uint32_t>(waits.size()),
                                    waits.empty() ? nullptr : waits.data(), &event);
        judge(result, fits, region, "a write");
        if (result == PI_SUCCESS) {
            move_bytes(region, bytes.data(), buffer->data());
            keep(event);
        }
    }

    void read() {
        const Buffer *buffer = any_buffer();
        if (buffer == nullptr) {
            return;
        }
        const pi_region region = some_region(*buffer, true);
        uint64_t host_end = 0, end = 0;
        if (!end_of(region, destination_of(region), host_end) || host_end > most_bytes) {
            return;
        }
        const bool fits = end_of(region, source_of(region), end) && end <= buffer->size;
        Bytes bytes = some_bytes(host_end), expected = bytes;
        auto desc = describe<pi_buffer_read_desc>(PI_TYPE_BUFFER_READ_DESC);
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = buffer->mem;
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        const pi_result result = piEnqueueMemBufferRead(queue_, &desc, 0, nullptr, nullptr);
        judge(result, fits, region, "a read");
        if (result == PI_SUCCESS) {
            move_bytes(region, buffer->data(), expected.data());
        }
        if (bytes != expected) {
            finding("a read gives other bytes");
        }
    }

    void copy() {
        const Buffer *from = any_buffer();
        const Buffer *to = any_buffer();
        if (from == nullptr) {
            return;
        }
        const bool is_source = input_.below(2) == 0;
        const pi_region region = some_region(is_source ? *from : *to, is_source);
        uint64_t from_end = 0, to_end = 0;
        const bool fits = end_of(region, source_of(region), from_end) && from_end <= from->size &&
                          end_of(region, destination_of(region), to_end) && to_end <= to->size;
        auto desc = describe<pi_buffer_copy_desc>(PI_TYPE_BUFFER_COPY_DESC);
        desc.src = from->mem;
        desc.dst = to->mem;
        desc.region_count = 1;
        desc.regions = &region;
        pi_event event = nullptr;
        const pi_result result = piEnqueueMemBufferCopy(queue_, &desc, 0, nullptr, &event);
        if (from->bytes == to->bytes && result == PI_ERROR_MEM_COPY_OVERLAP) {
            return; // whether they do is the plugin's to say; that it is right the next read says
        }
        judge(result, fits, region, "a copy");
        if (result == PI_SUCCESS) {
            const Bytes before(from->data(), from->data() + from->size);
            move_bytes(region, before.data(), to->data());
            keep(event);
        }
    }

    void fill() {
        const Buffer *buffer = any_buffer();
        if (buffer == nullptr) {
            return;
        }
        auto desc = describe<pi_buffer_fill_desc>(PI_TYPE_BUFFER_FILL_DESC);
        desc.pattern_size = input_.below(4) == 0 ? input_.number() : uint64_t{1} << input_.below(8);
        desc.offset = input_.number();
        desc.size = bytes_from(desc.offset, buffer->size);
        if (input_.below(2) == 0 && desc.pattern_size != 0) {
            desc.offset -= desc.offset % desc.pattern_size;
            desc.size -= desc.size % desc.pattern_size;
        }
        const Bytes pattern = some_bytes(std::min<uint64_t>(desc.pattern_size, 128));
        desc.mem = buffer->mem;
        desc.pattern = pattern.data();
        const bool good = desc.pattern_size != 0 && desc.pattern_size <= 128 &&
                          (desc.pattern_size & (desc.pattern_size - 1)) == 0 && desc.size != 0 &&
                          desc.offset % desc.pattern_size == 0 &&
                          desc.size % desc.pattern_size == 0 && desc.size <= buffer->size &&
                          desc.offset <= buffer->size - desc.size;
        pi_event event = nullptr;
        const pi_result result = piEnqueueMemBufferFill(queue_, &desc, 0, nullptr, &event);
        if (good != (result == PI_SUCCESS)) {
            finding("a fill of ", desc.size, " bytes from ", desc.offset, " on by ",
                    desc.pattern_size, " of ", buffer->size, " answers ", result);
        }
        if (good) {
            for (uint64_t byte = 0; byte < desc.size; ++byte) {
                buffer->data()[desc.offset + byte] = pattern[byte % desc.pattern_size];
            }
            keep(event);
        }
    }

    void map() {
        const Buffer *buffer = any_buffer();
        if (buffer == nullptr) {
            return;
        }
        void *pointer = nullptr;
        auto desc = describe<pi_buffer_map_desc>(PI_TYPE_BUFFER_MAP_DESC);
        desc.mem = buffer->mem;
        desc.offset = input_.number();
        desc.size = bytes_from(desc.offset, buffer->size);
        desc.flags =
            PI_COMMAND_BLOCKING | (input_.below(8) == 0 ? input_.take<uint64_t>()
                                                        : uint64_t{PI_MAP_READ} << input_.below(2));
        desc.out_pointer = &pointer;
        const bool fits =
            desc.size != 0 && desc.size <= buffer->size && desc.offset <= buffer->size - desc.size;
        if (piEnqueueMemBufferMap(queue_, &desc, 0, nullptr, nullptr) != PI_SUCCESS) {
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
        auto unmap = describe<pi_unmap_desc>(PI_TYPE_UNMAP_DESC);
        unmap.mem = buffer->mem;
        unmap.pointer = pointer;
        must(unmap_now(unmap), "an unmap");
        must_not(unmap_now(unmap), "a second unmap");
    }
    /// What the call says or, where it leaves that to the command, the event.
    pi_result unmap_now(const pi_unmap_desc &desc) {
        pi_event event = nullptr;
        pi_result result = piEnqueueMemUnmap(queue_, &desc, 0, nullptr, &event);
        if (result == PI_SUCCESS) {
            result = piEventWait(event, PI_TIMEOUT_NEVER);
            must(piEventRelease(event), "piEventRelease");
        }
        return result;
    }

    void release() {
        if (buffers_.empty()) {
            return;
        }
        const auto which = buffers_.begin() + input_.below(static_cast<uint32_t>(buffers_.size()));
        must(piMemRelease(which->mem), "piMemRelease");
        released_.push_back(which->mem);
        buffers_.erase(which);
    }

    /// Handles that were released, at each place that takes one.
    void use_released() {
        if (released_.empty()) {
            return;
        }
        const pi_mem dead = released_[input_.below(static_cast<uint32_t>(released_.size()))];
        for (const Buffer &buffer : buffers_) {
            if (buffer.mem == dead) {
                return; // another one has its address
            }
        }
        uint64_t size = 0;
        uint8_t byte = 0;
        pi_region region{};
        region.extent[0] = 1;
        auto desc = describe<pi_buffer_write_desc>(PI_TYPE_BUFFER_WRITE_DESC);
        desc.mem = dead;
        desc.host_ptr = &byte;
        desc.region_count = 1;
        desc.regions = &region;
        auto view = describe<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
        view.size = 1;
        pi_mem made = nullptr;
        must_not(piMemRelease(dead), "a second release");
        must_not(piMemRetain(dead), "to retain what was released");
        must_not(piMemGetInfo(dead, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr),
                 "to ask what was released");
        must_not(piEnqueueMemBufferWrite(queue_, &desc, 0, nullptr, nullptr),
                 "to write what was released");
        must_not(piMemBufferPartition(dead, &view, &made), "a view of what was released");
    }

    /// Handles of another kind, and none.
    void confuse() {
        const auto as_mem = reinterpret_cast<pi_mem>(queue_);
        const auto as_event = reinterpret_cast<pi_event>(queue_);
        const auto as_queue = reinterpret_cast<pi_queue>(context_);
        auto fill_desc = describe<pi_buffer_fill_desc>(PI_TYPE_BUFFER_FILL_DESC);
        const uint8_t pattern = 1;
        fill_desc.pattern = &pattern;
        fill_desc.pattern_size = fill_desc.size = 1;
        switch (input_.below(6)) {
        case 0:
            must_not(piMemRetain(as_mem), "to retain a queue as a mem");
            break;
        case 1:
            must_not(piEventWait(as_event, 0), "to wait for a queue as an event");
            break;
        case 2:
            must_not(piQueueFinish(as_queue), "to finish a context as a queue");
            break;
        case 3:
            must_not(piMemRelease(nullptr), "to release NULL");
            break;
        case 4:
            must_not(piEnqueueMemBufferFill(queue_, &fill_desc, 0, nullptr, nullptr),
                     "to fill NULL");
            break;
        default:
            fill_desc.mem = as_mem;
            must_not(piEnqueueMemBufferFill(queue_, &fill_desc, 0, nullptr, nullptr),
                     "to fill a queue as a mem");
        }
    }

    void retain() {
        if (const Buffer *buffer = any_buffer()) {
            const uint32_t count = input_.below(5);
            for (uint32_t i = 0; i < count; ++i) {
                must(piMemRetain(buffer->mem), "piMemRetain");
            }
            for (uint32_t i = 0; i < count; ++i) {
                must(piMemRelease(buffer->mem), "piMemRelease");
            }
        }
    }

    /// Any information, into memory of any size.
    void ask() {
        const uint32_t name = input_.below(2) == 0 ? input_.below(80) : input_.take<uint32_t>();
        Bytes value(input_.below(64));
        uint64_t size = 0;
        if (const Buffer *buffer = any_buffer()) {
            piMemGetInfo(buffer->mem, name, value.size(), value.data(), &size);
        }
        piQueueGetInfo(queue_, name, value.size(), value.data(), &size);
        piDeviceGetInfo(device_, name, value.size(), value.data(), &size);
        piContextGetInfo(context_, name, value.size(), value.data(), &size);
    }

    void wait() {
        for (const pi_event event : some_events()) {
            must(piEventWait(event, PI_TIMEOUT_NEVER), "piEventWait");
        }
        if (!events_.empty() && input_.below(2) == 0) {
            const pi_event event = events_.back();
            events_.pop_back();
            must(piEventRelease(event), "piEventRelease");
            must_not(piEventRetain(event), "to retain an event that was released");
        }
    }

    /// A descriptor of any size, cut off there, with links of any type behind it.
    void chain() {
        struct Link {
            uint32_t struct_size;
            pi_struct_type type;
            const void *next;
            uint64_t more[3];
        };
        std::array<Link, 4> links{};
        const uint32_t count = input_.below(5);
        bool all_known = true; // none of them is: only those that may be ignored are
        for (uint32_t i = 0; i < count; ++i) {
            links[i].struct_size = input_.below(4) == 0 ? input_.take<uint32_t>() : sizeof(Link);
            links[i].type = input_.take<uint16_t>() + 0x4000U;
            if (input_.below(2) == 0) {
                links[i].type |= PI_TYPE_MAY_IGNORE_BIT;
            }
            all_known &= (links[i].type & PI_TYPE_MAY_IGNORE_BIT) != 0;
            links[i].next = i + 1 < count ? &links[i + 1] : nullptr;
        }
        auto desc = describe<pi_mem_buffer_desc>(PI_TYPE_MEM_BUFFER_DESC);
        desc.size = 64;
        desc.next = count != 0 ? links.data() : nullptr;
        Bytes storage(sizeof desc + 64);
        std::memcpy(storage.data(), &desc, sizeof desc);
        const uint32_t size =
            input_.below(2) == 0 ? uint32_t{sizeof desc} : input_.below(sizeof desc + 64);
        const bool tail = input_.below(4) == 0 && size > sizeof desc;
        if (tail) {
            storage[sizeof desc] = 1; // something that this interface does not know
        }
        const uint32_t told = input_.below(16) == 0 ? input_.take<uint32_t>() : size;
        if (told > storage.size()) {
            return; // a lie about memory, which nobody can find out
        }
        std::memcpy(storage.data(), &told, sizeof told);
        storage.resize(std::max<size_t>(told, 16));
        storage.shrink_to_fit();
        pi_mem mem = nullptr;
        const pi_result result = piMemBufferCreate(
            context_, device_, reinterpret_cast<const pi_mem_buffer_desc *>(storage.data()), &mem);
        if (result == PI_SUCCESS) {
            must(piMemRelease(mem), "piMemRelease");
            if (!all_known) {
                finding("a descriptor with a link of unknown type is taken");
            }
            if (tail && told > sizeof desc) {
                finding("a descriptor with more than is known is taken");
            }
        }
    }

    /// All of it is what it ought to be.
    void check(const Buffer &buffer) {
        Bytes bytes(buffer.size);
        pi_region region{};
        region.extent[0] = buffer.size;
        auto desc = describe<pi_buffer_read_desc>(PI_TYPE_BUFFER_READ_DESC);
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = buffer.mem;
        desc.host_ptr = bytes.data();
        desc.region_count = 1;
        desc.regions = &region;
        must(piEnqueueMemBufferRead(queue_, &desc, 0, nullptr, nullptr), "the last read");
        for (uint64_t byte = 0; byte < buffer.size; ++byte) {
            if (bytes[byte] != buffer.data()[byte]) {
                finding("byte ", byte, " of ", buffer.size, " is ", int{bytes[byte]}, ", not ",
                        int{buffer.data()[byte]});
            }
        }
    }

    Input input_;
    pi_device device_ = nullptr;
    pi_context context_ = nullptr;
    pi_queue queue_ = nullptr;
    std::vector<Buffer> buffers_;
    std::vector<pi_mem> released_;
    std::vector<pi_event> events_;
};

} // namespace
} // namespace pi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pi::fuzz::Program(pi::fuzz::Input(data, size)).run();
    return 0;
}
