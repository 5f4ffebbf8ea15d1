// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with one error each: the layer validate refuses them, and the plugin does not see them.
#pragma once

#include "validate.hpp"

#include <functional>

namespace layer_test {

/// One error in a descriptor. The text contains `words`: the argument, its value, and what would be
/// right.
template <class Desc>
struct Misuse {
    pi_result code;
    const char *words;
    std::function<void(Desc &)> spoil;
};

/// A call that is refused with these words before the plugin is called.
template <class Call>
void check_refused(const Machine &machine, const std::string &function, pi_result code,
                   const std::string &words, Call &&call) {
    const uint64_t before = machine.calls(function);
    INFO(function << ": " << words);
    CHECK(call() == code);
    CHECK_THAT(last_error(), Catch::StartsWith(function + ": ") && Catch::Contains(words));
    CHECK(machine.calls(function) == before);
}

/// Each misuse of a descriptor, and those that all have: a wrong header, chain or flag, and an
/// unknown tail.
template <class Desc, class Call>
void check_misuses(const Machine &machine, const std::string &function, const Desc &valid,
                   Call &&call, const std::vector<Misuse<Desc>> &misuses) {
    for (const Misuse<Desc> &misuse : misuses) {
        Desc spoiled = valid;
        misuse.spoil(spoiled);
        check_refused(machine, function, misuse.code, misuse.words, [&] { return call(&spoiled); });
    }
    check_refused(machine, function, PI_ERROR_INVALID_NULL_POINTER, "desc is NULL",
                  [&] { return call(static_cast<const Desc *>(nullptr)); });
    Desc spoiled = valid;
    spoiled.struct_size = 15;
    check_refused(machine, function, PI_ERROR_INVALID_DESCRIPTOR, "desc->struct_size is 15",
                  [&] { return call(&spoiled); });
    spoiled = valid;
    ++spoiled.type;
    check_refused(machine, function, PI_ERROR_INVALID_DESCRIPTOR, "desc->type is ",
                  [&] { return call(&spoiled); });
    pi_struct_header chained = {sizeof chained, PI_TYPE_QUEUE_DESC, nullptr};
    spoiled = valid;
    spoiled.next = &chained;
    check_refused(machine, function, PI_ERROR_UNSUPPORTED_FEATURE,
                  "desc->next leads to PI_TYPE_QUEUE_DESC (3)", [&] { return call(&spoiled); });
    struct {
        Desc desc;
        unsigned char tail[8];
    } larger = {valid, {0, 0, 7}};
    larger.desc.struct_size = sizeof larger;
    check_refused(machine, function, PI_ERROR_UNSUPPORTED_FEATURE, "is 7 and must be 0",
                  [&] { return call(&larger.desc); });
    if constexpr (requires { spoiled.flags; }) {
        spoiled = valid;
        spoiled.flags |= uint64_t{1} << 40;
        check_refused(machine, function, PI_ERROR_UNSUPPORTED_FEATURE,
                      "with the unknown bits 0x10000000000", [&] { return call(&spoiled); });
    }
    if constexpr (requires { spoiled.reserved; }) {
        spoiled = valid;
        spoiled.reserved = 5;
        check_refused(machine, function, PI_ERROR_UNSUPPORTED_FEATURE, "desc->reserved is 5",
                      [&] { return call(&spoiled); });
    }
}

/// The same for a command, with its wait list.
template <class Desc, class Enqueue>
void check_command(const Machine &machine, const std::string &function, Enqueue enqueue,
                   const Desc &valid, const std::vector<Misuse<Desc>> &misuses) {
    const auto call = [&](const Desc *desc) {
        return enqueue(machine.queue, desc, 0, nullptr, nullptr);
    };
    OK(call(&valid));
    OK(piQueueFinish(machine.queue));
    check_misuses(machine, function, valid, call, misuses);
    check_refused(machine, function, PI_ERROR_INVALID_WAIT_LIST,
                  "wait_list is NULL, but wait_count is 2",
                  [&] { return enqueue(machine.queue, &valid, 2, nullptr, nullptr); });
    const pi_event none = nullptr;
    check_refused(machine, function, PI_ERROR_INVALID_EVENT, "wait_list[0]: NULL",
                  [&] { return enqueue(machine.queue, &valid, 1, &none, nullptr); });
}

} // namespace layer_test
