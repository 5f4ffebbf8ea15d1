// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any descriptor of any function that takes one, on host and sim, with and without the layer
// validate: of any size, type, chain, flags and reserved words, with missing arrays and handles.
// The result must be the one that pi.h requires. A call that fails writes no output, and no call
// leaves anything behind. Descriptors, chains and their arrays are exactly as large as they say, so
// that a sanitizer sees accesses beyond them.
#include "of_descriptors/plan.hpp"

#include <pi/pi_plugin.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace pi::fuzz {
namespace {

/// Whether a function takes a descriptor, and so must have a row.
template <class... Parameters>
constexpr bool takes_descriptor(pi_result (*)(Parameters...)) {
    const auto is = []<class T>(T *) {
        if constexpr (std::is_pointer_v<T> && std::is_class_v<std::remove_pointer_t<T>>) {
            using Struct = std::remove_cv_t<std::remove_pointer_t<T>>;
            return requires(Struct desc) {
                desc.struct_size, desc.type, desc.next;
            };
        }
        return false;
    };
    return (is(static_cast<Parameters *>(nullptr)) || ...);
}

/// At most so many calls of one input.
constexpr size_t most_trials = 128;

void check_rows() {
    std::set<std::string_view> rowed;
    for (const Row &row : rows()) {
        rowed.insert(row.function);
    }
#define PI_FUNCTION(name, group, needs, since)                                                     \
    if (takes_descriptor(decltype(pi_dispatch::name){}) && rowed.count(#name) == 0) {              \
        finding(#name " has no row");                                                              \
    }
#include <pi/pi_functions.def>
}

/// The objects of one place, with or without the layer. Without it the references to its context
/// can be counted.
class Setup {
public:
    Setup(const Place &place, bool is_exact)
        : fixture(place), exact(is_exact), held(references()) {}

    Fixture fixture;
    const bool exact;
    const uint32_t held; ///< references of the fixture to the context
    struct Base {
        pi_result result;
        std::vector<uint8_t> descriptor;
    };
    std::map<const Row *, Base> bases;
    Setup *plain = nullptr; ///< the same place without the layer; NULL if this is it

    uint32_t references() const {
        uint32_t count = 0;
        must(piContextGetInfo(fixture.place.context, PI_CONTEXT_INFO_REFERENCE_COUNT, sizeof count,
                              &count, nullptr),
             "PI_CONTEXT_INFO_REFERENCE_COUNT");
        return count;
    }
};

class Setups {
public:
    static Setups &get() {
        static Setups setups;
        return setups;
    }
    std::deque<Setup> all;

private:
    Setups() {
        check_rows();
        for (const Equipment *equipment : {&validated_, &plain_}) {
            for (const Place &place : equipment->places()) {
                all.emplace_back(place, equipment == &plain_);
            }
        }
        for (size_t i = 0; i < all.size() / 2; ++i) {
            all[i].plain = &all[i + all.size() / 2];
        }
    }
    ~Setups() { all.clear(); }

    Equipment validated_{true}, plain_{false};
};

/// One call.
class Attempt {
public:
    Attempt(const Row &row, Setup &setup) : row_(row), setup_(setup), trial_(setup.fixture) {}

    /// Calls the function with the planned descriptor, or with its twin.
    pi_result run(const Plan &plan, bool twin) {
        fill(plan, twin);
        set_up_call(plan);
        if (plan.absent) {
            return row_.call(trial_, nullptr);
        }
        const Bytes before(bytes(), bytes() + size_);
        const pi_result result = row_.call(trial_, bytes());
        if (!row_.traits.output || result != PI_SUCCESS) {
            if (!std::equal(before.begin(), before.end(), bytes())) {
                finding(row_.function, " writes its descriptor");
            }
        } else {
            judge_output(before);
        }
        return result;
    }
    uint8_t *bytes() const { return reinterpret_cast<uint8_t *>(storage_.get()); }

private:
    void fill(const Plan &plan, bool twin) {
        // At least a header, so that the callee can read that it is too short. A twin has zeros
        // where the descriptor ends.
        size_ = std::max<uint32_t>({plan.size, sizeof(pi_struct_header), twin ? row_.size : 0});
        std::vector<uint64_t> whole(std::max<uint32_t>(size_, row_.size) / 8 + 1);
        auto *const header = reinterpret_cast<pi_struct_header *>(whole.data());
        header->struct_size = plan.size;
        header->type = row_.type;
        row_.fill(trial_, whole.data());
        auto *const out = reinterpret_cast<uint8_t *>(whole.data());
        for (const Plan::Change &change : plan.changes) {
            std::memcpy(out + change.at.offset, twin ? &change.twin : &change.value,
                        change.at.size);
        }
        if (!plan.chain.empty()) {
            header->next = make_chain(plan.chain);
        }
        if (twin && plan.size < row_.size) {
            header->struct_size = row_.size;
            std::fill(out + plan.size, out + row_.size, uint8_t{0});
        }
        storage_.reset(::operator new(size_));
        std::memset(storage_.get(), 0, size_);
        std::memcpy(storage_.get(), out, std::min(size_, row_.size));
        if (plan.tail && size_ > row_.size) {
            bytes()[size_ - 1] = 1;
        }
    }

    /// Each link is only a header, unless its type is known.
    const void *make_chain(const std::vector<pi_struct_type> &types) {
        const void *next = nullptr;
        for (const pi_struct_type type : types) {
            const bool known = type == row_.traits.chained;
            auto *const link = reinterpret_cast<pi_struct_header *>(trial_.keep<uint8_t>(
                known ? sizeof(pi_mem_layout_desc) : sizeof(pi_struct_header)));
            link->struct_size = known ? sizeof(pi_mem_layout_desc) : sizeof(pi_struct_header);
            link->type = type;
            link->next = next;
            next = link;
        }
        return next;
    }

    void set_up_call(const Plan &plan) {
        static constexpr pi_event null_event = nullptr;
        trial_.no_output = plan.no_output;
        queue_as_event_ = reinterpret_cast<pi_event>(setup_.fixture.queue);
        trial_.wait_count = plan.waits != Plan::none;
        trial_.wait_list = plan.waits == Plan::null_event ? &null_event
                           : plan.waits == Plan::no_event ? &queue_as_event_
                                                          : nullptr;
        if (plan.element && !trial_.reserved.empty()) {
            trial_.reserved[plan.element_bit / 8 % trial_.reserved.size()] =
                static_cast<uint8_t>(1u << plan.element_bit % 8);
        }
    }

    /// An output struct keeps its header, and has zeros after its known members.
    void judge_output(const Bytes &before) {
        if (!std::equal(before.begin(), before.begin() + sizeof(pi_struct_header), bytes())) {
            finding(row_.function, " writes the header of its output");
        }
        for (uint32_t byte = row_.size; byte < size_; ++byte) {
            if (bytes()[byte] != 0) {
                finding(row_.function, " leaves byte ", byte,
                        " of its output, which it does not know");
            }
        }
    }

    struct Delete {
        void operator()(void *memory) const { ::operator delete(memory); }
    };
    const Row &row_;
    Setup &setup_;
    Trial trial_;
    std::unique_ptr<void, Delete> storage_;
    uint32_t size_ = 0;
    pi_event queue_as_event_ = nullptr;
};

/// The result of a good descriptor, with which others are compared.
const Setup::Base &base_of(const Row &row, Setup &setup) {
    const auto known = setup.bases.find(&row);
    if (known != setup.bases.end()) {
        return known->second;
    }
    Plan plan;
    plan.size = row.size;
    Attempt attempt(row, setup);
    const pi_result result = attempt.run(plan, false);
    // A feature that the plugin lacks has no good descriptor, and the layer may notice that first.
    const bool possible =
        setup.plain == nullptr || base_of(row, *setup.plain).result != PI_ERROR_UNSUPPORTED_FEATURE;
    if (result != PI_SUCCESS && result != PI_ERROR_UNSUPPORTED_FEATURE && possible) {
        finding(row.function, " refuses a good descriptor: ", result, ": ", last_error());
    }
    return setup.bases[&row] = {result, {attempt.bytes(), attempt.bytes() + row.size}};
}

void try_plan(const Plan &plan, const Row &row, Setup &setup) {
    const pi_result base = base_of(row, setup).result;
    const bool cut = !plan.absent && plan.size < row.size && !row.traits.output;
    const bool twin = cut || std::any_of(plan.changes.begin(), plan.changes.end(),
                                         [](auto &change) { return change.value != change.twin; });
    const pi_result result = Attempt(row, setup).run(plan, false);
    const std::string text = last_error();
    if (twin && !plan.absent && plan.size >= sizeof(pi_struct_header)) {
        const pi_result other = Attempt(row, setup).run(plan, true);
        if (other != result) {
            finding(row.function, " answers ", result, " (", text, ") to a descriptor, and ", other,
                    " to one that means the same: ", to_string(plan));
        }
    }
    std::vector<pi_result> errors = expected_errors(plan, row);
    const bool optional_absent = plan.absent && row.traits.optional;
    if (!errors.empty() && result == PI_SUCCESS) {
        finding(row.function, " accepts what it should refuse with ", errors[0], ": ",
                to_string(plan));
    }
    if (plan.open || cut || optional_absent) {
        return;
    }
    if (errors.empty()
            ? result != base
            : result != base && std::find(errors.begin(), errors.end(), result) == errors.end()) {
        finding(row.function, " answers ", result, ", not ", errors.empty() ? base : errors[0],
                " (", text, "): ", to_string(plan));
    }
}

/// References of a command are released when it ends, on another thread.
void check_references(const Setup &setup) {
    for (int tries = 0; setup.references() != setup.held; ++tries) {
        if (tries == 2000) {
            finding("the context had ", setup.held, " references and has ", setup.references());
        }
        std::this_thread::sleep_for(std::chrono::microseconds(tries < 100 ? 10 : 1000));
    }
}

void run(Input input) {
    Setups &setups = Setups::get();
    for (size_t trial = 0; trial < most_trials && !input.empty(); ++trial) {
        const uint32_t which = input.below(static_cast<uint32_t>(setups.all.size()));
        Setup &setup = setups.all[which];
        const Setup &another = setups.all[which ^ 1];
        const Row &row = rows()[input.below(static_cast<uint32_t>(rows().size()))];
        const Plan plan =
            make_plan(input, row, base_of(row, setup).descriptor, setup.fixture, another.fixture);
        try_plan(plan, row, setup);
        if (setup.exact) {
            check_references(setup);
        }
    }
}

} // namespace

std::vector<std::vector<uint8_t>> generated_inputs() {
    // One edit at a time, of every kind, for every row at every place; then random ones.
    std::vector<std::vector<uint8_t>> inputs;
    for (const Bytes &edit : single_edits()) {
        for (uint8_t place = 0; place < 4; ++place) {
            inputs.emplace_back();
            for (size_t row = 0; row < rows().size(); ++row) {
                if (row % most_trials == 0 && row > 0) {
                    inputs.emplace_back();
                }
                inputs.back().push_back(place);
                inputs.back().push_back(static_cast<uint8_t>(row));
                inputs.back().insert(inputs.back().end(), edit.begin(), edit.end());
            }
        }
    }
    for (std::vector<uint8_t> &input : random_inputs(512, 512)) {
        inputs.push_back(std::move(input));
    }
    return inputs;
}

const std::vector<Row> &rows() {
    static const std::vector<Row> all = [] {
        std::vector<Row> made = object_rows();
        for (Row &row : command_rows()) {
            made.push_back(std::move(row));
        }
        return made;
    }();
    return all;
}

} // namespace pi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pi::fuzz::run(pi::fuzz::Input(data, size));
    return 0;
}
