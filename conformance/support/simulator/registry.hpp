// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace pi::drivers {

/// Objects of one kind by their handles. A handle is a number that no other object of any kind ever
/// has: a destroyed one, or one of another kind, is never found.
template <class Object, class Handle>
class Registry {
public:
    /// `base` is the beginning of this library's own range of numbers.
    explicit Registry(std::uint64_t kind, std::uint64_t base = 0) : next_(base + (kind << 32)) {}

    Handle add(const std::shared_ptr<Object> &object) {
        next_ += 16;
        object->handle = (Handle)next_;
        objects_[next_] = object;
        return object->handle;
    }
    std::shared_ptr<Object> find(Handle handle) const {
        const auto found = objects_.find((std::uint64_t)handle);
        return found == objects_.end() ? nullptr : found->second;
    }
    void erase(Handle handle) { objects_.erase((std::uint64_t)handle); }
    std::size_t size() const { return objects_.size(); }
    auto begin() const { return objects_.begin(); }
    auto end() const { return objects_.end(); }

    /// Removes the objects for which `gone` returns true; returns their number.
    template <class Predicate>
    std::size_t erase_if(Predicate gone) {
        return std::erase_if(objects_, [&](const auto &entry) { return gone(*entry.second); });
    }

private:
    std::uint64_t next_;
    std::map<std::uint64_t, std::shared_ptr<Object>> objects_;
};

} // namespace pi::drivers
