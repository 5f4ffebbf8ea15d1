// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a place gets memory for a storage at its first acquire: it uses another place's, imports the
// host's, or gets its own.
#include "storage/attachments.hpp"

#include "storage/layout_check.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <numeric>

namespace pi::runtime {

namespace {

constexpr uint64_t storage_flags = PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;

pi_result get_coherence(const Mem &mem, pi_coherence &out) {
    return piMemGetInfo(mem.get(), PI_MEM_INFO_COHERENCE, sizeof out, &out, nullptr);
}

std::string in_hex(uint64_t number) {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%" PRIx64, number);
    return std::string("0x") + digits.data();
}

void check_description(const StorageDescriptor &description) {
    const uint64_t alignment = description.alignment;
    if (description.size == 0) {
        throw Error(PI_ERROR_INVALID_SIZE, "Storage: size is 0");
    }
    if ((alignment & (alignment - 1)) != 0) {
        throw Error(PI_ERROR_INVALID_ALIGNMENT,
                    "Storage: alignment " + std::to_string(alignment) + " is not a power of two");
    }
    if ((description.flags & ~storage_flags) != 0) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "Storage: flags is " + in_hex(description.flags) +
                        "; PI_MEM_REQUIRE_CONTIGUOUS and PI_MEM_REQUIRE_PINNED (" +
                        in_hex(storage_flags) + ") can be required");
    }
    const auto address = reinterpret_cast<uintptr_t>(description.host_memory);
    if (alignment != 0 && address % alignment != 0) {
        throw Error(PI_ERROR_MISALIGNED_POINTER,
                    "Storage: host_memory, at " + in_hex(address) +
                        ", is not aligned to the required alignment, " + std::to_string(alignment));
    }
    if (address > UINTPTR_MAX - description.size) {
        throw Error(PI_ERROR_INVALID_SIZE, "Storage: host_memory, at " + in_hex(address) +
                                               ", and size, " + std::to_string(description.size) +
                                               ", go past the end of all addresses");
    }
    check_layout(description.layout, description.size);
    if (description.device_memory &&
        (description.host_memory != nullptr || !description.layout.is_dense())) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    std::string("Storage: device_memory is given together with ") +
                        (description.host_memory != nullptr ? "host_memory" : "a layout") +
                        "; device_memory is dense, and excludes both");
    }
}

} // namespace

Attachments::Attachments(RuntimeState &runtime, const StorageDescriptor &description,
                         Replicas &replicas, Resident &resident)
    : runtime_(runtime), description_(description), replicas_(replicas), resident_(resident),
      attachments_(runtime.topology->size()) {
    check_description(description_);
    if (description_.host_memory != nullptr) {
        attach_host();
    }
    if (description_.device_memory) {
        adopt_device_memory();
    }
}

Attachments::~Attachments() {
    attachments_.clear();
    const Range all{0, description_.size};
    for (ViewId id = 0; id < memories_.size(); ++id) {
        ViewMemory &view = memories_[id];
        const bool is_resident = static_cast<bool>(view.memory);
        if (is_mapped(view.mem.get())) {
            runtime_.commands->standing_maps().keep(view.mem.get(), host_bytes_);
            runtime_.in_flight->add();
            try {
                runtime_.commands->undo_maps(
                    view.mem.get(), all, true,
                    [continuations = runtime_.continuations,
                     in_flight = runtime_.in_flight](pi_result, const std::string &) {
                        continuations->post_or_run([in_flight] { in_flight->remove(); });
                    });
            } catch (const std::bad_alloc &) { // then it stays mapped as long as the runtime lives
                runtime_.in_flight->remove();
            }
            view.memory.drop(); // not to be used again
        }
        if (is_resident) {
            view.mem.reset();
            view.memory = {};
            runtime_.residents.remove(
                replicas_.views[id].home,
                &resident_); // an acquire that needs room there waits for this
        }
    }
}

ViewId Attachments::add_view(const View &view, ViewMemory memory, MemoryId id) {
    const bool is_application_memory =
        view.home == host_place
            ? description_.host_memory != nullptr && description_.host_memory_valid
            : memory.given;
    // First, so that the ledger never knows more views than there are.
    replicas_.views.reserve(replicas_.views.size() + 1);
    memories_.reserve(memories_.size() + 1);
    const ViewId added = replicas_.ledger.add_view(
        id, is_application_memory ? RangeSet({0, description_.size}) : RangeSet());
    replicas_.views.push_back(view);
    memories_.push_back(std::move(memory));
    return added;
}

