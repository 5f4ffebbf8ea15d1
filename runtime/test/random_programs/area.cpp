// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "area.hpp"

#include <algorithm>

namespace random_programs {

std::vector<uint8_t> fresh_bytes(uint64_t size, std::size_t step) {
    std::vector<uint8_t> bytes(size);
    for (uint64_t index = 0; index < size; ++index) {
        bytes[index] = static_cast<uint8_t>(step * 37 + index * 7 + (index >> 8));
    }
    return bytes;
}

void Area::acquired(PlaceIndex place, const Range &used, Access access, Validity::Choice choice) {
    const PlaceIndex home = memories->of(place);
    const std::lock_guard lock(mutex);
    demand += validity.acquired(home, used, is_fetching(access), is_writing(access), choice);
}

Limits Limits::draw(Draw &draw, uint64_t largest) {
    const uint64_t bounces[] = {Limits().bounce, 0, largest};
    const uint64_t stagings[] = {Limits().staging, 1, 3 * largest};
    return {draw.one_of(bounces), draw.one_of(stagings)};
}

namespace {

/// For bytes that move between devices, as long as no device has imported the host's memory.
Stay stay_at_host(const Setting &setting, const StorageDescriptor &description) {
    if (setting.limits.bounce == 0 || description.host_memory != nullptr) {
        return Stay::never;
    }
    bool imported = false;
    for (PlaceIndex place = 1; place < setting.file.places(); ++place) {
        imported = imported || setting.file.imports(place);
    }
    const bool importing = (description.routes & mask_of(RouteKind::import)) != 0 && imported;
    // The bytes may go over a third device instead.
    const bool chains =
        (description.routes & mask_of(RouteKind::migrate)) != 0 && setting.file.places() > 3;
    const bool unlimited = setting.limits.bounce == Limits().bounce;
    return setting.patient && unlimited && !importing && !chains ? Stay::always : Stay::perhaps;
}

} // namespace

std::shared_ptr<Area> make_area(const Setting &setting, Draw &draw, const std::string &name) {
    static constexpr RouteMask bounce = mask_of(RouteKind::host_bounce);
    static constexpr RouteMask masks[] = {all_routes, bounce | mask_of(RouteKind::migrate), bounce,
                                          bounce | mask_of(RouteKind::direct_use),
                                          bounce | mask_of(RouteKind::import)};
    StorageDescriptor description;
    description.routes = draw.one_of(masks);
    description.size = draw(setting.smallest, setting.largest);
    description.name = name;
    if (!setting.maps) {
        description.styles =
            all_styles & ~mask_of(BounceStyle::map_source) & ~mask_of(BounceStyle::map_destination);
    }
    std::shared_ptr<std::vector<uint8_t>> host_memory;
    const bool own_memory = draw(0, 3) == 1;
    if (own_memory) {
        // Aligned and rounded up so that every place may import it.
        constexpr uint64_t page = 4096;
        description.size = (description.size + page - 1) / page * page;
        host_memory = std::make_shared<std::vector<uint8_t>>(description.size + page);
        const auto address = reinterpret_cast<uintptr_t>(host_memory->data());
        uint8_t *const bytes = host_memory->data() + (page - address % page) % page;
        const auto first = fresh_bytes(description.size, 0);
        std::copy(first.begin(), first.end(), bytes);
        description.host_memory = bytes;
    }
    const Range all{0, description.size};
    auto memories = std::make_shared<Memories>(setting.file, description.routes);
    auto area =
        std::shared_ptr<Area>(new Area{name,
                                       Storage(setting.runtime, description),
                                       all,
                                       false,
                                       memories,
                                       description.routes,
                                       description.styles,
                                       host_memory,
                                       pi_test::ByteModel(all.end, setting.file.may_share()),
                                       {},
                                       Validity(setting.file, description.routes, all.end,
                                                own_memory, stay_at_host(setting, description)),
                                       {}});
    if (own_memory) {
        area->contents.write(host_place, all, fresh_bytes(description.size, 0));
    }
    return area;
}

} // namespace random_programs
