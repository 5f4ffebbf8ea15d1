// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mutants that a name describes: one member, one info name or one error code of one function. The
// file conformance/rules.md names those that exist.
//
//   FUNCTION.PI_ERROR_X             this error of the function is another one
//   FUNCTION.PI_X_INFO_Y.wrong      the last byte of the info's value is another one
//   FUNCTION.PI_X_INFO_Y.longer     the info's value has one more byte
//   FUNCTION.PI_X_INFO_Y.zero       the info's value is all zeros
//   FUNCTION.PI_X_INFO_Y.unsupported
//   FUNCTION.PATH.ignored           an input is taken for 0, NULL or an empty list
//   FUNCTION.PATH.inverted          all bits of an input are the opposite ones
//   FUNCTION.PATH.PI_X              these bits of an input or output are the opposite ones
//   FUNCTION.PATH.wrong             the last byte of an output is another one
//   FUNCTION.PATH.null_refused      a pointer that may be NULL must not be
//   FUNCTION.one_thread             only the first thread that calls it may
//   FUNCTION.refused_in_callback    it is refused in callbacks
//   FUNCTION.finishes               it waits for the commands of its queue
//   any.PI_ERROR_X                  this error of every function is another one
//   any.PI_CAPABILITY_X             the plugin lacks the last function of the group
//
// PATH is the names of a parameter and of members in it, as in pi.h: desc.regions.src_offset.
#pragma once

#include "interface_mutants.hpp"

#include <pi/describe/members.hpp>

#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>

namespace pi::mutants {

/// What is behind FUNCTION in the name of the mutant.
struct Change {
    /// PATH, or "" if an info name or an error is changed.
    std::string path;
    enum class How {
        ignored,
        inverted,
        flipped,
        wrong,
        null_refused,
        longer,
        zero,
        unsupported,
        replaced
    };
    How how{};
    /// The info name, the error or the bits.
    int64_t constant = 0;
};
/// Both are set before any mutated function can be called.
inline Change change;
inline const pi_host *host = nullptr;

/// An archive of pi/describe/members.hpp that changes the part that the path names.
class Changer {
public:
    enum class Parts { inputs, outputs };
    explicit Changer(Parts parts) : parts_(parts), rest_(change.path) {}
    /// Whether a pointer that is NULL is refused.
    bool refused() const noexcept { return refused_; }

