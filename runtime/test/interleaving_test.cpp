// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Another thread runs a call at each moment at which the watched thread holds no lock within a
// call.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>

using namespace runtime_test;

namespace {

/// The watched thread's number of locks, and the function that it calls whenever it has unlocked
/// the last one.
struct Watched {
    int locks = 0;
    std::function<void()> *unlocked = nullptr;
};
thread_local Watched watched;

using MutexCall = int (*)(pthread_mutex_t *);
MutexCall real(const char *name) {
    return reinterpret_cast<MutexCall>(dlsym(RTLD_NEXT, name));
}

} // namespace

// For this program and all its libraries.
extern "C" int pthread_mutex_lock(pthread_mutex_t *mutex) noexcept {
    static const MutexCall lock = real("pthread_mutex_lock");
    ++watched.locks;
    return lock(mutex);
}
extern "C" int pthread_mutex_unlock(pthread_mutex_t *mutex) noexcept {
    static const MutexCall unlock = real("pthread_mutex_unlock");
    const int result = unlock(mutex);
    if (--watched.locks == 0 && watched.unlocked != nullptr) {
        (*watched.unlocked)();
    }
    return result;
}

namespace {

/// Runs `call`, and `other` on its own thread when `call` holds no lock for the n-th time. Returns
/// false if that moment never comes.
bool run_with(const std::function<void()> &call, int n, const std::function<void()> &other) {
    bool ran = false;
    std::function<void()> unlocked = [&] {
        if (--n == 0) {
            watched.unlocked = nullptr;
            std::thread(other).join();
            ran = true;
        }
    };
    watched.unlocked = &unlocked;
    call();
    watched.unlocked = nullptr;
    return ran;
}

} // namespace

TEST_CASE("an acquire during an eviction that is given up gets its bytes", "[runtime]") {
    constexpr PlaceIndex place = 1;
    constexpr uint64_t size = 6000;
    const TextFile file(R"({"pi_machine": 1, "name": "small", "devices": [
        {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": 10000}]}],
        "links": [{"between": ["host", "a"], "bandwidth": "1 GB/s"}]})");
    const Simulated machine(file.path());
    const Runtime runtime(machine.topology(), {.pool_limit = 0});
    int moments = 0;
    for (bool ran = true; ran; ++moments) {
        INFO("moment " << moments);
        const Storage dirty(runtime, {.size = size});
        const Storage wanted(runtime, {.size = size});
        const Buffer buffer = dirty.buffer();
        host_write(buffer, 0, pattern(size, 1));
        // The write-back would wait for this acquisition, perhaps forever: so there is no free
        // memory.
        Acquisition old;
        std::thread([&] { old = buffer.acquire(host_place, Access::read); }).join();
        Acquisition writer = buffer.acquire(place, Access::discard_write);
        const Event filled = machine.fill(writer, 7);
        writer.release(filled.get());
        REQUIRE(wait(filled) == PI_SUCCESS);
        REQUIRE(runtime.finish(patience));

        Acquisition reader;
        pi_result result = PI_SUCCESS;
        ran = run_with(
            [&] { result = code_of([&] { wanted.buffer().acquire(place, Access::read); }); },
            moments + 1, [&] { reader = buffer.acquire(host_place, Access::read); });
        REQUIRE(result == PI_ERROR_OUT_OF_DEVICE_MEMORY);
        old.release();
        if (ran) {
            CHECK(code_of([&] { reader.wait(patience); }) == PI_SUCCESS);
            reader.release();
        }
        CHECK(host_read(buffer) == std::vector<uint8_t>(size, 7));
        REQUIRE(runtime.finish(patience));
    }
    CHECK(moments > 5);
}

namespace {

constexpr PlaceIndex small_device = 1;
constexpr uint64_t most_of_it = 6000;

/// A device with memory for one storage of that size.
const TextFile &small_machine() {
    static const TextFile file(R"({"pi_machine": 1, "name": "small", "devices": [
        {"name": "a", "type": "gpu",
         "scopes": [{"name": "global", "flags": ["poolable"], "capacity": 10000}]}],
        "links": [{"between": ["host", "a"], "bandwidth": "1 GB/s"}]})");
    return file;
}

pi_result code_of_use(const Storage &storage) {
    return code_of(
        [&] { storage.buffer().acquire(small_device, Access::discard_write).release(); });
}

} // namespace

TEST_CASE("an acquire that finds no memory uses what another thread frees at any moment before it "
          "gives up",
          "[runtime]") {
    const Simulated machine(small_machine().path());
    const uint64_t pool_limit = GENERATE(uint64_t{0}, uint64_t{1} << 20);
    INFO("pool_limit " << pool_limit);
    const Runtime runtime(machine.topology(), {.pool_limit = pool_limit});
    int moments = 0;
    bool gave_up = false; // although it looked for memory again after that moment
    for (bool ran = true; ran; ++moments) {
        INFO("moment " << moments);
        const Storage wanted(runtime, {.size = most_of_it});
        auto other = std::make_unique<Storage>(runtime, StorageDescriptor{.size = most_of_it});
        Acquisition held; // on another thread, so there is nothing to wait for
        std::thread([&] {
            held = other->buffer().acquire(small_device, Access::discard_write);
        }).join();
        pi_result result = PI_SUCCESS;
        ran = run_with([&] { result = code_of_use(wanted); }, moments + 1,
                       [&] {
                           held.abandon();
                           held = {};
                           other.reset();
                       });
        REQUIRE_FALSE((gave_up && ran));
        gave_up = ran && result == PI_ERROR_OUT_OF_DEVICE_MEMORY;
        REQUIRE((gave_up || result == (ran ? PI_SUCCESS : PI_ERROR_OUT_OF_DEVICE_MEMORY)));
        REQUIRE(runtime.finish(patience));
    }
    CHECK(moments > 5);
}

TEST_CASE("an acquire during the destruction of a storage, at any moment, gets its memory",
          "[runtime]") {
    const Simulated machine(small_machine().path());
    const Runtime runtime(machine.topology());
    int moments = 0;
    for (bool ran = true; ran; ++moments) {
        INFO("moment " << moments);
        const Storage wanted(runtime, {.size = most_of_it});
        auto other = std::make_unique<Storage>(runtime, StorageDescriptor{.size = most_of_it});
        REQUIRE(code_of_use(*other) == PI_SUCCESS);
        std::future<pi_result> use;
        ran = run_with(
            [&] { other.reset(); }, moments + 1,
            [&] {
                use = std::async(std::launch::async, [&] { return code_of_use(wanted); });
                use.wait_for(std::chrono::milliseconds(20)); // it may have to wait for the rest
            });
        CHECK((!ran || use.get() == PI_SUCCESS));
    }
    CHECK(moments > 2);
}
