// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/pi_loader.h>
#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <cstdio>
#include <cstring>

using namespace pi::runtime;

int main() {
    pi_loader loader = nullptr;
    check(piLoaderCreate(nullptr, &loader), "piLoaderCreate"); // finds and opens the plugins
    {
        pi_device devices[2];
        uint32_t count = 0;
        check(piLoaderSelectDevices(loader, nullptr, 2, devices, &count), "piLoaderSelectDevices");
        auto topology = Topology::from_devices(std::span(devices, count < 2 ? count : 2));
        std::puts(topology->to_string().c_str()); // what each device's memory is to the others

        Runtime runtime(topology, {.log_up_to_date = true});
        Storage storage(runtime, {.size = 1 << 20, .name = "numbers"});
        Acquisition host = storage.buffer().acquire(host_place, Access::discard_write);
        std::memset(host.pointer(), 42, host.range().size());
        host.release();
        for (PlaceIndex place = 1; place < topology->size(); ++place) {
            Acquisition use = storage.buffer().acquire(place, Access::read_write);
            use.wait(); // or: enqueue commands on use.mem() behind use.events(queue)
            use.release();
        }
        runtime.finish(std::chrono::seconds(10));
        std::puts(to_string(runtime.log(), topology->description()).c_str()); // how it got there
    }
    check(piLoaderRelease(loader), "piLoaderRelease");
}
