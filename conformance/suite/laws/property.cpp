// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of commands beside the same ones on plain arrays of bytes. A program that differs is shrunk to the
// shortest one that still does, and told step by step.

#include "checks.hpp"
#include "regions.hpp"
#include "registry.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace pi::suite {
namespace {

constexpr std::size_t buffer_count = 3;
constexpr uint64_t buffer_sizes[buffer_count] = {17, 256, 4099};

enum class Kind : uint8_t { write, read, copy, fill, map, view };
constexpr uint8_t kind_count = 6;

// Any numbers make a legal step: each is taken modulo what is possible when the step is laid out. So a shrunk program
// is a program, too.
struct Step {
    uint8_t kind, src, dst, value;
    uint16_t src_offset, dst_offset, width, height, src_gap, dst_gap;
};

// A step with its buffers and region, as both sides carry it out.
struct Command {
    Kind kind;
    std::size_t src, dst;
    pi_region region;
    uint8_t value;

    bool overlapping() const { return kind == Kind::copy && src == dst && overlaps(region); }
};

uint64_t span_of(uint64_t width, uint64_t height, uint64_t pitch) {
    return (height - 1) * pitch + width;
}

Command lay_out(const Step &step) {
    Command command{static_cast<Kind>(step.kind % kind_count),
                    step.src % buffer_count,
                    step.dst % buffer_count,
                    {},
                    step.value};
    const uint64_t src_size = buffer_sizes[command.src], dst_size = buffer_sizes[command.dst];
    const uint64_t width = 1 + step.width % std::min(src_size, dst_size);
    const uint64_t src_pitch = width + step.src_gap % 8, dst_pitch = width + step.dst_gap % 8;
    uint64_t height = 1 + step.height % 5;
    while (span_of(width, height, src_pitch) > src_size ||
           span_of(width, height, dst_pitch) > dst_size)
        --height;
    pi_region &region = command.region;
    region.src_offset = step.src_offset % (src_size - span_of(width, height, src_pitch) + 1);
    region.dst_offset = step.dst_offset % (dst_size - span_of(width, height, dst_pitch) + 1);
    region.extent[0] = width;
    region.extent[1] = height;
    region.src_pitch[0] = src_pitch;
    region.dst_pitch[0] = dst_pitch;
    return command;
}

std::ostream &operator<<(std::ostream &out, const Command &command) {
    constexpr const char *names[kind_count] = {
        "write to buffer ", "read buffer ",   "copy to buffer ",
        "fill of buffer ",  "map of buffer ", "write through a view of buffer "};
    out << names[static_cast<int>(command.kind)] << command.dst;
    if (command.kind == Kind::copy)
        out << " from buffer " << command.src;
    return out << ", " << text_of(command.region) << ", value " << int{command.value};
}

std::ostream &operator<<(std::ostream &out, const Step &step) {
    return out << lay_out(step);
}

// The buffers of one program and what they should hold.
class Machine {
public:
    explicit Machine(Bench &bench) : bench_(bench), queue_(bench.make_queue()) {
        for (const uint64_t size : buffer_sizes) {
            model_.emplace_back(size, std::byte{0});
            buffers_.push_back(bench.make_buffer(bench.place(), model_.back()));
        }
    }

    void run(const Command &command) {
        switch (command.kind) {
        case Kind::write:
            return write(command, buffers_[command.dst], command.region);
        case Kind::read:
            return read(command);
        case Kind::copy:
            return copy(command);
        case Kind::fill:
            return fill(command);
        case Kind::map:
            return map(command);
        case Kind::view:
            return view(command);
        }
    }

    void require_model() {
        for (std::size_t i = 0; i < buffer_count; ++i)
            bench_.require_contents(queue_, buffers_[i], model_[i], join("buffer ", i));
    }

private:
    /// The host's bytes of a write, all of one value and as many as buffer src.
    static Bytes bytes_of(const Command &command) {
        return Bytes(buffer_sizes[command.src], std::byte{command.value});
    }

    void write(const Command &command, pi_mem mem, const pi_region &region) {
        const Bytes from = bytes_of(command);
        bench_.wait(bench_.enqueue(queue_, write_desc(mem, from, {region})));
        apply({command.region}, from, model_[command.dst]);
    }

