// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <algorithm>

using namespace opencl_test;

TEST_CASE("memory released while mapped is unmapped and freed") {
    Loader loader; // its destructor finds leaks
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        std::vector<uint8_t> storage(4096, 3);
        {
            Mem mem = make_buffer(place.context, device,
                                  buffer_desc(storage.size(), PI_MEM_USE_HOST_PTR, storage.data()));
            Mem view = make_view(mem, 1024, 100);
            void *pointer = nullptr;
            wait(map(place.queue, view, PI_MAP_READ | PI_MAP_WRITE, 0, 100, &pointer));
            wait(map(place.queue, mem, PI_MAP_READ, 0, 100, &pointer));
        }
        CHECK(std::count(storage.begin(), storage.end(), 3) == 4096);
    }
}
