// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images, and views of buffers as images. Every format is supported: the host only moves bytes, and
// kernels interpret them.
#include "image.hpp"

#include "entries.hpp"
#include "memory.hpp"
#include "usm.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/descriptor.hpp>

namespace pi::host {

using sdk::fail;
using sdk::Rectangle;

namespace {

/// An image with this layout of pixels, relative to the first one.
ImagePointer image_of(const sdk::ImageShape &shape, Rectangle pixels) {
    pixels.offset = 0;
    return std::make_unique<const Image>(Image{shape, pixels});
}

Storage make_storage(const Device &owner, const pi_mem_image_desc &desc, const Rectangle &given,
                     const Rectangle &dense) {
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        return Storage::borrow(desc.host_ptr);
    Storage storage = Storage::allocate(owner, dense.end(), min_alignment,
                                        desc.flags & sdk::mem_requirement_flags);
    if (desc.flags & PI_MEM_COPY_HOST_PTR)
        sdk::for_each_piece(given, dense, [&](uint64_t from, uint64_t to, uint64_t bytes) {
            std::memcpy(storage.data() + to, static_cast<const std::byte *>(desc.host_ptr) + from,
                        bytes);
        });
    return storage;
}

} // namespace

namespace entries {

pi_result PI_CALL piMemImageCreate(pi_context context, pi_device device,
                                   const pi_mem_image_desc *desc, pi_mem *out_mem) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &owner = self.device(device);
        const pi_mem_image_desc known = sdk::read_desc(desc, PI_TYPE_MEM_IMAGE_DESC);
        sdk::require(out_mem, "out_mem");
        check_scope(known.scope);
        const sdk::ImageShape shape = sdk::read_image_shape(known, image_limits);
        const Rectangle given = sdk::check_image_create(known, shape, sdk::mem_create_flags);
        check_requirements(known.flags, known.scope);
        sdk::check_pointer_range(known.host_ptr, 0, given.end());
        const bool borrowed = known.flags & PI_MEM_USE_HOST_PTR;
        Storage storage = Usm::table(self).pools().with_room(
            nullptr, [&] { return make_storage(owner, known, given, shape.dense()); });
        const uint64_t alignment =
            borrowed ? sdk::alignment_of(known.host_ptr, max_alignment) : min_alignment;
        *out_mem = sdk::make<Mem>(
                       self, owner, known.flags, shape.bytes(), alignment, PI_MEMORY_KIND_IMAGE,
                       std::move(storage),
                       Shape{known.scope, {}, image_of(shape, borrowed ? given : shape.dense())})
                       .give();
    });
}

pi_result PI_CALL piMemImageViewCreate(pi_mem mem, const pi_mem_image_desc *desc, pi_mem *out_mem) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const pi_mem_image_desc known = sdk::read_desc(desc, PI_TYPE_MEM_IMAGE_DESC);
        sdk::require(out_mem, "out_mem");
        checked_buffer(self.host(), mem);
        if (!self.layout().flat())
            fail(
                PI_ERROR_UNSUPPORTED_FEATURE,
                "mem is an n-D allocation with rows of its own; only a linear buffer can be viewed "
                "as an image");
        const sdk::ImageShape shape = sdk::read_image_shape(known, image_limits);
        const Rectangle pixels = sdk::check_image_view(known, shape, self.size(), self.flags(),
                                                       image_view_alignment, image_view_alignment);
        Mem &root = self.root() ? *self.root() : self;
        const uint64_t flags = sdk::view_flags(known.flags, self.flags());
        *out_mem = sdk::make<Mem>(root, flags, self.offset() + known.offset, shape.bytes(),
                                  image_of(shape, pixels))
                       .give();
    });
}

} // namespace entries

} // namespace pi::host
