// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM: allocations, pools, and commands on addresses. A model holds the bytes that each memory must
// have.
#include "adapter.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

using namespace ur_test;

namespace {

constexpr std::array kinds{UR_USM_TYPE_HOST, UR_USM_TYPE_DEVICE, UR_USM_TYPE_SHARED};
/// UR_USM_TYPE_UNKNOWN is memory that UR does not know.
constexpr std::array ends{UR_USM_TYPE_UNKNOWN, UR_USM_TYPE_HOST, UR_USM_TYPE_DEVICE,
                          UR_USM_TYPE_SHARED};

ur_result_t allocate(const Machine &machine, ur_usm_type_t kind, size_t size, void **out,
                     uint32_t align = 0, ur_usm_pool_handle_t pool = nullptr) {
    ur_usm_desc_t desc{};
    desc.stype = UR_STRUCTURE_TYPE_USM_DESC;
    desc.align = align;
    switch (kind) {
    case UR_USM_TYPE_HOST:
        return ur().USM.pfnHostAlloc(machine.context, &desc, pool, size, out);
    case UR_USM_TYPE_DEVICE:
        return ur().USM.pfnDeviceAlloc(machine.context, machine.devices[0], &desc, pool, size, out);
    default:
        return ur().USM.pfnSharedAlloc(machine.context, machine.devices[0], &desc, pool, size, out);
    }
}

/// Memory of a kind, and the bytes that it must have.
class Memory {
public:
    Memory(const Machine &machine, ur_usm_type_t kind, size_t size, uint32_t align = 0,
           ur_usm_pool_handle_t pool = nullptr)
        : machine_(machine), kind_(kind), host_(kind == UR_USM_TYPE_UNKNOWN ? size : 0) {
        INFO("kind " << kind);
        void *pointer = host_.data();
        if (kind != UR_USM_TYPE_UNKNOWN) {
            OK(allocate(machine, kind, size, &pointer, align, pool));
        }
        begin_ = static_cast<uint8_t *>(pointer);
        write(counting(size, static_cast<uint8_t>(kind * 50)));
    }
    Memory(const Memory &) = delete;
    ~Memory() {
        if (kind_ != UR_USM_TYPE_UNKNOWN) {
            ur().USM.pfnFree(machine_.context, begin_);
        }
    }

    uint8_t *at(size_t offset = 0) const { return begin_ + offset; }
    Bytes &model() { return model_; }
    size_t size() const { return model_.size(); }
    Bytes bytes() const {
        Bytes read(size());
        OK(ur().Enqueue.pfnUSMMemcpy(machine_.queue(), true, read.data(), begin_, read.size(), 0,
                                     nullptr, nullptr));
        return read;
    }
    void write(const Bytes &bytes) {
        model_ = bytes;
        OK(ur().Enqueue.pfnUSMMemcpy(machine_.queue(), true, begin_, bytes.data(), bytes.size(), 0,
                                     nullptr, nullptr));
    }

private:
    const Machine &machine_;
    ur_usm_type_t kind_;
    Bytes host_;
    uint8_t *begin_ = nullptr;
    Bytes model_;
};

template <class T>
T usm_info(const Machine &machine, const void *pointer, ur_usm_alloc_info_t name) {
    T value{};
    size_t size = 0;
    OK(ur().USM.pfnGetMemAllocInfo(machine.context, pointer, name, sizeof value, &value, &size));
    CHECK(size == sizeof value);
    return value;
}

Owned<ur_usm_pool_handle_t> make_pool(const Machine &machine, ur_usm_pool_flags_t flags = 0) {
    ur_usm_pool_desc_t desc{};
    desc.flags = flags;
    desc.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC;
    Owned<ur_usm_pool_handle_t> pool;
    OK(ur().USM.pfnPoolCreate(machine.context, &desc, pool.out()));
    return pool;
}

/// A number below the limit.
size_t below(std::minstd_rand &random, size_t limit) {
    return random() % limit;
}

struct QueueKind {
    const char *name;
    ur_queue_flags_t flags;
};
constexpr std::array queue_kinds{
    QueueKind{"in order", 0},
    QueueKind{"out of order", UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE},
};

/// The wait list and the event of a command that others of this test follow.
class Order {
public:
    uint32_t count() const { return event_.get() == nullptr ? 0 : 1; }
    const ur_event_handle_t *list() {
        last_ = event_.get();
        return last_ == nullptr ? nullptr : &last_;
    }
    void add(Owned<ur_event_handle_t> event) { event_ = std::move(event); }
    void wait() {
        if (count() != 0) {
            OK(ur().Event.pfnWait(1, list()));
        }
    }

private:
    Owned<ur_event_handle_t> event_;
    ur_event_handle_t last_ = nullptr;
};

} // namespace

TEST_CASE("USM: each kind, size and alignment", "[unified_runtime][usm]") {
    const Machine machine;
    const bool pooled = GENERATE(false, true);
    const auto pool = pooled ? make_pool(machine) : Owned<ur_usm_pool_handle_t>();
    for (const ur_usm_type_t kind : kinds) {
        for (uint32_t align = 1; align <= 4096; align *= 2) {
            for (const size_t size : {size_t{1}, size_t{7}, size_t{5000}}) {
                CAPTURE(kind, align, size);
                const Memory memory(machine, kind, size, align, pool);
                CHECK(reinterpret_cast<uintptr_t>(memory.at()) % align == 0);
                CHECK(memory.bytes() == counting(size, static_cast<uint8_t>(kind * 50)));
                const void *last = memory.at(size - 1);
                CHECK(usm_info<ur_usm_type_t>(machine, last, UR_USM_ALLOC_INFO_TYPE) == kind);
                CHECK(usm_info<void *>(machine, last, UR_USM_ALLOC_INFO_BASE_PTR) == memory.at());
                CHECK(usm_info<size_t>(machine, last, UR_USM_ALLOC_INFO_SIZE) == size);
                CHECK(usm_info<ur_device_handle_t>(machine, last, UR_USM_ALLOC_INFO_DEVICE) ==
                      machine.devices[0]);
                CHECK(usm_info<ur_usm_pool_handle_t>(machine, last, UR_USM_ALLOC_INFO_POOL) ==
                      pool.get());
            }
        }
    }
}