void Attachments::create_host_view() {
    if (replicas_.host_view) {
        return;
    }
    ViewMemory memory;
    memory.host = static_cast<std::byte *>(description_.host_memory);
    if (memory.host == nullptr) {
        // Aligned and rounded for every place that could import it.
        uint64_t alignment = std::max<uint64_t>(description_.alignment, 64);
        for (const PlaceInfo &place : runtime_.topology->description().places) {
            if (place.host_pointer_import && place.shares_host_memory()) {
                alignment = std::max(alignment, place.host_pointer_alignment);
            }
        }
        host_bytes_ = std::make_shared<HostBytes>(description_.size, alignment);
        memory.host = host_bytes_->data();
    }
    replicas_.host_view = add_view({}, std::move(memory), replicas_.ledger.add_memory());
}

std::shared_ptr<const UpToDate::Texts> Attachments::texts(std::string reason) const {
    return std::make_shared<const UpToDate::Texts>(
        UpToDate::Texts{description_.name, std::move(reason)});
}

void Attachments::attach_host() {
    create_host_view();
    if (!attachments_[host_place]) {
        attachments_[host_place] =
            Attachment{.view = *replicas_.host_view, .texts = texts("the host's own memory")};
    }
}

std::vector<Candidate> Attachments::sharing_candidates(PlaceIndex place, bool verified_only) const {
    const uint32_t scope = scope_index(place);
    std::vector<Candidate> result;
    for (PlaceIndex owner = 0; owner < attachments_.size(); ++owner) {
        const std::optional<Attachment> &attached = attachments_[owner];
        if (owner == place || (owner != host_place && !attached) || runtime_.lost.is_lost(owner)) {
            continue;
        }
        if (attached && attached->kind == RouteKind::direct_use) {
            continue; // another place's memory, which is considered as that place's
        }
        RouteRequest request;
        request.source = owner;
        request.destination = place;
        request.bytes = description_.size;
        request.destination_scope_0 = scope == 0;
        request.scope = description_.scope;
        request.requires_device_memory = description_.flags != 0;
        request.allowed = description_.routes;
        request.verification = runtime_.verification();
        request.verified_only = verified_only;
        const PlaceInfo &owning = runtime_.topology->info(owner);
        const bool owner_laid_out =
            !description_.layout.is_dense() && // given memory is dense, whatever its scope
            owner != host_place && !attached->imported && is_laid_out(owning, scope_index(owner));
        request.other_layout = owner_laid_out != is_laid_out(runtime_.topology->info(place), scope);
        if (owner != host_place) {
            request.source_imported = attached->imported;
            request.source_given = memories_[attached->view].given && !attached->imported;
            request.source_scope_0 = replicas_.views[attached->view].scope_0;
        }
        if (replicas_.host_view) {
            request.host_address =
                reinterpret_cast<uintptr_t>(memories_[*replicas_.host_view].host);
            request.host_size =
                description_.host_memory != nullptr ? description_.size : host_bytes_->size();
        }
        const RouteKind wanted = owner == host_place ? RouteKind::import : RouteKind::direct_use;
        for (Candidate &candidate :
             candidates(runtime_.topology->description(), request, runtime_.costs)) {
            if (candidate.route.kind == wanted) {
                result.push_back(std::move(candidate));
            }
        }
    }
    std::stable_sort(result.begin(), result.end(), [](const Candidate &a, const Candidate &b) {
        if (a.possible != b.possible) {
            return a.possible;
        }
        if (a.seconds != b.seconds) {
            return a.seconds < b.seconds;
        }
        return a.route.kind < b.route.kind; // rather one memory object than two for the same bytes
    });
    return result;
}

bool Attachments::is_laid_out(const PlaceInfo &place, uint32_t scope) const {
    return !description_.layout.is_dense() && !place.scopes.empty() &&
           (place.scopes.at(scope).flags & PI_SCOPE_LAYOUT) != 0;
}

/// A map gives dense bytes, which rows with pitches are not.
bool Attachments::maps_in_place(const PlaceInfo &place, uint32_t scope) const {
    if (is_laid_out(place, scope)) {
        return false;
    }
    return scope == 0 ? place.maps_in_place
                      : (place.scopes.at(scope).flags & PI_SCOPE_MAPS_IN_PLACE) != 0;
}

