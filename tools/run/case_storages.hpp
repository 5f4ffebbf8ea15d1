// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the statements of a case about storages: accesses at places, the routes that their bytes
// come by, and the bytes that cross links.
#pragma once

#include "statement.hpp"

#include <pi/run/case.hpp>
#include <pi/runtime/storage.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pi_run {

class CaseStorages : public Level {
public:
    /// `verified`: connections are verified before the first storage; otherwise plugins are
    /// trusted.
    explicit CaseStorages(bool verified);

    bool run(Statement &statement, std::span<const Place> places) override;
    void finish() override;

private:
    struct Use {
        std::string storage;
        pi::runtime::Buffer buffer;
        pi::runtime::PlaceIndex place;
        pi_queue queue; ///< NULL: the host
        uint64_t offset;
    };

    void set_options(Statement &statement);
    void open(std::span<const Place> places);
    void make(Statement &statement);
    void access(Statement &statement);
    void broadcast(Statement &statement);
    void expect(Statement &statement);
    Use use_of(Statement &statement);
    pi::runtime::PlaceIndex place_of(const std::string &name) const;
    /// The command of an acquisition: it reads `got`, then writes the bytes, if there are any.
    void use_bytes(const Use &use, pi::runtime::Access access,
                   const std::vector<unsigned char> &bytes, uint64_t from,
                   std::vector<unsigned char> &got);
    pi::runtime::Storage &storage(const std::string &name);

    pi::runtime::RuntimeOptions options_;
    std::vector<Place> places_;
    std::optional<pi::runtime::Runtime> runtime_;
    std::map<std::string, pi::runtime::Storage> storages_;
    std::vector<std::vector<unsigned char>> host_memory_;
};

} // namespace pi_run
