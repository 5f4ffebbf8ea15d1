// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "describe.hpp"

#include <utility>

namespace pi::suite {

/// One reference to an object, released at the end of the scope or by reset(). Converts to the
/// handle, so it can be given to every function.
template <typename Handle>
class Owner {
public:
    Owner() = default;
    /// Takes over a reference that the caller has.
    explicit Owner(Handle handle) : handle_(handle) {}
    Owner(Owner &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Owner &operator=(Owner &&other) noexcept {
        if (this != &other) {
            reset();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~Owner() { reset(); }

    operator Handle() const { return handle_; }
    Handle get() const { return handle_; }

    /// For out_ arguments; releases the current reference first.
    Handle *out() {
        reset();
        return &handle_;
    }

    /// Releases the reference now; other tests check that releasing succeeds.
    void reset() {
        if (handle_ != nullptr)
            Counted<Handle>::release(std::exchange(handle_, nullptr));
    }

    /// Gives the reference to the caller.
    Handle take() { return std::exchange(handle_, nullptr); }

private:
    Handle handle_ = nullptr;
};

using Context = Owner<pi_context>;
using Queue = Owner<pi_queue>;
using Mem = Owner<pi_mem>;
using Event = Owner<pi_event>;
using Program = Owner<pi_program>;
using Kernel = Owner<pi_kernel>;
using Sampler = Owner<pi_sampler>;

} // namespace pi::suite
