// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "values.hpp"

namespace pi_run {

uint64_t as_number(const Json &value, const char *what) {
    if (!value.is_number_integer() || (value.is_number_integer() && !value.is_number_unsigned()))
        throw Refusal(fmt::format("{} is not a non-negative number", what));
    return value.get<uint64_t>();
}

const Json &member(const Json &object, const char *name) {
    const auto found = object.find(name);
    if (found == object.end())
        throw Refusal(fmt::format("has no \"{}\"", name));
    return *found;
}

const Json &array_of(const Json &value, const char *what) {
    if (!value.is_array())
        throw Refusal(fmt::format("{} is not a list", what));
    return value;
}

} // namespace pi_run