TEST_CASE("USM: what is not an allocation", "[unified_runtime][usm]") {
    const Machine machine;
    int local = 0;
    CHECK(usm_info<ur_usm_type_t>(machine, &local, UR_USM_ALLOC_INFO_TYPE) == UR_USM_TYPE_UNKNOWN);
    size_t size = 0;
    FAILS(INVALID_VALUE,
          ur().USM.pfnGetMemAllocInfo(machine.context, &local, UR_USM_ALLOC_INFO_SIZE, sizeof size,
                                      &size, nullptr));
    FAILS(INVALID_MEM_OBJECT, ur().USM.pfnFree(machine.context, &local));
    FAILS(INVALID_NULL_POINTER, ur().USM.pfnFree(machine.context, nullptr));
    for (const ur_usm_type_t kind : kinds) {
        CAPTURE(kind);
        void *pointer = nullptr;
        OK(allocate(machine, kind, 64, &pointer));
        FAILS(INVALID_MEM_OBJECT,
              ur().USM.pfnFree(machine.context, static_cast<uint8_t *>(pointer) + 1));
        OK(ur().USM.pfnFree(machine.context, pointer));
        FAILS(INVALID_MEM_OBJECT, ur().USM.pfnFree(machine.context, pointer));
        CHECK(usm_info<ur_usm_type_t>(machine, pointer, UR_USM_ALLOC_INFO_TYPE) ==
              UR_USM_TYPE_UNKNOWN);
    }
}

TEST_CASE("USM: wrong arguments of allocations and infos", "[unified_runtime][usm]") {
    const Machine machine;
    const auto &usm = ur().USM;
    void *pointer = nullptr;
    FAILS(INVALID_NULL_HANDLE, usm.pfnHostAlloc(nullptr, nullptr, nullptr, 4, &pointer));
    FAILS(INVALID_NULL_HANDLE,
          usm.pfnDeviceAlloc(machine.context, nullptr, nullptr, nullptr, 4, &pointer));
    FAILS(INVALID_NULL_HANDLE,
          usm.pfnSharedAlloc(machine.context, nullptr, nullptr, nullptr, 4, &pointer));
    for (const ur_usm_type_t kind : kinds) {
        CAPTURE(kind);
        FAILS(INVALID_NULL_POINTER, allocate(machine, kind, 4, nullptr));
        FAILS(INVALID_USM_SIZE, allocate(machine, kind, 0, &pointer));
        FAILS(INVALID_VALUE, allocate(machine, kind, 4, &pointer, 5));
        FAILS(INVALID_VALUE, allocate(machine, kind, 4, &pointer, UINT32_MAX));
    }
    ur_usm_desc_t desc{};
    desc.stype = UR_STRUCTURE_TYPE_USM_DESC;
    desc.hints = UR_USM_ADVICE_FLAG_FORCE_UINT32;
    FAILS(INVALID_ENUMERATION, usm.pfnHostAlloc(machine.context, &desc, nullptr, 4, &pointer));

    const Memory memory(machine, UR_USM_TYPE_HOST, 8);
    ur_usm_type_t type{};
    const auto query = [&](const void *at, ur_usm_alloc_info_t name, size_t size) {
        return usm.pfnGetMemAllocInfo(machine.context, at, name, size, &type, nullptr);
    };
    FAILS(INVALID_NULL_POINTER, query(nullptr, UR_USM_ALLOC_INFO_TYPE, sizeof type));
    FAILS(INVALID_ENUMERATION, query(memory.at(), UR_USM_ALLOC_INFO_FORCE_UINT32, sizeof type));
    FAILS(INVALID_SIZE, query(memory.at(), UR_USM_ALLOC_INFO_TYPE, sizeof type - 1));
}

TEST_CASE("USM: copies between all kinds of memory, also overlapping ones",
          "[unified_runtime][usm]") {
    const QueueKind queue = GENERATE(from_range(queue_kinds));
    const Machine machine(1, queue.flags);
    CAPTURE(queue.name);
    std::minstd_rand random(1);
    for (const ur_usm_type_t from : ends) {
        for (const ur_usm_type_t to : ends) {
            CAPTURE(from, to);
            Memory src(machine, from, 3000), other(machine, to, 3000);
            Order order;
            for (int i = 0; i < 12; ++i) {
                const bool is_inside = i % 3 == 0; // an overlap, mostly
                Memory &dst = is_inside ? src : other;
                const size_t size = 1 + below(random, src.size());
                const size_t src_at = below(random, src.size() - size + 1);
                const size_t dst_at = below(random, dst.size() - size + 1);
                const bool blocking = below(random, 2) == 0;
                CAPTURE(i, is_inside, size, src_at, dst_at, blocking);
                Owned<ur_event_handle_t> event;
                const ur_event_handle_t *list = order.list();
                OK(ur().Enqueue.pfnUSMMemcpy(machine.queue(), blocking, dst.at(dst_at),
                                             src.at(src_at), size, order.count(), list,
                                             event.out()));
                order.add(std::move(event));
                const Bytes moved(src.model().begin() + static_cast<ptrdiff_t>(src_at),
                                  src.model().begin() + static_cast<ptrdiff_t>(src_at + size));
                std::copy(moved.begin(), moved.end(),
                          dst.model().begin() + static_cast<ptrdiff_t>(dst_at));
            }
            order.wait();
            CHECK(src.bytes() == src.model());
            CHECK(other.bytes() == other.model());
        }
    }
}

