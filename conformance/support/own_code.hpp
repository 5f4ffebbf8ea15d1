// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether an allocation is of PI's own code: vendors' libraries and the test itself have all the
// memory that they want.
#pragma once

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pi_test {

/// Addresses of the code of shared objects.
class OwnCode {
public:
    /// Those that are open now and whose paths end with one of `names`; an empty one stands for the
    /// program.
    template <class Names>
    void find(const Names &names) {
        count_ = 0;
        struct Search {
            OwnCode &self;
            const Names &names;
        } search{*this, names};
        dl_iterate_phdr(
            [](dl_phdr_info *object, size_t, void *data) {
                auto &[self, wanted] = *static_cast<Search *>(data);
                const std::string_view path = object->dlpi_name;
                if (path.find("libstdc++") != path.npos)
                    self.standard_ = range(*object);
                for (const std::string_view name : wanted)
                    if ((name.empty() ? path.empty() : path.ends_with(name)) &&
                        self.count_ < self.own_.size())
                        self.own_[self.count_++] = range(*object);
                return 0;
            },
            &search);
    }
    /// How many of them there are.
    size_t count() const { return count_; }
    bool has(const void *address) const {
        return std::any_of(own_.begin(), own_.begin() + count_, [&](const Range &range) {
            return range.has(reinterpret_cast<uintptr_t>(address));
        });
    }
    /// Whether `caller`, whom operator new returns to, is such code, or the C++ library that such
    /// code calls.
    bool calls(const void *caller) const {
        if (!standard_.has(reinterpret_cast<uintptr_t>(caller)))
            return has(caller);
        struct Walk {
            const OwnCode &self;
            bool in_standard = false, own = false;
        } walk{*this};
        _Unwind_Backtrace(
            [](_Unwind_Context *frame, void *data) {
                auto &[self, in_standard, own] = *static_cast<Walk *>(data);
                const uintptr_t address = _Unwind_GetIP(frame);
                const bool standard = self.standard_.has(address);
                if (standard || !in_standard) {
                    in_standard = in_standard || standard;
                    return _URC_NO_REASON;
                }
                own = self.has(reinterpret_cast<const void *>(address));
                return _URC_NORMAL_STOP;
            },
            &walk);
        return walk.own;
    }

private:
    struct Range {
        uintptr_t begin = 0, end = 0;
        bool has(uintptr_t address) const { return begin <= address && address < end; }
    };
    static Range range(const dl_phdr_info &object) {
        Range all{UINTPTR_MAX, 0};
        for (int i = 0; i < object.dlpi_phnum; ++i) {
            const ElfW(Phdr) &part = object.dlpi_phdr[i];
            if (part.p_type != PT_LOAD || !(part.p_flags & PF_X))
                continue;
            all.begin = std::min(all.begin, object.dlpi_addr + part.p_vaddr);
            all.end = std::max(all.end, object.dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        return all;
    }
    std::array<Range, 4> own_{};
    size_t count_ = 0;
    Range standard_{}; ///< the C++ library
};

} // namespace pi_test
