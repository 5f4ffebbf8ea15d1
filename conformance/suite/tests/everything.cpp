// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "everything.hpp"

#include "image.hpp"
#include "usm.hpp"

namespace pi::suite {

Everything::Everything(Fixture &fixture, const Place &place)
    : queue(fixture.make_queue(place)), mem(fixture.make_buffer(place, 256)) {
    if (has_kind(place.device, PI_PARTITION_EQUALLY))
        parts = partition(place.device, partition_desc(PI_PARTITION_EQUALLY, 1));
    if (fixture.can(PI_CAPABILITY_VIEW))
        view = fixture.make_view(mem, 0, 64);
    if (fixture.can(PI_CAPABILITY_IMAGE)) {
        image = make_image(place, any_image_desc(fixture));
        const auto desc = pi::desc<pi_sampler_desc>();
        require_success(piSamplerCreate(place.context, &desc, sampler.out()), "piSamplerCreate");
    }
    if (fixture.can(PI_CAPABILITY_USM_POOL)) {
        auto desc = pi::desc<pi_usm_pool_desc>();
        desc.kind = any_usm_kind(fixture);
        require_success(piUsmPoolCreate(place.context, place.device, &desc, pool.out()),
                        "piUsmPoolCreate");
    }
    if (has_kernels(fixture)) {
        program = make_program(fixture, place);
        kernel = make_kernel(program, "add");
    }
}

void Everything::release() {
    suite::release(kernel);
    suite::release(program);
    suite::release(pool);
    suite::release(sampler);
    suite::release(image);
    suite::release(view);
    suite::release(mem);
    suite::release(queue);
    for (Device &part : parts)
        suite::release(part);
}

} // namespace pi::suite