TEST_CASE("USM: copies of rectangles", "[unified_runtime][usm]") {
    const Machine machine;
    std::minstd_rand random(2);
    for (const ur_usm_type_t from : ends) {
        for (const ur_usm_type_t to : ends) {
            Memory src(machine, from, 4000), dst(machine, to, 4000);
            for (int i = 0; i < 8; ++i) {
                const size_t width = 1 + below(random, 60), rows = 1 + below(random, 30);
                const size_t src_pitch = width + below(random, 50);
                const size_t dst_pitch = i % 4 == 0 ? width : width + below(random, 50);
                CAPTURE(from, to, width, rows, src_pitch, dst_pitch);
                OK(ur().Enqueue.pfnUSMMemcpy2D(machine.queue(), i % 2 == 0, dst.at(), dst_pitch,
                                               src.at(), src_pitch, width, rows, 0, nullptr,
                                               nullptr));
                for (size_t byte = 0; byte < width * rows; ++byte) {
                    dst.model()[byte / width * dst_pitch + byte % width] =
                        src.model()[byte / width * src_pitch + byte % width];
                }
            }
            OK(ur().Queue.pfnFinish(machine.queue()));
            CHECK(dst.bytes() == dst.model());
        }
    }
}

TEST_CASE("USM: rectangles of host memory that overlap with other pitches",
          "[unified_runtime][usm]") {
    const Machine machine;
    std::minstd_rand random(3);
    for (int i = 0; i < 40; ++i) {
        const size_t width = 1 + below(random, 9), rows = 1 + below(random, 6);
        const size_t src_pitch = width + below(random, 12), dst_pitch = width + below(random, 12);
        const size_t src_at = below(random, 60), dst_at = below(random, 60);
        CAPTURE(i, width, rows, src_pitch, dst_pitch, src_at, dst_at);
        Bytes is(256), expected(256);
        std::generate(is.begin(), is.end(), [&] { return static_cast<uint8_t>(random()); });
        expected = is;
        for (size_t row = 0; row < rows; ++row) {
            std::copy_n(is.begin() + static_cast<ptrdiff_t>(src_at + row * src_pitch), width,
                        expected.begin() + static_cast<ptrdiff_t>(dst_at + row * dst_pitch));
        }
        OK(ur().Enqueue.pfnUSMMemcpy2D(machine.queue(), true, is.data() + dst_at, dst_pitch,
                                       is.data() + src_at, src_pitch, width, rows, 0, nullptr,
                                       nullptr));
        CHECK(is == expected);
    }
}

