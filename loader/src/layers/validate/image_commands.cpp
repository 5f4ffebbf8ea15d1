// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors of commands on images.

#include "images.hpp"
#include "maps.hpp"

namespace pi::loader::validate {
namespace {

using Memory = std::shared_ptr<const MemoryFacts>;

constexpr BoxNames image_names = {"origin", "mip_level", "desc->image"};
constexpr End host_names = {"offset", "row_pitch", "slice_pitch", false, "desc->host_ptr"};
constexpr End buffer_names = {"buffer_offset", "buffer_row_pitch", "buffer_slice_pitch", false,
                              "the buffer"};

Memory image(Check &check, pi_mem mem, const Name &name) noexcept {
    Memory facts = check.validator().facts(mem);
    if (facts != nullptr && facts->image.type == nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, name, "is a buffer; an image is needed");
    return facts;
}

// The regions of one command must not overlap in the destination; only the first ones are compared.
class DestinationBoxes {
public:
    void add(Check &check, uint32_t index, const Box &box) noexcept {
        for (uint32_t i = 0; i < count_; ++i) {
            if (overlap(seen_[i], box))
                check.refuse(PI_ERROR_INVALID_VALUE, {"desc->regions", index},
                             "writes pixels that desc->regions[{}] also writes; the regions of "
                             "one command are done in any order and must not overlap in the "
                             "destination",
                             i);
        }
        if (count_ < most)
            seen_[count_++] = box;
    }

private:
    static constexpr uint32_t most = 32;
    Box seen_[most];
    uint32_t count_ = 0;
};

bool some_regions(Check &check, uint32_t count, const void *regions) noexcept {
    if (count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->region_count"}, "is 0; at least 1 is needed");
    return !check.failed() && check.array(count, regions, {"desc->regions"});
}

void check_transfer(Check &check, pi_mem mem, const void *host_ptr, uint32_t count,
                    const pi_image_region *regions, bool to_image) noexcept {
    const Memory of = image(check, mem, {"desc->image"});
    check.not_null(host_ptr, {"desc->host_ptr"});
    if (!some_regions(check, count, regions))
        return;
    DestinationBoxes boxes;
    Destinations bytes;
    for (uint32_t i = 0; i < count && !check.failed(); ++i) {
        const pi_image_region &region = regions[i];
        const Name element{"desc->regions", i};
        for (const uint32_t word : region.reserved)
            check.reserved(word, element.at("reserved"));
        Box box;
        Rectangle host;
        if (of == nullptr ||
            !read_box(check, element, image_names, of->image, region.origin, region.extent,
                      region.mip_level, box) ||
            !read_linear_end(check, element, host_names, box, of->image, region.offset,
                             region.row_pitch, region.slice_pitch, host))
            continue;
        check_addressable(check, element, host_names, host, host_ptr);
        if (check.failed())
            return;
        if (to_image)
            boxes.add(check, i, box);
        else
            bytes.add(check, i, host);
    }
}

// Members of an end that is a buffer.
void check_no_box(Check &check, const Name &element, const BoxNames &names,
                  const uint64_t (&origin)[3], uint32_t mip_level) noexcept {
    for (int64_t axis = 0; axis < 3; ++axis) {
        if (origin[axis] != 0)
            check.refuse(PI_ERROR_INVALID_VALUE, element.at(names.origin, axis),
                         "is {}; {} is a buffer, so it must be 0", origin[axis], names.memory);
    }
    if (mip_level != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, element.at(names.mip_level),
                     "is {}; {} is a buffer, so it must be 0", mip_level, names.memory);
}

void check_no_buffer(Check &check, const Name &element,
                     const pi_image_copy_region &region) noexcept {
    const struct {
        const char *member;
        uint64_t value;
    } words[] = {{buffer_names.offset, region.buffer_offset},
                 {buffer_names.row_pitch, region.buffer_row_pitch},
                 {buffer_names.slice_pitch, region.buffer_slice_pitch}};
    for (const auto &word : words) {
        if (word.value != 0)
            check.refuse(PI_ERROR_INVALID_VALUE, element.at(word.member),
                         "is {}; both ends are images, so it must be 0", word.value);
    }
}

constexpr BoxNames src_names = {"src_origin", "src_mip_level", "desc->src"};
constexpr BoxNames dst_names = {"dst_origin", "dst_mip_level", "desc->dst"};

/// The two ends of a copy, one of which may be a buffer.
struct CopyEnds {
    const MemoryFacts &src;
    const MemoryFacts &dst;
    bool src_image, dst_image;

    const MemoryFacts &buffer() const noexcept { return src_image ? dst : src; }
    const ImageShape &shape() const noexcept { return src_image ? src.image : dst.image; }
};

void check_copy_region(Check &check, const Place &place, const CopyEnds &ends, uint32_t index,
                       const pi_image_copy_region &region, DestinationBoxes &boxes,
                       Destinations &bytes) noexcept {
    const Name element{"desc->regions", index};
    check.reserved(region.reserved, element.at("reserved"));
    Box src;
    Box dst;
    if (ends.src_image
            ? !read_box(check, element, src_names, ends.src.image, region.src_origin, region.extent,
                        region.src_mip_level, src)
            : (check_no_box(check, element, src_names, region.src_origin, region.src_mip_level),
               check.failed()))
        return;
    if (ends.dst_image
            ? !read_box(check, element, dst_names, ends.dst.image, region.dst_origin, region.extent,
                        region.dst_mip_level, dst)
            : (check_no_box(check, element, dst_names, region.dst_origin, region.dst_mip_level),
               check.failed()))
        return;
    if (ends.src_image && ends.dst_image) {
        check_no_buffer(check, element, region);
        if (ends.src.root == ends.dst.root && overlap(src, dst))
            check.refuse(PI_ERROR_MEM_COPY_OVERLAP, element,
                         "copies within one image, and source and destination overlap; they must "
                         "not");
        if (!check.failed())
            boxes.add(check, index, dst);
        return;
    }
    Rectangle buffer;
    if (!read_linear_end(check, element, buffer_names, ends.src_image ? src : dst, ends.shape(),
                         region.buffer_offset, region.buffer_row_pitch, region.buffer_slice_pitch,
                         buffer))
        return;
    check_within(check, element, buffer_names, buffer, ends.buffer().size);
    if (check.failed())
        return;
    if (ends.dst_image)
        boxes.add(check, index, dst);
    else
        bytes.add(check, index, buffer);
    check.validator().maps().check_use(check, place, ends.buffer(), buffer, !ends.dst_image,
                                       {ends.dst_image ? "desc->src" : "desc->dst"});
}

} // namespace

void check_members(Check &check, const Place &, const pi_image_read_desc &desc) {
    check_transfer(check, desc.image, desc.host_ptr, desc.region_count, desc.regions, false);
}

void check_members(Check &check, const Place &, const pi_image_write_desc &desc) {
    check_transfer(check, desc.image, desc.host_ptr, desc.region_count, desc.regions, true);
}

void check_members(Check &check, const Place &place, const pi_image_copy_desc &desc) {
    const Memory src = check.validator().facts(desc.src);
    const Memory dst = check.validator().facts(desc.dst);
    if (src == nullptr || dst == nullptr) {
        some_regions(check, desc.region_count, desc.regions);
        return;
    }
    const CopyEnds ends{*src, *dst, src->image.type != nullptr, dst->image.type != nullptr};
    if (!ends.src_image && !ends.dst_image)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, {"desc->dst"},
                     "is a buffer, as is desc->src; at least one must be an image "
                     "(piEnqueueMemBufferCopy copies between buffers)");
    if (ends.src_image && ends.dst_image &&
        (src->image.order != dst->image.order || src->image.channel != dst->image.channel))
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->dst"},
                     "has channel order {} and type {}, desc->src has {} and {}; both images need "
                     "the same format",
                     name_channel_order(dst->image.order), name_channel_type(dst->image.channel),
                     name_channel_order(src->image.order), name_channel_type(src->image.channel));
    if (check.failed() || !some_regions(check, desc.region_count, desc.regions))
        return;
    DestinationBoxes boxes;
    Destinations bytes;
    for (uint32_t i = 0; i < desc.region_count && !check.failed(); ++i)
        check_copy_region(check, place, ends, i, desc.regions[i], boxes, bytes);
}

void check_members(Check &check, const Place &, const pi_image_fill_desc &desc) {
    static constexpr BoxNames names = {"origin", "", "desc->image"};
    const Memory of = image(check, desc.image, {"desc->image"});
    check.not_null(desc.color, {"desc->color"});
    Box box;
    if (of != nullptr && !check.failed())
        read_box(check, {"desc->"}, names, of->image, desc.origin, desc.extent, 0, box);
}

} // namespace pi::loader::validate
