// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "validator.hpp"

#include "layers/layers.hpp"
#include "layers/validate/maps.hpp"
#include "plugin.hpp"

#include <algorithm>

namespace pi::loader::validate {
namespace {

/// The functions for objects of a kind.
struct KindFunctions {
    pi_result (*retain)(const pi_dispatch &table, void *handle);
    pi_result (*release)(const pi_dispatch &table, void *handle);
};
template <typename Handle, auto Retain, auto Release>
constexpr KindFunctions functions_for = {[](const pi_dispatch &table, void *handle) {
                                             return (table.*Retain)(static_cast<Handle>(handle));
                                         },
                                         [](const pi_dispatch &table, void *handle) {
                                             return (table.*Release)(static_cast<Handle>(handle));
                                         }};
#define PI_VALIDATE_KIND(type, name)                                                               \
    case HandleTraits<type>::kind:                                                                 \
        return &functions_for<type, &pi_dispatch::name##Retain, &pi_dispatch::name##Release>

// nullptr for kinds that are not counted.
const KindFunctions *functions_of(pi_kind kind) noexcept {
    switch (kind) {
        PI_VALIDATE_KIND(pi_device, piDevice);
        PI_VALIDATE_KIND(pi_context, piContext);
        PI_VALIDATE_KIND(pi_queue, piQueue);
        PI_VALIDATE_KIND(pi_mem, piMem);
        PI_VALIDATE_KIND(pi_event, piEvent);
        PI_VALIDATE_KIND(pi_program, piProgram);
        PI_VALIDATE_KIND(pi_kernel, piKernel);
        PI_VALIDATE_KIND(pi_sampler, piSampler);
        PI_VALIDATE_KIND(pi_usm_pool, piUsmPool);
    default:
        return nullptr;
    }
}
#undef PI_VALIDATE_KIND

} // namespace

Validator::Validator(PluginInstance &instance)
    : next_(instance.chain().next(validate_layer)), queries_(instance.chain().queries()),
      instance_(instance), maps_(std::make_unique<Maps>(*this)) {
    add(instance.handle(), PI_KIND_PLUGIN, {}, true);
}

Validator::~Validator() = default;

int Validator::count_retain(const void *handle, pi_kind kind) noexcept {
    return registry_.with_object(handle, [&](Object *object) {
        if (object == nullptr || object->kind != kind || !object->usable())
            return -1;
        object->references += object->immortal ? 0 : 1;
        return object->immortal ? 0 : 1;
    });
}

void Validator::uncount_retain(const void *handle) noexcept {
    registry_.with_object(handle, [](Object *object) {
        if (object != nullptr && object->references != 0)
            --object->references;
    });
}

Validator::Released Validator::count_release(const void *handle, pi_kind kind, Object &out) {
    return registry_.with_object(handle, [&](Object *object) {
        if (object == nullptr || object->kind != kind ||
            (object->references == 0 && !object->immortal))
            return Released::wrong;
        if (object->immortal || --object->references != 0)
            return Released::not_the_last;
        ++object->own_references; // the layer takes over the application's last reference
        out.handle = object->handle;
        out.kind = object->kind;
        out.serial = object->serial;
        out.direct = object->direct;
        out.host_event = object->host_event;
        return Released::last;
    });
}

void Validator::uncount_release(const void *handle) noexcept {
    registry_.with_object(handle, [](Object *object) {
        if (object != nullptr && !object->immortal)
            ++object->references;
    });
}

// The release's immediate effects take place now; only the object stays.
pi_result Validator::end_of_use(const Object &object) noexcept {
    const Reference reference = object.reference();
    const uint64_t bytes = object.direct ? 0 : bytes_of(object);
    if (object.direct || bytes > max_quarantined_bytes / 4) {
        drop(reference, &Object::own_references);
        return PI_SUCCESS;
    }
    {
        const ErrorScope scope;
        if (object.kind == PI_KIND_QUEUE)
            next_.piQueueFlush(static_cast<pi_queue>(object.handle));
        // Refused if it has been signalled.
        if (object.host_event)
            next_.piEventSignalHost(static_cast<pi_event>(object.handle), PI_ERROR_ABANDONED);
    }
    std::array<Quarantined, 8> evicted;
    std::size_t count = 0;
    for (bool first = true, more = true; more; first = false) {
        count = 0;
        try {
            const std::scoped_lock lock(quarantine_mutex_);
            if (first) {
                quarantine_.push_back({reference, bytes});
                quarantine_bytes_ += bytes;
            }
            while (count < evicted.size() && !quarantine_.empty() &&
                   (closed_ || quarantine_.size() > max_quarantined ||
                    quarantine_bytes_ > max_quarantined_bytes)) {
                evicted[count++] = quarantine_.front();
                quarantine_bytes_ -= quarantine_.front().bytes;
                quarantine_.pop_front();
            }
        } catch (const std::bad_alloc &) {
            evicted[count++] = {reference, 0}; // no memory to remember it
        }
        for (std::size_t i = 0; i < count; ++i)
            drop(evicted[i].object, &Object::own_references);
        more = count == evicted.size();
    }
    return PI_SUCCESS;
}

uint64_t Validator::bytes_of(const Object &object) const noexcept {
    const ErrorScope scope;
    uint64_t bytes = 0;
    if (object.kind == PI_KIND_MEM) {
        auto mem = static_cast<pi_mem>(object.handle);
        pi_mem root = nullptr; // a view keeps all of it alive
        if (queries_.piMemGetInfo(mem, PI_MEM_INFO_PARENT, sizeof root, &root, nullptr) ==
                PI_SUCCESS &&
            root != nullptr)
            mem = root;
        queries_.piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof bytes, &bytes, nullptr);
    }
    if (object.kind == PI_KIND_USM_POOL)
        queries_.piUsmPoolGetInfo(static_cast<pi_usm_pool>(object.handle),
                                  PI_USM_POOL_INFO_RESERVED, sizeof bytes, &bytes, nullptr);
    return bytes;
}

