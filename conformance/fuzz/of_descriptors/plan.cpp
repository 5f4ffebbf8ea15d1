// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan.hpp"

#include <iterator>

namespace pi::fuzz {
namespace {

constexpr Member type_member = {4, 4};
constexpr uintptr_t unreadable = 16;

/// Makes plans of bytes.
class Planner {
public:
    Planner(Input &input, const Row &row, const Bytes &base, const Fixture &own,
            const Fixture &another)
        : input_(input), row_(row), base_(base), own_(own), another_(another) {
        plan_.size = row.size;
    }

    Plan make() {
        using Edit = void (Planner::*)();
        static constexpr Edit edits[] = {
            &Planner::cut,        &Planner::grow,         &Planner::grow_unknown,
            &Planner::retype,     &Planner::chain,        &Planner::unknown_flag,
            &Planner::known_flag, &Planner::reserve,      &Planner::lose_array,
            &Planner::hide_array, &Planner::lose_handle,  &Planner::confuse_handle,
            &Planner::word,       &Planner::no_desc,      &Planner::wait,
            &Planner::no_output,  &Planner::mark_element, &Planner::another_handle};
        for (uint32_t count = input_.below(4) + 1; count != 0; --count) {
            (this->*edits[input_.below(static_cast<uint32_t>(std::size(edits)))])();
        }
        return plan_;
    }

private:
    void cut() {
        // Not within a pointer.
        plan_.size = input_.below(row_.size);
        plan_.size -= plan_.size > 24 || row_.flags.size == 0 ? plan_.size % 8 : 0;
    }
    void grow() { plan_.size = row_.size + 1 + input_.below(64); }
    void grow_unknown() {
        grow();
        plan_.tail = true;
    }
    void retype() {
        pi_struct_type type = input_.below(2) == 0 ? input_.below(64) : input_.take<uint32_t>();
        if (row_.traits.wrong_type != PI_ERROR_INVALID_DESCRIPTOR) {
            type &= ~PI_TYPE_MAY_IGNORE_BIT; // it is chained itself
        }
        if (type != row_.type) {
            plan_.change(type_member, type, row_.traits.wrong_type);
        }
    }
    void chain() {
        for (uint32_t count = input_.below(3) + 1; count != 0; --count) {
            pi_struct_type type = input_.below(2) == 0 ? input_.below(64) : input_.take<uint32_t>();
            type |= input_.below(2) == 0 ? PI_TYPE_MAY_IGNORE_BIT : 0;
            plan_.chain.push_back(type);
            plan_.open |= type == row_.traits.chained; // of zeros
        }
    }
    uint64_t flags() const {
        uint64_t flags = 0;
        std::memcpy(&flags, base_.data() + row_.flags.offset, row_.flags.size);
        return flags;
    }
    void unknown_flag() {
        const uint64_t bit = uint64_t{1} << input_.below(64);
        if (!row_.traits.output && (row_.traits.known_flags & bit) == 0) {
            plan_.change(row_.flags, flags() | bit, PI_ERROR_UNSUPPORTED_FEATURE);
        }
    }
    void known_flag() {
        plan_.change(row_.flags, flags() ^ (input_.take<uint64_t>() & row_.traits.known_flags),
                     PI_SUCCESS);
    }
    void reserve() {
        const uint64_t value = uint64_t{1} << input_.below(row_.reserved.size == 8 ? 64 : 32);
        if (!row_.traits.output) {
            plan_.change(row_.reserved, value, PI_ERROR_UNSUPPORTED_FEATURE);
        }
    }
    void lose_array() {
        if (row_.arrays.empty()) {
            return;
        }
        const Row::Array &array = row_.arrays[below(row_.arrays.size())];
        uint64_t count = 0;
        std::memcpy(&count, base_.data() + array.count.offset, array.count.size);
        if (plan_.changes_part(array.count) || plan_.changes_part(array.pointer)) {
            return;
        }
        // Both, or neither if the descriptor ends before one of them.
        const bool pointer_last = array.pointer.offset > array.count.offset;
        const pi_result error = PI_ERROR_INVALID_NULL_POINTER;
        count = std::max<uint64_t>(count, 1);
        plan_.changes.push_back({array.pointer, 0, 0, pointer_last ? error : PI_SUCCESS});
        plan_.changes.push_back({array.count, count, count, pointer_last ? PI_SUCCESS : error});
    }
    void hide_array() {
        if (row_.arrays.empty()) {
            return;
        }
        const Row::Array &array = row_.arrays[below(row_.arrays.size())];
        if (!plan_.changes_part(array.count) && !plan_.changes_part(array.pointer)) {
            plan_.change(array.count, 0, PI_SUCCESS);
            plan_.change(array.pointer, unreadable, 0, PI_SUCCESS);
        }
    }
    const Row::Handle *any_handle() {
        return row_.handles.empty() ? nullptr : &row_.handles[below(row_.handles.size())];
    }
    void lose_handle() {
        if (const Row::Handle *handle = any_handle()) {
            plan_.change(handle->member, 0, handle->optional ? PI_SUCCESS : handle->wrong);
        }
    }
    void confuse_handle() {
        if (const Row::Handle *handle = any_handle()) {
            plan_.change(handle->member, reinterpret_cast<uintptr_t>(own_.queue), handle->wrong);
        }
    }
    void another_handle() {
        const Row::Handle *handle = any_handle();
        if (handle != nullptr && handle->is_memory) {
            plan_.change(handle->member, reinterpret_cast<uintptr_t>(another_.buffer),
                         handle->wrong);
        }
    }
    void word() {
        if (row_.words.empty()) {
            return;
        }
        const Member &member = row_.words[below(row_.words.size())];
        // Small, or more than a machine has, so that no call allocates much.
        const uint64_t small = input_.take<uint8_t>();
        const uint64_t any = input_.below(2) == 0 ? 0 : input_.take<uint64_t>();
        plan_.change(member, member.size == 8 && any < uint64_t{1} << 48 ? small : any ^ small,
                     PI_SUCCESS);
    }
    void no_desc() { plan_.absent = true; }
    void wait() {
        if (row_.is_command) {
            plan_.waits = static_cast<Plan::Waits>(input_.below(4));
        }
    }
    void no_output() { plan_.no_output = !row_.traits.output; }
    void mark_element() {
        plan_.element = true;
        plan_.element_bit = input_.below(256);
    }

