// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "map_table.hpp"

#include <pi/sdk/region.hpp>

namespace pi::host {

void *MapTable::promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc) {
    std::unique_ptr<Copy> copy;
    void *pointer = bytes.at(desc.offset);
    if (bytes.run(desc.offset) < desc.size) {
        copy = std::make_unique<Copy>(
            Copy{desc.offset, desc.flags, std::vector<std::byte>(desc.size)});
        pointer = copy->bytes.data();
    }
    std::lock_guard lock(mutex_);
    Entry &entry = entries_[pointer];
    ++entry.promised;
    if (copy)
        entry.copy = std::move(copy);
    return pointer;
}

void MapTable::fulfil(const LogicalBytes &bytes, const void *pointer) {
    std::lock_guard lock(mutex_);
    Entry &entry = entries_.at(pointer);
    if (Copy *copy = entry.copy.get(); copy && sdk::map_reads(copy->flags))
        copy_bytes(bytes, copy->offset, copy->bytes.data(), 0, copy->bytes.size());
    --entry.promised;
    ++entry.mapped;
}

void MapTable::withdraw(const void *pointer) {
    std::lock_guard lock(mutex_);
    const auto entry = entries_.find(pointer);
    --entry->second.promised;
    drop_if_unused(entry);
}

bool MapTable::known(const void *pointer) const {
    std::lock_guard lock(mutex_);
    return entries_.count(pointer);
}

bool MapTable::unmap(const LogicalBytes &bytes, const void *pointer) {
    std::lock_guard lock(mutex_);
    const auto entry = entries_.find(pointer);
    if (entry == entries_.end() || !entry->second.mapped)
        return false;
    if (const Copy *copy = entry->second.copy.get(); copy && sdk::map_writes(copy->flags))
        copy_bytes(copy->bytes.data(), 0, bytes, copy->offset, copy->bytes.size());
    --entry->second.mapped;
    drop_if_unused(entry);
    return true;
}

void MapTable::drop_if_unused(std::map<const void *, Entry>::iterator entry) {
    if (!entry->second.promised && !entry->second.mapped)
        entries_.erase(entry);
}

} // namespace pi::host