    void read(const Command &command) {
        Bytes into(buffer_sizes[command.dst], std::byte{command.value}), expected = into;
        bench_.wait(
            bench_.enqueue(queue_, read_desc(buffers_[command.src], into, {command.region})));
        apply({command.region}, model_[command.src], expected);
        require_same_bytes(into.data(), expected.data(), into.size(), "what was read");
    }

    void copy(const Command &command) {
        const Regions regions{command.region};
        const auto desc = copy_desc(buffers_[command.src], buffers_[command.dst], regions);
        if (command.overlapping())
            return require_error(try_enqueue(queue_, desc), PI_ERROR_MEM_COPY_OVERLAP,
                                 "a copy that overlaps itself");
        bench_.wait(bench_.enqueue(queue_, desc));
        apply(regions, Bytes(model_[command.src]), model_[command.dst]);
    }

    void fill(const Command &command) {
        const uint64_t offset = command.region.dst_offset, size = command.region.extent[0];
        bench_.wait(bench_.fill(queue_, buffers_[command.dst], offset, size,
                                Bytes(1, std::byte{command.value})));
        std::fill_n(model_[command.dst].data() + offset, size, std::byte{command.value});
    }

    void map(const Command &command) {
        const uint64_t offset = command.region.dst_offset, size = command.region.extent[0];
        const pi_mem mem = buffers_[command.dst];
        std::byte *const modelled = model_[command.dst].data() + offset;
        void *pointer = nullptr;
        bench_.wait(bench_.map(queue_, mem, PI_MAP_READ | PI_MAP_WRITE, offset, size, &pointer));
        require_same_bytes(pointer, modelled, size, "a mapped range");
        *static_cast<std::byte *>(pointer) = *modelled = std::byte{command.value};
        bench_.wait(bench_.unmap(queue_, mem, pointer));
    }

    void view(const Command &command) {
        if (!bench_.can(PI_CAPABILITY_VIEW))
            return write(command, buffers_[command.dst], command.region);
        const uint64_t unit = bench_.scopes().at(0).offset_alignment;
        const uint64_t begin = command.region.dst_offset / unit * unit;
        const Mem view =
            bench_.make_view(buffers_[command.dst], begin, buffer_sizes[command.dst] - begin);
        pi_region inside = command.region;
        inside.dst_offset -= begin;
        write(command, view, inside);
    }

    Bench &bench_;
    Queue queue_;
    std::vector<Mem> buffers_;
    std::vector<Bytes> model_;
};

class Silent final : public rc::detail::TestListener {
    void onTestCaseFinished(const rc::detail::CaseDescription &) override {}
    void onShrinkTried(const rc::detail::CaseDescription &, bool) override {}
    void onTestFinished(const rc::detail::TestMetadata &, const rc::detail::TestResult &) override {
    }
};

} // namespace
} // namespace pi::suite

namespace rc {
template <>
struct Arbitrary<pi::suite::Step> {
    static Gen<pi::suite::Step> arbitrary() {
        using pi::suite::Step;
        return gen::build<Step>(gen::set(&Step::kind), gen::set(&Step::src), gen::set(&Step::dst),
                                gen::set(&Step::value), gen::set(&Step::src_offset),
                                gen::set(&Step::dst_offset), gen::set(&Step::width),
                                gen::set(&Step::height), gen::set(&Step::src_gap),
                                gen::set(&Step::dst_gap));
    }
};
} // namespace rc

namespace pi::suite {
namespace {

LAW("enqueue", "a program of commands on buffers does what it does on plain bytes") {
    rc::detail::TestParams params;
    params.seed = bench.random(0, UINT64_MAX);
    params.maxSuccess = 40;
    params.maxSize = 60;
    Silent silent;
    const auto result = rc::detail::checkTestable(
        [&](const std::vector<Step> &program) {
            try {
                Machine machine(bench);
                for (const Step &step : program)
                    machine.run(lay_out(step));
                machine.require_model();
            } catch (const Failure &failure) {
                RC_FAIL(failure.text);
            }
        },
        rc::detail::TestMetadata{}, params, silent,
        std::unordered_map<std::string, rc::detail::Reproduce>{});
    if (result.is<rc::detail::SuccessResult>())
        return;
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    fail_at({nullptr, 0}, text.str());
}

} // namespace
} // namespace pi::suite