void Validator::release_in_plugin(const Reference &object) noexcept {
    const ErrorScope scope;
    if (const KindFunctions *functions = functions_of(object.kind))
        functions->release(next_, object.handle);
}

void Validator::end(const Reference &reference, uint32_t Object::*count, bool held) noexcept {
    // Counted before the plugin's release, after which the address may be another object's.
    std::vector<Reference> loans;
    std::shared_ptr<const Facts> facts;
    const bool gone = registry_.with_object(reference.handle, [&](Object *object) {
        if (object == nullptr || object->serial != reference.serial)
            return false;
        --(object->*count);
        if (object->known_to_plugin())
            return false;
        loans.swap(object->lends);
        facts.swap(object->facts);
        return true;
    });
    if (gone && reference.kind == PI_KIND_MEM)
        maps_->forget(reference.handle);
    if (gone && reference.kind == PI_KIND_CONTEXT)
        addresses_.forget(static_cast<pi_context>(reference.handle));
    if (held)
        release_in_plugin(reference);
    for (const Reference &loan : loans)
        drop(loan, &Object::lent);
    if (gone) {
        try {
            registry_.remember_gone(reference);
        } catch (const std::bad_alloc &) {
            // Then it stays in the table.
        }
    }
}

void Validator::add(void *handle, pi_kind kind, const Origin &origin, bool immortal,
                    std::shared_ptr<const Facts> facts) noexcept {
    const uint64_t serial = registry_.make_serial();
    const auto note = [&](Object *object, ObjectTable &table, uint64_t hash) {
        if (object != nullptr && object->kind == kind && object->known_to_plugin()) {
            // The plugin returned the same one again.
            object->references += immortal || object->immortal ? 0 : 1;
            return;
        }
        Object &added = object != nullptr ? *object : table.insert(handle, hash);
        added = Object{};
        added.handle = handle;
        added.kind = kind;
        added.references = immortal ? 0 : 1;
        added.immortal = immortal;
        added.direct = origin.direct;
        added.host_event =
            origin.function == slot_index(offsetof(pi_dispatch, piEventCreateHost)) && !immortal;
        added.creator = static_cast<uint16_t>(origin.function);
        added.call = origin.call;
        added.serial = serial;
        added.facts = std::move(facts);
    };
    try {
        registry_.with(handle, note);
    } catch (const std::bad_alloc &) {
        if (!lacks_objects_.exchange(true))
            instance_.log().warn("plugin {}: validate: out of memory for a {}: unknown handles "
                                 "are no longer refused",
                                 instance_.name(), kind_name(kind));
    }
}

bool Validator::may_be_unnoted(const void *handle) noexcept {
    return lacks_objects_ && handle != nullptr && find(handle).handle == nullptr;
}

Reference Validator::take_reference(pi_event event) noexcept {
    const ErrorScope scope;
    if (next_.piEventRetain(event) != PI_SUCCESS)
        return {};
    const Reference taken = registry_.with_object(event, [](Object *object) {
        if (object == nullptr)
            return Reference{};
        ++object->own_references;
        return object->reference();
    });
    if (taken.handle == nullptr)
        next_.piEventRelease(event);
    return taken;
}