Attachment &Attachments::attach(PlaceIndex place, bool verified_only) {
    if (attachments_[place]) {
        return *attachments_[place];
    }
    if (place == host_place) {
        attach_host();
        return *attachments_[place];
    }
    const std::vector<Candidate> sharing = sharing_candidates(place, verified_only);
    for (const Candidate &candidate : sharing) {
        if (!candidate.possible) {
            break;
        }
        if (!candidate.unverified.empty()) {
            throw Unverified{candidate.unverified};
        }
        if (candidate.route.kind == RouteKind::direct_use) {
            share_memory(place, candidate.route.source, candidate.reason);
            return *attachments_[place];
        }
        if (import_host_memory(place)) {
            return *attachments_[place];
        }
    }
    create_memory(place);
    const auto failed =
        std::find_if(sharing.begin(), sharing.end(),
                     [](const Candidate &candidate) { return candidate.verification_failed; });
    if (failed != sharing.end()) {
        attachments_[place]->texts = texts(attachments_[place]->texts->reason + "; not by " +
                                           to_string(failed->route.kind) + ": " + failed->reason);
    }
    return *attachments_[place];
}

void Attachments::share_memory(PlaceIndex place, PlaceIndex owner, const std::string &reason) {
    const Attachment &shared = *attachments_[owner];
    const TopologyDescription &topology = runtime_.topology->description();
    const Connection *scoped = replicas_.views[shared.view].scope_0 && scope_index(place) == 0
                                   ? nullptr
                                   : topology.in_scope(description_.scope, owner, place);
    const Connection &connection = scoped != nullptr ? *scoped
                                   : shared.imported ? topology.import(owner, place)
                                                     : topology.buffer(owner, place);
    if (connection.concurrent_writers != PI_CONCURRENT_WRITERS_DISJOINT_BYTES) {
        replicas_.ledger.set_exclusive_writers(replicas_.ledger.memory_of(shared.view));
    }
    // Alignment of the memory's place and of the launching place.
    const uint64_t alignment = std::lcm(
        shared.offset_alignment,
        std::max<uint64_t>(
            runtime_.topology->info(place).scopes[scope_index(place)].offset_alignment, 1));
    const bool over_link = connection.residency == PI_RESIDENCY_REMOTE_ACCESS;
    attachments_[place] = Attachment{.view = shared.view,
                                     .mem = shared.mem,
                                     .kind = RouteKind::direct_use,
                                     .lender = shared.lender,
                                     .imported = shared.imported,
                                     .elsewhere = connection.residency != PI_RESIDENCY_SAME_MEMORY,
                                     .remote = over_link ? std::make_unique<RemoteUse>() : nullptr,
                                     .texts = texts(reason),
                                     .offset_alignment = alignment};
    uses_links_ = uses_links_ || over_link;
}

void Attachments::adopt_device_memory() {
    const PlaceIndex place = description_.device_place;
    const Topology &topology = *runtime_.topology;
    if (place == host_place || place >= topology.size()) {
        throw Error(PI_ERROR_INVALID_VALUE, "Storage: device_place " + std::to_string(place) +
                                                " is not a device: " + device_places(topology));
    }
    View view;
    view.home = place;
    ViewMemory memory;
    memory.mem = description_.device_memory;
    memory.given = true;
    pi_device device = nullptr;
    pi_context context = nullptr;
    uint64_t size = 0;
    pi_memory_kind kind = PI_MEMORY_KIND_BUFFER;
    const pi_mem mem = memory.mem.get();
    check(piMemGetInfo(mem, PI_MEM_INFO_DEVICE, sizeof device, &device, nullptr),
          "piMemGetInfo(DEVICE)");
    check(piMemGetInfo(mem, PI_MEM_INFO_CONTEXT, sizeof context, &context, nullptr),
          "piMemGetInfo(CONTEXT)");
    check(piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr), "piMemGetInfo(SIZE)");
    if (device != topology.device(place) || context != topology.context(place)) {
        throw Error(PI_ERROR_INVALID_MEM_OBJECT, "Storage: device_memory is not of the device and "
                                                 "context of device_place, " +
                                                     topology.info(place).name);
    }
    check(piMemGetInfo(mem, PI_MEM_INFO_KIND, sizeof kind, &kind, nullptr), "piMemGetInfo(KIND)");
    if (kind == PI_MEMORY_KIND_IMAGE) {
        throw Error(PI_ERROR_INVALID_MEM_OBJECT,
                    "Storage: device_memory is an image; a buffer is needed");
    }
    if (size < description_.size) {
        throw Error(PI_ERROR_INVALID_SIZE, "Storage: device_memory has " + std::to_string(size) +
                                               " bytes, and size is " +
                                               std::to_string(description_.size));
    }
    const pi_memory_scope *scope = nullptr;
    check(get_scope(place, memory.mem, scope), "piMemGetInfo(SCOPE)");
    view.scope_0 = scope == topology.info(place).scopes.data();
    view.maps = view.scope_0 ? topology.info(place).maps_in_place
                             : (scope->flags & PI_SCOPE_MAPS_IN_PLACE) != 0;
    view.imported = kind == PI_MEMORY_KIND_IMPORTED;
    const ViewId id = add_view(view, std::move(memory), replicas_.ledger.add_memory());
    attachments_[place] =
        Attachment{.view = id,
                   .mem = description_.device_memory,
                   .lender = place,
                   .imported = kind == PI_MEMORY_KIND_IMPORTED,
                   .texts = texts("memory that was given to the storage"),
                   .offset_alignment = std::max<uint64_t>(scope->offset_alignment, 1)};
}

