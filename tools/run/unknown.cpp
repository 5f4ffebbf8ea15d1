// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unknown.hpp"

#include <pi/pi.h>

#include <algorithm>
#include <cstddef>

namespace pi_run {
namespace {

// The arguments of a call that cannot run are unchecked: any value is possible.
std::optional<uint64_t> number(const Json &value) {
    return value.is_number_unsigned() ? std::optional(value.get<uint64_t>()) : std::nullopt;
}

std::optional<uint64_t> number(const Json &object, const char *name) {
    const auto found = object.find(name);
    return found != object.end() ? number(*found) : std::nullopt;
}

std::vector<Json> elements(const Json &value) {
    return value.is_array() ? value.get<std::vector<Json>>() : std::vector<Json>();
}

std::vector<Json> list(const Json &object, const char *name) {
    const auto found = object.find(name);
    return found != object.end() ? elements(*found) : std::vector<Json>();
}

// The id of an object, or of the allocation that an address is in.
std::optional<uint64_t> id_of(const Json &object, const char *name) {
    const auto found = object.find(name);
    return found == object.end() ? std::nullopt
           : found->is_object()  ? number(*found, "usm")
                                 : number(*found);
}

// The variables of a program count as another object than its code, which commands write as well.
uint64_t variables_of(uint64_t program) {
    return program | UINT64_C(1) << 63;
}

// 0 is not an id.
uint64_t first(const std::vector<Json> &list) {
    return list.empty() ? 0 : number(list[0]).value_or(0);
}

} // namespace

void Unknown::note(std::string_view function, const Line &line, bool runs) {
    const auto arguments = line.content.find("arguments");
    if (arguments == line.content.end() || !arguments->is_array() || arguments->size() < 2)
        return;
    if (!runs)
        note_cannot_run(function, *arguments, line.number);
    const uint64_t made = first(list(line.content, "made"));
    const auto usm = number(line.content, "usm");
    if (usm)
        objects_[*usm] = {
            *usm, number((*arguments)[function == "piUsmAlloc" ? 2 : 1], "size").value_or(0),
            false};
    if (function.starts_with("piEnqueue")) {
        note_command(function, line, *arguments, runs);
    } else if (function == "piEventSignalHost") {
        closed_.erase(number((*arguments)[0]).value_or(0));
        continue_held();
    } else if (made != 0) {
        note_made(function, *arguments, made);
    }
}

void Unknown::note_made(std::string_view function, const Json &arguments, uint64_t made) {
    const Object parent = object(number(arguments[0]).value_or(0));
    if ((function == "piMemBufferCreate" || function == "piMemImageCreate" ||
         function == "piMemImport") &&
        arguments.size() > 2) {
        const Json &desc = arguments[2];
        objects_[made] = {made, number(desc, "size").value_or(0),
                          (number(desc, "flags").value_or(0) & PI_MEM_READ_ONLY) != 0};
    } else if (function == "piMemBufferPartition" || function == "piMemImageViewCreate") {
        const uint64_t flags = number(arguments[1], "flags").value_or(0);
        objects_[made] = {parent.root, 0,
                          flags == 0 ? parent.read_only : (flags & PI_MEM_READ_ONLY) != 0};
    } else if (function == "piKernelCreate") {
        objects_[made] = {parent.root, 0, false};
    } else if (function == "piEventCreateHost") {
        closed_.insert(made);
    } else if (function == "piProgramCreate" || function == "piProgramLink") {
        objects_[made] = {made, 0, false};
        for (const Json &part : list(arguments[1], "programs")) {
            if (const auto since = mark_of(number(part).value_or(0)))
                mark(made, *since);
        }
    }
}

// Calls for which the log does not say what they write, or let others write.
void Unknown::note_cannot_run(std::string_view function, const Json &arguments, uint64_t line) {
    if (function == "piMemImageViewCreate" || function == "piMemGetHostPointer" ||
        function == "piMemExport" || function == "piProgramSetSpecializationConstants") {
        mark(number(arguments[0]).value_or(0), line, true);
    } else if ((function == "piEnqueueMemImageCopy" || function == "piEnqueueDeviceGlobalWrite" ||
                function == "piEnqueueUsmCopy") &&
               !arguments[1].is_object()) {
        for (const auto &[id, object] : objects_)
            mark(id, line);
    }
}

void Unknown::note_command(std::string_view function, const Line &line, const Json &arguments,
                           bool runs) {
    const Json &desc = arguments[1];
    Command command;
    const auto add = [](std::vector<uint64_t> &to, const Json &from, const char *name) {
        if (const auto id = id_of(from, name))
            to.push_back(*id);
    };
    if (function == "piEnqueueMemBufferWrite" || function == "piEnqueueMemBufferFill" ||
        (function == "piEnqueueMemUnmap" && !line.content.contains("hash"))) {
        add(command.writes, desc, "mem");
    } else if (function == "piEnqueueMemImageWrite" || function == "piEnqueueMemImageFill") {
        add(command.writes, desc, "image");
    } else if (function == "piEnqueueMemBufferCopy" || function == "piEnqueueMemImageCopy" ||
               function == "piEnqueueUsmCopy") {
        add(command.reads, desc, "src");
        add(command.writes, desc, "dst");
    } else if (function == "piEnqueueUsmFill") {
        add(command.writes, desc, "pointer");
    } else if (function == "piEnqueueDeviceGlobalWrite") {
        add(command.writes, desc, "program");
    } else if (function == "piEnqueueKernelLaunch") {
        add(command.reads, desc, "kernel");
        if (const auto kernel = number(desc, "kernel"))
            command.writes.push_back(variables_of(object(*kernel).root));
        for (const Json &argument : list(desc, "arguments")) {
            for (const char *const name : {"mem", "pointer"}) {
                add(command.reads, argument, name);
                if (!object(id_of(argument, name).value_or(0)).read_only)
                    add(command.writes, argument, name);
            }
        }
    }
    command.queue = number(arguments[0]).value_or(0);
    command.event = first(list(line.content, "made"));
    for (const Json &event : arguments.size() > 3 ? elements(arguments[3]) : std::vector<Json>())
        command.waits.push_back(number(event).value_or(0));
    if (!runs)
        command.cannot_run = line.number;

    const bool unknown = mark_written(command).has_value();
    if (is_held(command, held_.size())) {
        closed_.insert(command.event);
        held_.push_back(std::move(command));
        return;
    }
    for (const uint64_t id : command.writes) {
        const auto known = marks_.find(id);
        if (!unknown && known != marks_.end() && !known->second.for_good && writes_whole(id, desc))
            marks_.erase(known);
    }
}

// Out-of-order queues count as in-order ones: a command that is held back counts twice, which only
// makes more bytes unknown.
bool Unknown::is_held(const Command &command, std::size_t before) const {
    return std::any_of(command.waits.begin(), command.waits.end(),
                       [&](uint64_t event) { return closed_.count(event) != 0; }) ||
           std::any_of(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(before),
                       [&](const Command &other) { return other.queue == command.queue; });
}

// Each waits only for earlier ones.
void Unknown::continue_held() {
    for (std::size_t i = 0; i < held_.size();) {
        if (is_held(held_[i], i)) {
            ++i;
            continue;
        }
        mark_written(held_[i]);
        closed_.erase(held_[i].event);
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

std::optional<uint64_t> Unknown::mark_written(const Command &command) {
    std::optional<uint64_t> since = command.cannot_run;
    for (std::size_t i = 0; i < command.reads.size() && !since; ++i)
        since = mark_of(command.reads[i]);
    for (const uint64_t id : command.writes) {
        if (since)
            mark(id, *since);
    }
    return since;
}

std::optional<uint64_t> Unknown::since(const Line &line) const {
    const auto arguments = line.content.find("arguments");
    if (arguments == line.content.end() || !arguments->is_array() || arguments->size() < 2)
        return std::nullopt;
    for (const char *const name : {"mem", "image", "src", "program"}) {
        const uint64_t id = id_of((*arguments)[1], name).value_or(0);
        for (const auto &since : {mark_of(id), mark_of(variables_of(id))}) {
            if (since)
                return since;
        }
    }
    return std::nullopt;
}

Unknown::Object Unknown::object(uint64_t id) const {
    const auto found = objects_.find(id);
    return found != objects_.end() ? found->second : Object{id, 0, false};
}

void Unknown::mark(uint64_t id, uint64_t since, bool for_good) {
    marks_.try_emplace(object(id).root, Mark{since, false}).first->second.for_good |= for_good;
}

std::optional<uint64_t> Unknown::mark_of(uint64_t id) const {
    const auto found = marks_.find(object(id).root);
    return found != marks_.end() ? std::optional(found->second.since) : std::nullopt;
}

// Whether a write, fill or copy overwrites all bytes. Never for a view, whose size is unknown here.
bool Unknown::writes_whole(uint64_t id, const Json &desc) const {
    const uint64_t size = object(id).size;
    const std::vector<Json> regions = list(desc, "regions");
    const auto dst = desc.find("dst");
    if (dst != desc.end() && dst->is_object() && number(*dst, "offset") != 0)
        return false;
    if (size == 0 || regions.empty())
        return size != 0 && number(desc, "offset") == 0 && number(desc, "size") == size;
    const std::vector<Json> extent = list(regions[0], "extent");
    return regions.size() == 1 && number(regions[0], "dst_offset") == 0 && extent.size() == 3 &&
           extent[0] == size && extent[1] <= 1 && extent[2] <= 1;
}

} // namespace pi_run