Reference Validator::take_over(pi_event event) noexcept {
    const Reference taken = registry_.with_object(event, [](Object *object) {
        if (object == nullptr || object->references == 0)
            return Reference{};
        --object->references;
        ++object->own_references;
        return object->reference();
    });
    if (taken.handle == nullptr) // there was no memory to record it
        next_.piEventRelease(event);
    return taken;
}

void Validator::release_reference(const Reference &object) noexcept {
    if (object.handle != nullptr)
        drop(object, &Object::own_references);
}

void Validator::lend(void *owner, void *handle, pi_kind kind) {
    const KindFunctions *functions = functions_of(kind);
    const Object object = find(handle);
    if (functions == nullptr || object.immortal || object.kind != kind) {
        // Not created by a call: a platform or a root device.
        if (object.kind != kind)
            add(handle, kind, {}, true);
        return;
    }
    const Reference loan = object.reference();
    const auto is_loan = [&](const Reference &other) { return other.serial == loan.serial; };
    const bool known = registry_.with_object(owner, [&](Object *lender) {
        return lender == nullptr ||
               std::any_of(lender->lends.begin(), lender->lends.end(), is_loan);
    });
    if (known || functions->retain(next_, handle) != PI_SUCCESS)
        return;
    registry_.with_object(handle, [](Object *lent) {
        if (lent != nullptr)
            ++lent->lent;
    });
    struct Loan {
        ~Loan() {
            if (!taken)
                validator.drop(loan, &Object::lent);
        }
        Validator &validator;
        const Reference &loan;
        bool taken = false;
    } end{*this, loan};
    end.taken = registry_.with_object(owner, [&](Object *lender) {
        if (lender == nullptr || std::any_of(lender->lends.begin(), lender->lends.end(), is_loan))
            return false;
        lender->lends.push_back(loan);
        return true;
    });
}

uint32_t Validator::extra_references(const void *handle) noexcept {
    return registry_.with_object(handle, [](Object *object) {
        return object != nullptr ? object->own_references + object->lent : 0;
    });
}

bool Validator::released(const void *handle) noexcept {
    return registry_.with_object(
        handle, [](Object *object) { return object != nullptr && !object->usable(); });
}

// Without its loans, which have one owner.
Object Validator::find(const void *handle) noexcept {
    return registry_.with_object(handle, [](Object *object) {
        Object found;
        if (object == nullptr)
            return found;
        found.handle = object->handle;
        found.kind = object->kind;
        found.references = object->references;
        found.lent = object->lent;
        found.immortal = object->immortal;
        found.direct = object->direct;
        found.creator = object->creator;
        found.call = object->call;
        found.serial = object->serial;
        return found;
    });
}

void Validator::pin(const Object &known) {
    registry_.with(known.handle, [&](Object *object, ObjectTable &table, uint64_t hash) {
        if (object == nullptr || object->serial != known.serial) {
            // Forgotten since: the plugin keeps it alive for this callback.
            Object &again = object != nullptr ? *object : table.insert(known.handle, hash);
            again = known;
            again.references = again.lent = 0;
            object = &again;
        }
        ++object->pinned;
    });
}

void Validator::unpin(const Object &known) noexcept {
    end(known.reference(), &Object::pinned, false);
}

bool Validator::begin_exclusive(const void *handle) noexcept {
    return registry_.with_object(handle, [](Object *object) {
        return object == nullptr || !std::exchange(object->busy, true);
    });
}

void Validator::end_exclusive(const void *handle) noexcept {
    registry_.with_object(handle, [](Object *object) {
        if (object != nullptr)
            object->busy = false;
    });
}

bool Validator::flush() noexcept {
    // One by one: even an empty deque needs memory.
    for (bool any = false;; any = true) {
        Reference oldest;
        {
            const std::scoped_lock lock(quarantine_mutex_);
            if (quarantine_.empty())
                return any;
            oldest = quarantine_.front().object;
            quarantine_bytes_ -= quarantine_.front().bytes;
            quarantine_.pop_front();
        }
        drop(oldest, &Object::own_references);
    }
}

void Validator::close() noexcept {
    {
        const std::scoped_lock lock(quarantine_mutex_);
        closed_ = true;
    }
    maps_->forget(nullptr);
    flush();
}

} // namespace pi::loader::validate