TEST_CASE("USM: fills with any pattern at any address", "[unified_runtime][usm]") {
    const QueueKind queue = GENERATE(from_range(queue_kinds));
    const Machine machine(1, queue.flags);
    CAPTURE(queue.name);
    std::minstd_rand random(3);
    for (const ur_usm_type_t kind : ends) {
        // Larger than the block that the host writes.
        Memory memory(machine, kind, 300'000);
        Order order;
        for (const size_t pattern_size : {1, 2, 3, 4, 8, 12, 16, 100, 128, 129, 256, 1000}) {
            const bool is_uniform = below(random, 4) == 0;
            const bool is_aligned = below(random, 2) == 0;
            const Bytes pattern =
                is_uniform ? Bytes(pattern_size, 7)
                           : counting(pattern_size, static_cast<uint8_t>(below(random, 256)));
            const size_t offset = is_aligned ? pattern_size * below(random, 9) : below(random, 999);
            const size_t size =
                pattern_size * (1 + below(random, (memory.size() - offset) / pattern_size));
            CAPTURE(kind, pattern_size, is_uniform, offset, size);
            Owned<ur_event_handle_t> event;
            const ur_event_handle_t *list = order.list();
            OK(ur().Enqueue.pfnUSMFill(machine.queue(), memory.at(offset), pattern_size,
                                       pattern.data(), size, order.count(), list, event.out()));
            order.add(std::move(event));
            for (size_t byte = 0; byte < size; ++byte) {
                memory.model()[offset + byte] = pattern[byte % pattern_size];
            }
        }
        order.wait();
        CHECK((memory.bytes() == memory.model()));
    }
}

TEST_CASE("USM: fills of rectangles", "[unified_runtime][usm]") {
    const Machine machine;
    struct Shape {
        size_t pitch, width, rows, pattern;
    };
    constexpr std::array shapes{
        Shape{1, 1, 1, 1},          Shape{1024, 256, 1, 256},     Shape{1024, 57, 1, 1},
        Shape{1024, 1024, 1, 1024}, Shape{1024, 256, 256, 1},     Shape{1024, 256, 256, 256},
        Shape{300, 256, 16, 4096},  Shape{234, 233, 35, 1},       Shape{1024, 256, 35, 128},
        Shape{96, 96, 50, 12},      Shape{100, 96, 50, 12},       Shape{100, 90, 50, 12},
        Shape{100, 90, 50, 100},    Shape{1024, 256, 256, 65536},
    };
    for (const ur_usm_type_t kind : kinds) {
        for (const Shape &shape : shapes) {
            CAPTURE(kind, shape.pitch, shape.width, shape.rows, shape.pattern);
            Memory memory(machine, kind, shape.pitch * shape.rows);
            const Bytes pattern = counting(shape.pattern, 9);
            OK(ur().Enqueue.pfnUSMFill2D(machine.queue(), memory.at(), shape.pitch, shape.pattern,
                                         pattern.data(), shape.width, shape.rows, 0, nullptr,
                                         nullptr));
            for (size_t byte = 0; byte < shape.width * shape.rows; ++byte) {
                memory.model()[byte / shape.width * shape.pitch + byte % shape.width] =
                    pattern[byte % shape.pattern];
            }
            OK(ur().Queue.pfnFinish(machine.queue()));
            CHECK((memory.bytes() == memory.model()));
        }
    }
}

TEST_CASE("USM: copies and fills of another context's memory", "[unified_runtime][usm]") {
    const Machine here, there;
    for (const ur_usm_type_t from : kinds) {
        for (const ur_usm_type_t to : kinds) {
            CAPTURE(from, to);
            Memory src(there, from, 700), dst(here, to, 700);
            OK(ur().Enqueue.pfnUSMMemcpy(here.queue(), true, dst.at(1), src.at(2), 600, 0, nullptr,
                                         nullptr));
            std::copy_n(src.model().begin() + 2, 600, dst.model().begin() + 1);
            CHECK(dst.bytes() == dst.model());
            dst.write(counting(700, 99));
            OK(ur().Enqueue.pfnUSMMemcpy(here.queue(), true, src.at(), dst.at(), 700, 0, nullptr,
                                         nullptr));
            CHECK(src.bytes() == dst.model());
        }
        Memory memory(there, from, 700);
        const Bytes pattern = counting(7);
        OK(ur().Enqueue.pfnUSMFill(here.queue(), memory.at(), 7, pattern.data(), 700, 0, nullptr,
                                   nullptr));
        OK(ur().Queue.pfnFinish(here.queue()));
        for (size_t byte = 0; byte < 700; ++byte) {
            memory.model()[byte] = pattern[byte % 7];
        }
        CHECK(memory.bytes() == memory.model());
    }
}

TEST_CASE("USM: wrong arguments of commands", "[unified_runtime][usm]") {
    const Machine machine;
    const Memory memory(machine, UR_USM_TYPE_DEVICE, 64), other(machine, UR_USM_TYPE_DEVICE, 64);
    const ur_queue_handle_t queue = machine.queue();
    const Bytes pattern = counting(32);
    const auto fill = [&](ur_queue_handle_t on, void *at, size_t pattern_size, const void *bytes,
                          size_t size, uint32_t count = 0) {
        return ur().Enqueue.pfnUSMFill(on, at, pattern_size, bytes, size, count, nullptr, nullptr);
    };
    FAILS(INVALID_NULL_HANDLE, fill(nullptr, memory.at(), 4, pattern.data(), 64));
    FAILS(INVALID_NULL_POINTER, fill(queue, nullptr, 4, pattern.data(), 64));
    FAILS(INVALID_NULL_POINTER, fill(queue, memory.at(), 4, nullptr, 64));
    FAILS(INVALID_SIZE, fill(queue, memory.at(), 4, pattern.data(), 0));
    FAILS(INVALID_SIZE, fill(queue, memory.at(), 4, pattern.data(), 7));
    FAILS(INVALID_SIZE, fill(queue, memory.at(), 4, pattern.data(), 68));
    FAILS(INVALID_SIZE, fill(queue, memory.at(), 0, pattern.data(), 64));
    FAILS(INVALID_SIZE, fill(queue, memory.at(), 3, pattern.data(), 64));
    FAILS(INVALID_SIZE, fill(queue, memory.at(), 32, pattern.data(), 16));
    FAILS(INVALID_EVENT_WAIT_LIST, fill(queue, memory.at(), 4, pattern.data(), 64, 1));

    const auto fill_rows = [&](size_t pitch, size_t pattern_size, size_t width, size_t rows) {
        return ur().Enqueue.pfnUSMFill2D(queue, memory.at(), pitch, pattern_size, pattern.data(),
                                         width, rows, 0, nullptr, nullptr);
    };
    OK(fill_rows(8, 4, 8, 8));
    FAILS(INVALID_SIZE, fill_rows(0, 4, 8, 8));
    FAILS(INVALID_SIZE, fill_rows(7, 4, 8, 8));
    FAILS(INVALID_SIZE, fill_rows(8, 4, 0, 8));
    FAILS(INVALID_SIZE, fill_rows(8, 4, 8, 0));
    FAILS(INVALID_SIZE, fill_rows(8, 0, 8, 8));
    FAILS(INVALID_SIZE, fill_rows(8, 5, 8, 8));
    FAILS(INVALID_SIZE, fill_rows(65, 4, 8, 1));

    const auto copy = [&](void *dst, const void *src, size_t size) {
        return ur().Enqueue.pfnUSMMemcpy(queue, true, dst, src, size, 0, nullptr, nullptr);
    };
    FAILS(INVALID_NULL_POINTER, copy(nullptr, memory.at(), 64));
    FAILS(INVALID_NULL_POINTER, copy(memory.at(), nullptr, 64));
    FAILS(INVALID_SIZE, copy(memory.at(), other.at(), 0));
    FAILS(INVALID_SIZE, copy(memory.at(1), other.at(), 64));
    FAILS(INVALID_SIZE, copy(memory.at(), other.at(1), 64));

    const auto copy_rows = [&](size_t dst_pitch, size_t src_pitch, size_t width, size_t rows) {
        return ur().Enqueue.pfnUSMMemcpy2D(queue, true, memory.at(), dst_pitch, other.at(),
                                           src_pitch, width, rows, 0, nullptr, nullptr);
    };
    OK(copy_rows(8, 8, 8, 8));
    FAILS(INVALID_SIZE, copy_rows(0, 8, 8, 8));
    FAILS(INVALID_SIZE, copy_rows(8, 0, 8, 8));
    FAILS(INVALID_SIZE, copy_rows(8, 8, 8, 0));
    FAILS(INVALID_SIZE, copy_rows(7, 8, 8, 8));
    FAILS(INVALID_SIZE, copy_rows(8, 7, 8, 8));
    FAILS(INVALID_SIZE, copy_rows(9, 8, 8, 8));
    FAILS(INVALID_SIZE, copy_rows(8, 9, 8, 8));
}

TEST_CASE("USM: hints succeed, whatever they say", "[unified_runtime][usm]") {
    const Machine machine;
    const auto advise = [&](const void *at, size_t size, uint32_t advice) {
        Owned<ur_event_handle_t> event;
        const ur_result_t result =
            ur().Enqueue.pfnUSMAdvise(machine.queue(), at, size, advice, event.out());
        if (result == UR_RESULT_SUCCESS) {
            const ur_event_handle_t list = event;
            OK(ur().Event.pfnWait(1, &list));
        }
        return result;
    };
    const auto prefetch = [&](const void *at, size_t size, uint32_t flags) {
        return ur().Enqueue.pfnUSMPrefetch(machine.queue(), at, size, flags, 0, nullptr, nullptr);
    };
    for (const ur_usm_type_t kind : ends) {
        const Memory memory(machine, kind, 64);
        CAPTURE(kind);
        for (uint32_t bit = 1; (bit & UR_USM_ADVICE_FLAGS_MASK) == 0; bit *= 2) {
            CAPTURE(bit);
            CHECK(advise(memory.at(8), 16, bit) == UR_RESULT_SUCCESS);
        }
        CHECK(advise(memory.at(), 64, ~UR_USM_ADVICE_FLAGS_MASK) == UR_RESULT_SUCCESS);
        CHECK(prefetch(memory.at(8), 56, UR_USM_MIGRATION_FLAG_HOST_TO_DEVICE) ==
              UR_RESULT_SUCCESS);
        CHECK(prefetch(memory.at(), 64, UR_USM_MIGRATION_FLAG_DEVICE_TO_HOST) == UR_RESULT_SUCCESS);
        FAILS(INVALID_SIZE, prefetch(memory.at(), 0, 1));
        FAILS(INVALID_SIZE, advise(memory.at(), 0, 1));
        FAILS(INVALID_ENUMERATION, prefetch(memory.at(), 64, 4));
        FAILS(INVALID_ENUMERATION, advise(memory.at(), 64, UR_USM_ADVICE_FLAG_FORCE_UINT32));
        if (kind != UR_USM_TYPE_UNKNOWN) {
            FAILS(INVALID_SIZE, prefetch(memory.at(), 65, 1));
            FAILS(INVALID_SIZE, advise(memory.at(), 65, 1));
        }
    }
    FAILS(INVALID_NULL_POINTER, prefetch(nullptr, 64, 1));
    FAILS(INVALID_NULL_POINTER, advise(nullptr, 64, 1));
}

TEST_CASE("USM: a free waits for the commands before it, also on a queue that was released",
          "[unified_runtime][usm]") {
    const QueueKind queue = GENERATE(from_range(queue_kinds));
    const bool released = GENERATE(false, true);
    for (const ur_usm_type_t kind : kinds) {
        Machine machine(1, queue.flags);
        CAPTURE(queue.name, released, kind);
        void *pointer = nullptr;
        OK(allocate(machine, kind, 64, &pointer));
        std::atomic<bool> is_over = false;
        const auto task = [](void *over) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            *static_cast<std::atomic<bool> *>(over) = true;
        };
        OK(ur().EnqueueExp.pfnHostTaskExp(machine.queue(), task, &is_over, nullptr, 0, nullptr,
                                          nullptr));
        if (released) {
            machine.queues.clear();
        }
        OK(ur().USM.pfnFree(machine.context, pointer));
        CHECK(is_over);
    }
}

