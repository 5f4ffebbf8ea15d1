// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi_loader.h>

#include <utility>

namespace pi_test {

/// The function that releases a reference to an object.
template <class Handle>
inline constexpr auto release_of = nullptr;
#define PI_TEST_RELEASE(handle, function)                                                          \
    template <>                                                                                    \
    inline constexpr auto release_of<handle> = &function;
PI_TEST_RELEASE(pi_loader, piLoaderRelease)
PI_TEST_RELEASE(pi_device, piDeviceRelease)
PI_TEST_RELEASE(pi_context, piContextRelease)
PI_TEST_RELEASE(pi_queue, piQueueRelease)
PI_TEST_RELEASE(pi_mem, piMemRelease)
PI_TEST_RELEASE(pi_event, piEventRelease)
PI_TEST_RELEASE(pi_program, piProgramRelease)
PI_TEST_RELEASE(pi_kernel, piKernelRelease)
PI_TEST_RELEASE(pi_sampler, piSamplerRelease)
PI_TEST_RELEASE(pi_usm_pool, piUsmPoolRelease)
#undef PI_TEST_RELEASE

/// One reference to an object, released at the end of the scope or by reset(). Converts to the
/// handle.
template <class Handle, auto Release = release_of<Handle>>
class Owned {
public:
    Owned() = default;
    /// Takes over the caller's reference.
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Owned &operator=(Owned &&other) noexcept {
        if (this != &other) {
            reset();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~Owned() { reset(); }
    operator Handle() const { return handle_; }
    Handle get() const { return handle_; }
    /// For output arguments. Releases the reference that it has.
    Handle *out() {
        reset();
        return &handle_;
    }
    void reset() {
        if (handle_ != nullptr)
            Release(std::exchange(handle_, nullptr));
    }
    /// Gives the reference to the caller.
    Handle take() { return std::exchange(handle_, nullptr); }

private:
    Handle handle_ = nullptr;
};

} // namespace pi_test