bool Attachments::import_host_memory(PlaceIndex place) {
    create_host_view();
    const Topology &topology = *runtime_.topology;
    std::byte *const bytes = memories_[*replicas_.host_view].host;
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = description_.host_memory != nullptr ? description_.size : host_bytes_->size();
    desc.handle.type = PI_EXTERNAL_HOST_POINTER;
    desc.handle.pointer = bytes;
    desc.flags = description_.read_only ? PI_MEM_READ_ONLY : 0;
    Mem mem;
    const auto succeeds = [&](pi_result result, const char *call) {
        if (result != PI_SUCCESS) {
            if (notes_ == nullptr) {
                notes_ = std::make_unique<std::vector<std::string>>(topology.size());
            }
            notes_->at(place) =
                std::string(call) + ": " + result_name(result) + ": " + last_error_text(result);
        }
        return result == PI_SUCCESS;
    };
    // Synchronised in another way than it needs, or in smaller units, it would lose bytes.
    pi_coherence coherence = PI_COHERENCE_UNKNOWN;
    const pi_memory_scope *scope = nullptr;
    if (!succeeds(piMemImport(topology.context(place), topology.device(place), &desc, mem.out()),
                  "piMemImport") ||
        !succeeds(get_coherence(mem, coherence), "piMemGetInfo(COHERENCE)") ||
        !succeeds(get_scope(place, mem, scope), "piMemGetInfo(SCOPE)")) {
        return false;
    }
    const uint64_t alignment = std::max<uint64_t>(scope->offset_alignment, 1);
    std::string reason = "imports the host's memory";
    if (coherence == PI_COHERENCE_COHERENT) {
        attachments_[place] = Attachment{.view = *replicas_.host_view,
                                         .mem = std::move(mem),
                                         .kind = RouteKind::import,
                                         .lender = place,
                                         .imported = true,
                                         .texts = texts(reason + " in place, coherent"),
                                         .offset_alignment = alignment};
        return true;
    }
    const MemoryId host_memory = replicas_.ledger.memory_of(*replicas_.host_view);
    ViewMemory memory;
    memory.mem = mem;
    memory.host = bytes;
    View view;
    view.home = place;
    view.coherence = coherence;
    view.imported = true;
    // A map would sync its whole hull, and whole units, to the host.
    view.maps = coherence != PI_COHERENCE_FLUSH_INVALIDATE;
    const uint64_t unit = std::max<uint64_t>(scope->flush_atom, 1);
    reason += view.maps ? ", synchronised by maps and write commands"
                        : " in place, synchronised by flush and invalidate in units of " +
                              std::to_string(unit) + (unit == 1 ? " byte" : " bytes");
    Attachment attachment{.mem = std::move(mem),
                          .kind = RouteKind::import,
                          .lender = place,
                          .imported = true,
                          .texts = texts(reason),
                          .offset_alignment = alignment};
    attachment.view = add_view(view, std::move(memory), host_memory); // the last step that can fail
    if (view.maps) {
        replicas_.ledger.set_exclusive_writers(host_memory);
    } else {
        replicas_.ledger.set_unit(attachment.view, unit);
    }
    attachments_[place] = std::move(attachment);
    return true;
}

