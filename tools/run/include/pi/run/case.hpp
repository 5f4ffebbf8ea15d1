// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases: texts of commands and of the bytes and results that they must have. C++20.
// conformance/cases/README.md has the grammar.
#pragma once

#include <pi/pi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pi_run {

struct Statement;

/// Runs the statements of one more level, for example of the runtime.
class Level {
public:
    /// A place of the case.
    struct Place {
        std::string name;
        pi_device device;
        pi_context context;
        pi_queue queue;
    };
    virtual ~Level() = default;
    /// False: the statement is of another level. `places`: those that the case has declared so far.
    /// Throws Failure, Unsupported or Refusal.
    virtual bool run(Statement &statement, std::span<const Place> places) = 0;
    /// Waits for everything that is under way, before the places' queues are checked at the end.
    virtual void finish() = 0;
};

enum class Verdict {
    passed,
    failed,     ///< a result or a byte is wrong
    unsupported ///< the plugin has not what the case needs
};
struct CaseResult {
    Verdict verdict = Verdict::passed;
    uint64_t line = 0; ///< where it ended, if it did not pass
    std::string text{};
};

/// What a case needs of its loader.
struct Equipment {
    std::string machine;   ///< for the plugin sim: a file, or its text; "" = none
    std::string faults;    ///< as in PI_FAULT
    bool verified = false; ///< connections are verified before the first storage
};

class Case {
public:
    /// Throws std::runtime_error("LINE: text") for the first line that is not a statement.
    explicit Case(const std::string &text);
    ~Case();
    Case(Case &&) noexcept;
    Case &operator=(Case &&) noexcept;

    /// The text of the first comment.
    const std::string &title() const noexcept { return title_; }
    const Equipment &equipment() const noexcept { return equipment_; }
    /// The N-th place without a selector is on the N-th device, and begins again after the last
    /// one. Throws std::runtime_error("LINE: text") for a statement that makes no sense: it names
    /// what does not exist, or has members that its function lacks. `loader` is for selectors;
    /// NULL: a case with selectors is unsupported.
    CaseResult run(std::span<const pi_device> devices, pi_loader loader = nullptr,
                   Level *level = nullptr) const;

private:
    std::string title_;
    Equipment equipment_;
    std::vector<Statement> statements_;
};

} // namespace pi_run
