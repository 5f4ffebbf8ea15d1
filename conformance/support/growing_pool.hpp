// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A USM pool after requests of growing sizes: its cached memory must not make requests fail.
#pragma once

#include "objects.hpp"

namespace pi_test {

/// Has served 512 requests of 64 KiB, 128 KiB, ... to 32 MiB, each freed before the next one, and
/// may keep 8 GiB for reuse.
class GrowingPool {
public:
    GrowingPool(pi_context context, pi_device device, pi_usm_kind kind = PI_USM_DEVICE) {
        auto pool = pi::desc<pi_usm_pool_desc>();
        pool.kind = kind;
        pool.release_threshold = uint64_t{8} << 30;
        OK(piUsmPoolCreate(context, device, &pool, pool_.out()));
        auto d = pi::desc<pi_usm_desc>();
        d.kind = kind;
        d.pool = pool_;
        for (uint64_t count = 1; count <= 512; ++count) {
            d.size = count * (64 << 10);
            void *pointer = nullptr;
            OK(piUsmAlloc(context, device, &d, &pointer));
            OK(piUsmFree(context, pointer));
        }
    }
    /// Nothing is in use: all of it is kept for reuse.
    uint64_t reserved() const {
        return info<uint64_t>(piUsmPoolGetInfo, pool_, PI_USM_POOL_INFO_RESERVED);
    }
    /// Of eight sizes to each power of two, one block each.
    static constexpr uint64_t most = uint64_t{512} << 20;

private:
    Owned<pi_usm_pool> pool_;
};

} // namespace pi_test
