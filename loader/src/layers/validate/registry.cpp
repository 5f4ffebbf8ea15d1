// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "registry.hpp"

#include <utility>

namespace pi::loader::validate {
void ObjectTable::grow() {
    std::vector<Object> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (Object &object : old) {
        if (object.handle == nullptr)
            continue;
        std::size_t i = home(hash_of(object.handle));
        while (slots_[i].handle != nullptr)
            i = next(i);
        slots_[i] = std::move(object);
    }
}

Object &ObjectTable::insert(void *handle, uint64_t hash) {
    if ((used_ + 1) * 2 > slots_.size())
        grow();
    std::size_t i = home(hash);
    while (slots_[i].handle != nullptr)
        i = next(i);
    slots_[i] = Object{};
    slots_[i].handle = handle;
    ++used_;
    return slots_[i];
}

// Moves up the entries that probing placed after it.
void ObjectTable::erase(Object &object) noexcept {
    auto hole = static_cast<std::size_t>(&object - slots_.data());
    for (std::size_t i = next(hole); slots_[i].handle != nullptr; i = next(i)) {
        const std::size_t wanted = home(hash_of(slots_[i].handle));
        if (((i - wanted) & (slots_.size() - 1)) >= ((i - hole) & (slots_.size() - 1))) {
            slots_[hole] = std::move(slots_[i]);
            hole = i;
        }
    }
    slots_[hole] = Object{};
    --used_;
}

void Registry::remember_gone(const Reference &gone) {
    Reference forgotten{};
    {
        const std::scoped_lock lock(gone_mutex_);
        if (gone_.size() < gone_count) {
            gone_.push_back(gone);
        } else {
            forgotten = std::exchange(gone_[oldest_gone_], gone);
            oldest_gone_ = (oldest_gone_ + 1) % gone_count;
        }
    }
    if (forgotten.handle == nullptr)
        return;
    with(forgotten.handle, [&](Object *object, ObjectTable &table, uint64_t) {
        if (object != nullptr && object->serial == forgotten.serial && !object->known_to_plugin())
            table.erase(*object);
    });
}

} // namespace pi::loader::validate
