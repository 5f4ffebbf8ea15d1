// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands while memory is short, and checks afterwards.
#pragma once

#include <pi/pi_loader.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace shortage {

/// The text with which failed() describes the current run.
void describe_run(const char *run);
/// From now on only threads are short, for which there is one code.
void expect_lack_of_threads();
/// The number of failed checks; each is printed on stderr.
uint32_t failures();

/// Ends the shortage; returns whether an allocation failed.
using End = std::function<bool()>;

/// A plugin's first device, and its objects that are created while there is memory.
class Machine {
public:
    static constexpr uint64_t size = 100'000;   ///< of a buffer: large enough for several threads
    static constexpr unsigned char content = 9; ///< each byte of a buffer at first

    explicit Machine(const char *plugin);
    Machine(const Machine &) = delete;
    ~Machine();

    pi_loader loader = nullptr;
    pi_platform platform = nullptr;
    pi_device device = nullptr;
    pi_context context = nullptr;
    pi_queue in_order = nullptr, out_of_order = nullptr;
    std::array<pi_mem, 3> buffers{};
    pi_program program = nullptr; ///< NULL if the plugin runs no native tables
    uint64_t capabilities = 0;
};

/// A loader with the plugin while memory is short, and one afterwards.
bool open_and_close(const char *plugin, const End &end);

/// Commands of each kind on a machine.
class Scenario {
public:
    explicit Scenario(const Machine &machine) : machine_(machine) {}
    /// Calls `end` when everything has been enqueued, and returns its result.
    bool run(const End &end);

private:
    /// the value of all bytes of a buffer; unknown after a failure
    using Bytes = std::optional<unsigned char>;
    /// A running command, and its effect if it succeeds. A command that did not begin changes
    /// nothing.
    struct Command {
        pi_event event;
        std::function<void(pi_result)> effect;
    };

    void make_objects();
    void begin_chain();
    void use_buffer();
    void map_buffer();
    void use_usm();
    void call_host();
    void launch_kernel();
    void ask();
    void settle();

    bool add(pi_result result, pi_event event, std::function<void(pi_result)> effect);
    void write_effect(size_t buffer, pi_result result, Bytes bytes);
    void check_bytes(size_t buffer);
    static void PI_CALL on_final(pi_event, pi_result, void *count);
    static void PI_CALL on_host(void *count);

    const Machine &machine_;
    std::array<Bytes, 3> bytes_{Machine::content, Machine::content, Machine::content};
    std::vector<Command> commands_;
    std::vector<unsigned char> written_ = std::vector<unsigned char>(Machine::size, 3);
    std::vector<unsigned char> seen_ = std::vector<unsigned char>(Machine::size, 0xEE);
    std::vector<unsigned char> usm_ = std::vector<unsigned char>(Machine::size, 0xEE);
    void *mapped_ = nullptr;
    void *allocated_ = nullptr;
    pi_event gate_ = nullptr;
    std::atomic<int> callbacks_{0}, host_calls_{0};
    int callbacks_set_ = 0, host_calls_due_ = 0;
};

} // namespace shortage
