// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/run/case.hpp>

#include "call_shapes.hpp"
#include "case_calls.hpp"
#include "constants.hpp"
#include "nearest.hpp"
#include "statement.hpp"
#include "verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pi_run {
namespace {

template <typename Part>
void of_line(uint64_t line, Part &&part) {
    try {
        part();
    } catch (const Refusal &refusal) {
        throw Refusal(fmt::format("{}: {}", line, refusal.what()));
    }
}

/// Statements about the loader, which come first.
bool add_equipment(const Statement &statement, Equipment &equipment) {
    const std::vector<std::string> &words = statement.words;
    if (statement.verb == "machine") {
        if (words.size() != 1 || !equipment.machine.empty())
            throw Refusal("machine FILE, once: a machine file, or the name of one that is "
                          "installed; or machine {JSON}");
        equipment.machine = words[0];
    } else if (statement.verb == "fault") {
        if (words.size() != 1)
            throw Refusal("fault FUNCTION:CALL=EFFECT, for example: fault "
                          "piEnqueueMemBufferCopy:1=fail(OUT_OF_DEVICE_MEMORY)");
        equipment.faults += (equipment.faults.empty() ? "" : ";") + words[0];
    } else if (statement.verb == "verify") {
        equipment.verified = true;
    } else {
        return false;
    }
    return true;
}

/// Why no level runs the statement.
std::string misunderstood(const Statement &statement, bool storages) {
    std::vector<std::string> verbs = {"place", "memory", "connected", "release", "expect"};
    for (const std::string_view verb : short_verbs())
        verbs.emplace_back(verb);
    if (storages)
        verbs.insert(verbs.end(), {"runtime", "storage", "acquire", "prefetch", "broadcast"});
    const auto knows = [&](const std::string &word) {
        return std::find(verbs.begin(), verbs.end(), word) != verbs.end();
    };
    if (knows(statement.verb) && statement.words.empty())
        return fmt::format("{} what?", statement.verb);
    if (knows(statement.verb))
        return fmt::format("{} is not a name of this case", statement.words[0]);
    if (!statement.words.empty() && knows(statement.words[0]))
        return fmt::format("write: {} = {} ...", statement.verb, statement.words[0]);
    const std::string similar = pi::loader::nearest(statement.verb, verbs);
    if (!similar.empty())
        return fmt::format("\"{}\" is not a verb; did you mean {}?", statement.verb, similar);
    return fmt::format("\"{}\" is neither a function of pi.h nor one of {}", statement.verb,
                       fmt::join(verbs, ", "));
}

std::string title_of(const std::string &text) {
    const std::size_t begin = text.find_first_not_of("# ");
    return text.starts_with('#') && begin != std::string::npos
               ? text.substr(begin, text.find('\n') - begin)
               : "";
}

} // namespace

Case::Case(const std::string &text) : title_(title_of(text)) {
    for (Statement &statement : statements_of(text)) {
        of_line(statement.line, [&] {
            const bool first = statements_.empty();
            if (!add_equipment(statement, equipment_))
                statements_.push_back(std::move(statement));
            else if (!first)
                throw Refusal(statement.verb + " must come before the first place");
        });
    }
    if (statements_.empty())
        throw Refusal("1: no statement: a case begins with a line like \"place a\"");
}

Case::~Case() = default;
Case::Case(Case &&) noexcept = default;
Case &Case::operator=(Case &&) noexcept = default;

CaseResult Case::run(std::span<const pi_device> devices, pi_loader loader, Level *level) const {
    auto calls = std::make_unique<CaseCalls>(devices, loader, statements_);
    uint64_t line = 0;
    try {
        for (Statement statement : statements_) {
            line = statement.line;
            of_line(line, [&] {
                if (calls->run(statement))
                    return;
                const std::vector<Level::Place> places = calls->places();
                if (level == nullptr || !level->run(statement, places))
                    throw Refusal(misunderstood(statement, level != nullptr));
            });
        }
        line = statements_.back().line;
        if (level != nullptr)
            level->finish();
        calls->finish();
    } catch (const Hang &hang) {
        static_cast<void>(calls.release()); // its destructor would wait
        return {Verdict::failed, line, hang.what()};
    } catch (const Failure &failure) {
        return {Verdict::failed, line, failure.what()};
    } catch (const Unsupported &unsupported) {
        return {Verdict::unsupported, line, unsupported.what()};
    }
    return {};
}

} // namespace pi_run
