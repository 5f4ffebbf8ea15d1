// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>

namespace minisycl {

/// The number of elements or work-items along each of one to three dimensions; the last one is the
/// fastest.
template <int Dimensions>
struct range {
    std::size_t extent[Dimensions]{};

    range() = default;
    template <std::integral... Extents>
    requires(sizeof...(Extents) == Dimensions) range(Extents... extents)
        : extent{static_cast<std::size_t>(extents)...} {}

    std::size_t operator[](int dimension) const { return extent[dimension]; }
    std::size_t size() const {
        std::size_t product = 1;
        for (const std::size_t one : extent) {
            product *= one;
        }
        return product;
    }
    friend bool operator==(const range &, const range &) = default;
};
template <class... Extents>
range(Extents...) -> range<sizeof...(Extents)>;

/// One element, or one work-item.
template <int Dimensions>
struct id {
    std::size_t index[Dimensions]{};

    id() = default;
    template <std::integral... Indices>
    requires(sizeof...(Indices) == Dimensions) id(Indices... indices)
        : index{static_cast<std::size_t>(indices)...} {}

    std::size_t operator[](int dimension) const { return index[dimension]; }
    friend bool operator==(const id &, const id &) = default;
    /// An id of one dimension is a number.
    operator std::size_t() const requires(Dimensions == 1) { return index[0]; }
};
template <class... Indices>
id(Indices...) -> id<sizeof...(Indices)>;

/// The position of an element in memory: rows of the last dimension, one after the other.
template <int Dimensions>
std::size_t linear(const id<Dimensions> &element, const range<Dimensions> &all) {
    std::size_t position = 0;
    for (int dimension = 0; dimension < Dimensions; ++dimension) {
        position = position * all[dimension] + element[dimension];
    }
    return position;
}

} // namespace minisycl