    template <class Desc>
    void descriptor(const char *name, const Desc *&desc) {
        refuse(name, desc);
        if (parts_ == Parts::outputs || !desc)
            return;
        if (rest_ == name && change.how == Change::How::ignored)
            desc = nullptr;
        if (const auto inner = within(name);
            inner && desc->struct_size == sizeof(Desc) && desc->type == type_of<Desc>)
            change_copy(desc, *inner);
    }
    template <class Type>
    void object(const char *name, Type &object) {
        if (const auto inner = within(name))
            into(*inner, object);
    }
    template <class Element>
    void elements(const char *name, uint32_t &count, const Element *&elements) {
        leaf(name, count);
        const auto inner = within(name);
        if (!inner || !elements)
            return;
        Element *const own = &copied<Element>(elements, count);
        for (uint32_t i = 0; i < count; ++i)
            into(*inner, own[i]);
        elements = own;
    }
    void layout(const void *&next) {
        auto *desc = static_cast<const pi_mem_layout_desc *>(next);
        descriptor("next", desc);
        next = desc;
    }
    // What is one value, or a pointer that is not followed; of an array its count.
#define PI_LEAF(kind)                                                                              \
    template <class Word, class... Rest>                                                           \
    void kind(const char *name, Word &word, Rest &&...) {                                          \
        leaf(name, word);                                                                          \
    }
    PI_LEAF(number)
    PI_LEAF(list)
    PI_LEAF(handles)
    PI_LEAF(stray)
    PI_LEAF(optional)
    PI_LEAF(data)
    PI_LEAF(shared)
    PI_LEAF(source)
    PI_LEAF(target)
    PI_LEAF(from)
    PI_LEAF(to)
    PI_LEAF(address)
    PI_LEAF(mapped)
    PI_LEAF(place)
    PI_LEAF(allocated)
    PI_LEAF(mark)
#undef PI_LEAF
    template <class Word, std::size_t Size>
    void numbers(const char *name, Word (&words)[Size]) {
        for (Word &word : words)
            leaf(name, word);
    }
    template <class Word>
    void reserved(const char *name, Word &word) {
        if constexpr (std::is_array_v<Word>)
            numbers(name, word);
        else
            leaf(name, word);
    }
    template <std::size_t Size>
    void characters(const char *name, char (&text)[Size]) {
        numbers(name, text);
    }
    template <class Handle>
    void handle(const char *name, Handle &handle) {
        refuse(name, handle);
        leaf(name, handle);
    }
    void text(const char *name, const char *&text) {
        refuse(name, text);
        leaf(name, text);
    }
    template <class Type>
    void made(const char *name, Type *&out, uint64_t) {
        refuse(name, out);
    }
    template <class Type>
    void output(const char *name, Type *&out, uint64_t count) {
        refuse(name, out);
        if constexpr (!std::is_void_v<Type>) {
            if (parts_ == Parts::inputs || !out)
                return;
            if constexpr (requires { out->struct_size; }) {
                if (out->struct_size < sizeof(Type))
                    return;
            }
            for (uint64_t i = 0; i < count; ++i) {
                if (rest_ == name)
                    alter(out[i]);
                if constexpr (describe::described<Type>) {
                    if (const auto inner = within(name))
                        into(*inner, out[i]);
                }
            }
        }
    }
    void cannot(const char *) {}

private:
    std::optional<std::string_view> within(std::string_view name) const {
        if (rest_.size() > name.size() && rest_.starts_with(name) && rest_[name.size()] == '.')
            return rest_.substr(name.size() + 1);
        return std::nullopt;
    }
    template <class Desc>
    void change_copy(const Desc *&desc, std::string_view rest) {
        Desc &own = copied<Desc>(desc, 1);
        into(rest, own);
        desc = &own;
    }
    template <class Type>
    void into(std::string_view rest, Type &object) {
        const std::string_view whole = rest_;
        rest_ = rest;
        describe::members(*this, object);
        rest_ = whole;
    }
    // A parameter by value is an input.
    template <class Word>
    void leaf(const char *name, Word &word) {
        const bool in_parameter = rest_.size() < change.path.size();
        if (rest_ == name && (parts_ == Parts::inputs || in_parameter))
            alter(word);
    }
    template <class Word>
    void alter(Word &word) {
        if (change.how == Change::How::ignored) {
            word = Word{};
        } else if (change.how == Change::How::inverted) {
            if constexpr (std::is_integral_v<Word>)
                word = static_cast<Word>(~word);
        } else if (change.how == Change::How::wrong) {
            auto *const last = reinterpret_cast<unsigned char *>(&word) + sizeof word - 1;
            *last = static_cast<unsigned char>(~*last);
        } else if constexpr (std::is_integral_v<Word>) {
            word = static_cast<Word>(static_cast<uint64_t>(word) ^
                                     static_cast<uint64_t>(change.constant));
        }
    }
    template <class Pointer>
    void refuse(const char *name, Pointer pointer) {
        refused_ |= change.how == Change::How::null_refused && rest_ == name && !pointer;
    }
    template <class Type>
    Type &copied(const Type *from, std::size_t count) {
        auto &bytes = copies_.emplace_back(count * sizeof(Type) + 1);
        std::memcpy(bytes.data(), from, count * sizeof(Type));
        return *reinterpret_cast<Type *>(bytes.data());
    }