TEST_CASE("USM: a free within a callback comes after the commands before it",
          "[unified_runtime][usm]") {
    struct Freed {
        ur_context_handle_t context;
        void *pointer;
        std::atomic<ur_result_t> result{UR_RESULT_ERROR_UNKNOWN};
    };
    const Machine machine;
    Freed freed{machine.context, nullptr};
    OK(allocate(machine, UR_USM_TYPE_HOST, 64, &freed.pointer));
    const auto task = [](void *data) {
        Freed &it = *static_cast<Freed *>(data);
        it.result = ur().USM.pfnFree(it.context, it.pointer);
    };
    OK(ur().EnqueueExp.pfnHostTaskExp(machine.queue(), task, &freed, nullptr, 0, nullptr, nullptr));
    OK(ur().Queue.pfnFinish(machine.queue()));
    CHECK(freed.result == UR_RESULT_SUCCESS);
    ur_usm_type_t type = UR_USM_TYPE_HOST;
    OK(ur().USM.pfnGetMemAllocInfo(machine.context, freed.pointer, UR_USM_ALLOC_INFO_TYPE,
                                   sizeof type, &type, nullptr));
    CHECK(type == UR_USM_TYPE_UNKNOWN);
}

TEST_CASE("a queue is empty once its commands are complete", "[unified_runtime][host_task]") {
    const QueueKind kind = GENERATE(from_range(queue_kinds));
    const Machine machine(1, kind.flags);
    CAPTURE(kind.name);
    const auto is_empty = [&] {
        ur_bool_t empty = 0;
        OK(ur().Queue.pfnGetInfo(machine.queue(), UR_QUEUE_INFO_EMPTY, sizeof empty, &empty,
                                 nullptr));
        return empty != 0;
    };
    CHECK(is_empty());
    std::atomic<bool> goes_on = false;
    const auto task = [](void *go) {
        while (!*static_cast<std::atomic<bool> *>(go)) {
            std::this_thread::yield();
        }
    };
    OK(ur().EnqueueExp.pfnHostTaskExp(machine.queue(), task, &goes_on, nullptr, 0, nullptr,
                                      nullptr));
    CHECK_FALSE(is_empty());
    goes_on = true;
    OK(ur().Queue.pfnFinish(machine.queue()));
    CHECK(is_empty());
}

