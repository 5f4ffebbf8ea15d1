// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "check.hpp"

#include "functions.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstring>

namespace pi::loader {
namespace {

// Reads a slot by its offset, whatever its function type.
bool has_slot(const pi_dispatch &table, const FunctionRow &row) {
    void *slot = nullptr;
    std::memcpy(&slot, reinterpret_cast<const unsigned char *>(&table) + row.offset, sizeof slot);
    return slot != nullptr;
}

uint64_t known_capabilities() {
    uint64_t known = 0;
    for (const FunctionRow &row : function_rows)
        known |= row.capability;
    return known;
}

// "1.1", or for a draft "1.1-dev (draft 3)".
std::string version_text(uint32_t major, uint32_t minor, uint32_t draft) {
    std::string text = fmt::format("{}.{}", major, minor);
    return draft != 0 ? fmt::format("{}-dev (draft {})", text, draft) : text;
}

std::string beyond_table(const pi_plugin_desc &desc, const FunctionRow &row) {
    if (row.offset + sizeof(void *) <= desc.functions->struct_size)
        return "";
    return fmt::format(" (its table of {} bytes ends before it)", desc.functions->struct_size);
}

} // namespace

std::string check_version(const pi_plugin_desc &desc, uint16_t &minor) {
    if (desc.version_major != PI_VERSION_MAJOR)
        return fmt::format(
            "made for version {}.{}; this loader has {}.{}, major versions must be equal",
            desc.version_major, desc.version_minor, PI_VERSION_MAJOR, PI_VERSION_MINOR);
    const bool same_draft =
        desc.version_minor == PI_VERSION_MINOR && desc.draft == PI_VERSION_DRAFT;
    if (!same_draft && (desc.draft != 0 || desc.version_minor == PI_VERSION_MINOR))
        return fmt::format(
            "made for version {}; this loader has {}, and a draft works only with the "
            "same draft: build both with the same headers",
            version_text(desc.version_major, desc.version_minor, desc.draft),
            version_text(PI_VERSION_MAJOR, PI_VERSION_MINOR, PI_VERSION_DRAFT));
    minor = std::min<uint16_t>(desc.version_minor, PI_VERSION_MINOR);
    // A later version may have changed what this draft added.
    if (PI_VERSION_DRAFT != 0 && !same_draft)
        minor = std::min<uint16_t>(minor, PI_VERSION_MINOR - 1);
    return "";
}

std::string read_table(const pi_plugin_desc &desc, uint16_t minor, pi_dispatch &table,
                       std::span<const FunctionRow> rows) {
    if (desc.functions == nullptr)
        return "its function table is NULL";
    const std::size_t size = desc.functions->struct_size;
    constexpr std::size_t begin = function_rows[0].offset;
    if (size <= begin)
        return fmt::format("its function table has {} bytes, too few for one function", size);
    if ((size - begin) % sizeof(void *) != 0)
        return fmt::format("its function table has {} bytes, which ends inside a slot", size);
    if (desc.functions->version_major != PI_VERSION_MAJOR)
        return fmt::format("its function table has version {}.{}; this loader has {}.{}",
                           desc.functions->version_major, desc.functions->version_minor,
                           PI_VERSION_MAJOR, PI_VERSION_MINOR);
    table = {};
    std::memcpy(static_cast<void *>(&table), desc.functions, std::min(size, sizeof table));
    for (const FunctionRow &row : rows) {
        if (row.since > minor)
            std::memset(reinterpret_cast<unsigned char *>(&table) + row.offset, 0, sizeof(void *));
    }
    table.struct_size = sizeof table;
    table.version_major = PI_VERSION_MAJOR;
    table.version_minor = PI_VERSION_MINOR;
    return "";
}

std::string check_slots(const pi_plugin_desc &desc, uint16_t minor, const pi_dispatch &table) {
    for (const FunctionRow &row : function_rows) {
        if (row.since > minor)
            continue;
        const bool present = has_slot(table, row);
        const bool claimed = (desc.capabilities & row.capability) != 0;
        if (row.required && !present)
            return fmt::format("the required function {} is missing{}", row.name,
                               beyond_table(desc, row));
        if (row.capability != 0 && claimed && !present)
            return fmt::format("incomplete group: PI_CAPABILITY_{} is set, but its function {} is "
                               "missing{}; a group has its bit and all its functions, or neither",
                               row.group, row.name, beyond_table(desc, row));
        if (row.capability != 0 && !claimed && present)
            return fmt::format(
                "incomplete group: {} is present, but PI_CAPABILITY_{} is not set in "
                "pi_plugin_desc::capabilities; a group has its bit and all its functions, or "
                "neither",
                row.name, row.group);
    }
    // Only a newer plugin may have groups that this loader does not know.
    const uint64_t unknown = desc.capabilities & ~known_capabilities();
    if (unknown != 0 && desc.version_minor <= PI_VERSION_MINOR)
        return fmt::format("version {1}.{2} does not have the capability bits {0:#x}", unknown,
                           desc.version_major, desc.version_minor);
    return "";
}

std::string check_instance(const pi_plugin_desc &desc, const pi_dispatch *outermost) {
    if (desc.name == nullptr || !is_plugin_name(desc.name))
        return fmt::format("its name is \"{}\", should have only a-z, 0-9 and '_'",
                           desc.name != nullptr ? desc.name : "");
    if (desc.teardown == nullptr)
        return "its teardown function is NULL";
    if (desc.instance == nullptr)
        return "its instance handle is NULL";
    const pi_object_header &header = *header_of(desc.instance);
    if (header.dispatch != outermost)
        return "the first word of its instance is not pi_host::dispatch";
    if (header.kind != PI_KIND_PLUGIN)
        return fmt::format("the kind word of its instance is {} ({}), should be {} (plugin)",
                           header.kind, kind_name(header.kind), uint32_t{PI_KIND_PLUGIN});
    return "";
}

} // namespace pi::loader
