// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of a kernel that does nothing: the cost of a launch itself.
#pragma once

#include "place.hpp"
#include "session.hpp"

#include <string>

namespace pi_bench {

/// The kernel "nothing", with a pointer and a word of 4 bytes as parameters, through PI; with a
/// buffer for the pointer.
class EmptyKernel {
public:
    /// `image` is a module of this format that contains the kernel.
    EmptyKernel(const Place &place, pi_program_format format, const std::string &image);

    /// One work-item; `out_event` may be NULL.
    void launch(pi_event *out_event = nullptr) const;
    const Place &place() const { return place_; }

private:
    const Place &place_;
    pi::runtime::Kernel kernel_;
    pi::runtime::Mem mem_;
};

/// Compares ours with the vendor's launch() and wait().
template <class Launch, class Wait>
void compare_launches(Session &session, const std::string &prefix, const char *limit,
                      const EmptyKernel &ours, Launch launch, Wait wait) {
    const auto our_launch = [&] { ours.launch(); };
    const auto our_wait = [&] { ours.place().finish(); };
    session.compare(prefix + "launch of an empty kernel, and wait", limit, Unit::nanoseconds,
                    repeat([&] {
                        our_launch();
                        our_wait();
                    }),
                    repeat([&] {
                        launch();
                        wait();
                    }));
    session.compare(prefix + "launch of an empty kernel, many in a row", limit, Unit::nanoseconds,
                    repeat_in_a_row(our_launch, our_wait), repeat_in_a_row(launch, wait));
}

} // namespace pi_bench