TEST_CASE("a native command runs on every kind of queue, behind its wait list",
          "[unified_runtime][host_task]") {
    struct Seen {
        std::atomic<bool> before = false;
        bool in_order = false;
    };
    const QueueKind kind = GENERATE(from_range(queue_kinds));
    const Machine machine(1, kind.flags);
    CAPTURE(kind.name);
    Seen seen;
    Owned<ur_event_handle_t> first, end;
    OK(ur().EnqueueExp.pfnHostTaskExp(
        machine.queue(), [](void *data) { static_cast<Seen *>(data)->before = true; }, &seen,
        nullptr, 0, nullptr, first.out()));
    OK(ur().EnqueueExp.pfnNativeCommandExp(
        machine.queue(),
        [](ur_queue_handle_t, void *data) { static_cast<Seen *>(data)->in_order = true; }, &seen, 0,
        nullptr, nullptr, 1, &first.get_ref(), end.out()));
    const ur_event_handle_t event = end.get();
    OK(ur().Event.pfnWait(1, &event));
    CHECK(seen.before);
    CHECK(seen.in_order);
}

TEST_CASE("USM: pools", "[unified_runtime][usm]") {
    const Machine machine;
    const auto pool = make_pool(machine);
    const auto query = [&](ur_usm_pool_info_t name) {
        return info<size_t>(ur().USM.pfnPoolGetInfo, pool.get(), name);
    };
    CHECK(info<uint32_t>(ur().USM.pfnPoolGetInfo, pool.get(), UR_USM_POOL_INFO_REFERENCE_COUNT) ==
          1);
    CHECK(info<ur_context_handle_t>(ur().USM.pfnPoolGetInfo, pool.get(),
                                    UR_USM_POOL_INFO_CONTEXT) == machine.context.get());
    CHECK(query(UR_USM_POOL_INFO_USED_CURRENT_EXP) == 0);
    {
        const Memory host(machine, UR_USM_TYPE_HOST, 1000, 0, pool);
        const Memory device(machine, UR_USM_TYPE_DEVICE, 1000, 0, pool);
        CHECK(query(UR_USM_POOL_INFO_USED_CURRENT_EXP) >= 2000);
        CHECK(query(UR_USM_POOL_INFO_RESERVED_CURRENT_EXP) >= 2000);
    }
    CHECK(query(UR_USM_POOL_INFO_USED_CURRENT_EXP) == 0);

    size_t value = 0;
    const auto refused = [&](ur_usm_pool_info_t name) {
        return ur().USM.pfnPoolGetInfo(pool, name, sizeof value, &value, nullptr);
    };
    FAILS(UNSUPPORTED_ENUMERATION, refused(UR_USM_POOL_INFO_USED_HIGH_EXP));
    FAILS(INVALID_ENUMERATION, refused(UR_USM_POOL_INFO_FORCE_UINT32));

    ur_usm_pool_desc_t desc{};
    Owned<ur_usm_pool_handle_t> other;
    desc.flags = UR_USM_POOL_FLAG_FORCE_UINT32;
    FAILS(INVALID_ENUMERATION, ur().USM.pfnPoolCreate(machine.context, &desc, other.out()));
    desc.flags = 0;
    FAILS(INVALID_NULL_HANDLE, ur().USM.pfnPoolCreate(nullptr, &desc, other.out()));
    FAILS(INVALID_NULL_POINTER, ur().USM.pfnPoolCreate(machine.context, nullptr, other.out()));
    FAILS(INVALID_NULL_POINTER, ur().USM.pfnPoolCreate(machine.context, &desc, nullptr));

    const Machine elsewhere;
    void *pointer = nullptr;
    FAILS(INVALID_VALUE, allocate(elsewhere, UR_USM_TYPE_HOST, 8, &pointer, 0, pool));
}

