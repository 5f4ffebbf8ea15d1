// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on images as cases.

#include "checks.hpp"
#include "command_cases.hpp"
#include "image.hpp"

namespace pi::suite {
namespace {

// Base of the cases: an image that the command changes or reads.
class ImageCase : public CommandCase {
public:
    ImageCase(Fixture &fixture, std::string name)
        : CommandCase(std::move(name)), fixture_(fixture), desc_(any_image_desc(fixture, 32, 16)),
          now_(random_pixels(fixture, desc_)), image_(make_image(fixture, desc_)) {
        image_upload(fixture, fixture.make_queue(), image_, desc_, now_);
    }
    void disturb(pi_queue other) override {
        now_ = random_pixels(fixture_, desc_);
        image_upload(fixture_, other, image_, desc_, now_);
    }

protected:
    template <typename Desc>
    pi_result pass(pi_queue queue, Desc desc, uint64_t flags, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event) {
        desc.flags |= flags;
        return Description<Desc>::enqueue(queue, &desc, wait_count, wait_list, out_event);
    }
    void require_image(pi_queue other, pi_mem image, const Bytes &expected, const char *when) {
        require_pixels(fixture_, other, image, desc_, expected, join(name(), ": the image ", when));
    }
    std::vector<pi_image_region> whole() const { return {image_region({{}, extent_of(desc_)})}; }

    Fixture &fixture_;
    pi_mem_image_desc desc_;
    Bytes now_;
    Mem image_;
};

class ImageRead final : public ImageCase {
public:
    explicit ImageRead(Fixture &fixture)
        : ImageCase(fixture, "piEnqueueMemImageRead"), before_(fixture.random_bytes(now_.size())),
          into_(before_) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        const auto regions = whole();
        return pass(queue, image_read_desc(image_, into_.data(), regions), flags, wait_count,
                    wait_list, out_event);
    }
    void require_undone(pi_queue) override {
        require_same_bytes(into_.data(), before_.data(), into_.size(),
                           name() + ": the host's bytes before it runs");
    }
    void require_done(pi_queue) override {
        require_same_bytes(into_.data(), now_.data(), into_.size(), name() + ": what was read");
    }
    void release(bool) override { image_.reset(); }

private:
    Bytes before_;
    Bytes into_;
};

class ImageWrite final : public ImageCase {
public:
    explicit ImageWrite(Fixture &fixture)
        : ImageCase(fixture, "piEnqueueMemImageWrite"), from_(random_pixels(fixture, desc_)) {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        const auto regions = whole();
        return pass(queue, image_write_desc(image_, from_.data(), regions), flags, wait_count,
                    wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_image(other, image_, now_, "before it runs");
    }
    void require_done(pi_queue other) override {
        require_image(other, image_, from_, "that was written");
    }
    void release(bool changed) override {
        if (changed)
            image_.reset();
    }

private:
    Bytes from_;
};

class ImageCopy final : public ImageCase {
public:
    explicit ImageCopy(Fixture &fixture)
        : ImageCase(fixture, "piEnqueueMemImageCopy"), before_(random_pixels(fixture, desc_)),
          dst_(make_image(fixture, desc_)) {
        image_upload(fixture, fixture.make_queue(), dst_, desc_, before_);
    }
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        pi_image_copy_region region{};
        const Pixels extent = extent_of(desc_);
        std::copy(extent.begin(), extent.end(), region.extent);
        auto desc = pi::desc<pi_image_copy_desc>();
        desc.src = image_;
        desc.dst = dst_;
        desc.region_count = 1;
        desc.regions = &region;
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_image(other, dst_, before_, "before it runs");
    }
    void require_done(pi_queue other) override {
        require_image(other, dst_, now_, "that was copied to");
        if (image_.get() != nullptr)
            require_image(other, image_, now_, "that was copied from");
    }
    void release(bool changed) override {
        image_.reset();
        if (changed)
            dst_.reset();
    }

private:
    Bytes before_;
    Mem dst_;
};

class ImageFill final : public ImageCase {
public:
    explicit ImageFill(Fixture &fixture) : ImageCase(fixture, "piEnqueueMemImageFill") {}
    pi_result enqueue(pi_queue queue, uint64_t flags, uint32_t wait_count,
                      const pi_event *wait_list, pi_event *out_event) override {
        // All bits 0 are the value 0 in every format.
        const std::array<uint32_t, 4> color{};
        const Pixels extent = extent_of(desc_);
        auto desc = pi::desc<pi_image_fill_desc>();
        desc.image = image_;
        desc.color = color.data();
        std::copy(extent.begin(), extent.end(), desc.extent);
        return pass(queue, desc, flags, wait_count, wait_list, out_event);
    }
    void require_undone(pi_queue other) override {
        require_image(other, image_, now_, "before it runs");
    }
    void require_done(pi_queue other) override {
        require_image(other, image_, Bytes(now_.size()), "that was filled");
    }
    void release(bool changed) override {
        if (changed)
            image_.reset();
    }
};

} // namespace

void add_image_command_cases(Fixture &fixture, CommandCases &commands) {
    if (!fixture.can(PI_CAPABILITY_IMAGE))
        return;
    commands.push_back(std::make_unique<ImageRead>(fixture));
    commands.push_back(std::make_unique<ImageWrite>(fixture));
    commands.push_back(std::make_unique<ImageCopy>(fixture));
    commands.push_back(std::make_unique<ImageFill>(fixture));
}

} // namespace pi::suite
