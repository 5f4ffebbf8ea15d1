// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The repeated work of one thread: creates objects of every kind, uses them in commands, causes
// errors, and releases everything.
#pragma once

#include <pi/pi_loader.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace bounded {

/// The objects of a process.
struct Place {
    pi_loader loader = nullptr;
    pi_platform platform = nullptr;
    pi_device device = nullptr;
    uint64_t capabilities = 0;
};

/// Opens the plugin, with the layers of the environment. Ends the process on failure, like
/// everything here.
Place open_plugin(const char *plugin, std::atomic<uint64_t> &warnings);

class Worker {
public:
    Worker(const Place &place, uint32_t seed);
    ~Worker();
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    /// Makes calls until all threads together have made `calls`.
    void work_until(uint64_t calls);
    /// Waits until every callback has run.
    void settle();
    uint64_t calls() const { return calls_; }

private:
    void ok(pi_result result);
    void fails(pi_result result, pi_result with);
    pi_event with_callback(pi_event event);
    void wait_and_release(pi_event event);

    void use_buffers();
    void use_views_and_maps(pi_mem mem);
    void use_gates(pi_mem mem);
    void ask(pi_mem mem);
    void fail(pi_mem mem);
    void use_usm();
    void use_kernels(pi_mem mem);
    void make_objects();

    static void PI_CALL on_final(pi_event, pi_result, void *user_data);
    static void PI_CALL on_host(void *user_data);

    const Place &place_;
    uint32_t state_; ///< of the random numbers
    uint64_t size_ = 0;
    pi_context context_ = nullptr;
    pi_queue in_order_ = nullptr;
    pi_queue out_of_order_ = nullptr;
    pi_program program_ = nullptr;
    std::vector<unsigned char> bytes_;
    std::vector<unsigned char> seen_;
    uint64_t calls_ = 0;
    uint64_t rounds_ = 0;
    uint64_t asked_ = 0; ///< callbacks and host functions
    std::atomic<uint64_t> came_{0};
};

} // namespace bounded
