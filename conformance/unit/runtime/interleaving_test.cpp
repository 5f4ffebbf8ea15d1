// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What another thread does at any moment at which one in the midst of a call has no lock.
#include "simulated.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>

using namespace runtime_test;

namespace {

/// Of the thread that is watched: how many locks it has, and what it calls whenever it has given back its last one.
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

// Of this program and of all libraries in it.
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

/// Runs the call, and the other one on a thread of its own when the call is without a lock for the n-th time; false if it
/// never was so often.
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

TEST_CASE("an acquire in the midst of an eviction that is given up gets its bytes", "[runtime]") {
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
        // What is to be written back would wait for this one, perhaps for ever: so there is no room.
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
