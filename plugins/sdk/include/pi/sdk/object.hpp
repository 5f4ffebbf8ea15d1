// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The base of every object behind a handle: header, reference count and handle checks.
#pragma once

#include <pi/sdk/error.hpp>

#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace pi::sdk {

/// The start of every object. Its layout is the same for all kinds, so that an object's host is
/// found even through a handle of the wrong kind (if the object's plugin uses this sdk).
struct ObjectBase {
    pi_object_header header;
    const pi_host *host;
    std::atomic<uint32_t> references;
    const bool counted; ///< by the host: see Object::Object
};

template <class Handle>
struct KindOf;
#define PI_SDK_KIND(handle, value, label)                                                          \
    template <>                                                                                    \
    struct KindOf<handle> {                                                                        \
        static constexpr pi_kind kind = value;                                                     \
        static constexpr const char *name = label;                                                 \
    };
PI_SDK_KIND(pi_plugin, PI_KIND_PLUGIN, "plugin")
PI_SDK_KIND(pi_platform, PI_KIND_PLATFORM, "platform")
PI_SDK_KIND(pi_device, PI_KIND_DEVICE, "device")
PI_SDK_KIND(pi_context, PI_KIND_CONTEXT, "context")
PI_SDK_KIND(pi_queue, PI_KIND_QUEUE, "queue")
PI_SDK_KIND(pi_mem, PI_KIND_MEM, "mem")
PI_SDK_KIND(pi_event, PI_KIND_EVENT, "event")
PI_SDK_KIND(pi_program, PI_KIND_PROGRAM, "program")
PI_SDK_KIND(pi_kernel, PI_KIND_KERNEL, "kernel")
PI_SDK_KIND(pi_sampler, PI_KIND_SAMPLER, "sampler")
PI_SDK_KIND(pi_usm_pool, PI_KIND_USM_POOL, "pool")
#undef PI_SDK_KIND

/// The base of `Derived`, the plugin's class behind `HandleType`. Derived must not have virtual
/// functions: the header has to be its first word. Objects are made with `new` (see make()), with
/// one reference; the last release deletes.
template <class Derived, class HandleType>
class Object : private ObjectBase {
public:
    using Handle = HandleType;
    static constexpr pi_kind kind = KindOf<Handle>::kind;
    static constexpr const char *kind_name = KindOf<Handle>::name;

    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;

    const pi_host *host() const noexcept { return ObjectBase::host; }
    uint32_t reference_count() const noexcept { return references.load(std::memory_order_relaxed); }
    void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (references.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete static_cast<Derived *>(this);
    }

    /// The application's handle. Adds no reference.
    Handle handle() noexcept {
        static_assert(!std::is_polymorphic_v<Derived>, "a vtable would displace the header");
        return reinterpret_cast<Handle>(static_cast<ObjectBase *>(this));
    }
    /// The object behind a checked handle.
    static Derived &from(Handle handle) noexcept {
        return *static_cast<Derived *>(
            static_cast<Object *>(reinterpret_cast<ObjectBase *>(handle)));
    }

protected:
    /// `count`: whether the object prevents the teardown of its instance. Must be false for
    /// platforms and root devices, which live as long as the instance.
    explicit Object(const pi_host *owner,
                    bool count = kind != PI_KIND_PLUGIN && kind != PI_KIND_PLATFORM) noexcept
        : ObjectBase{{}, owner, 1, count} {
        pi_sdk_object_begin(&header, owner, kind);
        if (!count)
            pi_sdk_object_end(owner);
    }
    ~Object() {
        if (ObjectBase::counted)
            pi_sdk_object_end(ObjectBase::host);
    }
};

/// An owning pointer to an Object.
template <class T>
class Ref {
public:
    Ref() noexcept = default;
    Ref(std::nullptr_t) noexcept {}
    /// Adds a reference.
    explicit Ref(T &object) noexcept : object_(&object) { object.retain(); }
    Ref(const Ref &other) noexcept : object_(other.object_) {
        if (object_)
            object_->retain();
    }
    Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref &operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() {
        if (object_)
            object_->release();
    }
    /// Takes over a reference of the caller.
    static Ref adopt(T *object) noexcept {
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    T *get() const noexcept { return object_; }
    T &operator*() const noexcept { return *object_; }
    T *operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    /// Passes the reference to the application.
    typename T::Handle give() noexcept { return std::exchange(object_, nullptr)->handle(); }

private:
    T *object_ = nullptr;
};

/// Makes an object with one reference.
template <class T, class... Arguments>
Ref<T> make(Arguments &&...arguments) {
    return Ref<T>::adopt(new T(std::forward<Arguments>(arguments)...));
}

/// A reference to an object of any class.
class AnyRef {
public:
    AnyRef() noexcept = default;
    template <class T>
    AnyRef(Ref<T> ref) noexcept
        : object_(ref.get()), handle_(ref ? ref.give() : nullptr),
          release_([](void *object) { static_cast<T *>(object)->release(); }) {}
    AnyRef(AnyRef &&other) noexcept
        : object_(std::exchange(other.object_, nullptr)),
          handle_(std::exchange(other.handle_, nullptr)), release_(other.release_) {}
    AnyRef &operator=(AnyRef other) noexcept {
        std::swap(object_, other.object_);
        std::swap(handle_, other.handle_);
        std::swap(release_, other.release_);
        return *this;
    }
    AnyRef(const AnyRef &) = delete;
    ~AnyRef() {
        if (object_)
            release_(object_);
    }
    /// The object's handle, or NULL.
    void *handle() const noexcept { return handle_; }

private:
    void *object_ = nullptr;
    void *handle_ = nullptr;
    void (*release_)(void *) = nullptr;
};

/// The object of an argument; PI_ERROR_INVALID_<KIND>, naming the argument, unless the handle is an
/// object of this instance and kind.
template <class T>
T &checked(const pi_host *host, typename T::Handle handle,
           const ArgumentName &name = T::kind_name) {
    if (!pi_sdk_is(handle, host, T::kind))
        fail(pi_sdk_invalid(T::kind), name,
             !handle ? " is NULL"
             : reinterpret_cast<const pi_object_header *>(handle)->dispatch != host->dispatch
                 ? " belongs to another plugin or loader"
                 : text(" is not a ", T::kind_name));
    return T::from(handle);
}

/// The body of an entry: checks the kind of its first argument (the loader has checked that it is
/// not NULL, and dispatched by it), calls `body(object)` and turns exceptions into results.
template <class T, class Body>
pi_result call(typename T::Handle handle, Body &&body) noexcept {
    const pi_host *host = reinterpret_cast<const ObjectBase *>(handle)->host;
    return guard(host, [&] { std::forward<Body>(body)(checked<T>(host, handle)); });
}

/// piXRetain and piXRelease of any kind of object.
template <class T>
pi_result PI_CALL retain_entry(typename T::Handle handle) {
    return call<T>(handle, [](T &self) { self.retain(); });
}
template <class T>
pi_result PI_CALL release_entry(typename T::Handle handle) {
    return call<T>(handle, [](T &self) { self.release(); });
}

} // namespace pi::sdk
