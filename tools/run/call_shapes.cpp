// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "call_shapes.hpp"

#include "functions.hpp"

#include <pi/describe/members.hpp>

#include <array>
#include <tuple>

namespace pi_run {
namespace {

using pi::loader::function_rows;
using pi::loader::HandleTraits;
using Kind = Parameter::Kind;

/// The archive that notes how each parameter is described.
struct Shapes {
    std::vector<Parameter> parameters;

    void add(std::string_view name, Kind kind, pi_kind object = 0) {
        parameters.push_back({name, kind, object});
    }
    template <typename Handle>
    void handle(const char *name, Handle) {
        add(name, Kind::handle, HandleTraits<Handle>::kind);
    }
    template <typename Word>
    void number(const char *name, Word) {
        add(name, Kind::number);
    }
    void text(const char *name, const char *) { add(name, Kind::text); }
    template <typename Desc>
    void descriptor(const char *name, const Desc *) {
        add(name, Kind::descriptor);
    }
    template <typename Handle>
    void handles(const char *name, uint32_t, const Handle *) {
        add(name, Kind::list, HandleTraits<Handle>::kind);
    }
    template <typename Element>
    void elements(const char *name, uint32_t, const Element *) {
        add(name, Kind::list);
    }
    template <typename Handle>
    void made(const char *name, Handle *, uint64_t) {
        add(name, Kind::made, HandleTraits<Handle>::kind);
    }
    template <typename Type>
    void output(const char *name, Type *, uint64_t) {
        add(name, Kind::output);
    }
    template <typename Pointer>
    void address(const char *name, Pointer) {
        add(name, Kind::address);
    }
    template <typename Pointer>
    void mark(const char *name, Pointer) {
        add(name, Kind::mark);
    }
};

template <auto Slot, typename... Parameters>
std::vector<Parameter> shapes_of(pi_result (*const *)(Parameters...)) {
    Shapes shapes;
    std::tuple<Parameters...> values{};
    pi::describe::parameters<Slot>(shapes, values);
    return std::move(shapes.parameters);
}

struct ShortVerb {
    std::string_view verb;
    std::string_view function;
};

// A case reads like a list of what a program did; buffers have the shortest words.
constexpr ShortVerb verbs[] = {
    {"buffer", "piMemBufferCreate"},
    {"view", "piMemBufferPartition"},
    {"image", "piMemImageCreate"},
    {"image_view", "piMemImageViewCreate"},
    {"import", "piMemImport"},
    {"usm", "piUsmAlloc"},
    {"free", "piUsmFree"},
    {"pool", "piUsmPoolCreate"},
    {"queue", "piQueueCreate"},
    {"finish", "piQueueFinish"},
    {"flush", "piQueueFlush"},
    {"gate", "piEventCreateHost"},
    {"signal", "piEventSignalHost"},
    {"wait", "piEventWait"},
    {"read", "piEnqueueMemBufferRead"},
    {"write", "piEnqueueMemBufferWrite"},
    {"copy", "piEnqueueMemBufferCopy"},
    {"fill", "piEnqueueMemBufferFill"},
    {"map", "piEnqueueMemBufferMap"},
    {"unmap", "piEnqueueMemUnmap"},
    {"read_image", "piEnqueueMemImageRead"},
    {"write_image", "piEnqueueMemImageWrite"},
    {"copy_image", "piEnqueueMemImageCopy"},
    {"fill_image", "piEnqueueMemImageFill"},
    {"copy_usm", "piEnqueueUsmCopy"},
    {"fill_usm", "piEnqueueUsmFill"},
    {"barrier", "piEnqueueBarrier"},
    {"program", "piProgramCreate"},
    {"build", "piProgramBuild"},
    {"kernel", "piKernelCreate"},
    {"sampler", "piSamplerCreate"},
    {"launch", "piEnqueueKernelLaunch"},
};

std::optional<std::size_t> row_of(std::string_view function) {
    for (std::size_t i = 0; i < function_rows.size(); ++i) {
        if (function_rows[i].name == function)
            return i;
    }
    return std::nullopt;
}

} // namespace

const std::vector<Parameter> &parameters_of(std::size_t index) {
    static const std::array table{
#define PI_FUNCTION(name, group, needs, since)                                                     \
    shapes_of<&pi_dispatch::name>(static_cast<decltype(pi_dispatch::name) *>(nullptr)),
#include <pi/pi_functions.def>
    };
    return table.at(index);
}

std::optional<std::size_t> find_function(std::string_view verb) {
    for (const ShortVerb &row : verbs) {
        if (row.verb == verb)
            return row_of(row.function);
    }
    for (const char *const prefix : {"", "pi", "piEnqueue"}) {
        if (const auto row = row_of(prefix + std::string(verb)))
            return row;
    }
    return std::nullopt;
}

std::optional<std::size_t> releasing_function(pi_kind object) {
    for (std::size_t i = 0; i < function_rows.size(); ++i) {
        const std::vector<Parameter> &parameters = parameters_of(i);
        if (std::string_view(function_rows[i].name).ends_with("Release") &&
            parameters.size() == 1 && parameters[0].object == object)
            return i;
    }
    return std::nullopt;
}

std::string verb_of(std::size_t index) {
    for (const ShortVerb &row : verbs) {
        if (row.function == function_rows[index].name)
            return std::string(row.verb);
    }
    return function_rows[index].name;
}

std::vector<std::string_view> short_verbs() {
    std::vector<std::string_view> words;
    for (const ShortVerb &row : verbs)
        words.push_back(row.verb);
    return words;
}

} // namespace pi_run
