// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "export.hpp"

#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/external.hpp>

#include <sys/stat.h>

namespace pi::sim {

std::optional<Exports::Identity> Exports::identity(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status))
        return std::nullopt;
    return Identity(status.st_dev, status.st_ino);
}

void Exports::add(int descriptor, const std::shared_ptr<const DeviceMemory> &memory) {
    const auto file = identity(descriptor);
    std::lock_guard lock(mutex_);
    // This file may have the number of one that no longer exists.
    std::erase_if(memories_, [](const auto &one) { return one.second.expired(); });
    if (file)
        memories_.insert_or_assign(*file, memory);
}

std::shared_ptr<const DeviceMemory> Exports::find(int descriptor) const {
    const auto file = identity(descriptor);
    std::lock_guard lock(mutex_);
    const auto found = file ? memories_.find(*file) : memories_.end();
    return found == memories_.end() ? nullptr : found->second.lock();
}

namespace entries {

pi_result PI_CALL piMemExport(pi_mem mem, const pi_mem_export_desc *desc,
                              pi_external_handle *out_handle) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const pi_mem_export_desc known = sdk::read_desc(desc, PI_TYPE_MEM_EXPORT_DESC);
        sdk::require(out_handle, "out_handle");
        const pi_external_type type = known.external_type;
        sdk::check_external_type(type, "external_type");
        if (!(self.device().export_types() & sdk::external_bit(type)))
            sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, "external_type is ", type, "; ",
                      self.device().spec().name, " does not export it ",
                      "(export_handle_types in the machine file)");
        self.device().require_alive();
        *out_handle = sdk::export_file(self, type, self.storage().exported(type));
    });
}

} // namespace entries

} // namespace pi::sim
