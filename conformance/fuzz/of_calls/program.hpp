// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of calls: the objects that it has, and its steps. Commands go to several queues,
// ordered by events wherever two use the same bytes, so that what they do is what they do one after
// the other.
#pragma once

#include "model.hpp"

#include <deque>

namespace pi::fuzz {

class Program {
public:
    explicit Program(Input input);
    ~Program();
    Program(const Program &) = delete;

    void run();

private:
    // calls.cpp: what steps share.
    template <class T>
    T *any_of(std::vector<T> &objects) {
        return objects.empty() ? nullptr : &objects[below(objects.size())];
    }
    uint32_t below(size_t count) { return input_.below(static_cast<uint32_t>(count)); }
    Bytes some_bytes(uint64_t size);
    /// A range in `size` from `offset` on: any, or one that ends at its end or one byte before or
    /// after.
    uint64_t bytes_from(uint64_t offset, uint64_t size);
    pi_region some_region(uint64_t size, bool is_source);
    /// `fits`: whether the regions lie within their objects; `plain`: it may not be refused then.
    void judge(bool taken, bool fits, bool plain, const char *what) const;

    // order.cpp: queues, events and wait lists.
    struct Submission {
        uint32_t queue;
        bool blocks;
        bool fails; ///< an event of the wait list does
        std::vector<Use> uses;
        std::vector<pi_event> waits;
        pi_event event = nullptr;
    };
    enum class Outcome { refused, failed, done };
    Submission begin(std::initializer_list<Use> uses, bool may_block = true);
    /// Enqueues; the descriptor's flags are set here.
    template <class Desc>
    Outcome submit(Submission &submission, Desc &desc,
                   pi_result (*function)(pi_queue, const Desc *, uint32_t, const pi_event *,
                                         pi_event *)) {
        desc.flags |= submission.blocks ? uint64_t{PI_COMMAND_BLOCKING} : 0;
        const pi_result result = function(
            queues_[submission.queue], &desc, static_cast<uint32_t>(submission.waits.size()),
            submission.waits.empty() ? nullptr : submission.waits.data(),
            submission.blocks ? nullptr : &submission.event);
        return end(submission, result);
    }
    Outcome end(Submission &submission, pi_result result);
    void make_gate();
    void open_gates();
    /// Waits for every command, and checks its result.
    void settle();
    void order_all();
    void wait_for_some();

    // buffers.cpp
    void create_buffer();
    void partition();
    void write_buffer();
    void read_buffer();
    void copy_buffer();
    void fill_buffer();
    void map_buffer();
    void release_buffer();
    void check(const Buffer &buffer);

    // images.cpp
    void create_image();
    void view_as_image();
    void write_image();
    void read_image();
    void copy_image();
    void copy_image_and_buffer();
    void fill_image();
    void release_image();
    pi_image_region some_image_region(const Image &image);
    void check(const Image &image);

    // usm.cpp
    void allocate();
    void allocate_in_order();
    void copy_usm();
    void copy_usm_and_host();
    void fill_usm();
    void ask_usm();
    void free_usm();
    void free_usm_in_order();
    void make_known(void *pointer, uint64_t size, pi_usm_kind kind, pi_usm_pool pool);
    void free_now(size_t index);
    void check(const Usm &usm);

    // misuse.cpp: calls that must be refused and change nothing.
    void use_released();
    void forget_released(pi_result result);
    void confuse();
    void misuse_usm();
    void retain();
    void ask();

    Input input_;
    const Place &place_;
    const bool has_images_, has_usm_, has_pools_, has_ordered_usm_;
    std::vector<pi_queue> queues_;
    uint32_t in_order_ = 0; ///< how many of the queues are, from the first on
    std::vector<Buffer> buffers_;
    std::vector<Image> images_;
    std::vector<Usm> usm_;
    std::vector<pi_usm_pool> pools_;
    std::vector<pi_mem> released_;

    struct Gate {
        TokenRef token;
        bool abandoned;
    };
    std::vector<Gate> gates_;       ///< that are not signalled
    std::vector<TokenRef> tokens_;  ///< some that commands may wait for in addition
    std::vector<TokenRef> running_; ///< not waited for yet
    struct Read {
        Bytes bytes, expected;
    };
    std::deque<Read> reads_;       ///< under way
    std::deque<Bytes> host_bytes_; ///< host memory of commands under way
};

} // namespace pi::fuzz
