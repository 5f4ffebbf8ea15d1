// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The OpenCL plugin compared with plain OpenCL: commands on buffers.
#include "equipment.hpp"
#include "opencl_sides.hpp"
#include "rectangles.hpp"
#include "sizes.hpp"

#include <pi/runtime/error.hpp>

#include <array>
#include <vector>

namespace pi_bench {
namespace {

constexpr size_t small_size = 64;

void compare_writes(Session &session, const Sides &sides) {
    const pi::runtime::Mem mem = make_buffer(sides.place, small_size, 0);
    const Owned<cl_mem> owned = sides.make_cl_buffer(small_size, 0);
    cl_mem buffer = owned.get();
    const std::array<char, small_size> data{1};
    const OpenCl &cl = sides.cl;
    cl_command_queue queue = sides.queue.get();
    session.compare(opencl_row("blocking write of 64 bytes"), plain_opencl, Unit::nanoseconds,
                    repeat([&] { write(sides.place, mem.get(), data.data(), data.size()); }),
                    repeat([&] {
                        check_cl(cl.clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, data.size(),
                                                         data.data(), 0, nullptr, nullptr),
                                 "clEnqueueWriteBuffer");
                    }));
    session.compare(
        opencl_row("blocking write of 64 bytes, with an event"), plain_opencl, Unit::nanoseconds,
        repeat([&] { write_with_event(sides.place, mem.get(), data.data(), data.size()); }),
        repeat([&] {
            cl_event event = nullptr;
            check_cl(cl.clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, data.size(), data.data(), 0,
                                             nullptr, &event),
                     "clEnqueueWriteBuffer");
            check_cl(cl.clReleaseEvent(event), "clReleaseEvent");
        }));
}

void compare_copy(Session &session, const Sides &sides, const Size &size) {
    const std::string name = opencl_row(std::string("copy of ") + size.name + ", and wait");
    if (!session.wants(name)) {
        return;
    }
    const pi::runtime::Mem src = make_buffer(sides.place, size.bytes, 0x5a);
    const pi::runtime::Mem dst = make_buffer(sides.place, size.bytes, 0);
    check_copy(sides.place, src.get(), dst.get(), size.bytes);
    const Owned<cl_mem> cl_src = sides.make_cl_buffer(size.bytes, 0x5a);
    const Owned<cl_mem> cl_dst = sides.make_cl_buffer(size.bytes, 0);
    cl_mem from = cl_src.get();
    cl_mem to = cl_dst.get();
    const OpenCl &cl = sides.cl;
    cl_command_queue queue = sides.queue.get();
    session.compare(
        name, plain_opencl, Unit::microseconds,
        repeat([&] { copy(sides.place, src.get(), dst.get(), size.bytes); }), repeat([&] {
            check_cl(cl.clEnqueueCopyBuffer(queue, from, to, 0, 0, size.bytes, 0, nullptr, nullptr),
                     "clEnqueueCopyBuffer");
            check_cl(cl.clFinish(queue), "clFinish");
        }));
}

/// Many rectangles in one call; plain OpenCL needs one call for each.
void compare_regions(Session &session, const Sides &sides) {
    constexpr uint64_t count = 4096, piece = 64, gap = 128;
    const std::string name = opencl_row("copy of 4096 regions of 64 bytes, and wait");
    if (!session.wants(name)) {
        return;
    }
    const pi::runtime::Mem src = make_buffer(sides.place, count * gap, 0x5a);
    const pi::runtime::Mem dst = make_buffer(sides.place, count * piece, 0);
    const Owned<cl_mem> cl_src = sides.make_cl_buffer(count * gap, 0x5a);
    const Owned<cl_mem> cl_dst = sides.make_cl_buffer(count * piece, 0);
    std::vector<pi_region> regions(count);
    for (uint64_t i = 0; i < count; ++i) {
        regions[i].src_offset = i * gap;
        regions[i].dst_offset = i * piece;
        regions[i].extent[0] = piece;
    }
    const auto ours = [&] { copy(sides.place, src.get(), dst.get(), regions); };
    ours();
    std::vector<unsigned char> arrived(count * piece);
    read(sides.place, dst.get(), arrived.data(), arrived.size());
    if (arrived != std::vector<unsigned char>(count * piece, 0x5a)) {
        throw std::runtime_error("a copy of many regions lost bytes on " + sides.place.name);
    }
    session.compare(name, plain_opencl, Unit::microseconds, repeat(ours), repeat([&] {
                        for (uint64_t i = 0; i < count; ++i) {
                            check_cl(sides.cl.clEnqueueCopyBuffer(sides.queue.get(), cl_src.get(),
                                                                  cl_dst.get(), i * gap, i * piece,
                                                                  piece, 0, nullptr, nullptr),
                                     "clEnqueueCopyBuffer");
                        }
                        check_cl(sides.cl.clFinish(sides.queue.get()), "clFinish");
                    }));
}

void compare_rectangles(Session &session, const Sides &sides) {
    const Owned<cl_mem> from = sides.make_cl_buffer(GoodCase::size, 1);
    const Owned<cl_mem> to = sides.make_cl_buffer(GoodCase::size, 2);
    const pi_region region = GoodCase::region();
    const auto copy_to = [&](cl_mem dst, size_t begin) {
        return repeat([&sides, &region, src = from.get(), dst, begin] {
            const std::array<size_t, 3> in{};
            const std::array<size_t, 3> out{0, begin / region.dst_pitch[0], 0};
            const std::array<size_t, 3> extent{region.extent[0], region.extent[1], 1};
            check_cl(sides.cl.clEnqueueCopyBufferRect(
                         sides.queue.get(), src, dst, in.data(), out.data(), extent.data(),
                         region.src_pitch[0], 0, region.dst_pitch[0], 0, 0, nullptr, nullptr),
                     "clEnqueueCopyBufferRect");
            check_cl(sides.cl.clFinish(sides.queue.get()), "clFinish");
        });
    };
    const GoodCase good{"such a rectangle between two buffers, one plain OpenCL call",
                        copy_to(to.get(), 0)};
    session.compare(opencl_row("1 Mi rows of one byte within a buffer, apart, plain OpenCL's own"),
                    good.limit, Unit::microseconds, copy_to(from.get(), GoodCase::size / 2),
                    good.copy);
    pi_bench::compare_rectangles(session, sides.place, opencl_row(""), good);
}

} // namespace

void compare_buffers(Session &session, const Sides &sides) {
    session.attempt(opencl_row("rectangles"), [&] { compare_rectangles(session, sides); });
    compare_writes(session, sides);
    for (const Size &size : copy_sizes) {
        session.attempt(opencl_row(std::string("copy of ") + size.name),
                        [&] { compare_copy(session, sides, size); });
    }
    session.attempt(opencl_row("copy of many regions"), [&] { compare_regions(session, sides); });
}

void bench_plugin_opencl(Session &session) {
    session.attempt("OpenCL", [&] {
        const pi::Loader loader = pi::Loader::create();
        const std::string library = variable(loader, "PI_OPENCL_LIBRARY");
        const OpenCl cl(library.empty() ? "libOpenCL.so.1" : library);
        const char *const selector = session.device().empty() ? nullptr : session.device().c_str();
        const Sides sides(cl, loader.select_devices(selector).at(0).get());
        compare_buffers(session, sides);
        session.attempt(opencl_row("launch"), [&] { compare_launches(session, sides); });
        session.attempt(opencl_row("USM"), [&] { compare_usm(session, sides); });
        session.attempt(opencl_row("images"), [&] { compare_images(session, sides); });
    });
}

} // namespace pi_bench