TEST_CASE("USM: a pool whose memory begins as zeros", "[unified_runtime][usm]") {
    const Machine machine;
    const auto pool = make_pool(machine, UR_USM_POOL_FLAG_ZERO_INITIALIZE_BLOCK);
    const auto &exp = ur().EnqueueExp;
    const std::array functions{exp.pfnUSMHostAllocExp, exp.pfnUSMDeviceAllocExp,
                               exp.pfnUSMSharedAllocExp};
    constexpr size_t size = 1000;
    for (size_t i = 0; i < kinds.size(); ++i) {
        for (int again = 0; again < 2; ++again) { // then it may be memory that was written to
            CAPTURE(kinds[i], again);
            {
                void *pointer = nullptr;
                OK(allocate(machine, kinds[i], size, &pointer, 0, pool));
                Bytes bytes = counting(size);
                OK(ur().Enqueue.pfnUSMMemcpy(machine.queue(), true, bytes.data(), pointer, size, 0,
                                             nullptr, nullptr));
                CHECK(bytes == Bytes(size));
                bytes = counting(size);
                OK(ur().Enqueue.pfnUSMMemcpy(machine.queue(), true, pointer, bytes.data(), size, 0,
                                             nullptr, nullptr));
                OK(ur().USM.pfnFree(machine.context, pointer));
            }
            void *pointer = nullptr;
            Owned<ur_event_handle_t> allocated;
            OK(functions[i](machine.queue(), pool, size, nullptr, 0, nullptr, &pointer,
                            allocated.out()));
            Bytes bytes = counting(size);
            OK(ur().Enqueue.pfnUSMMemcpy(machine.queue(), true, bytes.data(), pointer, size, 1,
                                         &allocated.get_ref(), nullptr));
            CHECK(bytes == Bytes(size));
            bytes = counting(size);
            OK(ur().Enqueue.pfnUSMMemcpy(machine.queue(), true, pointer, bytes.data(), size, 0,
                                         nullptr, nullptr));
            OK(exp.pfnUSMFreeExp(machine.queue(), pool, pointer, 0, nullptr, nullptr));
            OK(ur().Queue.pfnFinish(machine.queue()));
        }
    }
}

TEST_CASE("USM: pools of a device", "[unified_runtime][usm]") {
    const Machine machine;
    const auto &usm = ur().USMExp;
    ur_usm_pool_limits_desc_t limits{};
    limits.stype = UR_STRUCTURE_TYPE_USM_POOL_LIMITS_DESC;
    limits.maxPoolableSize = 1 << 20;
    limits.minDriverAllocSize = 4096;
    ur_usm_pool_desc_t desc{};
    desc.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC;
    desc.pNext = &limits;
    ur_usm_pool_handle_t pool = nullptr;
    OK(usm.pfnPoolCreateExp(machine.context, machine.devices[0], &desc, &pool));
    const auto query = [&](ur_usm_pool_info_t name) {
        size_t value = 0;
        OK(usm.pfnPoolGetInfoExp(pool, name, &value, nullptr));
        return value;
    };
    CHECK(query(UR_USM_POOL_INFO_MAXIMUM_SIZE_EXP) == 1 << 20);
    size_t threshold = 1 << 16;
    OK(usm.pfnPoolSetInfoExp(pool, UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP, &threshold,
                             sizeof threshold));
    CHECK(query(UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP) == threshold);
    OK(usm.pfnPoolTrimToExp(machine.context, machine.devices[0], pool, 0));
    {
        const Memory memory(machine, UR_USM_TYPE_DEVICE, 1000, 0, pool);
        void *pointer = nullptr;
        FAILS(OUT_OF_DEVICE_MEMORY,
              allocate(machine, UR_USM_TYPE_DEVICE, 2 << 20, &pointer, 0, pool));
        FAILS(UNSUPPORTED_FEATURE,
              usm.pfnPoolSetInfoExp(pool, UR_USM_POOL_INFO_RELEASE_THRESHOLD_EXP, &threshold,
                                    sizeof threshold));
        FAILS(UNSUPPORTED_FEATURE,
              usm.pfnPoolTrimToExp(machine.context, machine.devices[0], pool, 0));
    }
    FAILS(UNSUPPORTED_FEATURE,
          usm.pfnPoolSetDevicePoolExp(machine.context, machine.devices[0], pool));
    OK(usm.pfnPoolDestroyExp(machine.context, machine.devices[0], pool));

    ur_usm_pool_handle_t first = nullptr, second = nullptr;
    OK(usm.pfnPoolGetDefaultDevicePoolExp(machine.context, machine.devices[0], &first));
    OK(usm.pfnPoolGetDevicePoolExp(machine.context, machine.devices[0], &second));
    CHECK(first == second);
    OK(usm.pfnPoolSetDevicePoolExp(machine.context, machine.devices[0], first));
    const Memory memory(machine, UR_USM_TYPE_DEVICE, 1000, 0, first);
    FAILS(INVALID_VALUE, usm.pfnPoolDestroyExp(machine.context, machine.devices[0], first));
}