    uint32_t below(size_t count) { return input_.below(static_cast<uint32_t>(count)); }

    Input &input_;
    const Row &row_;
    const Bytes &base_;
    const Fixture &own_, &another_;
    Plan plan_;
};

} // namespace

std::vector<Bytes> single_edits() {
    // The bytes that Planner::make() takes: a count less 1, the edit's index, and what the edit
    // takes.
    return {{0, 0, 20},
            {0, 1, 7},
            {0, 2, 9},
            {0, 3, 0, 43},
            {0, 4, 0, 0, 50, 1},
            {0, 5, 40},
            {0, 6, 255, 255, 255, 255, 255, 255, 255, 255},
            {0, 7, 3},
            {0, 8, 0},
            {0, 9, 0},
            {0, 10, 0},
            {0, 11, 0},
            {0, 12, 0, 5, 0},
            {0, 13},
            {0, 14, 1},
            {0, 14, 2},
            {0, 14, 3},
            {0, 15},
            {0, 16, 2},
            {0, 17, 0}};
}

Plan make_plan(Input &input, const Row &row, const Bytes &base, const Fixture &own,
               const Fixture &another) {
    return Planner(input, row, base, own, another).make();
}

std::string to_string(const Plan &plan) {
    std::ostringstream text;
    text << (plan.absent ? "NULL for a descriptor of " : "a descriptor of ") << plan.size
         << " bytes";
    for (const Plan::Change &change : plan.changes) {
        text << ", " << change.value << " at byte " << change.at.offset;
    }
    for (const pi_struct_type type : plan.chain) {
        text << ", chained type " << type;
    }
    text << (plan.tail ? ", a last byte of 1" : "") << (plan.no_output ? ", no outputs" : "")
         << (plan.element ? ", an element's reserved bit " + std::to_string(plan.element_bit) : "")
         << (plan.waits != Plan::none ? ", a wrong wait list" : "");
    return text.str();
}

std::vector<pi_result> expected_errors(const Plan &plan, const Row &row) {
    static constexpr pi_result of_waits[] = {PI_SUCCESS, PI_ERROR_INVALID_WAIT_LIST,
                                             PI_ERROR_INVALID_EVENT, PI_ERROR_INVALID_EVENT};
    std::vector<pi_result> errors;
    if (plan.waits != Plan::none) {
        errors.push_back(of_waits[plan.waits]);
    }
    if (plan.no_output && !row.traits.outputs_optional) {
        errors.push_back(PI_ERROR_INVALID_NULL_POINTER);
    }
    if (plan.absent) {
        if (!row.traits.optional) {
            errors.push_back(PI_ERROR_INVALID_NULL_POINTER);
        }
        return errors;
    }
    if (plan.size < sizeof(pi_struct_header)) {
        errors.push_back(PI_ERROR_INVALID_DESCRIPTOR);
    }
    if (plan.tail && plan.size > row.size && !row.traits.output) {
        errors.push_back(PI_ERROR_UNSUPPORTED_FEATURE);
    }
    const bool unknown = std::any_of(plan.chain.begin(), plan.chain.end(), [&](auto type) {
        return (type & PI_TYPE_MAY_IGNORE_BIT) == 0 && type != row.traits.chained;
    });
    if (unknown) {
        errors.push_back(PI_ERROR_UNSUPPORTED_FEATURE);
    }
    for (const Plan::Change &change : plan.changes) {
        if (change.error != PI_SUCCESS && change.at.offset + change.at.size <= plan.size) {
            errors.push_back(change.error);
        }
    }
    // Unless the array is lost.
    const bool whole =
        plan.size >= row.size &&
        std::none_of(row.arrays.begin(), row.arrays.end(), [&](const auto &array) {
            return plan.changes_part(array.count) || plan.changes_part(array.pointer);
        });
    if (plan.element && row.has_elements && whole) {
        errors.push_back(PI_ERROR_UNSUPPORTED_FEATURE);
    }
    return errors;
}

} // namespace pi::fuzz