    Parts parts_;
    std::string_view rest_;
    bool refused_ = false;
    std::list<std::vector<unsigned char>> copies_;
};

/// "One input is ignored", "one output is wrong".
template <auto Slot, class Function>
struct MemberChanged;
template <auto Slot, class... Arguments>
struct MemberChanged<Slot, pi_result(PI_CALL *)(Arguments...)> {
    static pi_result PI_CALL call(Arguments... arguments) {
        std::tuple<Arguments...> all{arguments...};
        Changer inputs(Changer::Parts::inputs), outputs(Changer::Parts::outputs);
        const bool wrong = change.how == Change::How::wrong;
        if (!wrong)
            describe::parameters<Slot>(inputs, all);
        if (inputs.refused())
            return PI_ERROR_INVALID_NULL_POINTER;
        const pi_result result = std::apply(original->*Slot, all);
        if (result == PI_SUCCESS && (wrong || change.how == Change::How::flipped))
            describe::parameters<Slot>(outputs, all);
        return result;
    }
};

/// "One info is wrong".
template <auto Slot, class Name, class... Subject>
struct InfoChangedOf {};
template <auto Slot, class Name, class... Subject>
requires(std::is_integral_v<Name> ||
         std::is_enum_v<Name>) struct InfoChangedOf<Slot, Name, Subject...> {
    static pi_result PI_CALL call(Subject... subject, Name name, uint64_t size, void *value,
                                  uint64_t *out_size) {
        const auto info = original->*Slot;
        uint64_t real = 0;
        if (static_cast<int64_t>(name) != change.constant ||
            info(subject..., name, 0, nullptr, &real) != PI_SUCCESS)
            return info(subject..., name, size, value, out_size);
        const bool longer = change.how == Change::How::longer;
        if (change.how == Change::How::unsupported)
            return PI_ERROR_UNSUPPORTED_FEATURE;
        if (longer && value && size <= real)
            return PI_ERROR_INVALID_SIZE;
        const pi_result result = info(subject..., name, size, value, out_size);
        if (result != PI_SUCCESS)
            return result;
        if (longer && out_size)
            *out_size += 1;
        if (auto *const bytes = static_cast<unsigned char *>(value); bytes && longer)
            bytes[real] = 0;
        else if (bytes && change.how == Change::How::zero)
            std::memset(bytes, 0, real);
        else if (bytes && real > 0)
            bytes[real - 1] = static_cast<unsigned char>(~bytes[real - 1]);
        return PI_SUCCESS;
    }
};
template <auto Slot, class Function>
struct InfoChanged : OfInfo<InfoChangedOf, Slot, Function> {};

/// A function whose calls go through around(call).
template <auto Slot, class Function, auto around>
struct Around;
template <auto Slot, class... Arguments, auto around>
struct Around<Slot, pi_result(PI_CALL *)(Arguments...), around> {
    static pi_result PI_CALL call(Arguments... arguments) {
        return around([&] { return (original->*Slot)(arguments...); });
    }
};

/// "One error is another one".
inline constexpr auto replace_error = [](auto call) {
    const pi_result result = call();
    return result == change.constant ? PI_ERROR_INTERNAL : result;
};
template <auto Slot, class Function>
struct ErrorReplaced : Around<Slot, Function, replace_error> {};

/// "Not for every thread".
inline constexpr auto refuse_other_threads = [](auto call) {
    static const std::thread::id first = std::this_thread::get_id(); // for each function
    return std::this_thread::get_id() == first ? call() : PI_ERROR_INVALID_OPERATION;
};
template <auto Slot, class Function>
struct OneThread : Around<Slot, Function, refuse_other_threads> {};

/// "Not in callbacks".
inline constexpr auto refuse_in_callbacks = [](auto call) {
    return host->callback_depth(host, 0) == 0 ? call() : PI_ERROR_INVALID_OPERATION;
};
template <auto Slot, class Function>
struct RefusedInCallback : Around<Slot, Function, refuse_in_callbacks> {};

/// "Waits for the commands of the queue".
template <auto Slot, class Function>
struct Finishes {};
template <auto Slot>
struct Finishes<Slot, pi_result(PI_CALL *)(pi_queue)> {
    static pi_result PI_CALL call(pi_queue queue) {
        original->piQueueFinish(queue);
        return (original->*Slot)(queue);
    }
};

/// The constant of pi.h with this name.
inline std::optional<int64_t> constant_of(std::string_view name) {
    static constexpr struct {
        std::string_view name;
        int64_t value;
    } constants[] = {
#define PI_CONSTANT(name) {#name, int64_t{name}},
#include "constants.inc" // made from pi.h
#undef PI_CONSTANT
    };
    for (const auto &constant : constants)
        if (constant.name == name)
            return constant.value;
    return std::nullopt;
}

/// Replaces a function in a table.
using Injection = void (*)(pi_dispatch &table);

/// A function, and its changes; nullptr: it has no such part.
struct Changeable {
    std::string_view function, group;
    Injection member, info, error, one_thread, in_callback, finishes, missing;
};

template <template <auto, class> class Kind, auto Slot>
constexpr Injection injection() {
    using Injected =
        Kind<Slot, std::remove_reference_t<decltype(std::declval<pi_dispatch>().*Slot)>>;
    if constexpr (requires { &Injected::call; })
        return [](pi_dispatch &table) {
            if (table.*Slot)
                table.*Slot = &Injected::call;
        };
    else
        return nullptr;
}

inline const std::vector<Changeable> &changeables() {
    static const std::vector<Changeable> list = {
#define PI_FUNCTION(name, group, needs, since)                                                     \
    {#name,                                                                                        \
     #group,                                                                                       \
     injection<MemberChanged, &pi_dispatch::name>(),                                               \
     injection<InfoChanged, &pi_dispatch::name>(),                                                 \
     injection<ErrorReplaced, &pi_dispatch::name>(),                                               \
     injection<OneThread, &pi_dispatch::name>(),                                                   \
     injection<RefusedInCallback, &pi_dispatch::name>(),                                           \
     injection<Finishes, &pi_dispatch::name>(),                                                    \
     [](pi_dispatch &table) { table.name = nullptr; }},
#include <pi/pi_functions.def>
    };
    return list;
}

/// The last word of a name.
inline std::optional<Change::How> how_of(std::string_view word) {
    static constexpr struct {
        std::string_view word;
        Change::How how;
    } words[] = {{"ignored", Change::How::ignored},
                 {"inverted", Change::How::inverted},
                 {"wrong", Change::How::wrong},
                 {"longer", Change::How::longer},
                 {"zero", Change::How::zero},
                 {"unsupported", Change::How::unsupported},
                 {"null_refused", Change::How::null_refused}};
    for (const auto &each : words)
        if (each.word == word)
            return each.how;
    return std::nullopt;
}

/// Injects the mutant of this name; false if no name has this form.
inline bool inject_derived(std::string_view name, pi_dispatch &table) {
    const auto before_dot = [](std::string_view text, std::size_t dot) {
        return dot == text.npos ? std::string_view() : text.substr(0, dot);
    };
    const auto split = name.find('.');
    const std::string_view function = before_dot(name, split);
    const std::string_view kind = name.substr(function.size() + 1);
    const std::string_view part = before_dot(kind, kind.rfind('.'));
    const std::string_view word = kind.substr(part.empty() ? 0 : part.size() + 1);
    const auto constant = constant_of(word);
    const auto how = how_of(word);
    Injection Changeable::*injection = &Changeable::member;
    if (!part.empty()) {
        if (!how && !constant)
            return false;
        change = {std::string(part), how.value_or(Change::How::flipped), constant.value_or(0)};
        if (const auto info = constant_of(part)) {
            injection = &Changeable::info;
            change = {"", change.how, *info};
        }
    } else if (word.starts_with("PI_CAPABILITY_")) {
        const Changeable *last = nullptr;
        for (const Changeable &each : changeables())
            if (each.group == word.substr(std::strlen("PI_CAPABILITY_")))
                last = &each;
        if (last)
            last->missing(table);
        return last != nullptr;
    } else if (word.starts_with("PI_ERROR_") && constant) {
        injection = &Changeable::error;
        change = {"", Change::How::replaced, *constant};
    } else if (word == "one_thread") {
        injection = &Changeable::one_thread;
    } else if (word == "refused_in_callback") {
        injection = &Changeable::in_callback;
    } else if (word == "finishes") {
        injection = &Changeable::finishes;
    } else {
        return false;
    }
    bool injected = false;
    for (const Changeable &each : changeables()) {
        if ((function == "any" || function == each.function) && each.*injection) {
            (each.*injection)(table);
            injected = true;
        }
    }
    return injected;
}

} // namespace pi::mutants