TEST_CASE("USM: allocations and frees in a queue's order", "[unified_runtime][usm]") {
    const Machine machine;
    const auto pool = make_pool(machine);
    const auto &exp = ur().EnqueueExp;
    const std::array functions{exp.pfnUSMHostAllocExp, exp.pfnUSMDeviceAllocExp,
                               exp.pfnUSMSharedAllocExp};
    for (size_t i = 0; i < kinds.size(); ++i) {
        for (const ur_usm_pool_handle_t from : {ur_usm_pool_handle_t{}, pool.get()}) {
            CAPTURE(kinds[i], from);
            void *pointer = nullptr;
            Owned<ur_event_handle_t> allocated, freed;
            OK(functions[i](machine.queue(), from, 512, nullptr, 0, nullptr, &pointer,
                            allocated.out()));
            CHECK(usm_info<ur_usm_type_t>(machine, pointer, UR_USM_ALLOC_INFO_TYPE) == kinds[i]);
            const Bytes bytes = counting(512);
            Bytes read(512);
            const ur_event_handle_t list = allocated;
            OK(ur().Enqueue.pfnUSMMemcpy(machine.queue(), false, pointer, bytes.data(), 512, 1,
                                         &list, nullptr));
            OK(ur().Enqueue.pfnUSMMemcpy(machine.queue(), false, read.data(), pointer, 512, 0,
                                         nullptr, nullptr));
            OK(exp.pfnUSMFreeExp(machine.queue(), from, pointer, 0, nullptr, freed.out()));
            FAILS(INVALID_MEM_OBJECT,
                  exp.pfnUSMFreeExp(machine.queue(), from, pointer, 0, nullptr, nullptr));
            const ur_event_handle_t last = freed;
            OK(ur().Event.pfnWait(1, &last));
            CHECK(read == bytes);
            FAILS(INVALID_USM_SIZE,
                  functions[i](machine.queue(), from, 0, nullptr, 0, nullptr, &pointer, nullptr));
        }
    }
}

TEST_CASE("USM: copies without a queue", "[unified_runtime][usm]") {
    const Machine machine;
    for (const ur_usm_type_t from : ends) {
        for (const ur_usm_type_t to : ends) {
            CAPTURE(from, to);
            Memory src(machine, from, 100), dst(machine, to, 100);
            OK(ur().USMExp.pfnContextMemcpyExp(machine.context, dst.at(), src.at(), 100));
            CHECK(dst.bytes() == src.model());
        }
    }
    const Memory memory(machine, UR_USM_TYPE_DEVICE, 64);
    FAILS(INVALID_SIZE,
          ur().USMExp.pfnContextMemcpyExp(machine.context, memory.at(), memory.at(), 0));
    FAILS(INVALID_NULL_POINTER,
          ur().USMExp.pfnContextMemcpyExp(machine.context, nullptr, memory.at(), 64));
}

TEST_CASE("USM: memory of the application is registered and imported", "[unified_runtime][usm]") {
    const Machine machine;
    const auto &usm = ur().USMExp;
    constexpr size_t page = 4096;
    const std::unique_ptr<void, void (*)(void *)> bytes(std::aligned_alloc(page, page), &std::free);
    FAILS(INVALID_VALUE, usm.pfnHostAllocRegisterExp(machine.context, bytes.get(), 0, nullptr));
    FAILS(INVALID_NULL_POINTER,
          usm.pfnHostAllocRegisterExp(machine.context, nullptr, page, nullptr));
    const ur_result_t result =
        usm.pfnHostAllocRegisterExp(machine.context, bytes.get(), page, nullptr);
    if (result == UR_RESULT_SUCCESS) {
        OK(usm.pfnHostAllocUnregisterExp(machine.context, bytes.get()));
        FAILS(INVALID_VALUE, usm.pfnHostAllocUnregisterExp(machine.context, bytes.get()));
    } else {
        CHECK(result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    OK(usm.pfnImportExp(machine.context, bytes.get(), page));
    OK(usm.pfnReleaseExp(machine.context, bytes.get()));
    OK(usm.pfnReleaseExp(machine.context, bytes.get()));
}

TEST_CASE("USM: devices of several platforms in one context", "[unified_runtime][usm]") {
    const Machine machine(all_devices().size());
    void *pointer = nullptr;
    const ur_result_t result = allocate(machine, UR_USM_TYPE_HOST, 8, &pointer);
    if (result == UR_RESULT_SUCCESS) {
        OK(ur().USM.pfnFree(machine.context, pointer));
        return; // devices of one platform
    }
    FAILS(UNSUPPORTED_FEATURE, result);
    CHECK_THAT(last_error(), Catch::Contains("platforms"));
    FAILS(UNSUPPORTED_FEATURE, allocate(machine, UR_USM_TYPE_SHARED, 8, &pointer));
    constexpr size_t size = 5000;
    const size_t count = machine.devices.size();
    std::vector<void *> memory(count);
    for (size_t i = 0; i < count; ++i) {
        OK(ur().USM.pfnDeviceAlloc(machine.context, machine.devices[i], nullptr, nullptr, size,
                                   &memory[i]));
    }
    for (size_t src = 0; src < count; ++src) {
        for (size_t dst = 0; dst < count; ++dst) {
            for (size_t queue = 0; queue < count && src != dst; ++queue) {
                CAPTURE(src, dst, queue);
                const Bytes pattern = counting(5, static_cast<uint8_t>(queue + 9 * src));
                Bytes read(size);
                const ur_queue_handle_t on = machine.queue(queue);
                OK(ur().Enqueue.pfnUSMFill(on, memory[src], 5, pattern.data(), size, 0, nullptr,
                                           nullptr));
                OK(ur().Enqueue.pfnUSMMemcpy(on, false, memory[dst], memory[src], size, 0, nullptr,
                                             nullptr));
                OK(ur().Enqueue.pfnUSMMemcpy(on, true, read.data(), memory[dst], size, 0, nullptr,
                                             nullptr));
                Bytes expected(size);
                for (size_t byte = 0; byte < size; ++byte) {
                    expected[byte] = pattern[byte % 5];
                }
                CHECK((read == expected));
            }
        }
    }
    for (void *each : memory) {
        OK(ur().USM.pfnFree(machine.context, each));
    }
}