pi_result Attachments::get_scope(PlaceIndex place, const Mem &mem,
                                 const pi_memory_scope *&out) const {
    uint32_t index = 0;
    const pi_result result =
        piMemGetInfo(mem.get(), PI_MEM_INFO_SCOPE, sizeof index, &index, nullptr);
    const std::vector<pi_memory_scope> &scopes = runtime_.topology->info(place).scopes;
    out = &scopes[index < scopes.size() ? index : 0];
    return result;
}

std::optional<uint32_t> Attachments::find_scope(PlaceIndex place) const {
    if (description_.scope.empty() || place == host_place) {
        return 0;
    }
    const auto &scopes = runtime_.topology->info(place).scopes;
    const auto found = std::find_if(scopes.begin(), scopes.end(), [this](const auto &scope) {
        return description_.scope == scope.name;
    });
    return found == scopes.end() ? std::nullopt : std::optional<uint32_t>(found - scopes.begin());
}

uint32_t Attachments::scope_index(PlaceIndex place) const {
    if (const std::optional<uint32_t> index = find_scope(place)) {
        return *index;
    }
    const PlaceInfo &info = runtime_.topology->info(place);
    std::string names;
    for (const pi_memory_scope &scope : info.scopes) {
        names += (names.empty() ? "" : ", ") + std::string(scope.name);
    }
    throw Error(PI_ERROR_UNSUPPORTED_FEATURE, "no memory scope '" + description_.scope + "' at " +
                                                  info.name + ", which has: " + names);
}

void Attachments::create_memory(PlaceIndex place) {
    const PlaceInfo &info = runtime_.topology->info(place);
    const uint32_t scope = scope_index(place);
    const bool laid_out = is_laid_out(info, scope);
    ViewMemory memory;
    memory.memory = runtime_.memory->take({place, scope, description_.alignment, description_.flags,
                                           laid_out ? description_.layout : MemoryLayout()},
                                          description_.size);
    memory.mem = Mem::share(memory.memory.get());
    View view;
    view.home = place;
    view.scope_0 = scope == 0;
    view.maps = maps_in_place(info, scope);
    Attachment attachment{
        .mem = memory.mem,
        .lender = place,
        .texts =
            texts(laid_out ? "memory of its own, in the storage's layout" : "memory of its own"),
        .offset_alignment = std::max<uint64_t>(info.scopes[scope].offset_alignment, 1)};
    runtime_.residents.add(place, resident_);
    try {
        if (const std::optional<ViewId> vacant = vacant_view(place)) {
            attachment.view = *vacant;
            replicas_.views[*vacant] = view;
            memories_[*vacant] = std::move(memory);
        } else {
            attachment.view = add_view(view, std::move(memory), replicas_.ledger.add_memory());
        }
    } catch (...) {
        runtime_.residents.remove(place, &resident_);
        throw;
    }
    attachments_[place] = std::move(attachment);
}

std::optional<ViewId> Attachments::vacant_view(PlaceIndex place) const {
    for (ViewId view = 0; view < memories_.size(); ++view) {
        if (place != host_place && replicas_.views[view].home == place && !memories_[view].mem) {
            return view;
        }
    }
    return {};
}

void Attachments::drop_memory(ViewId view) {
    replicas_.ledger.forget(view);
    for (std::optional<Attachment> &attachment : attachments_) {
        if (attachment && attachment->view == view) {
            attachment.reset();
        }
    }
    memories_[view].mem.reset();
    memories_[view].memory.drop();
    runtime_.residents.remove(replicas_.views[view].home, &resident_);
}

std::string Attachments::note(PlaceIndex place) const {
    return notes_ == nullptr ? std::string() : notes_->at(place);
}

bool Attachments::is_mapped(pi_mem mem) const {
    return runtime_.commands->standing_maps().forbid(mem, Range{0, description_.size}, true);
}

Target Attachments::memory_of_its_own(PlaceIndex place) const {
    const uint32_t scope = scope_index(place);
    Target target;
    target.home = place;
    target.scope_0 = scope == 0;
    target.maps = maps_in_place(runtime_.topology->info(place), scope);
    return target;
}

} // namespace pi::runtime
