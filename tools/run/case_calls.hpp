// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the statements of a case that are calls of pi.h.
#pragma once

#include "call_shapes.hpp"
#include "state.hpp"
#include "statement.hpp"
#include "verdict.hpp"

#include <pi/pi.hpp>
#include <pi/run/case.hpp>

#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pi_run {

class CaseCalls {
public:
    CaseCalls(std::span<const pi_device> devices, pi_loader loader,
              std::span<const Statement> statements);

    /// False: the verb is of another level.
    bool run(Statement &statement);
    /// Waits for all commands. Throws Failure if one failed and no line expects that.
    void finish();
    std::vector<Level::Place> places() const;

private:
    enum class Kind { place, object, usm, memory, map };
    struct Named {
        Kind kind;
        uint64_t id = 0;
        std::string place{};
        pi_kind object = 0;
        uint64_t size = 0;
        uint64_t mem = 0;                 ///< of a map: the id of the buffer
        std::array<uint64_t, 3> extent{}; ///< of an image, in pixels
    };
    struct PlaceIds {
        uint64_t platform, device, context, queue;
    };

    void add_place(Statement &statement);
    void add_memory(Statement &statement);
    void need_connection(const Statement &statement) const;
    void expect(Statement &statement);
    void release(Statement &statement);

    struct Draft;
    void call(Statement &statement, std::size_t index);
    void read_words(Statement &statement, Draft &draft) const;
    void write_out(Statement &statement, Draft &draft) const;
    std::string parameter_for(const Draft &draft) const;
    Json arguments(const Statement &statement, Draft &draft) const;
    uint64_t of_place(Draft &draft, const Parameter &parameter) const;
    void reserve_ids(const Statement &statement, Draft &draft);
    pi_result make(const Statement &statement, const Draft &draft);
    void name_made(const Statement &statement, const Draft &draft);

    bool is_of_other_level(const Statement &statement) const;
    uint64_t add_object(void *handle, pi_kind kind, bool root);
    void add_name(const std::string &name, Named named);
    const Named &find(const std::string &name) const;
    pi_device device_for(const std::string &selector);
    /// Throws Refusal if the name's object is gone.
    void require_alive(const std::string &name, const Named &named) const;
    /// The names' JSON; the place of the first object goes to `place`, if it is empty.
    Resolve resolver(std::string &place) const;
    /// Puts ids in place of places.
    void settle(Json &value, pi_kind kind) const;
    const PlaceIds &place_of(std::string &name) const;
    std::vector<unsigned char> bytes_at(const std::string &name, uint64_t offset, uint64_t size);
    void read_image(pi_queue queue, const Named &named, unsigned char *bytes) const;
    void expect_result(pi_event event, const std::string &name, const std::string &code);
    void expect_infos(const Named &named, const Statement &statement) const;
    uint64_t size_of(const Named &named) const;
    /// A queue in the context of an object, which may not be the place's.
    pi::Queue queue_for(const Named &named) const;

    pi_loader loader_;
    Replay::State state_;
    std::map<std::string, Named> names_;
    std::map<std::string, PlaceIds> places_;
    std::vector<std::string> place_order_;
    std::set<uint64_t> may_fail_; ///< lines of commands whose result a line expects
    uint64_t next_id_ = 1;
    std::size_t next_device_ = 0;
};

} // namespace pi_run
